package codetools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyhq/parley/tool"
)

func (p *Project) context(t testing.TB, tier tool.Tier, in ContextIn) (ContextOut, error) {
	t.Helper()
	return p.FileContext(t.Context(), tool.NewCall(fileContext, tier, ""), in)
}

// outlineOf is what an answer tells, a line for each thing.
func outlineOf(out ContextOut) string {
	var w strings.Builder
	fmt.Fprintf(&w, "%s %q\n", out.Module, out.Purpose)
	for _, i := range out.Imports {
		if len(i.Files) > 0 {
			fmt.Fprintf(&w, "needs %s: %s\n", i.Path, strings.Join(i.Files, " "))
		}
	}
	for _, e := range out.Exports {
		fmt.Fprintf(&w, "%s %s %d-%d\n", e.Kind, cmp.Or(e.Signature, e.Name), e.Line, e.EndLine)
	}
	for _, i := range out.Importers {
		fmt.Fprintf(&w, "used by %s:%d%s\n", i.Path, i.Line, map[bool]string{true: " test"}[i.Test])
	}
	for _, m := range out.Markers {
		fmt.Fprintf(&w, "%s %d %q\n", m.Kind, m.Line, m.Text)
	}
	return w.String()
}

func TestFileContext(t *testing.T) {
	p, _ := folderWith(t, map[string]string{
		"go.mod":             "module example.com/m\n",
		"a/doc.go":           "// Package a does.\n//\n// More.\npackage a\n",
		"a/a.go":             "package a\n\nimport \"example.com/m/b\"\n\n// F is.\nfunc F(x int) int { return b.G(x) } // TODO(me): later\n\n/*\n * FIXME: soon\n */\nfunc f() {}\n\ntype T struct{}\n\nfunc (t T) M() {}\nfunc (t t2) M() {}\n\nconst C, d = 1, `// TODO not a comment`\n",
		"b/b.go":             "package b\n\nfunc G(int) int { return 0 }\n",
		"main.go":            "package main\n\nimport _ \"example.com/m/a\"\n\nfunc main() {}\n",
		"main_test.go":       "package main\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m/a\"\n)\n",
		"py/pkg/__init__.py": "from . import core\nfrom .core import run\n",
		"py/pkg/core.py":     "#!/usr/bin/env python\n# XXX\n\"\"\"Runs it.\n\n   Well.\n\"\"\"\nfrom . import other\n__all__ = ['run', 'K']\ndef run(a, *, b=1) -> int:\n    def inner(): pass\nclass K:\n    def m(self): pass\n    def _n(self): pass\ndef left(): pass\nif __name__ == '__main__': run(1)\n",
		"py/pkg/other.py":    "import pkg.core as c\n_x = 1\ny = 2\ndef _f(): pass\n",
		"py/test_it.py":      "from pkg.core import run\n",
		"py/unrelated.py":    "core = 1\nfrom elsewhere import core\n",
		"js/package.json":    `{"name": "thing", "main": "index.js"}`,
		"js/index.js":        "#!/usr/bin/env node\n/*!\n * Copyright me\n */\n'use strict'\n\n/**\n * Does things.\n */\n\nvar util = require('./util').pad;\nvar app = exports = module.exports = {};\n// hack: no, HACK not at the beginning\n// HACK around\napp.use = function use(fn) {};\nfunction own() {}\n",
		"js/util.js":         "// Pads.\nfunction pad(s) { return s }\nfunction own() {}\nmodule.exports = { pad, other: pad2 };\nconst pad2 = () => 1;\n",
		"js/es.ts":           "import { pad } from './util';\nexport const a = 1, { b } = c;\nexport default function go(x: number): void {}\nexport class K { #p() {} m() {} }\nclass L {}\nexport { L, own as mine };\nfunction own() {}\nexport interface I { x: string }\nfunction no() {}\nexport * from './util';\n",
		"js/user.mjs":        "import thing from 'thing';\n",
	})
	for name, want := range map[string]string{
		"a/a.go": `example.com/m/a "Package a does."
needs example.com/m/b: b
function func F(x int) int 6-6
struct T 13-13
method func (t T) M() 15-15
variable C 18-18
used by main.go:3
used by main_test.go:6 test
TODO 6 "(me): later"
FIXME 9 "soon"
`,
		"py/pkg/core.py": `pkg.core "Runs it.\n\nWell."
needs .: py/pkg/other.py
function def run(a, *, b=1) -> int 9-10
class K 11-13
method def m(self) 12-12
used by py/pkg/__init__.py:1
used by py/pkg/other.py:1
used by py/test_it.py:1 test
XXX 2 ""
`,
		"py/pkg/other.py": `pkg.other ""
needs pkg.core: py/pkg/core.py
variable y 3-3
used by py/pkg/core.py:7
`,
		"js/index.js": `js/index.js "Does things."
needs ./util: js/util.js
variable app 12-12
function app.use = function use(fn) 15-15
used by js/user.mjs:1
HACK 14 "around"
`,
		"js/util.js": `js/util.js ""
function function pad(s) 2-2
arrow const pad2 = () 5-5
used by js/es.ts:1
used by js/index.js:11
`,
		"js/es.ts": `js/es.ts ""
needs ./util: js/util.js
needs ./util: js/util.js
variable a 2-2
variable b 2-2
function export default function go(x: number): void 3-3
class K 4-4
method m() 4-4
class L 5-5
function function own() 7-7
interface I 8-8
`,
	} {
		out, err := p.context(t, tool.Community, ContextIn{Path: name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := outlineOf(out); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		if out.Hash == "" || out.Tokens == 0 || out.Bytes == 0 || out.Lines.Total == 0 || out.Truncated {
			t.Errorf("%s: got %+v", name, out)
		}
		alone, err := p.context(t, tool.Community, ContextIn{Path: name, NoImporters: true})
		if err != nil || len(alone.Importers) != 0 || alone.Searched != 0 || len(alone.Exports) != len(out.Exports) {
			t.Errorf("%s: %+v, %v", name, alone, err)
		}
	}
}

// TestExportsAgreeWithGo compares with what go/parser says of each file of
// net/http.
func TestExportsAgreeWithGo(t *testing.T) {
	dir := filepath.Join(goroot(t), "src", "net", "http")
	p := openedAt(t, dir)
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := exportedDecls(f)
		compared += len(want)
		out, err := p.context(t, tool.Enterprise, ContextIn{Path: filepath.Base(file), NoImporters: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range out.Exports {
			got = append(got, e.Name)
		}
		sameLines(t, got, want)
	}
	if compared < 500 {
		t.Errorf("only %d symbols were compared", compared)
	}
}

func exportedDecls(f *ast.File) (names []string) {
	add := func(parts ...string) {
		if !slices.ContainsFunc(parts, func(s string) bool { return !ast.IsExported(s) }) {
			names = append(names, strings.Join(parts, "."))
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name.Name)
				continue
			}
			t := d.Recv.List[0].Type
			if s, ok := t.(*ast.StarExpr); ok {
				t = s.X
			}
			switch x := t.(type) {
			case *ast.IndexExpr:
				t = x.X
			case *ast.IndexListExpr:
				t = x.X
			}
			add(t.(*ast.Ident).Name, d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						add(n.Name)
					}
				}
			}
		}
	}
	return names
}

