//go:build owasp

package taint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// The OWASP Benchmark for Python has some 750 programs of others, half of them
// sound, in the classes that are looked for here. It is not part of this
// project, so it is asked for with -tags owasp; OWASP_BENCHMARK names the folder
// of a copy.
func TestOWASPBenchmark(t *testing.T) {
	dir := os.Getenv("OWASP_BENCHMARK")
	if dir == "" {
		t.Fatal("OWASP_BENCHMARK names no folder")
	}
	answers, err := os.ReadFile(filepath.Join(dir, "expectedresults-0.1.csv"))
	if err != nil {
		t.Fatal(err)
	}
	cwes := map[string]string{"cmdi": "CWE-78", "codeinj": "CWE-94", "deserialization": "CWE-502", "hash": "CWE-328",
		"pathtraver": "CWE-22", "sqli": "CWE-89", "xss": "CWE-79"}
	scores := map[string]*score{}
	for line := range strings.Lines(string(answers)) {
		answer := strings.Split(strings.TrimSpace(line), ",")
		cwe := cwes[answer[min(1, len(answer)-1)]]
		if cwe == "" {
			continue
		}
		src, err := os.ReadFile(filepath.Join(dir, "testcode", answer[0]+".py"))
		if err != nil {
			t.Fatal(err)
		}
		report, err := scanText(t, syntax.Python, string(src))
		if err != nil {
			t.Fatal(err)
		}
		s := scores[answer[1]]
		if s == nil {
			s = &score{}
			scores[answer[1]] = s
		}
		s.judge(answer[2] == "true", report.has(cwe))
	}
	var total score
	for class, s := range scores {
		t.Logf("%-16s %v", class, s)
		total.add(*s)
	}
	t.Logf("%-16s %v", "all", total)
	if total.precision() < 0.6 || total.recall() < 0.8 {
		t.Errorf("%v", total)
	}
}

func (s *score) judge(vulnerable, found bool) {
	switch {
	case vulnerable && found:
		s.right++
	case vulnerable:
		s.missed++
	case found:
		s.wrong++
	}
	if vulnerable {
		s.vulnerable++
	} else {
		s.safe++
	}
}

func (r *Report) has(cwe string) bool {
	for _, f := range r.Findings {
		if f.CWE == cwe && f.Confidence >= Medium {
			return true
		}
	}
	return false
}
