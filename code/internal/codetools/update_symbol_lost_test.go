package codetools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parleyhq/parley/tool"
)

func TestUpdateSaysWhatIsLost(t *testing.T) {
	for _, c := range []struct{ file, text, symbol, code, want string }{
		{"a.py", "@x.d\n@x.e(1,\n  2)\ndef f(): pass\n", "f", "@x.d\ndef f(): return 1", "[@x.e(1, 2)]"},
		{"a.py", "@x.d\ndef f(): pass\n", "f", "@x.d\ndef f(): return 1", "[]"},
		{"a.py", "# about f\n@x.d\nclass C: pass\n", "C", "class C:\n    @y\n    def m(self): pass", "[@x.d]"},
		{"a.ts", "class A {\n  @Host(\"a\") m() { return 1 }\n}\n", "A.m", "m() { return 2 }", `[@Host("a")]`},
		{"a.ts", "@C()\nexport class A {}\n", "A", "class A { x = 1 }", "[@C() export]"},
		{"a.ts", "export default function f() {}\n", "f", "function f() { return 1 }", "[export default]"},
		{"a.ts", "export default function f() {}\n", "f", "export function f() { return 1 }", "[export default]"},
		{"a.ts", "export const f = () => 1;\n", "f", "const f = () => 2;", "[export]"},
		{"a.ts", "export const f = () => 1;\n", "f", "export const f = () => 2;", "[]"},
		{"a.go", "package p\n\n// f does.\n//\n//go:noinline\n//export f\nfunc f() {}\n", "f", "// f is.\nfunc f() { println() }", "[//go:noinline //export f]"},
		{"a.go", "package p\n\n// f does.\n//\n//go:noinline\nfunc f() {}\n", "f", "func f() { println() }", "[]"},
		{"a.go", "package p\n\nimport _ \"embed\"\n\n//go:embed a.txt\nvar s string\n", "s", "// s is.\nvar s []byte", "[//go:embed a.txt]"},
	} {
		p, _ := folderWith(t, map[string]string{c.file: c.text})
		out, err := p.update(t, UpdateIn{Path: c.file, Symbol: c.symbol, Code: c.code})
		if err != nil {
			t.Errorf("%q: %v", c.code, err)
		} else if got := fmt.Sprint(out.Dropped); got != c.want {
			t.Errorf("%q for %q: dropped is %s, want %s", c.code, c.text, got, c.want)
		}
	}
}

func TestUpdateDeclaresNothingTwice(t *testing.T) {
	const golang = "package p\n\nfunc f() {}\n\nfunc g() {}\n\ntype T struct{}\n\nfunc (T) m() {}\n\nfunc init() {}\n"
	const typed = "function f(a: string): void;\nfunction f(a: number): void;\nfunction f(a: any) {}\nclass A {\n  m(): void;\n  m(a?: any) {}\n}\nclass B { m(a?: any) {} }\n"
	for _, c := range []struct{ file, text, symbol, code, message string }{
		{"a.go", golang, "f", "func f() {}\nfunc g() {}", `"g" would be declared twice`},
		{"a.go", golang, "f", "func f() {}\nvar T = 1", `"T" would be declared twice`},
		{"a.go", golang, "f", "func f() {}\nfunc (*T) m() {}", `"T.m" would be declared twice`},
		{"a.ts", typed, "f", "function f(a: string): void;\nfunction f(a: number): void;\nfunction f(a: any) { return }", "the signature"},
		{"a.ts", typed, "A.m", "m(): void;\n  m(a?: any) { return }", "the signature"},
	} {
		p, dir := folderWith(t, map[string]string{c.file: c.text})
		_, err := p.update(t, UpdateIn{Path: c.file, Symbol: c.symbol, Code: c.code})
		if e := refusedWith(t, err, tool.InvalidArgument); !strings.Contains(e.Message, c.message) {
			t.Errorf("it says %q, want %q", e.Message, c.message)
		}
		onlyFile(t, dir, c.file, c.text)
	}
	for _, c := range []struct{ file, text, symbol, code, want string }{
		{"a.go", golang, "f", "func f() {\n\ttype T int\n}\n\nfunc init() {}\n\nvar _ = 1\nvar _ = 2", "[]"},
		{"a.ts", typed, "B.m", "m(): void;\n  m(a?: any) { return }", "[]"},
		{"a.py", "def f(): pass\ndef g(): pass\n", "f", "def f(): pass\ndef g(): return 1", "[g]"},
		{"a.js", "function f() {}\nfunction g() {}\n", "f", "function f() { const g = 1; { const h = () => 1 } { const h = () => 2 } }", "[]"},
	} {
		p, _ := folderWith(t, map[string]string{c.file: c.text})
		out, err := p.update(t, UpdateIn{Path: c.file, Symbol: c.symbol, Code: c.code})
		if err != nil {
			t.Errorf("%q: %v", c.code, err)
		} else if got := fmt.Sprint(out.Twice); got != c.want {
			t.Errorf("%q: declared_twice is %s, want %s", c.code, got, c.want)
		}
	}
}

func TestUpdateKeepsTheCommentBehind(t *testing.T) {
	for _, c := range []struct{ file, text, symbol, code, want string }{
		{"a.js", "const f = () => 1 // keep\n// about g\nfunction g() {}\n", "f", "const f = () => 2", "const f = () => 2 // keep\n// about g\nfunction g() {}\n"},
		{"a.js", "const f = () => 1 // keep\nlet x\n", "f", "const f = () => 2 // new", "const f = () => 2 // new\nlet x\n"},
		{"a.ts", "class A {\n  f() {\n    return 1\n  } // keep\n  // about g\n  g() {}\n}\n", "A.f", "f() { return 2 }", "class A {\n  f() { return 2 } // keep\n  // about g\n  g() {}\n}\n"},
		{"a.ts", "type A = string // keep\nlet x\n", "A", "type A = number", "type A = number // keep\nlet x\n"},
		{"a.py", "def f(): return 1  # keep\nx = 2\n", "f", "def f(): return 2", "def f(): return 2  # keep\nx = 2\n"},
		{"a.py", "def f():\n    return 1  # one\nx = 2\n", "f", "def f():\n    return 2", "def f():\n    return 2\nx = 2\n"},
		{"a.go", "package p\n\nfunc f() {} // keep\n", "f", "func f() { println() }", "package p\n\nfunc f() { println() } // keep\n"},
	} {
		p, dir := folderWith(t, map[string]string{c.file: c.text})
		if _, err := p.update(t, UpdateIn{Path: c.file, Symbol: c.symbol, Code: c.code}); err != nil {
			t.Errorf("%q: %v", c.code, err)
		} else if got := contentOf(t, dir, c.file); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}
