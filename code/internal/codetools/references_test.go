package codetools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley/tool"
)

func (p *Project) references(t testing.TB, tier tool.Tier, in ReferencesIn) (ReferencesOut, error) {
	t.Helper()
	return p.SymbolReferences(t.Context(), tool.NewCall(symbolReferences, tier, ""), in)
}

// marked reads sources in which a mark stands right behind each place that is to
// be found: «d», «c», «r» and «i» for its kind, with «r?» where only the name
// tells. It returns the sources without them, and the places.
func marked(files map[string]string) (plain map[string]string, want []string) {
	kinds := map[byte]string{'d': isDefinition, 'c': isCall, 'r': isReference, 'i': isImport}
	plain = map[string]string{}
	for name, text := range files {
		line := 0
		for row := range strings.Lines(text) {
			line++
			for {
				before, rest, ok := strings.Cut(row, "«")
				if !ok {
					break
				}
				mark, after, _ := strings.Cut(rest, "»")
				begin := len(before)
				for begin > 0 && isNameByte(before[begin-1]) {
					begin--
				}
				sure := ""
				if strings.HasSuffix(mark, "?") {
					sure = " ?"
				}
				want = append(want, fmt.Sprintf("%s:%d:%d %s%s", name, line, begin+1, kinds[mark[0]], sure))
				row = before + after
			}
			plain[name] += row
		}
	}
	return plain, want
}

