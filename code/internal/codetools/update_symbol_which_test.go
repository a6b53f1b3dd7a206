package codetools

import (
	"strings"
	"testing"

	"github.com/parleyhq/parley/tool"
)

func TestUpdateOfOneOfSeveral(t *testing.T) {
	const python = "class A:\n    @property\n    def x(self):\n        return 1\n\n    @x.setter\n    def x(self, v):\n        self.v = v\n\n    @x.deleter\n    def x(self):\n        del self.v\n"
	const script = "class A {\n  get x() { return 1 }\n  set x(v) { this.v = v }\n  static s() { return 1 }\n  s() { return 2 }\n}\n"
	const typed = "interface A { x: number }\nclass A { y = 1 }\n"
	const golang = "package p\n\nfunc init() {}\n\nfunc init() { println(1) }\n"
	const twice = "try:\n    from a import f\nexcept ImportError:\n    def f():\n        return 1\nelse:\n    def f():\n        return 2\n"
	for _, c := range []struct {
		name, file, text, symbol string
		line                     int
		code, old, new           string // old "": refused
	}{
		{"a setter's code means the setter", "a.py", python, "A.x", 0, "@x.setter\ndef x(self, v):\n    self.v = 2", "self.v = v", "self.v = 2"},
		{"a getter's means the getter", "a.py", python, "A.x", 0, "@property\ndef x(self):\n    return 2", "return 1", "return 2"},
		{"a deleter's means the deleter", "a.py", python, "A.x", 0, "@x.deleter\ndef x(self):\n    pass", "del self.v", "pass"},
		{"the line says which", "a.py", python, "x", 7, "@x.setter\ndef x(self, w):\n    self.v = w", "def x(self, v):\n        self.v = v", "def x(self, w):\n        self.v = w"},
		{"another line", "a.py", python, "A.x", 1, "@property\ndef x(self):\n    return 2", "", ""},
		{"a javascript setter", "a.js", script, "A.x", 0, "set x(v) { this.v = 2 }", "this.v = v", "this.v = 2"},
		{"static or not", "a.js", script, "A.s", 0, "s() { return 3 }", "", ""},
		{"static or not, by line", "a.js", script, "A.s", 5, "s() { return 3 }", "return 2", "return 3"},
		{"an interface beside a class", "a.ts", typed, "A", 0, "class A { z = 1 }", "y = 1", "z = 1"},
		{"go's init", "a.go", golang, "init", 0, "func init() { println(2) }", "", ""},
		{"go's init, by line", "a.go", golang, "init", 5, "func init() { println(2) }", "println(1)", "println(2)"},
		{"twice in python", "a.py", twice, "f", 0, "def f():\n    return 3", "", ""},
		{"twice in python, by line", "a.py", twice, "f", 8, "def f():\n    return 3", "return 2", "return 3"},
		{"a line of the only one", "a.ts", "const f = () => 1;\n", "f", 1, "const f = () => 2;", "1", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, dir := folderWith(t, map[string]string{c.file: c.text})
			_, err := p.update(t, UpdateIn{Path: c.file, Symbol: c.symbol, Line: c.line, Code: c.code})
			if c.old == "" {
				e := refusedWith(t, err, tool.InvalidArgument)
				details, _ := e.Details.(map[string]any)
				if all, _ := details["candidates"].([]CandidateOut); len(all) < 2 || all[0].Kind == "" || all[0].Line == 0 || all[0].Line == all[1].Line {
					t.Errorf("the candidates are %+v", e.Details)
				}
				onlyFile(t, dir, c.file, c.text)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := contentOf(t, dir, c.file), strings.Replace(c.text, c.old, c.new, 1); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
