package codetools

import "testing"

func TestUpdateIndentsLikeTheFile(t *testing.T) {
	const tabs = "class A:\n\tdef m(self):\n\t\treturn 1\n\n\tdef n(self):\n\t\treturn 2\n"
	const spaces = "class A:\n  def m(self):\n    return 1\n\n  def n(self):\n    return 2\n"
	const mixed = "def a():\n\tpass\n\ndef b():\n\tpass\n\ndef c():\n    pass\n"
	for _, c := range []struct{ name, file, text, symbol, code, want string }{
		{"spaces for tabs", "a.py", tabs, "A.m", "def m(self):\n    if y:\n        return '''\n    x'''\n    return f(1,\n             2)", "class A:\n\tdef m(self):\n\t\tif y:\n\t\t\treturn '''\n    x'''\n\t\treturn f(1,\n\t\t\t\t 2)\n\n\tdef n(self):\n\t\treturn 2\n"},
		{"indented spaces for tabs", "a.py", tabs, "A.m", "  def m(self):\n    return 3", "class A:\n\tdef m(self):\n\t\treturn 3\n\n\tdef n(self):\n\t\treturn 2\n"},
		{"tabs for two spaces", "a.py", spaces, "A.m", "def m(self):\n\tif y:\n\t\treturn 3", "class A:\n  def m(self):\n    if y:\n      return 3\n\n  def n(self):\n    return 2\n"},
		{"tabs for spaces in a script", "a.js", "function f() {\n    return 1;\n}\nfunction g() {\n    return 2;\n}\n", "f", "/**\n * Does.\n */\nfunction f() {\n\treturn `\n\tx`;\n}", "/**\n * Does.\n */\nfunction f() {\n    return `\n\tx`;\n}\nfunction g() {\n    return 2;\n}\n"},
		{"what was unlike its file stays so", "a.py", mixed, "c", "def c():\n    return 1", "def a():\n\tpass\n\ndef b():\n\tpass\n\ndef c():\n    return 1\n"},
		{"no indentation to go by", "a.py", "def a(): pass\n", "a", "def a():\n\treturn 1", "def a():\n\treturn 1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, dir := folderWith(t, map[string]string{c.file: c.text})
			if _, err := p.update(t, UpdateIn{Path: c.file, Symbol: c.symbol, Code: c.code}); err != nil {
				t.Fatal(err)
			}
			if got := contentOf(t, dir, c.file); got != c.want {
				t.Errorf("got\n%q\nwant\n%q", got, c.want)
			}
		})
	}
}
