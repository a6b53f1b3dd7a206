package codetools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley/code/internal/source"
	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

func (p *Project) analyze(t testing.TB, in AnalyzeIn) (AnalyzeOut, error) {
	t.Helper()
	return p.AnalyzeCode(t.Context(), tool.NewCall(analyzeCode, tool.Community, ""), in)
}

func TestAnalyzeTellsAll(t *testing.T) {
	p, _ := folderWith(t, map[string]string{"a.py": "import os as system\nfrom . import b as c, d\n\n# Reads.\nclass A(B):\n    \"\"\"Doc.\"\"\"\n    async def f(self, x=1):\n        return x or 2\n\ncall(lambda: 1)\nx = = 1\n"})
	out, err := p.analyze(t, AnalyzeIn{Path: "a.py"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"path":"a.py","language":"python",` +
		`"functions":[{"name":"A.f","kind":"method","line":7,"end_line":8,"signature":"async def f(self, x=1)","async":true,"cyclomatic":2,"cognitive":1}],` +
		`"classes":[{"name":"A","kind":"class","line":5,"end_line":8,"bases":["B"],"methods":["f"],"documented":true}],` +
		`"imports":[{"path":"os","kind":"import","line":1,"alias":"system"},{"path":".","kind":"from","line":2,"names":["b as c","d"]}],` +
		`"complexity":{"functions":2,"anonymous":1,"cyclomatic":3,"cognitive":1,"max_cyclomatic":2,"mean_cyclomatic":1.5,"most_complex":"A.f"},` +
		`"lines":{"total":11,"code":7,"comment":2,"blank":2},` +
		`"errors":[{"line":11,"column":5,"message":"this does not fit the grammar of the language"}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAnalyzeText(t *testing.T) {
	p, _ := folderWith(t, nil)
	for _, l := range syntax.Languages() {
		code := "function f() {}"
		switch l {
		case syntax.Go:
			code = "package p\nfunc f() {}"
		case syntax.Python:
			code = "def f(): pass"
		}
		out, err := p.analyze(t, AnalyzeIn{Code: code, Language: l})
		if err != nil || len(out.Functions) != 1 || out.Functions[0].Name != "f" || out.Language != l || out.Path != "" {
			t.Errorf("%s: %+v, %v", l, out, err)
		}
	}
}

func TestAnalyzeCountsAnonymousFunctions(t *testing.T) {
	p, _ := folderWith(t, nil)
	in := AnalyzeIn{Code: "a(() => 1, function () {}); const b = x => x;", Language: syntax.JavaScript}
	for anonymous, want := range map[bool]int{false: 1, true: 3} {
		in.IncludeAnonymous = anonymous
		out, err := p.analyze(t, in)
		if err != nil || len(out.Functions) != want || out.Complexity.Functions != 3 || out.Complexity.Anonymous != 2 {
			t.Errorf("%+v, %v", out, err)
		}
	}
}

func TestAnalyzeClampsByTier(t *testing.T) {
	p, _ := folderWith(t, map[string]string{"a.js": strings.Repeat("function f() {}\n", 600)})
	for tier, want := range map[tool.Tier]int{tool.Community: 500, tool.Pro: 600, tool.Enterprise: 600} {
		call := tool.NewCall(analyzeCode, tier, "")
		out, err := p.AnalyzeCode(t.Context(), call, AnalyzeIn{Path: "a.js", MaxSymbols: 1000})
		if err != nil || len(out.Functions) != want || out.Truncated != (want < 600) || len(call.Hints()) != len(call.Hints()[:min(1, 600-want)]) {
			t.Errorf("%s: %d functions, %v, hints %v", tier, len(out.Functions), err, call.Hints())
		}
		if out.Complexity.Functions != 600 {
			t.Errorf("%s: %+v", tier, out.Complexity)
		}
	}
}

func TestAnalyzeRefuses(t *testing.T) {
	secret := "SECRET = 1\n"
	p, dir := folderWith(t, map[string]string{
		"bad.py": secret + "\xff", "zero.py": secret + "\x00", "large.py": strings.Repeat(secret, syntax.MaxBytes/len(secret)+1),
		"deep.js": secret + strings.Repeat("(", syntax.MaxDepth+1), "noname": secret, "sub/a.py": secret, "../outside.py": secret,
	})
	if err := os.Symlink(filepath.Join(dir, "..", "outside.py"), filepath.Join(dir, "link.py")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		in   AnalyzeIn
		code tool.Code
	}{
		{"nothing", AnalyzeIn{}, tool.InvalidArgument},
		{"both", AnalyzeIn{Path: "bad.py", Code: secret}, tool.InvalidArgument},
		{"code without language", AnalyzeIn{Code: secret}, tool.InvalidArgument},
		{"unknown language", AnalyzeIn{Code: secret, Language: "cobol"}, tool.InvalidArgument},
		{"no language in the name", AnalyzeIn{Path: "noname"}, tool.InvalidArgument},
		{"not UTF-8", AnalyzeIn{Path: "bad.py"}, tool.InvalidArgument},
		{"binary", AnalyzeIn{Path: "zero.py"}, tool.InvalidArgument},
		{"huge", AnalyzeIn{Path: "large.py"}, tool.TooLarge},
		{"huge text", AnalyzeIn{Code: strings.Repeat(secret, syntax.MaxBytes/len(secret)+1), Language: syntax.Python}, tool.TooLarge},
		{"deep", AnalyzeIn{Path: "deep.js"}, tool.TooLarge},
		{"missing", AnalyzeIn{Path: "missing.py"}, tool.NotFound},
		{"a folder", AnalyzeIn{Path: "sub"}, tool.InvalidPath},
		{"dots", AnalyzeIn{Path: "../outside.py"}, tool.InvalidPath},
		{"absolute", AnalyzeIn{Path: "/etc/passwd"}, tool.InvalidPath},
		{"a link that leads out", AnalyzeIn{Path: "link.py"}, tool.Forbidden},
	} {
		_, err := p.analyze(t, c.in)
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Code != c.code {
			t.Errorf("%s: %v, want %s", c.what, err, c.code)
		} else if strings.Contains(e.Message, "SECRET") || strings.Contains(e.Message, dir) {
			t.Errorf("%s: the error tells too much: %s", c.what, e.Message)
		}
	}
}

// What changed on the disk is parsed again, and what did not is not.
func TestFilesAreParsedOnce(t *testing.T) {
	p, dir := folderWith(t, map[string]string{"a.py": "def a(): pass\n"})
	file := func() *syntax.File {
		f, err := p.File(t.Context(), "a.py", "")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := file()
	if file() != first {
		t.Error("an unchanged file was parsed again")
	}
	if err := os.WriteFile(filepath.Join(dir, "a.py"), []byte("def bb(): pass\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := file(); got == first || got.Functions[0].Name != "bb" {
		t.Errorf("a changed file is still %+v", got.Functions)
	}
}

func TestWithoutACache(t *testing.T) {
	_, dir := folderWith(t, map[string]string{"a.py": "def a(): pass\n"})
	p, err := Open(dir, Options{CacheBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	first, err := p.File(t.Context(), "a.py", "")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := p.File(t.Context(), "a.py", ""); err != nil || again == first || p.cache.Used() != 0 {
		t.Errorf("the file was kept: %d bytes, %v", p.cache.Used(), err)
	}
}

// A copy in place may keep size, inode and time of modification.
func TestFilesThatChangeInPlaceAreReadAgain(t *testing.T) {
	p, dir := folderWith(t, map[string]string{"a.py": "def aaa(): return 1\n"})
	path := filepath.Join(dir, "a.py")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if source.Changed(before) == 0 {
		t.Skip("the platform does not tell when a file was changed")
	}
	if _, err := p.extract(t, tool.Community, ExtractIn{Path: "a.py", Symbol: "aaa"}); err != nil {
		t.Fatal(err)
	}
	for changed := false; !changed; { // clocks of disks tick every few milliseconds
		if err := os.WriteFile(path, []byte("def bbb(): return 2\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
			t.Fatal(err)
		}
		after, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		changed = source.Changed(after) != source.Changed(before)
	}
	if _, err := p.extract(t, tool.Community, ExtractIn{Path: "a.py", Symbol: "bbb"}); err != nil {
		t.Errorf("the file as it was is served: %v", err)
	}
}

func TestSideBySide(t *testing.T) {
	p, _ := folderWith(t, map[string]string{"a.py": "def a(): pass\n", "b.go": "package p\nfunc b() {}\n", "c.ts": "function c() {}\n"})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				for _, name := range []string{"a.py", "b.go", "c.ts"} {
					if out, err := p.analyze(t, AnalyzeIn{Path: name}); err != nil || len(out.Functions) != 1 {
						t.Errorf("%s: %+v, %v", name, out, err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// No file makes an answer that is out of all bounds.
func TestAnalyzeIsBounded(t *testing.T) {
	p, _ := folderWith(t, nil)
	many := strings.Repeat("aaaaaaaa, ", 50_000)
	out, err := p.analyze(t, AnalyzeIn{Language: syntax.TypeScript, Code: "import {" + many + "} from 'a';\nfunction f(" + many + ") {}\n" +
		"interface A extends " + many + "B {}\nclass C {" + strings.Repeat("m() {} n() {}\n", 1_000) + "}"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(out)
	if err != nil || len(text) > 300_000 || !out.Truncated {
		t.Errorf("%d bytes, truncated: %v, %v", len(text), out.Truncated, err)
	}
}

// Nor does a name, however often it is told.
func TestAnalyzeCutsNames(t *testing.T) {
	p, _ := folderWith(t, nil)
	long := strings.Repeat("é", 2_000)
	for l, code := range map[syntax.Language]string{
		syntax.Go:     "package p\nimport " + long + " \"" + long + "\"\ntype " + long + " int\nfunc (x *" + long + ") " + long + "(a " + long + ") {}\n",
		syntax.Python: "import " + long + " as " + long + "\nfrom a import " + long + " as " + long + "\nclass " + long + "(" + long + "):\n  def " + long + "(self, " + long + "): pass\n",
	} {
		out, err := p.analyze(t, AnalyzeIn{Language: l, Code: code, IncludeParams: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Functions) != 1 || len(out.Classes) != 1 || len(out.Functions[0].Parameters) == 0 || !strings.HasSuffix(out.Functions[0].Name, "é…") {
			t.Errorf("%s: %+v", l, out)
		}
		if text, err := json.Marshal(out); err != nil || len(text) > 5_000 {
			t.Errorf("%s: %d bytes, %v", l, len(text), err)
		}
	}
}

// While one call is busy with a text that is made to take long, others go on.
func TestOthersGoOn(t *testing.T) {
	p, _ := folderWith(t, map[string]string{"a.py": "def a(): pass\n"})
	busy := make(chan error)
	go func() {
		_, err := p.analyze(t, AnalyzeIn{Code: "x = " + strings.Repeat("1+", 200_000) + "1", Language: syntax.JavaScript})
		busy <- err
	}()
	for waiting := true; waiting; {
		if out, err := p.analyze(t, AnalyzeIn{Path: "a.py"}); err != nil || len(out.Functions) != 1 {
			t.Errorf("%+v, %v", out, err)
		}
		select {
		case err := <-busy:
			waiting = false
			// On a machine that is busy its time is over first.
			if e, ok := errors.AsType[*tool.Error](err); !ok || e.Code != tool.TooLarge && e.Code != tool.Timeout {
				t.Errorf("the large one: %v", err)
			}
		default:
		}
	}
}

// However many large files wait, a small one has its turn at once.
func TestLargeFilesLeaveATurn(t *testing.T) {
	p, _ := folderWith(t, map[string]string{"a.py": "def a(): pass\n"})
	ctx, stop := context.WithCancel(t.Context())
	for range cap(p.large) {
		end, err := p.turn(ctx, smallFile+1)
		if err != nil {
			t.Fatal(err)
		}
		defer end()
	}
	refused := make(chan error)
	go func() { // it waits for one of the others to end
		_, err := p.turn(ctx, smallFile+1)
		refused <- err
	}()
	if _, err := p.analyze(t, AnalyzeIn{Path: "a.py"}); err != nil {
		t.Error(err)
	}
	stop()
	if err := <-refused; !errors.Is(err, context.Canceled) {
		t.Errorf("a large file more has a turn: %v", err)
	}
}

// The table of tiers in the documentation is the one that holds.
func TestDocumentedTiers(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../../docs/code.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, declared := range []tool.Tool{analyzeCode, extractCode, fileContext, symbolReferences, projectMap, securityScan, updateSymbol} {
		for _, l := range declared.Limits {
			row := fmt.Sprintf("| `%s` | `%s` | %d | %d | %d |\n", declared.Name, l.Name, l.Community, l.Pro, l.Enterprise)
			if !strings.Contains(string(text), row) {
				t.Errorf("docs/code.md lacks %s", row)
			}
		}
		for _, f := range declared.Features {
			row := map[tool.Tier]string{tool.Pro: "| – | yes | yes |", tool.Enterprise: "| – | – | yes |"}[f.Tier]
			if row = fmt.Sprintf("| `%s` | `%s` %s\n", declared.Name, f.Name, row); !strings.Contains(string(text), row) {
				t.Errorf("docs/code.md lacks %s", row)
			}
		}
	}
}

func FuzzSimilarNames(f *testing.F) {
	f.Add("pars", "parse")
	f.Add("", "Ünïcode")
	f.Fuzz(func(t *testing.T, wanted, name string) {
		if len(wanted) > maxName || len(name) > maxName {
			return
		}
		if got := similarNames(name, []Symbol{{Name: name}}); name != "" && !slices.Equal(got, []string{name}) {
			t.Errorf("%q is not similar to itself: %q", name, got)
		}
		similarNames(wanted, []Symbol{{Name: name}})
	})
}