// TestImportersAgreeWithGoList compares which packages of the net tree import
// one, tests included.
func TestImportersAgreeWithGoList(t *testing.T) {
	dir := filepath.Join(goroot(t), "src", "net")
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}}{{range .Imports}} {{.}}{{end}}{{range .TestImports}} {{.}}{{end}}{{range .XTestImports}} {{.}}{{end}}", "./...")
	cmd.Dir = dir
	listed, err := cmd.Output()
	if err != nil {
		t.Skip("go list does not run: ", err)
	}
	p := openedAt(t, dir)
	for file, pkg := range map[string]string{"textproto/reader.go": "net/textproto", "http/httptrace/trace.go": "net/http/httptrace", "url/url.go": "net/url"} {
		var want []string
		for line := range strings.Lines(string(listed)) {
			if fields := strings.Fields(line); slices.Contains(fields[1:], pkg) {
				want = append(want, fields[0])
			}
		}
		out, err := p.context(t, tool.Enterprise, ContextIn{Path: file})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range out.Importers {
			if in := path.Join("net", path.Dir(i.Path)); !slices.Contains(got, in) {
				got = append(got, in)
			}
		}
		sameLines(t, got, want)
		if len(want) < 2 {
			t.Errorf("%s has few importers: %v", pkg, want)
		}
	}
}

func TestFileContextLimits(t *testing.T) {
	files := map[string]string{"far/m.py": "", "pkg/m.py": strings.Repeat("def f(): pass\n", 1) + strings.Repeat("# TODO\n", 80)}
	for i := range 300 {
		files[fmt.Sprintf("far/n%d.py", i)] = ""
		files["pkg/m.py"] += fmt.Sprintf("def f%d(): pass\n", i)
	}
	files["pkg/user.py"] = "from m import f\n"
	p, _ := folderWith(t, files)
	call := tool.NewCall(fileContext, tool.Community, "")
	out, err := p.FileContext(t.Context(), call, ContextIn{Path: "pkg/m.py"})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Exports) != 100 || out.Searched != 200 || out.Unread != 102 || len(out.Markers) != maxMarkers || !out.Truncated || len(call.Hints()) != 2 {
		t.Errorf("%d exports, %d searched, %d left out, %d markers, hints %v", len(out.Exports), out.Searched, out.Unread, len(out.Markers), call.Hints())
	}
	if len(out.Importers) != 1 || out.Importers[0].Path != "pkg/user.py" {
		t.Errorf("those nearby come first, but the importers are %v", out.Importers)
	}
}

func TestFileContextRefuses(t *testing.T) {
	p, dir := folderWith(t, map[string]string{"binary.py": "\x00\x01", "latin.py": "x = '\xe9'\n", "broken.go": "package p\n\nfunc f() { x = }\n\nfunc F() {}\n", "empty.js": "", "a.txt": "x"})
	if err := os.Symlink(filepath.Join(t.TempDir(), "x.py"), filepath.Join(dir, "out.py")); err != nil {
		t.Fatal(err)
	}
	for name, code := range map[string]tool.Code{
		"binary.py": tool.InvalidArgument, "latin.py": tool.InvalidArgument, "none.py": tool.NotFound, "../x.py": tool.InvalidPath, "a.txt": tool.InvalidArgument,
		"out.py": tool.Forbidden, ".": tool.InvalidPath, "": tool.InvalidPath,
	} {
		_, err := p.context(t, tool.Community, ContextIn{Path: name})
		refusedWith(t, err, code)
	}
	out, err := p.context(t, tool.Community, ContextIn{Path: "broken.go"})
	if err != nil || out.Errors == 0 || len(out.Exports) != 1 {
		t.Errorf("a file with errors: %+v, %v", out, err)
	}
	if out, err = p.context(t, tool.Community, ContextIn{Path: "empty.js"}); err != nil || out.Tokens != 0 {
		t.Errorf("an empty file: %+v, %v", out, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.FileContext(ctx, tool.NewCall(fileContext, tool.Pro, ""), ContextIn{Path: "empty.js"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up ends in %v", err)
	}
}
