package taint

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// The labelled set: pairs of code that is vulnerable and its twin that is not.
// Each file of a class begins with a prelude, which stands before each case. A
// line that should be found ends with a comment "want CWE-…".

type labelled struct {
	name       string
	vulnerable bool
	source     string
	wants      map[int]string // line to CWE
}

func readLabelled(t testing.TB, file string) (out []labelled) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	prelude := ""
	var now *labelled
	for line := range strings.Lines(string(data)) {
		head, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "-- ")
		head, ok2 := strings.CutSuffix(head, " --")
		switch {
		case ok && ok2 && head == "prelude":
			now = nil
		case ok && ok2:
			name, label, found := strings.Cut(head, ": ")
			if !found || label != "vulnerable" && label != "safe" {
				t.Fatalf("%s: the case %q is labelled neither vulnerable nor safe", file, head)
			}
			out = append(out, labelled{name: name, vulnerable: label == "vulnerable", source: prelude, wants: map[int]string{}})
			now = &out[len(out)-1]
		case now == nil:
			prelude += line
		default:
			now.source += line
			if _, cwe, ok := strings.Cut(strings.TrimSpace(line), " want "); ok {
				now.wants[strings.Count(now.source, "\n")] = cwe
			}
		}
	}
	for _, c := range out {
		if c.vulnerable != (len(c.wants) > 0) {
			t.Errorf("%s: %s: labels and marks disagree", file, c.name)
		}
	}
	return out
}

// score counts cases and findings of one class.
type score struct{ vulnerable, safe, right, wrong, missed int }

func (s *score) add(o score) {
	s.vulnerable += o.vulnerable
	s.safe += o.safe
	s.right += o.right
	s.wrong += o.wrong
	s.missed += o.missed
}

func ratio(a, b int) float64 {
	if a+b == 0 {
		return 1
	}
	return float64(a) / float64(a+b)
}

func (s score) precision() float64 { return ratio(s.right, s.wrong) }
func (s score) recall() float64    { return ratio(s.right, s.missed) }

func (s score) String() string {
	return fmt.Sprintf("%3d vulnerable %3d safe  found %3d wrongly %2d missed %2d  precision %.2f recall %.2f",
		s.vulnerable, s.safe, s.right, s.wrong, s.missed, s.precision(), s.recall())
}

var endings = map[string]string{"python": "a.py", "javascript": "a.js", "go": "a.go"}

func measure(t testing.TB, c labelled, language, where string) (s score) {
	t.Helper()
	f, err := syntax.Parse(t.Context(), syntax.LanguageOf(endings[language]), endings[language], []byte(c.source))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Errors) > 0 {
		t.Errorf("%s does not parse: line %d", where, f.Errors[0].Line)
	}
	report, err := Scan(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	missing := maps.Clone(c.wants)
	for _, found := range report.Findings {
		if found.Confidence < Medium {
			continue
		}
		if missing[found.Line] == found.CWE {
			delete(missing, found.Line)
			s.right++
			continue
		}
		s.wrong++
		t.Logf("%s: wrongly %s at line %d", where, found.CWE, found.Line)
	}
	for line, cwe := range missing {
		s.missed++
		t.Logf("%s: missed %s at line %d", where, cwe, line)
	}
	if s.vulnerable = 1; !c.vulnerable {
		s.vulnerable, s.safe = 0, 1
	}
	return s
}

// measureSet measures a set, by language and class, and prints it.
func measureSet(t *testing.T, dir string) map[string]score {
	t.Helper()
	totals := map[string]score{}
	for _, language := range slices.Sorted(maps.Keys(endings)) {
		files, err := filepath.Glob(filepath.Join(dir, language, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no cases for %s in %s", language, dir)
		}
		var total score
		for _, file := range files {
			var class score
			for _, c := range readLabelled(t, file) {
				class.add(measure(t, c, language, fmt.Sprintf("%s/%s: %s, vulnerable %v", language, filepath.Base(file), c.name, c.vulnerable)))
			}
			t.Logf("%-10s %-12s %v", language, strings.TrimSuffix(filepath.Base(file), ".txtar"), class)
			totals[language+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar")] = class
			total.add(class)
		}
		t.Logf("%-10s %-12s %v", language, "all", total)
		totals[language] = total
	}
	return totals
}

func TestLabelled(t *testing.T) {
	totals := measureSet(t, "testdata/labelled")
	for name, s := range totals {
		if s.precision() < 0.95 || s.recall() < 0.95 {
			t.Errorf("%s: %v", name, s)
		}
	}
}

// These were written after the engine; the docs say what it made of them at
// first sight.
func TestHeldOut(t *testing.T) {
	totals := measureSet(t, "testdata/heldout")
	for name := range endings {
		if s := totals[name]; s.precision() < 0.95 || s.recall() < 0.95 {
			t.Errorf("%s: %v", name, s)
		}
	}
}

// These were written last, when the ones before had taught what they could.
func TestUnseen(t *testing.T) {
	totals := measureSet(t, "testdata/unseen")
	for name := range endings {
		if s := totals[name]; s.precision() < 0.95 || s.recall() < 0.95 {
			t.Errorf("%s: %v", name, s)
		}
	}
}
