package codetools

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

// patience is how long one call of a tool that looks at one file may take.
const patience = 5 * time.Second

var analyzeCode = tool.Tool{
	Name:  "analyze_code",
	Title: "Analyse code",
	Description: "List the functions, classes and imports of a file, or of code given as text, in Go, Python, JavaScript or TypeScript, " +
		"with their lines, the cyclomatic and cognitive complexity of each function, counts of lines, and syntax errors with their places. " +
		"The rest of a file with syntax errors is analysed all the same. Use it before reading a file as a whole.",
	Capabilities: languages,
	Limits:       []tool.Limit{{Name: "max_symbols", Community: 500, Pro: 5_000, Enterprise: 20_000}},
	Annotations:  reads,
	Timeout:      patience,
}

// AnalyzeIn is what analyze_code takes.
type AnalyzeIn struct {
	Path             string          `json:"path,omitempty" jsonschema:"the file, relative to the folder; give this or code"`
	Code             string          `json:"code,omitempty" jsonschema:"the code itself; give this or path"`
	Language         syntax.Language `json:"language,omitempty" jsonschema:"needed with code; with path only where the file's name does not say it" enum:"go,python,javascript,typescript,tsx"`
	IncludeAnonymous bool            `json:"include_anonymous,omitempty" jsonschema:"list functions without a name too; they are counted in any case"`
	IncludeParams    bool            `json:"include_parameters,omitempty" jsonschema:"list parameters one by one too; the signature has them in any case"`
	MaxSymbols       int             `json:"max_symbols,omitempty" jsonschema:"how many functions, classes and imports are listed, of each" minimum:"0"`
}

// AnalyzeOut is what analyze_code answers.
type AnalyzeOut struct {
	Path       string          `json:"path,omitzero"`
	Language   syntax.Language `json:"language"`
	Functions  []FunctionOut   `json:"functions" jsonschema:"in the order of the file, nested ones too"`
	Classes    []ClassOut      `json:"classes" jsonschema:"classes, and other named types"`
	Imports    []ImportOut     `json:"imports"`
	Complexity ComplexityOut   `json:"complexity"`
	Lines      LinesOut        `json:"lines"`
	Errors     []ErrorOut      `json:"errors,omitzero" jsonschema:"syntax errors; what they stand in may be missing elsewhere"`
	Truncated  bool            `json:"truncated,omitzero" jsonschema:"there are more functions, classes or imports than are listed"`
}

// FunctionOut is a function in an answer.
type FunctionOut struct {
	Name       string              `json:"name" jsonschema:"with the names of classes and functions around it; empty for one without a name"`
	Kind       syntax.FunctionKind `json:"kind" jsonschema:"function, method, constructor, getter, setter, arrow or lambda"`
	Line       int                 `json:"line"`
	EndLine    int                 `json:"end_line"`
	Signature  string              `json:"signature"`
	Receiver   string              `json:"receiver,omitzero" jsonschema:"in Go, the type with its star"`
	Parameters []string            `json:"parameters,omitzero" jsonschema:"only where asked for"`
	Documented bool                `json:"documented,omitzero"`
	Async      bool                `json:"async,omitzero"`
	Cyclomatic int                 `json:"cyclomatic"`
	Cognitive  int                 `json:"cognitive"`
}

// ClassOut is a named type in an answer.
type ClassOut struct {
	Name       string           `json:"name"`
	Kind       syntax.ClassKind `json:"kind" jsonschema:"class, struct, interface, enum, type or alias"`
	Line       int              `json:"line"`
	EndLine    int              `json:"end_line"`
	Bases      []string         `json:"bases,omitzero" jsonschema:"what it extends or embeds"`
	Methods    []string         `json:"methods,omitzero" jsonschema:"those of this file"`
	Documented bool             `json:"documented,omitzero"`
}

// ImportOut is an import in an answer.
type ImportOut struct {
	Path  string            `json:"path"`
	Kind  syntax.ImportKind `json:"kind" jsonschema:"import, from, require, dynamic or reexport"`
	Line  int               `json:"line"`
	Alias string            `json:"alias,omitzero"`
	Names []string          `json:"names,omitzero" jsonschema:"what is taken of it, as 'name' or 'name as alias'"`
}

// ComplexityOut sums up.
type ComplexityOut struct {
	Functions     int     `json:"functions" jsonschema:"how many there are, anonymous ones too"`
	Anonymous     int     `json:"anonymous"`
	Cyclomatic    int     `json:"cyclomatic" jsonschema:"of all functions together"`
	Cognitive     int     `json:"cognitive" jsonschema:"of all functions that lie in no other one"`
	MaxCyclomatic int     `json:"max_cyclomatic"`
	Mean          float64 `json:"mean_cyclomatic"`
	MostComplex   string  `json:"most_complex,omitzero" jsonschema:"the named function with the highest cyclomatic complexity"`
}

// LinesOut counts lines.
type LinesOut struct {
	Total   int `json:"total"`
	Code    int `json:"code"`
	Comment int `json:"comment" jsonschema:"comments alone, and docstrings"`
	Blank   int `json:"blank"`
}

// ErrorOut is a syntax error.
type ErrorOut struct {
	Line    int    `json:"line"`
	Column  int    `json:"column" jsonschema:"from 1, in bytes"`
	Message string `json:"message"`
}

