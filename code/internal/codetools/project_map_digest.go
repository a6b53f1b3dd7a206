package codetools

import (
	"bytes"
	"context"
	"go/build"
	"go/types"
	"io"
	"path"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

// A digest is what the map remembers of a file: no more, so that a large
// project takes no more memory than the cache may.
type digest struct {
	path                      string
	language                  syntax.Language
	lines, functions, classes int
	imports                   []mapImport
	entries                   []EntryOut
	hot                       []HotSpotOut
	failed                    error // nil for a file that was parsed
}

// A mapImport is an import with what a cycle has to know of it.
type mapImport struct {
	syntax.Import
	deferred bool
}

// digestAll looks at files. Those that cannot be read or parsed say so; only a
// context that ends is an error.
func (p *Project) digestAll(ctx context.Context, files []string, platform *build.Context) ([]*digest, error) {
	digests := make([]*digest, len(files))
	err := eachFile(ctx, len(files), func(i int) { digests[i] = p.digest(ctx, files[i], platform) })
	return digests, err
}

func (p *Project) digest(ctx context.Context, name string, platform *build.Context) *digest {
	f, err := p.File(ctx, name, "")
	if err != nil {
		return &digest{path: name, language: syntax.LanguageOf(name), failed: err}
	}
	d := &digest{
		path: name, language: f.Language, lines: f.Lines.Total,
		functions: len(f.Functions), classes: len(f.Classes), hot: hotSpots(f, maxHotSpots, name),
	}
	if f.Language != syntax.Go || builtFor(platform, name, f.Source) {
		d.imports = mapImports(f)
		d.entries = entriesOf(f)
	}
	return d
}

// hotSpots are the most complex named functions of a file.
func hotSpots(f *syntax.File, most int, name string) (hot []HotSpotOut) {
	const simple = 5 // up to which nobody needs to be warned
	for i := range f.Functions {
		if fn := &f.Functions[i]; fn.Name != "" && fn.Cyclomatic > simple {
			hot = append(hot, HotSpotOut{name, fn.Qualified, fn.Span.Line, fn.Cyclomatic, fn.Cognitive})
		}
	}
	slices.SortStableFunc(hot, moreComplex)
	return slices.Clone(hot[:min(len(hot), most)])
}

// platformOf is a platform as go/build has it.
func platformOf(text string) (*build.Context, error) {
	system, processor := runtime.GOOS, runtime.GOARCH
	if text != "" {
		var ok bool
		system, processor, ok = strings.Cut(text, "/")
		if !ok || len(text) > 50 || !isSystem(system) || !isProcessor(processor) {
			return nil, tool.Errorf(tool.InvalidArgument, `platform: Go knows no such platform: give one like "linux/amd64" or "windows/arm64", as go tool dist list has them`)
		}
	}
	return &build.Context{
		GOOS: system, GOARCH: processor, Compiler: "gc", CgoEnabled: true,
		ReleaseTags: build.Default.ReleaseTags, ToolTags: build.Default.ToolTags,
	}, nil
}

// isProcessor says whether Go compiles for one of that name.
func isProcessor(name string) bool { return types.SizesFor("gc", name) != nil }

// isSystem says whether Go knows an operating system of that name: only then do
// files whose name ends in it belong to that system alone.
func isSystem(name string) bool {
	nowhere := build.Context{GOOS: "nowhere", GOARCH: "nothing", OpenFile: func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("package p\n")), nil
	}}
	ok, err := nowhere.MatchFile(".", "file_"+name+".go")
	return err == nil && !ok && !strings.Contains(name, "_") && !isProcessor(name)
}

// builtFor says whether a Go file is a part of its package on a platform.
func builtFor(platform *build.Context, name string, src []byte) bool {
	c := *platform
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(src)), nil }
	ok, err := c.MatchFile(".", path.Base(name))
	return ok && err == nil
}

// mapImports are a file's imports, and which of them wait until a function
// runs, or concern types alone.
func mapImports(f *syntax.File) []mapImport {
	imports := make([]mapImport, len(f.Imports))
	checking := typeChecking(f)
	var functions []syntax.Span
	for _, fn := range f.Functions {
		if fn.Parent < 0 {
			functions = append(functions, fn.Span)
		}
	}
	for i, im := range f.Imports {
		imports[i] = mapImport{im, f.Language != syntax.Go && (im.Kind == syntax.DynamicImport || onlyTypes(f, im) ||
			liesIn(functions, im.Span) || liesIn(checking, im.Span))}
	}
	return imports
}

// liesIn says whether one of some spans, which are in the order of the text and
// apart from each other, has another one in it.
func liesIn(spans []syntax.Span, s syntax.Span) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].Start >= s.Start }) - 1
	return i >= 0 && s.End <= spans[i].End
}

// onlyTypes says whether it is TypeScript's import type.
func onlyTypes(f *syntax.File, im syntax.Import) bool {
	text := f.Source[im.Span.Start:im.Span.End]
	return f.Language != syntax.Python && (bytes.HasPrefix(text, []byte("import type ")) || bytes.HasPrefix(text, []byte("export type ")))
}

// typeChecking are the blocks that Python runs for type checkers alone.
func typeChecking(f *syntax.File) (spans []syntax.Span) {
	if f.Language != syntax.Python || !bytes.Contains(f.Source, []byte("TYPE_CHECKING")) {
		return nil
	}
	for n := range f.Tree.Root().NamedChildren() {
		if n.Kind() != "if_statement" {
			continue
		}
		if c := n.Field("condition").Text(); c == "TYPE_CHECKING" || strings.HasSuffix(c, ".TYPE_CHECKING") {
			body := n.Field("consequence")
			spans = append(spans, f.Span(body.Start()-1, body.End()))
		}
	}
	return spans
}

// entriesOf is where programs begin in a file.
func entriesOf(f *syntax.File) (entries []EntryOut) {
	switch f.Language {
	case syntax.Go:
		if f.Go.File.Name == nil || f.Go.File.Name.Name != "main" {
			return nil
		}
		for _, fn := range f.Functions {
			if fn.Qualified == "main" && fn.Kind == syntax.PlainFunction {
				return []EntryOut{{Path: f.Path, Line: fn.Span.Line, Kind: "main package", Name: path.Dir(f.Path)}}
			}
		}
	case syntax.Python:
		if path.Base(f.Path) == "__main__.py" {
			entries = append(entries, EntryOut{Path: f.Path, Line: 1, Kind: "__main__ module"})
		}
		for n := range f.Tree.Root().NamedChildren() {
			if n.Kind() == "if_statement" && isMainGuard(n.Field("condition")) {
				line, _ := f.Position(n.Start())
				return append(entries, EntryOut{Path: f.Path, Line: line, Kind: "__main__ guard"})
			}
		}
	default:
		if bytes.HasPrefix(f.Source, []byte("#!")) {
			return []EntryOut{{Path: f.Path, Line: 1, Kind: "script"}}
		}
	}
	return entries
}

// isMainGuard says whether a condition compares __name__ with "__main__".
func isMainGuard(condition syntax.Node) bool {
	name, text := false, false
	for n := range condition.All() {
		switch n.Kind() {
		case "identifier":
			name = name || string(n.Bytes()) == "__name__"
		case "string":
			text = text || strings.Trim(n.Text(), `"'`) == "__main__"
		}
	}
	return name && text
}