func TestReferences(t *testing.T) {
	for _, c := range []struct {
		name, symbol string
		files        map[string]string
	}{
		{"python hides names in functions, comprehensions and lambdas, not in classes", "f", map[string]string{"a.py": `
def f«d»(f):
    return f(1)

class A(f«r»):
    x = f
    f = 2
    y = f
    def m(self, g=f):
        return f«c»(self.f)

def g(a, b=f«r», *, c: f«r» = 1) -> f«r»:
    for f in a:
        print(f)

def h():
    print(f«r», f«c»(), [f for f in f«r»], [f«r» for x in y], lambda f: f, lambda x=f«r»: f«r»)
    with a as (f2, b): pass
    k(f=f«r»)

def i():
    global f«r»
    f«d» = 3

def j():
    try: pass
    except E as f:
        f()
    def inner():
        nonlocal f
        f = 1

def k():
    import f
    f.f()

@f«c»(1)
def l(): f"{f«r»} f"
`}},
		{"python follows imports, aliases, stars and packages", "pkg.core.run", map[string]string{
			"pkg/__init__.py": "from .core import run«i», other\n",
			"pkg/core.py":     "def run«d»(): pass\nclass C:\n    def run(self): pass\n",
			"a.py":            "from pkg import run«i»\nrun«c»()\ndef g(run): run()\n",
			"b.py":            "from pkg.core import run«i» as go«i»\ngo«c»()\nrun = 1\n",
			"c.py":            "import pkg.core\npkg.core.run«c»()\nother.run()\n",
			"d.py":            "from pkg.core import *\nrun«c»()\n",
			"e.py":            "from pkg import core as k\nx = k.run«r»\nfrom elsewhere import run\nrun()\n",
			"f.py":            "def run(): pass\nrun()\n",
			"g.py":            "def late():\n    from pkg import run«i»\n    return run«c»()\nrun()\n",
		}},
		{"python methods, as far as the object is known", "C.m", map[string]string{
			"a.py": "class C:\n    def m«d»(self):\n        return self.m«c»() + other.m«c?»()\n    alias = m«r»\nclass D:\n    def m(self): self.m«c?»()\nC.m«c»(x)\nm()\n",
			"b.py": "from a import C\nC.m«r»\nC().m«c?»()\n",
		}},
		{"javascript knows blocks, hoisting and patterns", "a.f", map[string]string{"a.js": `
f«c»();
function f«d»(a) { return f«r»; }
{ let f = 1; f; }
{ const { x: f } = y; f; }
for (const f of f2) f;
function g({ f }, [h]) { return f; }
function h() { if (1) { var f = 2; } return f; }
const i = f => f();
const j = function f«d»() { f«c»(); };
class K { f() { return f«c»(this.f); } static x = f«r»; }
try {} catch (f) { f; }
const o = { f«r», f: f«r», [f«r»]: 1, f() {} };
label: for (;;) { f«r» ? 1 : f«r»; }
new f«c»(x.f);
` + "`${f«r»}`;\nexport { f«r», g as f };\nexport default f«r»;\n"}},
		{"javascript follows modules", "run", map[string]string{
			"lib.js":   "exports.run«d» = function () {};\n",
			"es.js":    "export function run«d»() {}\n",
			"a.js":     "const { run«i» } = require('./lib');\nrun«c»();\n",
			"b.js":     "const lib = require('./lib');\nlib.run«c»();\n",
			"c.mjs":    "import { run«i» as go«i» } from './es.js';\ngo«c»();\n",
			"d.mjs":    "export { run«i» } from './es.js';\n",
			"e.mjs":    "import { run«i» } from './d.mjs';\nimport * as es from './es.js';\nes.run«r»;\n{ let run = 1; run; }\nrun«r»;\n",
			"f.mjs":    "import { run } from 'elsewhere';\nrun();\n",
			"g.js":     "var run«i» = require('./lib').run«i»;\nrun«c»();\n",
			"h.mjs":    "export * from './es.js';\n",
			"i.mjs":    "import { run«i» } from './h.mjs';\n",
			"skip.txt": "run",
		}},
		{"typescript has types, too", "Shape", map[string]string{"a.ts": `
export interface Shape«d» { area(): number; Shape?: string }
class Circle implements Shape«r» { area() { return 1 } }
function f<T extends Shape«r»>(x: T, y?: Shape«r»[]): Shape«r» | null { return null }
function g<Shape>(x: Shape) {}
const h = x as Shape«r»;
`, "b.tsx": "import type { Shape«i» } from './a';\nlet s: Shape«r»;\n"}},
		{"go by types", "T.M", map[string]string{
			"go.mod":       "module example.com/m\n",
			"a/a.go":       "package a\n\ntype T[K any] struct{ U }\ntype U struct{}\n\nfunc (t *T[K]) M«d»() { t.M«c»(); M := 1; _ = M }\nfunc (U) M() {}\n\ntype I interface{ M() }\n\nfunc use(i I) { i.M(); U{}.M(); var t T[int]; t.M«c»(); _ = (*T[int]).M«r» }\n",
			"a/a_test.go":  "package a\n\nfunc testIt() { new(T[string]).M«c»() }\n",
			"a/x_test.go":  "package a_test\n\nimport \"example.com/m/a\"\n\nvar _ = (&a.T[int]{}).M«r»\n",
			"b/b.go":       "package b\n\nimport . \"example.com/m/a\"\n\nfunc f(t T[bool]) { t.M«c»() }\nfunc M() {}\n",
			"c/c.go":       "package c\n\nimport \"example.com/elsewhere\"\n\nfunc f() { elsewhere.New().M«c?»() }\n",
			"c/c_plan9.go": "package c\n\nfunc g() { x.M«c?»() }\n",
		}},
		{"go without a type checker that can help", "a.F", map[string]string{
			"go.mod":       "module example.com/m\n",
			"a/a.go":       "package a\n\nfunc F«d»() int { return undefined }\nfunc (t T) F() {}\n",
			"a/b_plan9.go": "package a\n\nfunc g() { F«c»() }\nfunc h(F int) int { return F }\n",
			"b/b_plan9.go": "package b\n\nimport \"example.com/m/a\"\n\nvar x, y = a.F«c»(), b.F()\n\nfunc F() {}\n",
		}},
		{"what is defined nowhere", "os.getcwd", map[string]string{
			"a.py": "import os\nos.getcwd«c?»()\nfrom os import getcwd«i»\ngetcwd«c»()\ndef f(getcwd): getcwd()\n",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, want := marked(c.files)
			p, _ := folderWith(t, files)
			out, err := p.references(t, tool.Community, ReferencesIn{Symbol: c.symbol, Platform: "linux/amd64"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range out.References {
				sure := ""
				if r.By == byName {
					sure = " ?"
				}
				got = append(got, fmt.Sprintf("%s:%d:%d %s%s", r.Path, r.Line, r.Column, r.Kind, sure))
			}
			sameLines(t, got, want)
			certain, err := p.references(t, tool.Community, ReferencesIn{Symbol: c.symbol, Platform: "linux/amd64", Certain: true})
			if err != nil || certain.Counts.ByName != 0 || len(certain.References) != len(out.References)-out.Counts.ByName {
				t.Errorf("of %d places %d are certain, %v; %+v", len(out.References), len(certain.References), err, certain.Counts)
			}
		})
	}
}

func TestReferencesTellWhereAndHow(t *testing.T) {
	p, _ := folderWith(t, map[string]string{
		"go.mod": "module m\n", "a/a.go": "package a\n\ntype T struct{ Name string }\n\nfunc (t T) Show() string { return t.Name }\n",
		"b/b.go": "package b\n\nimport \"m/a\"\n\nfunc show() { println(a.T{Name: \"x\"}.Name) }\n",
		"c/c.py": "class Name: pass\n",
	})
	out, err := p.references(t, tool.Community, ReferencesIn{Symbol: "T.Name"})
	if err != nil {
		t.Fatal(err)
	}
	want := []ReferenceOut{
		{"a/a.go", 3, 16, isDefinition, byTypes, "T.Name", ""},
		{"a/a.go", 5, 37, isReference, byTypes, "", "T.Show"},
		{"b/b.go", 5, 27, isReference, byTypes, "", "show"},
		{"b/b.go", 5, 38, isReference, byTypes, "", "show"},
	}
	if !slices.Equal(out.References, want) || out.Counts != (CountsOut{Definitions: 1, References: 3}) || len(out.Notes) != 0 || out.Files != 3 {
		t.Errorf("got %+v", out)
	}
	_, err = p.references(t, tool.Community, ReferencesIn{Symbol: "T.Nmae"})
	if e := refusedWith(t, err, tool.NotFound); fmt.Sprint(e.Details) != "map[did_you_mean:[T.Name Name]]" {
		t.Errorf("the details are %v", e.Details)
	}
	// In one file the definition elsewhere still says what is meant.
	out, err = p.references(t, tool.Community, ReferencesIn{Symbol: "T.Name", Path: "b/b.go"})
	if err != nil || !slices.Equal(out.References, want[2:]) || out.Files != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
	out, err = p.references(t, tool.Community, ReferencesIn{Symbol: "Name", Path: "c"})
	if err != nil || len(out.References) != 1 || out.References[0].Symbol != "Name" {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestReferencesRefuse(t *testing.T) {
	p, _ := folderWith(t, map[string]string{
		"a.py": "def handle_request(): pass\n", "b.py": "x = '\x00handle_it'\n", "c.txt": "",
		"deep.go": "package p\n\nvar handle_it = " + strings.Repeat("a.", 1<<20) + "b\n", "deep.js": strings.Repeat("handle_it=>", 200_000) + "1",
		"nested.js":   strings.Repeat("(handle_it=>", 5_000) + strings.Repeat("handle_it,", 50_000) + "1" + strings.Repeat(")", 5_000),
		"same.js":     strings.Repeat("var handle_it=require('./many');", 20_000) + strings.Repeat("this.handle_it;", 20_000),
		"same_aix.go": "package p\n\n" + strings.Repeat("func handle_it() { handle_it() }\n", 20_000),
		"class.py":    strings.Repeat("class A:\n def handle_it(self): self.handle_it\n", 20_000),
		"many.py":     strings.Repeat("handle_it(", 5_000) + strings.Repeat(")", 5_000),
	})
	for in, code := range map[ReferencesIn]tool.Code{
		{Symbol: ""}: tool.InvalidArgument, {Symbol: strings.Repeat("x", 301)}: tool.InvalidArgument, {Symbol: "(*)."}: tool.InvalidArgument,
		{Symbol: "x", Path: "../y"}: tool.InvalidPath, {Symbol: "x", Path: "none"}: tool.NotFound, {Symbol: "x", Path: "c.txt"}: tool.InvalidArgument,
		{Symbol: "handle_reqest", Path: "a.py"}: tool.NotFound, {Symbol: "x", Platform: "no"}: tool.InvalidArgument,
	} {
		_, err := p.references(t, tool.Community, in)
		e := refusedWith(t, err, code)
		if in.Symbol == "handle_reqest" && fmt.Sprint(e.Details) != "map[did_you_mean:[handle_request]]" {
			t.Errorf("the details are %v", e.Details)
		}
	}
	start := time.Now()
	if out, err := p.references(t, tool.Community, ReferencesIn{Symbol: "handle_it"}); err != nil || out.Counts.Calls != 20_000 {
		t.Errorf("hostile files: %+v, %v", out.Counts, err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("hostile files took %v", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.SymbolReferences(ctx, tool.NewCall(symbolReferences, tool.Pro, ""), ReferencesIn{Symbol: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up ends in %v", err)
	}
}

func TestReferencesLimits(t *testing.T) {
	files := map[string]string{"m.py": "def run(): pass\n" + strings.Repeat("run()\n", 300)}
	for i := range 205 {
		files[fmt.Sprintf("n%d.py", i)] = "from m import run\n"
	}
	p, _ := folderWith(t, files)
	call := tool.NewCall(symbolReferences, tool.Community, "")
	out, err := p.SymbolReferences(t.Context(), call, ReferencesIn{Symbol: "run"})
	if err != nil {
		t.Fatal(err)
	}
	if out.Files != 200 || out.Unread != 6 || len(out.References) != 200 || !out.Truncated || out.Counts.Calls != 300 || out.References[0].Kind != isDefinition {
		t.Errorf("%d files, %d left out, %d places, %+v", out.Files, out.Unread, len(out.References), out.Counts)
	}
	if h := call.Hints(); len(h) != 2 || h[0].Tier != tool.Pro {
		t.Errorf("hints: %v", h)
	}
	call = tool.NewCall(symbolReferences, tool.Pro, "")
	out, err = p.SymbolReferences(t.Context(), call, ReferencesIn{Symbol: "run", MaxReferences: 3})
	if err != nil || len(out.References) != 3 || !out.Truncated || len(call.Hints()) != 0 || out.Counts.Imports != 205 {
		t.Errorf("%+v, %v, %v", out.Counts, err, call.Hints())
	}
}
