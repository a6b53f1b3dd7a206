package codetools

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyhq/parley/tool"
)

// The answers are compared with programs that know: go/types with all packages,
// Python's symtable and the TypeScript compiler's language service.

// linesOfPlaces are the places that were found, one on a line, as
// "path:line:column", those found by name alone left out if not wanted.
func linesOfPlaces(out ReferencesOut, withNames bool) (lines []string) {
	for _, r := range out.References {
		if withNames || r.By != byName {
			lines = append(lines, fmt.Sprintf("%s:%d:%d", r.Path, r.Line, r.Column))
		}
	}
	slices.Sort(lines)
	return lines
}

// goPlaces are the places of an object by go/types, with every package that the
// code imports.
type goPlaces struct {
	set  *token.FileSet
	pkg  *types.Package
	info *types.Info
}

func checkedPackage(t testing.TB, dir, importPath string) goPlaces {
	t.Helper()
	b, err := build.Default.ImportDir(dir, 0)
	if err != nil {
		t.Skip("there is no package to compare with: ", err)
	}
	g := goPlaces{set: token.NewFileSet(), info: &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}}
	var files []*ast.File
	for _, name := range append(b.GoFiles, b.CgoFiles...) {
		f, err := parser.ParseFile(g.set, filepath.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: importer.ForCompiler(g.set, "gc", compiled(t, dir)), FakeImportC: true}
	if g.pkg, err = conf.Check(importPath, g.set, files, g.info); err != nil {
		t.Fatal(err)
	}
	return g
}

// compiled finds what the go command made of the packages that a package needs.
func compiled(t testing.TB, dir string) importer.Lookup {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ".")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Skip("go list does not run: ", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[strings.TrimPrefix(name, "vendor/")] = file
	}
	return func(name string) (io.ReadCloser, error) { return os.Open(files[strings.TrimPrefix(name, "vendor/")]) }
}

func (g goPlaces) object(name string) types.Object {
	owner, member, ok := strings.Cut(name, ".")
	obj := g.pkg.Scope().Lookup(owner)
	if !ok || obj == nil {
		return obj
	}
	found, _, _ := types.LookupFieldOrMethod(types.NewPointer(obj.Type()), true, g.pkg, member)
	return found
}

