package mcpfront_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parleyhq/parley/internal/mcpfront"
)

var update = flag.Bool("update", false, "write the transcripts anew")

// TestWire holds what goes over the wire against the transcripts in testdata.
// A line with > is a client's request: the first line of it, with as=PARTICIPANT,
// then headers, then the body. Lines with < are the answer.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			s := begin(t, mcpfront.Options{Version: "9"}, nil)
			s.budget = map[string]int{"other": 300}
			s.serve("files")
			s.serve("wiki")
			got := play(s, string(text))
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(text); got != want {
				t.Errorf("%s", difference(want, got))
			}
		})
	}
}

// play makes a transcript's requests, and returns it with the answers that came.
func play(s *site, text string) string {
	var out, asked strings.Builder
	session := ""
	answer := func() {
		if asked.Len() == 0 {
			return
		}
		r := s.do(readRequest(asked.String(), session))
		asked.Reset()
		if id := r.header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		out.WriteString(written(r))
	}
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "<"):
			continue
		case strings.HasPrefix(line, "> "):
			asked.WriteString(line[2:])
		default:
			answer()
		}
		out.WriteString(line)
	}
	answer()
	return out.String()
}

func readRequest(text, session string) (q request) {
	first, rest, _ := strings.Cut(text, "\n")
	for i, word := range strings.Fields(first) {
		as, isAs := strings.CutPrefix(word, "as=")
		switch {
		case isAs:
			q.as = as
		case i == 0:
			q.method = word
		default:
			q.path = word
		}
	}
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(strings.ReplaceAll(line, "SESSION", session))
		if name, _, ok := strings.Cut(line, ":"); ok && isHeader.MatchString(name) && q.body == "" {
			q.headers = append(q.headers, line)
		} else {
			q.body += line
		}
	}
	return q
}

var isHeader = regexp.MustCompile(`^[A-Za-z-]+$`)

// written is an answer as transcripts have it.
func written(r *reply) string {
	var b strings.Builder
	b.WriteString("< " + digits(r.status))
	if t := r.header.Get("Content-Type"); t != "" {
		b.WriteString(" " + t)
	}
	b.WriteString("\n")
	for _, name := range []string{"Allow", "Mcp-Session-Id"} {
		if v := r.header.Get(name); v != "" {
			b.WriteString("< " + name + ": " + v + "\n")
		}
	}
	for _, m := range r.messages {
		b.WriteString("< " + m + "\n")
	}
	text := isSession.ReplaceAllString(b.String(), "Mcp-Session-Id: SESSION")
	return isUUID.ReplaceAllString(text, "UUID")
}

var (
	isUUID    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	isSession = regexp.MustCompile(`Mcp-Session-Id: [A-Z2-7]{26}`)
)

func digits(status int) string {
	return string([]byte{byte('0' + status/100), byte('0' + status/10%10), byte('0' + status%10)})
}

// difference is the first line that is not as it should be.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		one, other := "(nothing)", "(nothing)"
		if i < len(w) {
			one = w[i]
		}
		if i < len(g) {
			other = g[i]
		}
		if one != other {
			return "want " + one + "\ngot  " + other
		}
	}
	return ""
}
