package codetools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// TestUpdateTakesWhatExtractShows gives symbols of real code back as they are,
// and without the white space around them. Neither changes a byte.
func TestUpdateTakesWhatExtractShows(t *testing.T) {
	cache := filepath.Join("..", "..", "..", ".cache")
	requests := filepath.Join(cache, "debian", "python3-requests", "usr", "lib", "python3", "dist-packages", "requests")
	modules := filepath.Join(cache, "npm-code", "node_modules")
	tried := 0
	for _, file := range []string{
		filepath.Join(goroot(t), "src", "net", "http", "server.go"), filepath.Join(goroot(t), "src", "net", "http", "transfer.go"),
		filepath.Join(requests, "models.py"), filepath.Join(requests, "utils.py"), filepath.Join(requests, "cookies.py"),
		filepath.Join(modules, "express", "lib", "application.js"), filepath.Join(modules, "express", "lib", "response.js"), filepath.Join(modules, "lodash", "lodash.js"),
	} {
		if _, err := os.Stat(file); err != nil {
			continue // fetched by scripts/fetch-test-deps
		}
		p := openedAt(t, filepath.Dir(file))
		f, err := p.File(t.Context(), filepath.Base(file), "")
		if err != nil {
			t.Fatal(err)
		}
		symbols := Symbols(f)
		for i := 0; i < len(symbols); i += 1 + len(symbols)/12 {
			s := symbols[i]
			shown := f.Text(wholeLines(f, s.Whole))
			codes := []string{shown}
			if wholeLines(f, s.Whole).Start == f.LineSpan(s.Whole.Line, s.Whole.Line).Start {
				codes = append(codes, strings.TrimSpace(shown))
			}
			for _, code := range codes {
				e, err := p.edited(t.Context(), f, s, UpdateIn{Symbol: s.Name, Code: code})
				if err != nil {
					t.Errorf("%s in %s: %v", s.Name, filepath.Base(file), err)
					continue
				}
				tried++
				if text, _ := e.diff(); !e.unchanged() {
					t.Errorf("%s in %s changed:\n%s", s.Name, filepath.Base(file), text)
				}
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d symbols were tried", tried)
	}
}

// TestUpdateIndentsWhatIsNotIndented gives methods of real code back without
// their indentation.
func TestUpdateIndentsWhatIsNotIndented(t *testing.T) {
	file := filepath.Join(pythonLibrary(t), "argparse.py")
	p := openedAt(t, filepath.Dir(file))
	f, err := p.File(t.Context(), "argparse.py", syntax.Python)
	if err != nil {
		t.Skip("this python has no argparse: ", err)
	}
	tried := 0
	for _, s := range Symbols(f) {
		text := f.Text(wholeLines(f, s.Whole))
		in := indentOf(text)
		if in == "" || s.Function < 0 || strings.Contains(text, "'''") || strings.Contains(text, `"""`) || tried == 40 {
			continue
		}
		tried++
		var out strings.Builder
		for line := range strings.Lines(text) {
			out.WriteString(strings.TrimPrefix(line, in))
		}
		e, err := p.edited(t.Context(), f, s, UpdateIn{Symbol: s.Name, Code: out.String()})
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
		} else if text, _ := e.diff(); !e.unchanged() {
			t.Errorf("%s changed:\n%s", s.Name, text)
		}
	}
	if tried < 10 {
		t.Errorf("only %d methods were tried", tried)
	}
}
