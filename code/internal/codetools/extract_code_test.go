package codetools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

func (p *Project) extract(t testing.TB, tier tool.Tier, in ExtractIn) (ExtractOut, error) {
	t.Helper()
	return p.ExtractCode(t.Context(), tool.NewCall(extractCode, tier, ""), in)
}

func names(deps []DependencyOut) string {
	var all []string
	for _, d := range deps {
		name := d.Name
		if d.Path != "" {
			name = d.Path + ":" + name
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

var extractFiles = map[string]string{
	"app/shop.py": `import json
import os.path
from .price import Price, tax as vat
from unused import other

LIMIT = 3

def helper(x):
    return deep(x)

def deep(x):
    return json.dumps(x)

class Shop(Base):
    def total(self, items, helper=None):
        """Adds up."""
        deep = 1
        rows = [helper(i) for i in items]
        return self.round(vat(Price(rows))) + LIMIT + other.LIMIT

    @staticmethod
    def round(x):
        return helper(x)
`,
	"app/price.py": "class Price:\n    pass\n\ndef tax(x):\n    return x\n\ndef unrelated(): pass\n",
	"go.mod":       "module example.org/m // ours\n",
	"main.go": `package main

import (
	"fmt"
	"example.org/m/sub"
)

const limit = 1

type T[K any] struct{ n, limit int }

func (t *T[K]) M(other *T[K]) int {
	fmt.Println(sub.Do(), elsewhere())
	return t.own() + limit + other.limit
}

func (t *T[K]) own() int { return len(name) }

var name = "n"
`,
	"other.go":   "package main\n\nfunc elsewhere() int { return 1 }\n",
	"sub/sub.go": "package sub\n\n// Do does.\nfunc Do() int { return 2 }\n\nfunc Undone() {}\n",
	"lib/app.js": `const { read } = require('./util');
const path = require('path');
const app = exports = module.exports = {};

app.use = function use(fn, { path } = {}) {
  this.lazy();
  return path + read(fn) + util(fn);
};

app.lazy = function () {};

function util(x) { return path.join(x); }
`,
	"lib/util.js": "exports.read = function (x) { return x; };\nexports.write = () => {};\n",
	"ui/view.ts":  "import { Model } from './model.js';\nimport type { Only } from './only';\nexport class View {\n  model: Model;\n  show(o: Only): string { return fmt(this.model); }\n}\nfunction fmt(m: Model) { return ''; }\n",
	"lib/all.js":  ";(function () {\n  var run = function run(c) {\n    function a() { return b() + c; }\n    function b() { return d(); }\n    return a;\n  };\n  function d() {}\n}.call(this));\n",
	"ui/model.ts": "export class Model {}\n",
	"ui/only.ts":  "export interface Only { a: number }\n",
}

func TestExtract(t *testing.T) {
	p, _ := folderWith(t, extractFiles)
	for _, c := range []struct {
		in           ExtractIn
		symbol       string
		first, last  string // of the code
		imports      string
		dependencies string
	}{
		{ExtractIn{Path: "app/shop.py", Symbol: "Shop.total"}, "Shop.total", "    def total(self", "+ other.LIMIT", "from .price import Price, tax as vat|from unused import other", "Shop.round LIMIT"},
		{ExtractIn{Path: "app/shop.py", Symbol: "round"}, "Shop.round", "    @staticmethod\n    def", "return helper(x)", "", "helper"},
		{ExtractIn{Path: "app/shop.py", Symbol: "round", Transitive: true}, "Shop.round", "    @staticmethod\n    def", "return helper(x)", "import json", "helper deep"},
		{ExtractIn{Path: "app/shop.py", Symbol: "round", NoDependencies: true}, "Shop.round", "    @staticmethod\n    def", "return helper(x)", "", ""},
		{ExtractIn{Path: "app/shop.py", Symbol: "LIMIT"}, "LIMIT", "LIMIT = 3", "LIMIT = 3", "", ""},
		{ExtractIn{Path: "main.go", Symbol: "(*T).M"}, "T.M", "func (t *T[K]) M(", "other.limit\n}", `"fmt"|"example.org/m/sub"`, "T T.own limit"},
		{ExtractIn{Path: "main.go", Symbol: "T"}, "T", "type T[K any]", "limit int }", "", ""},
		{ExtractIn{Path: "lib/app.js", Symbol: "app.use"}, "app.use", "app.use = function use(", "};", "const { read } = require('./util');", "app app.lazy util"},
		{ExtractIn{Path: "lib/app.js", Symbol: "util"}, "util", "function util", "}", "const path = require('path');", ""},
		{ExtractIn{Path: "lib/all.js", Symbol: "a", Transitive: true}, "run.a", "    function a", "c; }", "", "run.b d"},
		{ExtractIn{Path: "ui/view.ts", Symbol: "show"}, "View.show", "  show(o: Only)", "}", "import type { Only } from './only';", "fmt"},
	} {
		out, err := p.extract(t, tool.Community, c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in.Symbol, err)
			continue
		}
		if out.Symbol != c.symbol || !strings.HasPrefix(out.Code, c.first) || !strings.HasSuffix(out.Code, c.last) {
			t.Errorf("%s: %s is\n%s", c.in.Symbol, out.Symbol, out.Code)
		}
		if got := strings.Join(out.Imports, "|"); got != c.imports {
			t.Errorf("%s: imports %s, want %s", c.in.Symbol, got, c.imports)
		}
		if got := names(out.Dependencies); got != c.dependencies {
			t.Errorf("%s: dependencies %s, want %s", c.in.Symbol, got, c.dependencies)
		}
		if out.Tokens < len(out.Code)/10 || out.Truncated || string(out.Hash) != hashOf([]byte(extractFiles[out.Path])) {
			t.Errorf("%s: %+v", c.in.Symbol, out)
		}
	}
}

func TestExtractAcrossFiles(t *testing.T) {
	p, _ := folderWith(t, extractFiles)
	for _, c := range []struct{ path, symbol, want string }{
		{"app/shop.py", "total", "Shop.round LIMIT app/price.py:Price app/price.py:tax"},
		{"main.go", "T.M", "T T.own limit sub/sub.go:Do other.go:elsewhere"},
		{"lib/app.js", "app.use", "app app.lazy util lib/util.js:exports.read"},
		{"ui/view.ts", "View", "fmt ui/model.ts:Model ui/only.ts:Only"},
	} {
		in := ExtractIn{Path: c.path, Symbol: c.symbol, CrossFile: true}
		out, err := p.extract(t, tool.Pro, in)
		if got := names(out.Dependencies); err != nil || got != c.want {
			t.Errorf("%s: %s, want %s; %v", c.symbol, got, c.want, err)
		}
		_, err = p.extract(t, tool.Community, in)
		if e := refusedWith(t, err, tool.UpgradeRequired); len(e.Hints) != 1 || e.Hints[0].Feature != crossFile {
			t.Errorf("%+v", e)
		}
	}
}

func TestExtractContext(t *testing.T) {
	p, _ := folderWith(t, map[string]string{"a.py": strings.Repeat("# above\n", 50) + "\ndef f(): pass\n" + strings.Repeat("# below\n", 50)})
	call := tool.NewCall(extractCode, tool.Community, "")
	out, err := p.ExtractCode(t.Context(), call, ExtractIn{Path: "a.py", Symbol: "f", ContextLines: 30})
	if err != nil || out.Before != strings.Repeat("# above\n", 19)+"\n" || out.After != strings.Repeat("# below\n", 20) || len(call.Hints()) != 1 {
		t.Errorf("%+v, %v, %v", out, err, call.Hints())
	}
}

func TestExtractSuggests(t *testing.T) {
	p, _ := folderWith(t, extractFiles)
	for symbol, want := range map[string]string{
		"Shop.totl": "Shop.total", "totla": "Shop.total", "shop": "Shop", "Shop.Total": "Shop.total", "(*Shop).total2": "Shop.total", "helpr": "helper", "nothingLikeIt": "",
	} {
		_, err := p.extract(t, tool.Community, ExtractIn{Path: "app/shop.py", Symbol: symbol})
		e := refusedWith(t, err, tool.NotFound)
		first := ""
		if d, ok := e.Details.(map[string]any); ok {
			first = d["did_you_mean"].([]string)[0]
		}
		if first != want {
			t.Errorf("%s: %v, want %s", symbol, e.Details, want)
		}
	}
	_, err := p.extract(t, tool.Community, ExtractIn{Path: "app/shop.py", Symbol: strings.Repeat("a", maxName+1)})
	refusedWith(t, err, tool.InvalidArgument)
}

// The last part counts most, and what is contained in something long counts
// little, wherever in the file it stands.
func TestSuggestionsInOrder(t *testing.T) {
	var all []Symbol
	for _, name := range []string{
		"TestClientWithCorrectTLSServerName", "ServeMux", "serverHandler", "http1ServerSupportsRequest", "conn.serve", "Server", "Server.Serve", "Server.Close", "Serve",
	} {
		all = append(all, Symbol{Name: name})
	}
	for wanted, want := range map[string]string{
		"Serv.Serve":  "Server.Serve",
		"Server.Serv": "Server.Serve",
		"Serv":        "Serve Server ServeMux",
		"SERVE":       "Serve",
		"conn.Serve":  "conn.serve",
		"x":           "",
	} {
		got := strings.Join(similarNames(wanted, all), " ")
		if !strings.HasPrefix(got+" ", want+" ") || want == "" && got != "" {
			t.Errorf("%s: %s, want %s", wanted, got, want)
		}
	}
}

func TestExtractAsksWhichOne(t *testing.T) {
	p, _ := folderWith(t, map[string]string{"a.py": "class A:\n  def f(self): pass\nclass B:\n  def f(self): pass\n"})
	_, err := p.extract(t, tool.Community, ExtractIn{Path: "a.py", Symbol: "f"})
	e := refusedWith(t, err, tool.InvalidArgument)
	if got := fmt.Sprint(e.Details); got != "map[candidates:[A.f B.f]]" {
		t.Error(got)
	}
}

// Every function of a real package is found by the name that analyze_code tells,
// and what comes back parses.
func TestExtractEveryFunctionOfNetHTTP(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(root)), "src", "net", "http")
	p := openedAt(t, dir)
	for _, name := range []string{"server.go", "transport.go", "request.go"} {
		all, err := p.AnalyzeCode(t.Context(), tool.NewCall(analyzeCode, tool.Pro, ""), AnalyzeIn{Path: name})
		if err != nil {
			t.Fatal(err)
		}
		for _, fn := range all.Functions {
			out, err := p.extract(t, tool.Community, ExtractIn{Path: name, Symbol: fn.Name})
			if err != nil {
				t.Errorf("%s: %v", fn.Name, err)
				continue
			}
			if fn.Kind == syntax.Lambda || out.Kind == string(syntax.Lambda) {
				continue
			}
			f, err := p.Parse(t.Context(), syntax.Go, "", []byte("package p\n"+out.Code))
			if err != nil || len(f.Errors) > 0 || len(f.Functions) == 0 || f.Functions[0].Qualified != fn.Name {
				t.Errorf("%s: %v\n%s", fn.Name, err, out.Code)
			}
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("def f(a): return g(a)\ndef g(a): return f\n", "f")
	f.Add("class A:\n  x = lambda: self.y\n", "A.x")
	f.Add("(", "*()")
	p, dir := folderWith(f, nil)
	f.Fuzz(func(t *testing.T, code, symbol string) {
		for _, name := range []string{"a.py", "a.ts", "a.go"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(code), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := p.extract(t, tool.Pro, ExtractIn{Path: name, Symbol: symbol, CrossFile: true, Transitive: true, ContextLines: 3})
			if err == nil && !strings.Contains(code, strings.TrimSpace(out.Code)) {
				t.Errorf("%q is not in %q", out.Code, code)
			}
		}
	})
}

// head is what a file begins with.
var head = map[string]string{"go": "package p\n"}

func BenchmarkExtractCached(b *testing.B) {
	for name, unit := range map[string]string{"go": goUnit, "py": pythonUnit} {
		b.Run(name, func(b *testing.B) {
			p, _ := folderWith(b, map[string]string{"a." + name: head[name] + strings.Repeat(unit, 10_000/strings.Count(unit, "\n")) + strings.ReplaceAll(unit, "Load", "Last")})
			in := ExtractIn{Path: "a." + name, Symbol: "Store.Last"}
			call := tool.NewCall(extractCode, tool.Community, "")
			for b.Loop() {
				if _, err := p.ExtractCode(b.Context(), call, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAnalyze10000Lines(b *testing.B) {
	for name, unit := range map[string]string{"go": goUnit, "py": pythonUnit} {
		b.Run(name, func(b *testing.B) {
			text := head[name] + strings.Repeat(unit, 10_000/strings.Count(unit, "\n"))
			p, _ := folderWith(b, nil)
			call := tool.NewCall(analyzeCode, tool.Community, "")
			for b.Loop() {
				if _, err := p.AnalyzeCode(b.Context(), call, AnalyzeIn{Code: text, Language: syntax.LanguageOf("a." + name)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

const goUnit = `
// Load reads the settings of a user, and what is missing from the defaults.
func (s *Store) Load(ctx context.Context, user string, options ...Option) (*Settings, error) {
	if user == "" {
		return nil, errors.New("no user")
	}
	settings := s.defaults.Clone()
	for _, o := range options {
		if err := o.apply(settings); err != nil && !errors.Is(err, ErrIgnored) {
			return nil, fmt.Errorf("applying %v: %w", o, err)
		}
	}
	return settings, s.check(settings)
}
`

const pythonUnit = `
class Store(Base):
    """Keeps the settings of users."""

    def Load(self, user, *options, default=None):
        """Reads the settings of a user, and what is missing from the defaults."""
        if not user:
            raise ValueError("no user")
        settings = dict(self.defaults)
        for option in options:
            try:
                option.apply(settings)
            except IgnoredError as error:  # not worth a word
                log.debug("applying %s: %s", option, error)
        return settings or default
`
