package codetools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parleyhq/parley/tool"
)

// folderWith is a project with these files, and the folder it lies in.
func folderWith(t testing.TB, files map[string]string) (*Project, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return openedAt(t, dir), dir
}

func openedAt(t testing.TB, dir string) *Project {
	t.Helper()
	p, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// refusedWith checks the code of an error.
func refusedWith(t testing.TB, err error, code tool.Code) *tool.Error {
	t.Helper()
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Code != code {
		t.Fatalf("got the error %v, want one with the code %s", err, code)
	}
	return e
}

func (p *Project) update(t testing.TB, in UpdateIn) (UpdateOut, error) {
	t.Helper()
	return p.UpdateSymbol(t.Context(), tool.NewCall(updateSymbol, tool.Community, ""), in)
}

func contentOf(t testing.TB, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestUpdateReplacesTheSymbolAlone(t *testing.T) {
	const python = "import os\n\n\n# Reads.\nclass A:\n    # Counts.\n    @property\n    def n(self):\n        return 1\n\n    def m(self):\n        return 2\n\n\ndef end(): pass"
	const script = "class A {\n  // says it\n  say() {\n    return 1;\n  }\n  get x() { return 1; }\n}\nexport const add = (a, b) => a + b;\nmodule.exports.sub = function (a) { return a };\n"
	const golang = "package p\n\n// F does.\nfunc F() int { return 1 }\n\ntype T struct{}\n\nfunc (t *T) M() {}\n"
	for _, c := range []struct {
		name, file, text, symbol, code, want string
	}{
		{"go function keeps its comment", "a.go", golang, "F", "func F() int { return 2 }", strings.Replace(golang, "return 1", "return 2", 1)},
		{"go comment is exchanged", "a.go", golang, "F", "// F is.\nfunc F() int { return 2 }\n\n", strings.Replace(golang, "// F does.\nfunc F() int { return 1 }", "// F is.\nfunc F() int { return 2 }", 1)},
		{"go method", "a.go", golang, "(*T).M", "func (t *T) M() {\n\tprintln(`a\nb`)\n}\n", strings.Replace(golang, "func (t *T) M() {}", "func (t *T) M() {\n\tprintln(`a\nb`)\n}", 1)},
		{"go code that was indented", "a.go", golang, "F", "\tfunc F() string {\n\t\treturn `\n\t\tx`\n\t}", strings.Replace(golang, "func F() int { return 1 }", "func F() string {\n\treturn `\n\t\tx`\n}", 1)},
		{"python method without indentation", "a.py", python, "A.m", "def m(self):\n    return '''\nx'''\n", strings.Replace(python, "    def m(self):\n        return 2", "    def m(self):\n        return '''\nx'''", 1)},
		{"python method whose first line lost its indentation", "a.py", python, "A.m", "def m(self):\n        return 3", strings.Replace(python, "return 2", "return 3", 1)},
		{"python method as extract_code shows it", "a.py", python, "A.m", "    def m(self):\n        return 3\n", strings.Replace(python, "return 2", "return 3", 1)},
		{"python decorators are part of it, the comment stays", "a.py", python, "A.n", "def n(self):\n    return 5", strings.Replace(python, "    @property\n    def n(self):\n        return 1", "    def n(self):\n        return 5", 1)},
		{"python at the end of a file without a line break", "a.py", python, "end", "def end():\n\treturn 1\n", strings.Replace(python, "def end(): pass", "def end():\n    return 1", 1)},
		{"python class", "a.py", python, "A", "class A:\n    pass", "import os\n\n\n# Reads.\nclass A:\n    pass\n\n\ndef end(): pass"},
		{"javascript method", "a.js", script, "A.say", "say() {\n  return `\na`;\n}", strings.Replace(script, "  say() {\n    return 1;\n  }", "  say() {\n    return `\na`;\n  }", 1)},
		{"javascript method whose first line lost its indentation", "a.js", script, "A.say", "say() {\n    return 2;\n  }", strings.Replace(script, "    return 1;", "    return 2;", 1)},
		{"javascript arrow", "a.js", script, "add", "export const add = (a, b) => b + a;", strings.Replace(script, "a + b", "b + a", 1)},
		{"commonjs export", "a.js", script, "module.exports.sub", "module.exports.sub = function (a) { return -a };", strings.Replace(script, "return a }", "return -a }", 1)},
		{"line endings of windows", "a.go", strings.ReplaceAll(golang, "\n", "\r\n"), "F", "func F() int {\n\treturn 2\n}", strings.ReplaceAll(strings.Replace(golang, "{ return 1 }", "{\n\treturn 2\n}", 1), "\n", "\r\n")},
		{"line endings of unix", "a.go", golang, "F", "func F() int {\r\n\treturn 2\r\n}", strings.Replace(golang, "{ return 1 }", "{\n\treturn 2\n}", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, dir := folderWith(t, map[string]string{c.file: c.text})
			dry, err := p.update(t, UpdateIn{Path: c.file, Symbol: c.symbol, Code: c.code, DryRun: true})
			if err != nil {
				t.Fatal(err)
			}
			if contentOf(t, dir, c.file) != c.text || dry.Written || dry.Backup != "" {
				t.Error("a dry run wrote")
			}
			out, err := p.update(t, UpdateIn{Path: c.file, Symbol: c.symbol, Code: c.code, ExpectedHash: dry.PreviousHash})
			if err != nil {
				t.Fatal(err)
			}
			got := contentOf(t, dir, c.file)
			if got != c.want {
				t.Fatalf("got\n%q\nwant\n%q", got, c.want)
			}
			if out.Hash != hashOf([]byte(c.want)) || out.Hash != dry.Hash || out.Diff != dry.Diff || !out.Written {
				t.Errorf("the answer %+v does not fit the dry run's %+v", out, dry)
			}
			if contentOf(t, dir, out.Backup) != c.text {
				t.Error("the backup is not the file as it was")
			}
			patched(t, c.text, out.Diff, c.want)
			again, err := p.update(t, UpdateIn{Path: c.file, Symbol: out.Symbol, Code: c.code})
			if err != nil || again.Written || again.Diff != "" || again.Backup != "" {
				t.Errorf("a second time changed it again: %+v, %v", again, err)
			}
		})
	}
}

// patched holds a diff against patch, where there is one.
func patched(t *testing.T, before, diff, want string) {
	t.Helper()
	patch, err := exec.LookPath("patch")
	if err != nil {
		return // the text was compared; this is a second opinion
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), patch, "--binary", file)
	cmd.Stdin = strings.NewReader(diff)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("patch: %v\n%s\n%s", err, out, diff)
	}
	if got, _ := os.ReadFile(file); string(got) != want {
		t.Errorf("patch makes\n%q\nof the diff, want\n%q", got, want)
	}
}

