package codetools

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

func TestUpdateRefusesWhatGrammarsLetThrough(t *testing.T) {
	const script = "const o = { a: 1, b: function () { return 1 }, c: 2 };\n"
	for _, c := range []struct{ name, file, text, symbol, code, message string }{
		{"a depth that no block has", "a.py", "def f():\n    pass\n", "f", "def f():\n    x = 1\n  y = 2", "like no block"},
		{"too deep", "a.py", "def f():\n    pass\n", "f", "def f():\n    x = 1\n      y = 2", "no block begins"},
		{"tabs and spaces", "a.py", "def f():\n    pass\n", "f", "def f():\n\tx = 1\n        y = 2", "tabs and spaces"},
		{"two commas", "a.js", script, "o.b", "b: function () { return 7 },,", "comma"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, dir := folderWith(t, map[string]string{c.file: c.text})
			_, err := p.update(t, UpdateIn{Path: c.file, Symbol: c.symbol, Code: c.code})
			if e := refusedWith(t, err, tool.InvalidArgument); !strings.Contains(e.Message, c.message) {
				t.Errorf("it says %q, want %q", e.Message, c.message)
			}
			onlyFile(t, dir, c.file, c.text)
		})
	}
}

func TestUpdateTakesTheCommaThatFollowsForItsOwn(t *testing.T) {
	for _, c := range []struct{ text, symbol, code, want string }{
		{"const o = { a: 1, b: function () { return 1 }, c: 2 };\n", "o.b", "b: function () { return 7 },", "const o = { a: 1, b: function () { return 7 }, c: 2 };\n"},
		{"const o = {\n  b() { return 1 } ,\n};\n", "o.b", "b() { return 7 },\n", "const o = {\n  b() { return 7 } ,\n};\n"},
		{"class A {\n  f = () => 1;\n}\n", "A.f", "f = () => 2;", "class A {\n  f = () => 2;\n}\n"},
		{"const o = { b() { return 1 } };\n", "o.b", "b() { return 7 },", "const o = { b() { return 7 }, };\n"},
	} {
		p, dir := folderWith(t, map[string]string{"a.js": c.text})
		if _, err := p.update(t, UpdateIn{Path: "a.js", Symbol: c.symbol, Code: c.code}); err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if got := contentOf(t, dir, "a.js"); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// TestIndentationIsPythons exchanges the white space of lines of real code, and
// holds what is found against what python says.
func TestIndentationIsPythons(t *testing.T) {
	lib := pythonLibrary(t)
	files, _ := filepath.Glob(filepath.Join(lib, "*.py"))
	p, dir := folderWith(t, nil)
	r := rand.New(rand.NewPCG(1, 2))
	found := map[string]bool{}
	for i, name := range files {
		data, err := os.ReadFile(name)
		if err != nil || len(data) > 40<<10 || len(found) >= 400 {
			continue
		}
		for j := range 4 {
			text := string(data)
			if j > 0 {
				text = shaken(text, r)
			}
			f, err := p.Parse(t.Context(), syntax.Python, "", []byte(text))
			if err != nil || len(f.Errors) > 0 {
				continue // refused without us
			}
			base := fmt.Sprintf("%d_%d.py", i, j)
			if err := os.WriteFile(filepath.Join(dir, base), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			found[base] = strictFault(f) != nil
		}
	}
	const script = `
import sys, os
for name in sorted(os.listdir(sys.argv[1])):
    try:
        compile(open(os.path.join(sys.argv[1], name), "rb").read(), name, "exec")
    except IndentationError:
        print(name)
    except SyntaxError:
        pass
`
	bad := map[string]bool{}
	for _, name := range python(t, script, dir) {
		bad[name] = true
	}
	if len(found) < 100 || len(bad) < 20 {
		t.Errorf("%d files were tried, of which %d are bad: too few", len(found), len(bad))
	}
	for name, fault := range found {
		if fault != bad[name] {
			t.Errorf("%s: found %v, python %v", name, fault, bad[name])
		}
	}
}

// shaken has other white space before one of its lines.
func shaken(text string, r *rand.Rand) string {
	lines := strings.SplitAfter(text, "\n")
	i := r.IntN(len(lines))
	white := []string{"", "  ", "    ", "\t", "\t\t", "        ", "      ", " \t"}
	lines[i] = white[r.IntN(len(white))] + strings.TrimLeft(lines[i], " \t")
	return strings.Join(lines, "")
}
