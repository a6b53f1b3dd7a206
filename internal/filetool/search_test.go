package filetool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parleyhq/parley"
)

func TestSearch(t *testing.T) {
	r := newRoom(t, nil)
	for name, content := range map[string]string{
		"README.md":        "Hello\nworld, hello\n",
		"src/main.go":      "package main\n// hello\n",
		"src/main_test.go": "package main\n",
		"src/deep/x.md":    "nothing",
		"vendor/v.go":      "// hello\r\n",
		"bin/tool":         "hello\x00hello",
		"unicode.txt":      "GRÖSSE größe",
	} {
		r.put(name, content)
	}
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"pattern": "*.md"}, "README.md\nsrc/deep/x.md"},
		{args{"pattern": "**/*.md"}, "README.md\nsrc/deep/x.md"},
		{args{"pattern": "./*.md"}, "README.md\nsrc/deep/x.md"},
		{args{"pattern": "src/*"}, "src/deep/\nsrc/main.go\nsrc/main_test.go"},
		{args{"pattern": "*", "path": "src"}, "src/deep/\nsrc/deep/x.md\nsrc/main.go\nsrc/main_test.go"},
		{args{"pattern": "deep/*", "path": "src"}, "src/deep/x.md"},
		{args{"pattern": "*.{go,txt}", "excludePatterns": []string{"vendor", "*_test.go"}}, "src/main.go\nunicode.txt"},
		{args{"text": "hello"}, "README.md:2: world, hello\nsrc/main.go:2: // hello\nvendor/v.go:1: // hello\n(1 not searched: binary, too large or unreadable)"},
		{args{"text": "HELLO", "ignoreCase": true, "pattern": "*.md"}, "README.md:1: Hello\nREADME.md:2: world, hello"},
		{args{"text": "größe", "ignoreCase": true}, "unicode.txt:1: GRÖSSE größe\n(1 not searched: binary, too large or unreadable)"},
		{args{"pattern": "absent"}, "(nothing found)"},
		{args{"pattern": "*", "maxResults": 2}, "README.md\nbin/\n(cut here: search a smaller folder or be more specific)"},
		{args{"pattern": "*.md", "maxResults": 2}, "README.md\nsrc/deep/x.md"},
	} {
		if got := text(r.do("search_files", c.args)); got != c.want {
			t.Errorf("%v:\n got %q\nwant %q", c.args, got, c.want)
		}
	}
	for _, a := range []args{
		{},
		{"pattern": "[a"},
		{"pattern": "{a"},
		{"pattern": "a}"},
		{"pattern": "/etc/*"},
		{"pattern": "../*"},
		{"pattern": "%d/../%s"},
		{"pattern": strings.Repeat("{a,b}", 7)},
		{"pattern": strings.Repeat("x", maxPattern+1)},
		{"pattern": "*", "excludePatterns": []string{"["}},
		{"pattern": "*", "maxResults": 1001},
		{"pattern": "*", "maxResults": -1},
		{"text": "a\nb"},
		{"pattern": "*", "path": "README.md"},
	} {
		if got := r.refused("invalid_argument", "search_files", a); strings.Contains(got, "%!") {
			t.Errorf("%v: %q", a, got)
		}
	}
	r.refused("not_found", "search_files", args{"pattern": "*", "path": "absent"})
	r.refused("forbidden", "search_files", args{"pattern": "*", "path": ".."})
}

func TestSearchShortensLongLines(t *testing.T) {
	r := newRoom(t, nil)
	r.put("long", strings.Repeat("é", 5000)+"needle"+strings.Repeat("é", 5000))
	got := ok[searchOutput](r, "search_files", args{"text": "needle"})
	if len(got.Matches) != 1 {
		t.Fatalf("%+v", got)
	}
	line := got.Matches[0].Text
	if !strings.Contains(line, "needle") || len(line) > excerptBytes+2*len("…") || strings.Contains(line, "\uFFFD") ||
		!strings.HasPrefix(line, "…") || !strings.HasSuffix(line, "…") {
		t.Errorf("%q", line)
	}
}