func TestUpdateRefuses(t *testing.T) {
	const python = "def f():\n    return 1\n\n\ndef g():\n    return '''x'''\n"
	const golang = "package p\n\nfunc f() {}\n\nfunc g() {} /* x */\n\nfunc h() {}\n"
	const secret = "SECRET_IN_CODE"
	for _, c := range []struct {
		name, file, text string
		in               UpdateIn
		code             tool.Code
		message          string
	}{
		{"nothing", "a.py", python, UpdateIn{Symbol: "f", Code: " \n"}, tool.InvalidArgument, "not removed"},
		{"what does not parse", "a.py", python, UpdateIn{Symbol: "f", Code: "def f(:\n    " + secret}, tool.InvalidArgument, "would not parse"},
		{"what does not parse in go", "a.go", golang, UpdateIn{Symbol: "f", Code: "func f() { " + secret}, tool.InvalidArgument, "would not parse"},
		{"another symbol", "a.go", golang, UpdateIn{Symbol: "f", Code: "func x() { println(`" + secret + "`) }"}, tool.InvalidArgument, `does not declare "f"`},
		{"a class for a function", "a.py", python, UpdateIn{Symbol: "f", Code: "class f: pass"}, tool.InvalidArgument, `does not declare "f"`},
		{"a comment that takes in what follows", "a.go", golang, UpdateIn{Symbol: "f", Code: "func f() {} /* " + secret}, tool.InvalidArgument, `what "g" is`},
		{"a string that takes in what follows", "a.py", python, UpdateIn{Symbol: "f", Code: "def f(): pass\n'''"}, tool.InvalidArgument, `parse`},
		{"a block without anything in it", "a.py", python, UpdateIn{Symbol: "f", Code: "def f(): pass\nif 1:\n  pass\nelse:"}, tool.InvalidArgument, "would not parse"},
		{"a decorator for what follows", "a.py", python, UpdateIn{Symbol: "f", Code: "def f(): pass\n@d"}, tool.InvalidArgument, ""},
		{"a symbol that is not there", "a.py", python, UpdateIn{Symbol: "ff", Code: "def ff(): pass"}, tool.NotFound, `"ff"`},
		{"a hash that is none", "a.py", python, UpdateIn{Symbol: "f", Code: "def f(): pass", ExpectedHash: "abc"}, tool.InvalidArgument, "64 digits"},
		{"another state", "a.py", python, UpdateIn{Symbol: "f", Code: "def f(): pass", ExpectedHash: hashOf(nil)}, tool.InvalidArgument, "changed"},
		{"a file with errors elsewhere", "a.py", python + "def (:\n", UpdateIn{Symbol: "f", Code: "def f(): pass"}, tool.InvalidArgument, "had syntax errors before"},
		{"what is not text", "a.py", python, UpdateIn{Symbol: "f", Code: "def f(): pass\xff" + secret}, tool.InvalidArgument, "UTF-8"},
		{"a file that is not text", "a.py", python + "\xff", UpdateIn{Symbol: "f", Code: "def f(): pass"}, tool.InvalidArgument, "UTF-8"},
		{"what is nested too deep", "a.py", python, UpdateIn{Symbol: "f", Code: "def f(): " + strings.Repeat("(", 1<<20)}, tool.TooLarge, "nested"},
		{"what is too long", "a.py", python, UpdateIn{Symbol: "f", Code: strings.Repeat("#", 5<<20)}, tool.TooLarge, "more than"},
		{"a new name that is none", "a.py", python, UpdateIn{Symbol: "f", Code: "def f(): pass", NewName: ".."}, tool.InvalidArgument, "not a name"},
		{"a new name with more than a name", "a.py", python, UpdateIn{Symbol: "f", Code: "def f(): pass", NewName: "f()"}, tool.InvalidArgument, "not a name"},
		{"lines of an old machine", "a.py", "def f():\r    pass\r", UpdateIn{Symbol: "f", Code: "def f(): pass"}, tool.InvalidArgument, "carriage returns"},
		{"a language that is not known", "a.txt", python, UpdateIn{Symbol: "f", Code: "def f(): pass"}, tool.InvalidArgument, "language"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, dir := folderWith(t, map[string]string{c.file: c.text})
			c.in.Path = c.file
			_, err := p.update(t, c.in)
			e := refusedWith(t, err, c.code)
			if !strings.Contains(e.Message, c.message) || strings.Contains(fmt.Sprint(e.Message, e.Details), secret) {
				t.Errorf("the message is %q with %v, want %q in it and no code", e.Message, e.Details, c.message)
			}
			onlyFile(t, dir, c.file, c.text)
		})
	}
}

