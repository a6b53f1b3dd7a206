package codetools

import (
	"cmp"
	"context"
	"go/ast"
	"path"
	"slices"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

var symbolReferences = tool.Tool{
	Name:  "get_symbol_references",
	Title: "Find references",
	Description: "Find where a function, class, method, field or variable is defined and used, in one file, below a folder or in the whole project. " +
		"Each place says how it was found: types (Go's type checker resolved it), scope (names, imports and shadowing were followed) or " +
		"name (a member of that name, in something whose type is not known). Where there is no such symbol, similar names are suggested.",
	Capabilities: languages,
	Limits: []tool.Limit{
		{Name: "max_files", Community: 200, Pro: 2_000, Enterprise: 20_000},
		{Name: "max_references", Community: 200, Pro: 2_000, Enterprise: 10_000},
	},
	Annotations: reads,
	Timeout:     longPatience,
}

// ReferencesIn is what get_symbol_references takes.
type ReferencesIn struct {
	Symbol        string `json:"symbol" jsonschema:"the name: parse, Class.method, T.Field, (*T).Method, or after the name of its module or package"`
	Path          string `json:"path,omitempty" jsonschema:"the file or folder to search; the whole project by default"`
	Certain       bool   `json:"certain,omitempty" jsonschema:"leave out what is found by name alone"`
	NoTests       bool   `json:"no_tests,omitempty" jsonschema:"leave out tests"`
	Platform      string `json:"platform,omitempty" jsonschema:"for Go, the platform that types are checked for, such as linux/amd64; by default that of the server"`
	MaxFiles      int    `json:"max_files,omitempty" jsonschema:"how many files are searched" minimum:"0"`
	MaxReferences int    `json:"max_references,omitempty" jsonschema:"how many places are listed, definitions first, those found by name last" minimum:"0"`
}

// ReferencesOut is what get_symbol_references answers.
type ReferencesOut struct {
	Symbol     string         `json:"symbol"`
	References []ReferenceOut `json:"references" jsonschema:"definitions first, what is found by name alone last, by file and line"`
	Counts     CountsOut      `json:"counts" jsonschema:"of all places, listed or not"`
	Files      int            `json:"files_searched"`
	Unread     int            `json:"files_left_out,omitzero" jsonschema:"files beyond the limit"`
	GivenUpOut
	Notes     []string `json:"notes,omitzero" jsonschema:"what may be missing, and why"`
	Truncated bool     `json:"truncated,omitzero" jsonschema:"there is more than is listed, or than was searched"`
}

// ReferenceOut is one place.
type ReferenceOut struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Column int    `json:"column" jsonschema:"from 1, in bytes"`
	Kind   string `json:"kind" jsonschema:"definition, call, reference or import"`
	By     string `json:"by" jsonschema:"types, scope or name: how it was found"`
	Symbol string `json:"symbol,omitzero" jsonschema:"of a definition, the whole name"`
	In     string `json:"in,omitzero" jsonschema:"the function around it"`
}

// CountsOut counts places.
type CountsOut struct {
	Definitions int `json:"definitions"`
	Calls       int `json:"calls"`
	References  int `json:"references"`
	Imports     int `json:"imports"`
	ByName      int `json:"by_name" jsonschema:"how many of all these are found by name alone"`
}

// The kinds of places, and how they are found.
const (
	isDefinition = "definition"
	isCall       = "call"
	isReference  = "reference"
	isImport     = "import"

	byTypes = "types"
	byScope = "scope"
	byName  = "name"
)

// A wantedSymbol is the name that is asked for, in its parts.
type wantedSymbol struct {
	asked string
	whole string // without Go's stars and brackets
	name  string // the last part
}

// matches says whether a symbol of a module is meant.
func (w wantedSymbol) matches(module, symbol string) bool {
	for _, full := range []string{symbol, module + "." + symbol} {
		if full == w.whole || strings.HasSuffix(full, "."+w.whole) {
			return true
		}
	}
	return false
}

func wantedOf(name string) (wantedSymbol, error) {
	w := wantedSymbol{asked: name, whole: withoutStars(name)}
	w.name = simple(w.whole)
	if name == "" || len(name) > maxName || w.name == "" {
		return w, tool.Errorf(tool.InvalidArgument, "the symbol's name has %d bytes: give one of 1 to %d, such as Class.method", len(name), maxName)
	}
	return w, nil
}