func (g goPlaces) of(obj types.Object, base string) (lines []string) {
	for _, all := range []map[*ast.Ident]types.Object{g.info.Defs, g.info.Uses} {
		for id, o := range all {
			if o == nil {
				continue
			}
			switch x := o.(type) {
			case *types.Func:
				o = x.Origin()
			case *types.Var:
				o = x.Origin()
			}
			if o == obj {
				at := g.set.PositionFor(id.Pos(), false)
				rel, _ := filepath.Rel(base, at.Filename)
				lines = append(lines, fmt.Sprintf("%s:%d:%d", filepath.ToSlash(rel), at.Line, at.Column))
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func TestReferencesAgreeWithGoTypes(t *testing.T) {
	src := filepath.Join(goroot(t), "src")
	g := checkedPackage(t, filepath.Join(src, "net", "http"), "net/http")
	whole, alone := openedAt(t, src), openedAt(t, filepath.Join(src, "net", "http"))
	total := 0
	for _, name := range []string{
		"Header", "Request.URL",
	} {
		obj := g.object(name)
		if obj == nil {
			continue // of another version of Go
		}
		want := g.of(obj, src)
		total += len(want)
		call := tool.NewCall(symbolReferences, tool.Enterprise, "")
		out, err := whole.SymbolReferences(t.Context(), call, ReferencesIn{Symbol: "http." + name, Path: "net/http", NoTests: true, Certain: true})
		if err != nil {
			t.Fatal(name, err)
		}
		got := slices.DeleteFunc(linesOfPlaces(out, false), func(line string) bool { // other packages are not compared
			return filepath.Dir(strings.Split(line, ":")[0]) != "net/http" || ours(t, out, line) == byScope
		})
		t.Run(name, func(t *testing.T) { sameLines(t, got, want) })

		// Without the packages that it imports, some places are found by name; none
		// is lost.
		part, err := alone.SymbolReferences(t.Context(), tool.NewCall(symbolReferences, tool.Enterprise, ""), ReferencesIn{Symbol: "http." + name, Path: ".", NoTests: true})
		if err != nil {
			t.Fatal(name, err)
		}
		got = linesOfPlaces(part, true)
		for _, line := range want {
			if line = strings.TrimPrefix(line, "net/http/"); !slices.Contains(got, line) {
				t.Errorf("%s: %s is lost where imports are not there", name, line)
			}
		}
		for _, line := range linesOfPlaces(part, false) {
			if !strings.Contains(line, "/") && ours(t, part, line) == byTypes && !slices.Contains(want, "net/http/"+line) {
				t.Errorf("%s: %s is none", name, line)
			}
		}
	}
	if total < 150 {
		t.Errorf("only %d places were compared", total)
	}
}

// ours is how a place was found.
func ours(t testing.TB, out ReferencesOut, line string) string {
	t.Helper()
	for _, r := range out.References {
		if fmt.Sprintf("%s:%d:%d", r.Path, r.Line, r.Column) == line {
			return r.By
		}
	}
	t.Fatal("there is no such place")
	return ""
}

// pythonReferences is what Python's own symbol tables say of the names at the
// top of a file: each place at which one is meant.
const pythonReferences = `
import ast, symtable, sys
path, file = sys.argv[1:]
text = open(file, "rb").read()
tree, top = ast.parse(text), symtable.symtable(text, path, "exec")
names = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
lines = text.split(b"\n")
out = set()
def local(table, name):
    if table.get_type() == "module": return False
    try: s = table.lookup(name)
    except KeyError: return False
    return not s.is_global()
def at(name, line, col):
    out.add(f"{name} {path}:{line}:{col + 1}")
def meets(table, name, line, col):
    if name in names and not local(table, name): at(name, line, col)
KINDS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
def head(n):
    if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)):
        a = n.args
        return n.decorator_list + a.defaults + [d for d in a.kw_defaults if d] + [x.annotation for x in a.posonlyargs + a.args + a.kwonlyargs + [a.vararg, a.kwarg] if x and x.annotation] + ([n.returns] if n.returns else [])
    if isinstance(n, ast.Lambda): return n.args.defaults + [d for d in n.args.kw_defaults if d]
    if isinstance(n, ast.ClassDef): return n.decorator_list + n.bases + n.keywords
    return [n.generators[0].iter]
def title(n):
    if hasattr(n, "name"): return n.name
    return {ast.Lambda: "lambda", ast.ListComp: "listcomp", ast.SetComp: "setcomp", ast.DictComp: "dictcomp", ast.GeneratorExp: "genexpr"}[type(n)]
taken = set()
def child(table, n):
    for c in table.get_children():
        if c.get_name() == title(n) and c.get_lineno() == n.lineno and c.get_id() not in taken:
            taken.add(c.get_id()); return c
    raise SystemExit(f"no table for {title(n)} on line {n.lineno}")
def walk(n, table):
    if isinstance(n, KINDS):
        if hasattr(n, "name"):
            line = n.lineno
            col = lines[line - 1].index(n.name.encode(), n.col_offset)
            meets(table, n.name, line, col)
        outside = head(n)
        for h in outside: walk(h, table)
        inner = child(table, n)
        skip = {id(h) for h in outside}
        def below(m):
            for c in ast.iter_child_nodes(m):
                if id(c) in skip: continue
                if isinstance(c, (ast.arguments, ast.arg)) or m is n and isinstance(c, ast.comprehension): below(c)
                else: walk(c, inner)
        below(n)
        return
    if isinstance(n, ast.Name): meets(table, n.id, n.lineno, n.col_offset)
    for c in ast.iter_child_nodes(n): walk(c, table)
for n in tree.body: walk(n, top)
print("\n".join(sorted(out)))
`

func TestReferencesAgreeWithPython(t *testing.T) {
	library := pythonLibrary(t)
	compared := 0
	requests := filepath.Join("..", "..", "..", ".cache", "debian", "python3-requests", "usr", "lib", "python3", "dist-packages", "requests")
	for _, file := range []string{
		filepath.Join(library, "argparse.py"), filepath.Join(library, "dataclasses.py"), filepath.Join(library, "inspect.py"),
		filepath.Join(requests, "utils.py"), filepath.Join(requests, "models.py"), filepath.Join(requests, "sessions.py"), filepath.Join(requests, "adapters.py"),
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // requests is fetched by scripts/fetch-test-deps
		}
		name := filepath.Base(file)
		p, _ := folderWith(t, map[string]string{name: string(text)})
		compared += agreesWithPython(t, p, name, file)
	}
	if compared < 500 {
		t.Errorf("only %d places were compared", compared)
	}
}

// agreesWithPython compares all names at the top of a file.
func agreesWithPython(t *testing.T, p *Project, name, file string) int {
	t.Helper()
	want := map[string][]string{}
	n := 0
	for _, line := range python(t, pythonReferences, name, file) {
		if symbol, at, ok := strings.Cut(line, " "); ok {
			want[symbol] = append(want[symbol], at)
			n++
		}
	}
	for symbol, places := range want {
		out, err := p.SymbolReferences(t.Context(), tool.NewCall(symbolReferences, tool.Enterprise, ""), ReferencesIn{Symbol: strings.TrimSuffix(name, ".py") + "." + symbol, Path: name, Certain: true})
		if err != nil {
			t.Errorf("%s in %s: %v", symbol, name, err)
			continue
		}
		var got []string
		for _, r := range out.References {
			if r.Kind == isImport || r.Symbol != "" && r.Symbol != symbol { // methods of that name, and imports, are not compared
				continue
			}
			got = append(got, fmt.Sprintf("%s:%d:%d", r.Path, r.Line, r.Column))
		}
		t.Run(name+"/"+symbol, func(t *testing.T) { sameLines(t, got, places) })
	}
	return n
}

// scriptReferences asks the TypeScript compiler for the references of each
// function that is declared in a file, and of its classes.
const scriptReferences = `
const [ts, file, name] = [require(process.argv[1]), process.argv[2], process.argv[3]];
const text = require("fs").readFileSync(file, "utf8");
const host = {
  getCompilationSettings: () => ({ allowJs: true, noLib: true, noResolve: true, target: 99 }),
  getScriptFileNames: () => [file], getScriptVersion: () => "1", getCurrentDirectory: () => "/",
  getScriptSnapshot: f => f === file ? ts.ScriptSnapshot.fromString(text) : undefined,
  getDefaultLibFileName: () => "lib.d.ts", fileExists: f => f === file, readFile: f => f === file ? text : undefined,
};
const service = ts.createLanguageService(host);
const source = service.getProgram().getSourceFile(file);
const found = [];
function walk(node, path) {
  let inner = path;
  if ((ts.isFunctionLike(node) || ts.isClassLike(node)) && node.name) inner = path.concat(node.name.getText(source));
  if ((ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) && node.name) found.push([inner.join("."), node.name.getStart(source)]);
  ts.forEachChild(node, c => walk(c, inner));
}
walk(source, []);
const bytes = new TextEncoder();
for (const [symbol, at] of found.filter((_, i) => i % 8 == 0 || found.length < 60)) {
  for (const r of (service.findReferences(file, at) || []).flatMap(r => r.references)) {
    const p = source.getLineAndCharacterOfPosition(r.textSpan.start);
    const start = source.getPositionOfLineAndCharacter(p.line, 0);
    console.log(symbol + " " + name + ":" + (p.line + 1) + ":" + (bytes.encode(text.slice(start, r.textSpan.start)).length + 1));
  }
}
`

func TestReferencesAgreeWithTypeScript(t *testing.T) {
	modules, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", "npm-code", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	compiler := filepath.Join(modules, "typescript")
	if _, err := os.Stat(compiler); err != nil {
		t.Skip("the TypeScript compiler is not there: scripts/fetch-test-deps fetches it")
	}
	compared := 0
	for _, name := range []string{"lodash/lodash.js", "express/lib/utils.js", "express/lib/view.js", "express/lib/response.js"} {
		file := filepath.Join(modules, filepath.FromSlash(name))
		if _, err := os.Stat(file); err != nil {
			continue
		}
		data, err := exec.CommandContext(t.Context(), "node", "-e", scriptReferences, compiler, file, filepath.Base(file)).Output()
		if err != nil {
			t.Skip("node does not run: ", err)
		}
		want := map[string][]string{}
		for line := range strings.Lines(string(data)) {
			if symbol, at, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !slices.Contains(want[symbol], at) {
				want[symbol] = append(want[symbol], at)
				compared++
			}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := folderWith(t, map[string]string{filepath.Base(file): string(text)})
		for symbol, places := range want {
			out, err := p.SymbolReferences(t.Context(), tool.NewCall(symbolReferences, tool.Enterprise, ""), ReferencesIn{Symbol: strings.TrimSuffix(filepath.Base(file), ".js") + "." + symbol, Path: filepath.Base(file), Certain: true})
			if err != nil {
				t.Errorf("%s in %s: %v", symbol, name, err)
				continue
			}
			var got []string
			for _, r := range out.References {
				if r.Symbol == "" || r.Symbol == symbol { // others may end in that name
					got = append(got, fmt.Sprintf("%s:%d:%d", r.Path, r.Line, r.Column))
				}
			}
			t.Run(name+"/"+symbol, func(t *testing.T) { sameLines(t, got, places) })
		}
	}
	if compared < 300 {
		t.Errorf("only %d places were compared", compared)
	}
}