// onlyFile checks that a refused call left nothing behind.
func onlyFile(t *testing.T, dir, name, text string) {
	t.Helper()
	if contentOf(t, dir, name) != text {
		t.Error("the file has changed")
	}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Base(at) != name {
			t.Errorf("%s was left behind", at)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestUpdateQuotesPathsInDiffs(t *testing.T) {
	const name = "new\nline \"x\".py"
	p, _ := folderWith(t, map[string]string{name: "def f(): pass\n"})
	out, err := p.update(t, UpdateIn{Path: name, Symbol: "f", Code: "def f(): return 1", DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := "--- \"a/new\\nline \\\"x\\\".py\"\n+++ \"b/new\\nline \\\"x\\\".py\"\n@@ -1,1 +1,1 @@\n"; !strings.HasPrefix(out.Diff, want) {
		t.Errorf("the diff is\n%s\nwant it to begin\n%s", out.Diff, want)
	}
}

func TestUpdateStaysInside(t *testing.T) {
	p, dir := folderWith(t, map[string]string{"a.py": "def f(): pass\n", "sub/b.py": "def f(): pass\n", "locked.py": "def f(): pass\n"})
	outside := filepath.Join(t.TempDir(), "out.py")
	for name, err := range map[string]error{
		"write":   os.WriteFile(outside, []byte("def f(): pass\n"), 0o644),
		"link":    os.Symlink(outside, filepath.Join(dir, "out.py")),
		"folder":  os.Symlink(filepath.Dir(outside), filepath.Join(dir, "away")),
		"inside":  os.Symlink("a.py", filepath.Join(dir, "in.py")),
		"chmod":   os.Chmod(filepath.Join(dir, "locked.py"), 0o444),
		"backups": os.MkdirAll(filepath.Join(dir, ".parley"), 0o755),
	} {
		if err != nil {
			t.Fatal(name, err)
		}
	}
	for name, code := range map[string]tool.Code{
		"out.py": tool.Forbidden, "in.py": tool.Forbidden, "away/out.py": tool.Forbidden, "locked.py": tool.Forbidden,
		"../out.py": tool.InvalidPath, outside: tool.InvalidPath, "sub": tool.InvalidArgument, "none.py": tool.NotFound, "a.py/b.py": tool.InvalidPath,
	} {
		_, err := p.update(t, UpdateIn{Path: name, Symbol: "f", Code: "def f(): return 1"})
		refusedWith(t, err, code)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, ".parley", "backup")); err != nil {
		t.Fatal(err)
	}
	_, err := p.update(t, UpdateIn{Path: "a.py", Symbol: "f", Code: "def f(): return 1"})
	refusedWith(t, err, tool.Forbidden)
	if contentOf(t, dir, "a.py") != "def f(): pass\n" {
		t.Error("it was written without a backup")
	}
	if entries, err := os.ReadDir(filepath.Dir(outside)); err != nil || len(entries) != 1 {
		t.Errorf("outside, there are now %v, %v", entries, err)
	}
}

func TestUpdateRenames(t *testing.T) {
	p, dir := folderWith(t, map[string]string{"a.py": "class A:\n    def f(self): pass\n    def g(self): pass\n"})
	out, err := p.update(t, UpdateIn{Path: "a.py", Symbol: "A.f", Code: "def h(self): pass\ndef i(self): pass", NewName: "h"})
	if err != nil {
		t.Fatal(err)
	}
	if out.Symbol != "A.h" || fmt.Sprint(out.Added, out.Removed) != "[A.h A.i] [A.f]" || out.LinesBefore != 1 || out.LinesAfter != 2 || out.Line != 2 || out.EndLine != 3 {
		t.Errorf("got %+v", out)
	}
	if got, want := contentOf(t, dir, "a.py"), "class A:\n    def h(self): pass\n    def i(self): pass\n    def g(self): pass\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestUpdateKeepsModeAndFewBackups(t *testing.T) {
	p, dir := folderWith(t, map[string]string{"pkg/a.py": "def f(): return 0\n"})
	if err := os.Chmod(filepath.Join(dir, "pkg/a.py"), 0o754); err != nil {
		t.Fatal(err)
	}
	for i := range keptBackups + 3 {
		if _, err := p.update(t, UpdateIn{Path: "pkg/a.py", Symbol: "f", Code: fmt.Sprintf("def f(): return %d", i+1)}); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "pkg/a.py"))
	if err != nil || info.Mode().Perm() != 0o754 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	kept, err := os.ReadDir(filepath.Join(dir, backups, "pkg/a.py"))
	if err != nil || len(kept) != keptBackups {
		t.Fatalf("%d backups are kept, %v", len(kept), err)
	}
	last := contentOf(t, dir, backups+"/pkg/a.py/"+kept[len(kept)-1].Name())
	if want := fmt.Sprintf("def f(): return %d\n", keptBackups+2); last != want {
		t.Errorf("the last backup is %q, want %q", last, want)
	}
	if contentOf(t, dir, backups+"/.gitignore") != "*\n" {
		t.Error("version control would see the backups")
	}
}

func TestUpdatesTakeTurns(t *testing.T) {
	const n = 8
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "def f%d(): return 0\n", i)
	}
	p, dir := folderWith(t, map[string]string{"a.py": text.String()})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if _, err := p.update(t, UpdateIn{Path: "a.py", Symbol: fmt.Sprintf("f%d", i), Code: fmt.Sprintf("def f%d(): return 1", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, want := contentOf(t, dir, "a.py"), strings.ReplaceAll(text.String(), "return 0", "return 1"); got != want {
		t.Errorf("updates were lost:\n%s", got)
	}
}

func TestUpdateSeesOthersChange(t *testing.T) {
	p, dir := folderWith(t, map[string]string{"a.py": "def f(): return 0\n"})
	in := UpdateIn{Path: "a.py", Symbol: "f", Code: "def f(): return 1"}
	old, err := p.updatable(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.py"), []byte("def f(): return 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e := refusedWith(t, p.replaceFile(t.Context(), old, []byte("lost")), tool.InvalidArgument)
	if details, ok := e.Details.(map[string]any); !ok || details["hash"] != hashOf([]byte("def f(): return 2\n")) {
		t.Errorf("the details are %v", e.Details)
	}
	if strings.Contains(e.Message, "expected_hash") || !strings.Contains(e.Message, "try again") {
		t.Errorf("it says %q", e.Message)
	}
	onlyFile(t, dir, "a.py", "def f(): return 2\n")
}

func TestUpdateCanBeGivenUp(t *testing.T) {
	p, dir := folderWith(t, map[string]string{"a.py": "def f(): return 0\n"})
	p.writing <- struct{}{} // somebody else's turn
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.UpdateSymbol(ctx, tool.NewCall(updateSymbol, tool.Community, ""), UpdateIn{Path: "a.py", Symbol: "f", Code: "def f(): return 1"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-p.writing
	onlyFile(t, dir, "a.py", "def f(): return 0\n")
}

// FuzzUpdate replaces the middle of a file by anything. Either the result
// parses and begins and ends as before, or nothing is written.
func FuzzUpdate(f *testing.F) {
	files := map[string][2]string{
		"a.go": {"package p\n\nfunc a() {}\n\n// The comment.\n", "\n\nfunc c() { /* */ }\n"},
		"a.py": {"def a(): pass\n\nclass B:\n    x = 1\n", "\n\n    def c(self):\n        '''text'''\n"},
		"a.js": {"function a() {}\nclass B {\n", "\n  c() { return `x${1}`; } /* */\n}\n"},
		"a.ts": {"function a(): void {}\n", "\nexport interface C { x: number }\n"},
	}
	middle := map[string]string{"a.go": "func b() {}", "a.py": "    def b(self): pass", "a.js": "  b() {}", "a.ts": "function b(x?: number) {}"}
	symbol := map[string]string{"a.go": "b", "a.py": "B.b", "a.js": "B.b", "a.ts": "b"}
	for _, code := range []string{
		"func b() {\n\treturn\n}", "def b(self):\n    return '''\n'''", "b() { return `\n`; }", "function b() {}", "func b() {} /*", "def b(self): pass\n'''",
		"b() {} } class C {", "\tdef b(self):\r\n\t\tpass\r\n", "func b() {}\nfunc b() {}", "# x\n@d\ndef b(self): pass\\", "b() {} //",
	} {
		for name := range files {
			f.Add(name, code)
		}
	}
	p, dir := folderWith(f, nil)
	f.Fuzz(func(t *testing.T, name, code string) {
		around, ok := files[name]
		if !ok {
			t.Skip("no such file")
		}
		before := around[0] + middle[name] + around[1]
		if err := os.WriteFile(filepath.Join(dir, name), []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := p.update(t, UpdateIn{Path: name, Symbol: symbol[name], Code: code})
		after := contentOf(t, dir, name)
		if err != nil {
			if _, ok := errors.AsType[*tool.Error](err); !ok {
				t.Fatalf("%v is no error for callers", err)
			}
			if after != before {
				t.Fatalf("an update that failed with %v wrote", err)
			}
			return
		}
		head := strings.TrimSuffix(around[0], "// The comment.\n")
		if !strings.HasPrefix(after, head) || !strings.HasSuffix(after, around[1]) {
			t.Fatalf("the rest of the file changed:\n%s", after)
		}
		file, err := p.File(t.Context(), name, "")
		if err != nil || len(file.Errors) > 0 {
			t.Fatalf("the result does not parse: %v\n%s", err, after)
		}
		if _, err := Find(file, out.Symbol); err != nil {
			t.Fatalf("%s is gone:\n%s", out.Symbol, after)
		}
	})
}
