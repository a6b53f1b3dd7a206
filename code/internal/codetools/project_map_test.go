package codetools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool"
)

func (p *Project) mapped(t testing.TB, tier tool.Tier, in MapIn) (MapOut, []tool.Hint) {
	t.Helper()
	call := tool.NewCall(projectMap, tier, "")
	out, err := p.ProjectMap(t.Context(), call, in)
	if err != nil {
		t.Fatal(err)
	}
	return out, call.Hints()
}

// arrows are the edges, one on a line.
func arrows(out MapOut) []string {
	var all []string
	for _, e := range out.Edges {
		text := e.From + " -> " + e.To
		if e.Deferred {
			text += " (deferred)"
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

func sameLines(t testing.TB, got, want []string) {
	t.Helper()
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("unexpected: %s", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("missing: %s", line)
		}
	}
}

func goroot(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("the go command does not run: ", err)
	}
	return strings.TrimSpace(string(out))
}

// goListEdges are the imports between packages of a tree as the go command sees
// them.
func goListEdges(t testing.TB, dir, prefix string) (edges []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
	data, err := cmd.Output()
	if err != nil {
		t.Skipf("go list in %s: %v", dir, err)
	}
	in := func(p string) bool { return p == prefix || strings.HasPrefix(p, prefix+"/") }
	for d := jsontext.NewDecoder(bytes.NewReader(data)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := json.UnmarshalDecode(d, &p); err == io.EOF {
			slices.Sort(edges)
			return edges
		} else if err != nil {
			t.Fatal(err)
		}
		for _, i := range p.Imports {
			if in(p.ImportPath) && in(i) {
				edges = append(edges, p.ImportPath+" -> "+i)
			}
		}
	}
}

func TestMapAgreesWithGoList(t *testing.T) {
	root := goroot(t)
	want := goListEdges(t, filepath.Join(root, "src", "net"), "net")
	if len(want) < 30 {
		t.Fatalf("go list knows of %d imports only", len(want))
	}
	alone, _ := openedAt(t, filepath.Join(root, "src", "net")).mapped(t, tool.Enterprise, MapIn{})
	sameLines(t, arrows(alone), want)
	if alone.GoModule != "net" || !alone.Guessed || len(alone.Cycles) != 0 {
		t.Errorf("got the module %q, guessed %v, and the cycles %v", alone.GoModule, alone.Guessed, alone.Cycles)
	}
	within, _ := openedAt(t, filepath.Join(root, "src")).mapped(t, tool.Enterprise, MapIn{Path: "net"})
	sameLines(t, arrows(within), want)
	if within.GoModule != "std" || within.Guessed {
		t.Errorf("got the module %q, guessed %v", within.GoModule, within.Guessed)
	}
}

func TestMapOfTheSDKAgreesWithGoList(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/modelcontextprotocol/go-sdk")
	dir, err := cmd.Output()
	if err != nil || len(bytes.TrimSpace(dir)) == 0 {
		t.Skip("the SDK's source is not there: ", err)
	}
	out, _ := openedAt(t, strings.TrimSpace(string(dir))).mapped(t, tool.Enterprise, MapIn{})
	got := arrows(out)
	want := goListEdges(t, ".", "github.com/modelcontextprotocol/go-sdk")
	for _, edge := range want { // what this module needs of it
		if !slices.Contains(got, edge) {
			t.Errorf("missing: %s", edge)
		}
	}
	if len(want) < 5 || len(out.EntryPoints) < 10 {
		t.Errorf("%d imports and %d entry points are few", len(want), len(out.EntryPoints))
	}
}

// pythonEdges is what Python's own parser says of the imports within a package
// of its library.
const pythonEdges = `
import ast, os, sys
root, package = sys.argv[1:]
files = {}
for at, _, names in os.walk(os.path.join(root, package)):
    for n in names:
        if n.endswith(".py") and "__pycache__" not in at:
            rel = os.path.relpath(os.path.join(at, n), root)[:-3].replace(os.sep, ".")
            files[rel.removesuffix(".__init__")] = (os.path.join(at, n), rel.endswith("__init__"))
edges = {}
def add(a, b, deferred):
    if a != b and b in files:
        edges[a, b] = edges.get((a, b), True) and deferred
def walk(node, name, base, deferred):
    for c in ast.iter_child_nodes(node):
        d = deferred or isinstance(c, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if isinstance(c, ast.Import):
            for a in c.names: add(name, a.name, d)
        elif isinstance(c, ast.ImportFrom):
            m = c.module or ""
            if c.level:
                up = base.split(".")
                up = up[:len(up) - c.level + 1]
                m = ".".join(up + ([m] if m else []))
            for a in c.names:
                if m + "." + a.name in files: add(name, m + "." + a.name, d)
                else: add(name, m, d)
        walk(c, name, base, d)
for name, (file, init) in files.items():
    walk(ast.parse(open(file, "rb").read()), name, name if init else name.rpartition(".")[0], False)
for (a, b), d in sorted(edges.items()): print(a, "->", b, *(["(deferred)"] if d else []))
`

// pythonLibrary is where python3 has its standard library.
func pythonLibrary(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "python3", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	if err != nil {
		t.Skip("python3 does not run: ", err)
	}
	return strings.TrimSpace(string(out))
}

func python(t testing.TB, script string, args ...string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "python3", append([]string{"-c", script}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

func TestMapAgreesWithPython(t *testing.T) {
	root := pythonLibrary(t)
	p := openedAt(t, root)
	for _, pkg := range []string{"email", "asyncio", "concurrent", "importlib", "xml", "json"} {
		if _, err := os.Stat(filepath.Join(root, pkg)); err != nil {
			t.Skipf("this python has no %s", pkg)
		}
		out, _ := p.mapped(t, tool.Enterprise, MapIn{Path: pkg, IncludeTests: true})
		sameLines(t, arrows(out), python(t, pythonEdges, root, pkg))
	}
}

func TestMapOfPython(t *testing.T) {
	p, _ := folderWith(t, map[string]string{
		"src/app/__init__.py":    "from .a import f\n",
		"src/app/__main__.py":    "from app import f\nif \"__main__\" == __name__:\n    f()\n",
		"src/app/a.py":           "import app.b as other\ndef f():\n    from . import late\n",
		"src/app/b.py":           "from typing import TYPE_CHECKING\nfrom app.c import *\nif TYPE_CHECKING:\n    from .late import T\n",
		"src/app/c.py":           "from . import a, json\nimport json\n",
		"src/app/json.py":        "",
		"src/app/late.py":        "from .a import f\n",
		"src/app/test_a.py":      "import app.a\n",
		"src/app/broken.py":      "def (:\n",
		"src/app/data.py":        "x = '\x00'\n",
		"node_modules/m/x.js":    "require('./y')\n",
		"src/app/lots/of/ns.py":  "import app.a\n",
		"src/app/.hidden/no.py":  "import app.a\n",
		"src/app/folder.py/x.py": "",
	})
	out, _ := p.mapped(t, tool.Community, MapIn{})
	sameLines(t, arrows(out), []string{
		"app -> app.a", "app.__main__ -> app", "app.a -> app.b", "app.a -> app.late (deferred)", "app.b -> app.c",
		"app.b -> app.late (deferred)", "app.c -> app.a", "app.c -> app.json", "app.late -> app.a", "ns -> app.a",
	})
	if got := fmt.Sprint(out.Cycles); got != "[{3 [app.a app.b app.c app.a]}]" {
		t.Errorf("the cycles are %s", got)
	}
	if got := fmt.Sprint(out.EntryPoints); got != "[{src/app/__main__.py 1 __main__ module } {src/app/__main__.py 2 __main__ guard }]" {
		t.Errorf("programs begin at %s", got)
	}
	if got := fmt.Sprint(out.Failed); got != "[{src/app/data.py invalid_argument}]" {
		t.Errorf("files that failed: %s", got)
	}
	if !strings.Contains(out.Graph, "==>") || !strings.Contains(out.Graph, "-.->") {
		t.Errorf("the graph shows no cycle or no deferred import:\n%s", out.Graph)
	}
	folders, _ := p.mapped(t, tool.Community, MapIn{ByFolder: true, NoGraph: true})
	sameLines(t, arrows(folders), []string{"src/app/lots/of -> src/app"})
	if folders.Graph != "" {
		t.Error("there is a graph that was not asked for")
	}
}

func TestMapOfScripts(t *testing.T) {
	p, _ := folderWith(t, map[string]string{
		"package.json":              `{"name": "top", "main": "./lib", "bin": {"run": "bin/run.js", "gone": "x.js", "out": "../../etc/passwd"}}`,
		"packages/two/package.json": `{"name": "@s/two", "bin": "./cli.mjs"}`,
		"packages/two/cli.mjs":      "import('./util.js')\n",
		"packages/two/util.ts":      "import type { T } from './types'\nimport x from 'top'\n",
		"packages/two/types.ts":     "export type { U } from './util'\nexport * from './util'\n",
		"lib/index.js":              "const { a } = require('./a'); require('lodash')\n",
		"lib/a.js":                  "exports.a = 1; require('.'); require('../packages/two/util')\n",
		"bin/run.js":                "#!/usr/bin/env node\nrequire('@s/two/util')\n",
		"lib/a.test.js":             "require('./a')\n",
	})
	out, _ := p.mapped(t, tool.Community, MapIn{})
	sameLines(t, arrows(out), []string{
		"lib/index.js -> lib/a.js", "lib/a.js -> lib/index.js", "lib/a.js -> packages/two/util.ts", "bin/run.js -> packages/two/util.ts",
		"packages/two/cli.mjs -> packages/two/util.ts (deferred)", "packages/two/util.ts -> packages/two/types.ts (deferred)",
		"packages/two/util.ts -> lib/index.js", "packages/two/types.ts -> packages/two/util.ts",
	})
	if got := fmt.Sprint(out.Cycles); got != "[{3 [lib/a.js lib/index.js lib/a.js]}]" {
		t.Errorf("the cycles are %s", got)
	}
	want := "[{bin/run.js 1 bin run} {lib/index.js 1 library top} {packages/two/cli.mjs 1 bin @s/two} {bin/run.js 1 script }]"
	if got := fmt.Sprint(out.EntryPoints); got != want {
		t.Errorf("programs begin at %s, want %s", got, want)
	}
}

func TestMapOfGoKnowsPlatforms(t *testing.T) {
	p, _ := folderWith(t, map[string]string{
		"go.mod":         "module example.com/m // it\n",
		"main.go":        "package main\n\nimport _ \"example.com/m/a\"\n\nfunc main() {}\n",
		"a/a_windows.go": "package a\n\nimport _ \"example.com/m/b\"\n",
		"a/a_linux.go":   "package a\n",
		"a/gen.go":       "//go:build ignore\n\npackage main\n\nimport _ \"example.com/m\"\n\nfunc main() {}\n",
		"b/b.go":         "package b\n\nimport _ \"example.com/m/gone\"\n",
		"b/b_test.go":    "package b\n\nimport _ \"example.com/m/a\"\n",
		"sub/go.mod":     "module example.com/sub\n",
		"sub/s.go":       "package sub\n\nimport _ \"example.com/m/b\"\n",
	})
	linux, _ := p.mapped(t, tool.Community, MapIn{Platform: "linux/amd64"})
	sameLines(t, arrows(linux), []string{"example.com/m -> example.com/m/a", "example.com/sub -> example.com/m/b"})
	windows, _ := p.mapped(t, tool.Community, MapIn{Platform: "windows/amd64", Path: "a"})
	if len(windows.Modules) != 1 || windows.Files != 3 || len(windows.EntryPoints) != 0 || windows.GoModule != "example.com/m" {
		t.Errorf("got %+v", windows)
	}
	windows, _ = p.mapped(t, tool.Community, MapIn{Platform: "windows/amd64", IncludeTests: true})
	sameLines(t, arrows(windows), []string{
		"example.com/m -> example.com/m/a", "example.com/m/a -> example.com/m/b", "example.com/sub -> example.com/m/b", "example.com/m/b -> example.com/m/a",
	})
}

func TestMapLimits(t *testing.T) {
	files := map[string]string{}
	for i := range 501 {
		files[fmt.Sprintf("m%d.py", i)] = "import m0\n"
	}
	p, _ := folderWith(t, files)
	out, hints := p.mapped(t, tool.Community, MapIn{})
	if out.Files != 500 || out.Unread != 1 || !out.Truncated || len(out.Modules) != 200 || len(hints) != 2 || hints[0].Tier != tool.Pro {
		t.Errorf("%d files, %d left out, %d modules, hints %v", out.Files, out.Unread, len(out.Modules), hints)
	}
	if n := strings.Count(out.Graph, "\n"); n > 3+maxGraphNodes+maxGraphEdges {
		t.Errorf("the graph has %d lines", n)
	}
	out, hints = p.mapped(t, tool.Pro, MapIn{MaxModules: 2})
	if out.Files != 501 || len(out.Modules) != 2 || len(hints) != 0 || out.Modules[0].Name != "m0" || len(out.Edges) != 1 {
		t.Errorf("%d files, modules %v, edges %v, hints %v", out.Files, out.Modules, out.Edges, hints)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.ProjectMap(ctx, tool.NewCall(projectMap, tool.Pro, ""), MapIn{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up ends in %v", err)
	}
}

func TestMapRefuses(t *testing.T) {
	p, dir := folderWith(t, map[string]string{"a.py": ""})
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for in, code := range map[MapIn]tool.Code{
		{Path: "../x"}: tool.InvalidPath, {Path: "none"}: tool.NotFound, {Path: "a.py"}: tool.InvalidPath, {Path: "out"}: tool.Forbidden,
		{Platform: "linux"}: tool.InvalidArgument,
	} {
		_, err := p.ProjectMap(t.Context(), tool.NewCall(projectMap, tool.Community, ""), in)
		refusedWith(t, err, code)
	}
}

// graphOf makes a graph of n modules with edges from pairs.
func graphOf(n int, pairs [][2]int) *graph {
	g := &graph{modules: make([]ModuleOut, n)}
	to := make([]map[int]bool, n)
	for i := range n {
		g.modules[i].Name = fmt.Sprint(i)
		to[i] = map[int]bool{}
	}
	for _, p := range pairs {
		to[p[0]][p[1]] = false
	}
	g.connect(to)
	return g
}

// TestCyclesAgainstReachability compares with the definition: two modules are
// in one component where each is reached from the other.
func TestCyclesAgainstReachability(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + r.IntN(12)
		var pairs [][2]int
		for range r.IntN(2 * n) {
			if a, b := r.IntN(n), r.IntN(n); a != b {
				pairs = append(pairs, [2]int{a, b})
			}
		}
		g := graphOf(n, pairs)
		part := make([]int, n)
		for i, c := range g.components() {
			for _, m := range c {
				part[m] = i + 1
			}
		}
		reach := closure(n, pairs)
		for a := range n {
			for b := range n {
				if together := a != b && reach[a][b] && reach[b][a]; a != b && together != (part[a] != 0 && part[a] == part[b]) {
					t.Fatalf("%v: %d and %d together: %v", pairs, a, b, together)
				}
			}
		}
		for _, c := range g.cycles() {
			checkCycle(t, pairs, c)
		}
	}
}

func closure(n int, pairs [][2]int) [][]bool {
	reach := make([][]bool, n)
	for i := range reach {
		reach[i] = make([]bool, n)
	}
	for _, p := range pairs {
		reach[p[0]][p[1]] = true
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	return reach
}

func checkCycle(t *testing.T, pairs [][2]int, c CycleOut) {
	t.Helper()
	if len(c.Path) < 3 || c.Path[0] != c.Path[len(c.Path)-1] {
		t.Fatalf("%v is no way around", c.Path)
	}
	for i := range c.Path[1:] {
		if !slices.ContainsFunc(pairs, func(p [2]int) bool { return fmt.Sprint(p[0]) == c.Path[i] && fmt.Sprint(p[1]) == c.Path[i+1] }) {
			t.Fatalf("%v goes where there is no import", c.Path)
		}
	}
}

func TestCyclesOfALongChain(t *testing.T) {
	const n = 200_000
	var pairs [][2]int
	for i := range n {
		pairs = append(pairs, [2]int{i, (i + 1) % n})
	}
	if c := graphOf(n, pairs).components(); len(c) != 1 || len(c[0]) != n {
		t.Errorf("found %d components", len(c))
	}
}

func TestGraphLabelsAreHarmless(t *testing.T) {
	for name, want := range map[string]string{
		"net/http":                 "net/http",
		"a\"]\nclick m0 \"x\"":     "a#34;#93; click m0 #34;x#34;",
		"<script>%%{init}":         "#60;script#62;#37;#37;#123;init#125;",
		"#35;":                     "#35;35#59;",
		strings.Repeat("ä", 100):   "…" + strings.Repeat("ä", maxGraphLabel/2),
		"x\u202egnp.exe\x1b[31m\\": "x gnp.exe #91;31m#92;",
	} {
		if got := graphLabel(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}

// BenchmarkProjectMap maps the standard library's net tree, with nothing in the
// cache and with everything in it.
func BenchmarkProjectMap(b *testing.B) {
	root := filepath.Join(goroot(b), "src", "net")
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			openedAt(b, root).mapped(b, tool.Enterprise, MapIn{})
		}
	})
	b.Run("cached", func(b *testing.B) {
		p := openedAt(b, root)
		p.mapped(b, tool.Enterprise, MapIn{})
		for b.Loop() {
			p.mapped(b, tool.Enterprise, MapIn{})
		}
	})
}

// TestMapTakesFlatMemory maps the same tree again and again.
func TestMapTakesFlatMemory(t *testing.T) {
	p, _ := folderWith(t, map[string]string{"a.py": "import b\n", "b.py": "import a\n", "package.json": `{"name":"x"}`})
	measure := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for range 50 {
		p.mapped(t, tool.Community, MapIn{})
	}
	before := measure()
	for range 1_000 {
		p.mapped(t, tool.Community, MapIn{})
	}
	if after := measure(); after > before+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}