func TestSearchSkipsWhatIsTooLarge(t *testing.T) {
	r := newRoom(t, nil)
	r.put("big", "needle")
	if err := os.Truncate(filepath.Join(r.dir, "big"), maxSearched+1); err != nil {
		t.Fatal(err)
	}
	if got := ok[searchOutput](r, "search_files", args{"text": "needle"}); len(got.Matches) != 0 || got.Skipped != 1 {
		t.Errorf("%+v", got)
	}
}

func TestCancelledCallsStop(t *testing.T) {
	r := newRoom(t, nil)
	r.put("a/b", "text")
	f, err := openFolder(r.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"read":   func() error { _, err := f.read(ctx, readInput{Path: "a/b"}); return err },
		"write":  func() error { _, err := f.write(ctx, writeInput{Path: "a/b", Content: "new"}); return err },
		"list":   func() error { _, err := f.list(ctx, listInput{}); return err },
		"search": func() error { _, err := f.search(ctx, searchInput{Text: "text"}); return err },
		"info":   func() error { _, err := f.info(ctx, infoInput{Path: "a"}); return err },
		"mkdir":  func() error { _, err := f.mkdir(ctx, mkdirInput{Path: "c"}); return err },
		"move":   func() error { _, err := f.move(ctx, moveInput{Source: "a", Destination: "d"}); return err },
		"delete": func() error { _, err := f.delete(ctx, deleteInput{Path: "a", Recursive: true}); return err },
	} {
		if err := call(); !errors.Is(err, &parley.Error{Code: Cancelled}) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := r.get("a/b"); got != "text" || !slices.Equal(r.names("."), []string{"a"}) || !slices.Equal(r.names("a"), []string{"b"}) {
		t.Errorf("something was changed: %q, %q", got, r.names("."))
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no string // space-separated
	}{
		{"*.go", "a.go x/y/b.go", "a.gox go"},
		{"a?c", "abc x/aéc", "ac abbc"},
		{"[a-c]*", "a bx x/c1", "d x/d"},
		{"a/**", "a a/b a/b/c", "b a1"},
		{"**", "a a/b", ""},
		{"a/**/b", "a/b a/x/b a/x/y/b", "b a/x a/b/c"},
		{"**/a/**/b/**", "a/b x/a/y/b/z", "b/a a/c"},
		{"{a,b/{c,d}}/*", "a/x b/c/x b/d/x", "b/x c/x"},
		{"x{,y}", "x xy", "xyy"},
		{`\*`, "*", "a"},
	} {
		g, err := parseGlob(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for p := range strings.FieldsSeq(c.yes) {
			if !g.match(p) {
				t.Errorf("%s does not fit %s", c.pattern, p)
			}
		}
		for p := range strings.FieldsSeq(c.no) {
			if g.match(p) {
				t.Errorf("%s fits %s", c.pattern, p)
			}
		}
	}
}

// A glob without brackets and escapes fits exactly what a regular expression
// made from it fits.
func FuzzGlob(f *testing.F) {
	for _, p := range []string{"*.go", "a/**/b", "**/a/**", "{a,b/{c,d}}?", "**", "a**b/*"} {
		f.Add(p, "a/b/c.go")
	}
	f.Fuzz(func(t *testing.T, pattern, p string) {
		g, err := parseGlob(pattern)
		// Regular expressions see bytes that are no UTF-8 differently.
		if err != nil || strings.ContainsAny(pattern, `[]\`) || !utf8.ValidString(pattern) || !utf8.ValidString(p) {
			return
		}
		want := slices.ContainsFunc(g.ways, func(segments []string) bool {
			return regexp.MustCompile(globAsRegexp(segments)).MatchString("/" + p)
		})
		if got := g.match(p); got != want {
			t.Errorf("%q on %q: %v, want %v", pattern, p, got, want)
		}
	})
}

func globAsRegexp(segments []string) string {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for _, s := range segments {
		if s == "**" {
			b.WriteString(`(/[^/]*)*`)
			continue
		}
		b.WriteByte('/')
		quoted := regexp.QuoteMeta(s)
		b.WriteString(strings.NewReplacer(`\*`, `[^/]*`, `\?`, `[^/]`).Replace(quoted))
	}
	return fmt.Sprint(b.String(), `\z`)
}