// AnalyzeCode is the tool analyze_code.
func (p *Project) AnalyzeCode(ctx context.Context, call *tool.Call, in AnalyzeIn) (AnalyzeOut, error) {
	f, err := p.fileOrCode(ctx, in)
	if err != nil {
		return AnalyzeOut{}, err
	}
	return analysis(f, in, call.Clamp("max_symbols", in.MaxSymbols)), nil
}

func (p *Project) fileOrCode(ctx context.Context, in AnalyzeIn) (*syntax.File, error) {
	switch {
	case (in.Path == "") == (in.Code == ""):
		return nil, tool.Errorf(tool.InvalidArgument, "give either path or code")
	case in.Path != "":
		return p.File(ctx, in.Path, in.Language)
	case in.Language == "":
		return nil, tool.Errorf(tool.InvalidArgument, "give language, one of %v: code has no name that would say it", syntax.Languages())
	}
	return p.Parse(ctx, in.Language, "", []byte(in.Code))
}

func analysis(f *syntax.File, in AnalyzeIn, most int) AnalyzeOut {
	out := AnalyzeOut{
		Path: f.Path, Language: f.Language, Lines: LinesOut(f.Lines), Complexity: complexity(f),
		Functions: []FunctionOut{}, Classes: []ClassOut{}, Imports: []ImportOut{},
	}
	for i := range f.Functions {
		if fn := &f.Functions[i]; fn.Name != "" || in.IncludeAnonymous {
			out.Functions = append(out.Functions, functionOut(f, fn, in.IncludeParams))
		}
	}
	methods := methodsByClass(f)
	for i := range f.Classes {
		c := &f.Classes[i]
		out.Classes = append(out.Classes, ClassOut{
			Name: brief(c.Qualified), Kind: c.Kind, Line: c.Span.Line, EndLine: c.Span.EndLine,
			Bases: atMost(c.Bases, maxParts, &out.Truncated), Methods: atMost(methods[c.Qualified], most, &out.Truncated), Documented: c.Documented,
		})
		delete(methods, c.Qualified) // the first of that name has them all
	}
	for _, i := range f.Imports {
		out.Imports = append(out.Imports, importOut(i, &out.Truncated))
	}
	for _, e := range f.Errors {
		out.Errors = append(out.Errors, ErrorOut{e.Line, e.Column, e.Message})
	}
	out.Functions = atMost(out.Functions, most, &out.Truncated)
	out.Classes = atMost(out.Classes, most, &out.Truncated)
	out.Imports = atMost(out.Imports, most, &out.Truncated)
	return out
}

func functionOut(f *syntax.File, fn *syntax.Function, parameters bool) FunctionOut {
	out := FunctionOut{
		Name: brief(fn.Qualified), Kind: fn.Kind, Line: fn.Span.Line, EndLine: fn.Span.EndLine,
		Signature: fn.Signature, Documented: fn.Documented, Async: fn.Async,
		Cyclomatic: fn.Cyclomatic, Cognitive: fn.Cognitive,
	}
	if f.Language == syntax.Go {
		out.Receiver = brief(fn.Receiver)
	}
	if parameters {
		out.Parameters = fn.Parameters
	}
	return out
}

// methodsByClass are the names of methods by the qualified name of their class.
func methodsByClass(f *syntax.File) map[string][]string {
	methods := map[string][]string{}
	for i := range f.Functions {
		fn := &f.Functions[i]
		owner := ownerOf(f, fn)
		if owner != "" && fn.Name != "" && !slices.Contains(methods[owner][max(0, len(methods[owner])-1):], brief(fn.Name)) {
			methods[owner] = append(methods[owner], brief(fn.Name))
		}
	}
	return methods
}

// maxParts is how many names of one import, and bases of one class, are listed.
const maxParts = 100

func importOut(i syntax.Import, cut *bool) ImportOut {
	out := ImportOut{Path: brief(i.Path), Kind: i.Kind, Line: i.Span.Line, Alias: brief(i.Alias)}
	for _, n := range atMost(i.Names, maxParts, cut) {
		text := brief(n.Name)
		if n.Alias != "" {
			text += " as " + brief(n.Alias)
		}
		out.Names = append(out.Names, text)
	}
	return out
}

func complexity(f *syntax.File) ComplexityOut {
	out := ComplexityOut{Functions: len(f.Functions)}
	most := 0
	for i := range f.Functions {
		fn := &f.Functions[i]
		out.Cyclomatic += fn.Cyclomatic
		out.MaxCyclomatic = max(out.MaxCyclomatic, fn.Cyclomatic)
		if fn.Parent < 0 {
			out.Cognitive += fn.Cognitive
		}
		if fn.Name == "" {
			out.Anonymous++
		} else if fn.Cyclomatic > most {
			most, out.MostComplex = fn.Cyclomatic, brief(fn.Qualified)
		}
	}
	out.Mean = float64(out.Cyclomatic*100/cmp.Or(out.Functions, 1)) / 100
	return out
}

// brief cuts a name that nobody would write, so that no name makes an answer
// long. What it cuts ends with an ellipsis.
func brief(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "") + "…"
}

// atMost cuts a list, and says so.
func atMost[T any](list []T, most int, cut *bool) []T {
	if len(list) > most {
		*cut = true
		return list[:most]
	}
	return list
}
