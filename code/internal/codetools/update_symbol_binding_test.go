package codetools

import (
	"testing"

	"github.com/parleyhq/parley/tool"
)

func TestUpdateTakesTheValueOrTheVariable(t *testing.T) {
	const refused = ""
	for _, c := range []struct{ name, file, text, symbol, code, want string }{
		{"a lambda's value", "a.py", "f = lambda x: x\ng = 1\n", "f", "lambda x: x + 1", "f = lambda x: x + 1\ng = 1\n"},
		{"a lambda with its variable", "a.py", "f = lambda x: x\ng = 1\n", "f", "f = lambda x: x + 1\n", "f = lambda x: x + 1\ng = 1\n"},
		{"a lambda that gets a type", "a.py", "f: T = lambda x: x\n", "f", "f: U = lambda x: 2", "f: U = lambda x: 2\n"},
		{"a lambda that becomes a function", "a.py", "f = lambda x: x\n", "f", "f = lambda x=1: x == 1", "f = lambda x=1: x == 1\n"},
		{"a lambda in a function", "a.py", "def o():\n    f = lambda x: x\n    return f\n", "o.f", "f = lambda x: 2", "def o():\n    f = lambda x: 2\n    return f\n"},
		{"a lambda in brackets", "a.py", "f = g(lambda: 1)\nh = (lambda: 1)\n", "f", "f = g(lambda: 2)", "f = g(lambda: 2)\nh = (lambda: 1)\n"},
		{"go", "a.go", "package p\n\nvar f = func() int { return 1 }\n", "f", "var f = func() int { return 2 }", "package p\n\nvar f = func() int { return 2 }\n"},
		{"go's value", "a.go", "package p\n\nvar f = func() int { return 1 }\n", "f", "func() int { return 2 }", "package p\n\nvar f = func() int { return 2 }\n"},
		{"go with a type", "a.go", "package p\n\nvar f func() int = func() int { return 1 }\n", "f", "var f = func() int { return 2 }", "package p\n\nvar f = func() int { return 2 }\n"},
		{"go in a group", "a.go", "package p\n\nvar (\n\tf = func() {}\n\tg = 1\n)\n", "f", "f = func() { println() }", "package p\n\nvar (\n\tf = func() { println() }\n\tg = 1\n)\n"},
		{"go in a group, with the keyword", "a.go", "package p\n\nvar (\n\tf = func() {}\n\tg = 1\n)\n", "f", "var f = func() { println() }", refused},
		{"the second of two", "a.js", "const add = (a, b) => a, sub = (a, b) => b;\n", "sub", "sub = (a, b) => 0", "const add = (a, b) => a, sub = (a, b) => 0;\n"},
		{"the second of two, its value", "a.js", "const add = (a, b) => a, sub = (a, b) => b;\n", "sub", "(a, b) => 0", "const add = (a, b) => a, sub = (a, b) => 0;\n"},
		{"the second of two, with the keyword", "a.js", "const add = (a, b) => a, sub = (a, b) => b;\n", "sub", "const sub = (a, b) => 0", refused},
		{"the first of two", "a.js", "const add = (a, b) => a, sub = (a, b) => b;\n", "add", "const add = (a, b) => 0", "const add = (a, b) => 0, sub = (a, b) => b;\n"},
		{"the first of two, without the keyword", "a.js", "const add = (a, b) => a, sub = (a, b) => b;\n", "add", "add = (a, b) => 0", "const add = (a, b) => 0, sub = (a, b) => b;\n"},
		{"in brackets", "a.js", "const a = 1, sub = ((a, b) => b);\n", "sub", "sub = ((a, b) => 0)", refused},
		{"in brackets, the value", "a.js", "const a = 1, sub = ((a, b) => b);\n", "sub", "(a, b) => 0", "const a = 1, sub = ((a, b) => 0);\n"},
		{"a parameter with the name", "a.js", "const a = 1, sub = (a, b) => b;\n", "sub", "sub => 0", "const a = 1, sub = sub => 0;\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, dir := folderWith(t, map[string]string{c.file: c.text})
			_, err := p.update(t, UpdateIn{Path: c.file, Symbol: c.symbol, Code: c.code})
			if c.want == refused {
				refusedWith(t, err, tool.InvalidArgument)
				onlyFile(t, dir, c.file, c.text)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := contentOf(t, dir, c.file); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestUpdateReadsIndentationInBothWays(t *testing.T) {
	for _, c := range []struct{ file, text, symbol, code, want string }{
		{"a.py", "class A:\n    def c(cls): return 1\n    y = 2\n", "A.c", "def c(cls):\n    return 2", "class A:\n    def c(cls):\n        return 2\n    y = 2\n"},
		{"a.py", "class A:\n  def c(cls):\n    return 1\n", "A.c", "def c(cls):\n    if cls:\n      return 2", "class A:\n  def c(cls):\n    if cls:\n      return 2\n"},
	} {
		p, dir := folderWith(t, map[string]string{c.file: c.text})
		if _, err := p.update(t, UpdateIn{Path: c.file, Symbol: c.symbol, Code: c.code}); err != nil {
			t.Errorf("%q: %v", c.code, err)
		} else if got := contentOf(t, dir, c.file); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}