// SymbolReferences is the tool get_symbol_references.
func (p *Project) SymbolReferences(ctx context.Context, call *tool.Call, in ReferencesIn) (ReferencesOut, error) {
	wanted, err := wantedOf(in.Symbol)
	if err != nil {
		return ReferencesOut{}, err
	}
	platform, err := platformOf(in.Platform)
	if err != nil {
		return ReferencesOut{}, err
	}
	files, l, err := p.area(ctx, in.Path, !in.NoTests)
	if err != nil {
		return ReferencesOut{}, err
	}
	out := ReferencesOut{Symbol: in.Symbol, Notes: l.notes(cmp.Or(in.Path, "."), len(files)), Truncated: l.incomplete()}
	if most := limitOf(call, "max_files", in.MaxFiles, len(files)); most < len(files) {
		out.Unread, out.Truncated = len(files)-most, true
		files = files[:most]
	}
	out.Files = len(files)
	s := &referenceSearch{project: p, layout: l, platform: platform, wanted: wanted}
	if err := s.mentioning(ctx, files); err != nil {
		return ReferencesOut{}, err
	}
	if err := s.run(ctx); err != nil {
		return ReferencesOut{}, err
	}
	out.GivenUpOut = s.failed.out()
	out.Truncated = out.Truncated || out.FailedFiles > 0
	if len(s.found) == 0 {
		return ReferencesOut{}, p.noSuchSymbol(ctx, files, wanted, out, s.notes)
	}
	out.fill(s, in.Certain)
	out.References = atMost(out.References, limitOf(call, "max_references", in.MaxReferences, len(out.References)), &out.Truncated)
	return out, p.enclosing(ctx, out.References)
}

func (out *ReferencesOut) fill(s *referenceSearch, certain bool) {
	out.Notes = append(out.Notes, s.notes...)
	out.References = []ReferenceOut{}
	seen := map[ReferenceOut]bool{}
	for _, r := range s.found {
		key := ReferenceOut{Path: r.Path, Line: r.Line, Column: r.Column}
		if seen[key] || certain && r.By == byName {
			continue
		}
		seen[key] = true
		out.References = append(out.References, r)
		switch r.Kind {
		case isDefinition:
			out.Counts.Definitions++
		case isCall:
			out.Counts.Calls++
		case isImport:
			out.Counts.Imports++
		default:
			out.Counts.References++
		}
		if r.By == byName {
			out.Counts.ByName++
		}
	}
	slices.SortFunc(out.References, func(a, b ReferenceOut) int {
		return cmp.Or(boolCompare(b.Kind == isDefinition, a.Kind == isDefinition), boolCompare(a.By == byName, b.By == byName),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// area is which files are searched.
func (p *Project) area(ctx context.Context, at string, tests bool) ([]string, *layout, error) {
	clean, err := p.root.Clean(at)
	if err != nil {
		return nil, nil, err
	}
	_, err = p.root.List(ctx, clean)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	folder, isFile := clean, err != nil
	if isFile {
		if _, _, err := p.root.Stat(clean); err != nil {
			return nil, nil, err
		}
		if _, err := languageOf(clean, ""); err != nil {
			return nil, nil, err
		}
		folder = path.Dir(clean)
	}
	l, err := p.layout(ctx, folder)
	if err != nil {
		return nil, nil, err
	}
	if isFile {
		l.known[clean] = true // it may lie in a folder that searches pass over
		return []string{clean}, l, nil
	}
	return l.below(clean, tests), l, nil
}

// noSuchSymbol suggests what may have been meant.
// What was not searched is told, since the symbol may be there.
func (p *Project) noSuchSymbol(ctx context.Context, files []string, w wantedSymbol, out ReferencesOut, notes []string) error {
	const enough = 300 // files that are looked into for similar names
	var all []Symbol
	for _, name := range files[:min(len(files), enough)] {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if f, err := p.File(ctx, name, ""); err == nil {
			for _, s := range Symbols(f) {
				all = append(all, Symbol{Name: s.Name})
			}
			if f.Go != nil {
				goFields(f.Go.File, func(id *ast.Ident, owner string, _ ast.Expr) {
					all = append(all, Symbol{Name: dottedName(owner, id.Name)})
				})
			}
		}
	}
	err := tool.Errorf(tool.NotFound, "no function, class, method, field or variable outside of functions is called %q in the %d files that were searched", w.asked, len(files))
	details := map[string]any{}
	if similar := similarNames(w.whole, all); len(similar) > 0 {
		details["did_you_mean"] = similar
	}
	if notes = append(out.Notes, notes...); len(notes) > 0 {
		details["notes"] = notes
	}
	if out.Unread > 0 {
		details["files_left_out"] = out.Unread
	}
	if out.FailedFiles > 0 {
		details["files_failed"], details["failed"] = out.FailedFiles, out.Failed
	}
	if len(details) > 0 {
		return err.WithDetails(details)
	}
	return err
}

// enclosing fills in the functions around places.
func (p *Project) enclosing(ctx context.Context, places []ReferenceOut) error {
	var f *syntax.File
	for i := range places {
		r := &places[i]
		if f == nil || f.Path != r.Path {
			var err error
			if f, err = p.File(ctx, r.Path, ""); ctx.Err() != nil {
				return ctx.Err()
			} else if err != nil {
				continue
			}
		}
		for _, fn := range slices.Backward(f.Functions) {
			if fn.Name != "" && before(fn.Span.Line, fn.Span.Column, r.Line, r.Column) && before(r.Line, r.Column, fn.Span.EndLine, fn.Span.EndColumn) &&
				r.Kind+fn.Name != isDefinition+simple(r.Symbol) {
				r.In = fn.Qualified
				break
			}
		}
	}
	return nil
}

func before(line, column, otherLine, otherColumn int) bool {
	return line < otherLine || line == otherLine && column <= otherColumn
}
