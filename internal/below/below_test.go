package below

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for p, want := range map[string]string{
		"": ".", ".": ".", "a//b/./c": "a/b/c", "a/../b": "b", "a/..": ".", strings.Repeat("a", MaxPath): strings.Repeat("a", MaxPath),
	} {
		if got, problem := Clean(p); got != want || problem != Fine {
			t.Errorf("%.40q: %.40q, problem %d", p, got, problem)
		}
	}
	for p, want := range map[string]Problem{
		strings.Repeat("a", MaxPath+1): TooLong, "a\x00": NotText, "\xff": NotText, "/etc": Absolute, "..": Outside, "a/../../b": Outside,
	} {
		if got, problem := Clean(p); got != "" || problem != want {
			t.Errorf("%.40q: %.40q, problem %d, want %d", p, got, problem, want)
		}
	}
}

func TestRelative(t *testing.T) {
	dir := t.TempDir()
	if got, ok := Relative(dir, filepath.ToSlash(filepath.Join(dir, "a", "b"))); got != "a/b" || !ok {
		t.Errorf("below: %q, %v", got, ok)
	}
	if got, ok := Relative(dir, filepath.ToSlash(filepath.Dir(dir))); got != "" || ok {
		t.Errorf("above: %q, %v", got, ok)
	}
}

func TestQuote(t *testing.T) {
	for _, c := range []struct{ p, want string }{
		{"a\nb", `"a\nb"`},
		{"abcdef", `"abcdef"`},
		{"abcdefg", `"abcdef"…`},
		{"abcdeß", `"abcde"…`}, // no half of a character
	} {
		if got := Quote(c.p, 6); got != c.want {
			t.Errorf("%q: %s, want %s", c.p, got, c.want)
		}
	}
}

// What the disk says is told without the paths of this machine.
func TestCause(t *testing.T) {
	dir := t.TempDir()
	_, missing := os.Open(filepath.Join(dir, "missing"))
	link := os.Rename(filepath.Join(dir, "missing"), filepath.Join(dir, "other"))
	for _, err := range []error{missing, link} {
		got := Cause(err)
		if !errors.Is(got, os.ErrNotExist) || strings.Contains(got.Error(), dir) {
			t.Errorf("%v: %v", err, got)
		}
	}
	if other := errors.New("other"); Cause(other) != other {
		t.Errorf("%v: %v", other, Cause(other))
	}
}

func TestEscapes(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.Symlink(filepath.Dir(dir), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if _, err := root.Stat("out/x"); !errors.Is(err, Escapes(root)) {
		t.Errorf("%v is not %v", err, Escapes(root))
	}
}
