package codetools

import (
	"context"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/internal/tokens"
	"github.com/parleyhq/parley/tool"
)

const crossFile = "cross_file_dependencies"

var extractCode = tool.Tool{
	Name:  "extract_code",
	Title: "Extract a symbol",
	Description: "Get one function, class, method or variable of a file by its name, such as \"parse\", \"Class.method\" or Go's \"(*T).M\", " +
		"with the imports that it uses, what it depends on in the same file, lines around it if asked for, and an estimate of the tokens. " +
		"Where there is no such symbol, similar names are suggested.",
	Capabilities: languages,
	Features: []tool.Feature{{
		Name: crossFile, Tier: tool.Pro, Reason: "definitions in other files of the project are found from the pro tier on",
	}},
	Limits: []tool.Limit{
		{Name: "context_lines", Community: 20, Pro: 200, Enterprise: 1_000},
		{Name: "max_dependencies", Community: 20, Pro: 100, Enterprise: 500},
	},
	Annotations: reads,
	Timeout:     patience,
}

// ExtractIn is what extract_code takes.
type ExtractIn struct {
	Path            string          `json:"path" jsonschema:"the file, relative to the folder"`
	Symbol          string          `json:"symbol" jsonschema:"the name, as analyze_code tells it; its last part is enough where no other symbol has it"`
	Language        syntax.Language `json:"language,omitempty" jsonschema:"only where the file's name does not say it" enum:"go,python,javascript,typescript,tsx"`
	ContextLines    int             `json:"context_lines,omitempty" jsonschema:"how many lines before and after to show; 0 by default" minimum:"0"`
	NoDependencies  bool            `json:"no_dependencies,omitempty" jsonschema:"leave out imports and dependencies"`
	Transitive      bool            `json:"transitive,omitempty" jsonschema:"show what its dependencies depend on, too"`
	MaxDependencies int             `json:"max_dependencies,omitempty" jsonschema:"how many dependencies are shown" minimum:"0"`
	CrossFile       bool            `json:"cross_file_dependencies,omitempty" jsonschema:"also show what is imported from other files of the project, one step far (tier pro)"`
}

// ExtractOut is what extract_code answers.
type ExtractOut struct {
	Path         string          `json:"path"`
	Language     syntax.Language `json:"language"`
	Symbol       string          `json:"symbol" jsonschema:"the whole name"`
	Kind         string          `json:"kind"`
	Line         int             `json:"line" jsonschema:"of the first line of code, which may be a comment or decorator"`
	EndLine      int             `json:"end_line"`
	Code         string          `json:"code"`
	Before       string          `json:"before,omitzero" jsonschema:"the lines above"`
	After        string          `json:"after,omitzero" jsonschema:"the lines below"`
	Imports      []string        `json:"imports,omitzero" jsonschema:"the import statements that it and its dependencies use"`
	Dependencies []DependencyOut `json:"dependencies,omitzero" jsonschema:"what it uses; where asked for, what that uses too, nearest first"`
	Tokens       int             `json:"tokens" jsonschema:"about how many tokens all this code has"`
	Truncated    bool            `json:"truncated,omitzero" jsonschema:"there is more: dependencies, or code that is too long"`
	Hash         fileHash        `json:"hash" jsonschema:"of the file as it was read: the expected_hash of update_symbol"`
}

// A fileHash names the state of a file. It is derived once for each.
type fileHash string

func hashOfFile(f *syntax.File) fileHash { return fileHash(hashOf(f.Source)) }

// DependencyOut is what a symbol depends on.
type DependencyOut struct {
	Path string `json:"path,omitzero" jsonschema:"where it is in another file"`
	Name string `json:"name"`
	Kind string `json:"kind"`
	Line int    `json:"line"`
	Code string `json:"code"`
}

// Bounds on the text of an answer, in bytes.
const (
	maxCode       = 256 << 10
	maxDependency = 16 << 10
	maxShown      = 512 << 10 // of all dependencies
)

// ExtractCode is the tool extract_code.
func (p *Project) ExtractCode(ctx context.Context, call *tool.Call, in ExtractIn) (ExtractOut, error) {
	if in.CrossFile {
		if err := call.Require(crossFile); err != nil {
			return ExtractOut{}, err
		}
	}
	f, err := p.File(ctx, in.Path, in.Language)
	if err != nil {
		return ExtractOut{}, err
	}
	s, err := Find(f, in.Symbol)
	if err != nil {
		return ExtractOut{}, err
	}
	out := ExtractOut{
		Path: f.Path, Language: f.Language, Symbol: brief(s.Name), Kind: s.Kind, Line: s.Whole.Line, EndLine: s.Whole.EndLine,
		Code: bounded(f.Text(wholeLines(f, s.Whole)), maxCode), Hash: syntax.Derive(f, hashOfFile),
	}
	out.Truncated = s.Whole.End-s.Whole.Start > maxCode
	if in.ContextLines > 0 {
		around(&out, f, s, call.Clamp("context_lines", in.ContextLines))
	}
	if !in.NoDependencies {
		d := dependencies(f, s, in.Transitive, call.Clamp("max_dependencies", in.MaxDependencies))
		if in.CrossFile {
			if err := p.crossFile(ctx, d); err != nil {
				return ExtractOut{}, err
			}
		}
		out.Imports, out.Dependencies = d.importLines(), d.found
		out.Truncated = out.Truncated || d.more
	}
	out.Tokens = estimate(&out)
	return out, nil
}

// wholeLines is a span from the beginning of its line, where only white space
// stands before it, so that code keeps its indentation.
func wholeLines(f *syntax.File, s syntax.Span) syntax.Span {
	line := f.LineSpan(s.Line, s.Line)
	for _, c := range f.Source[line.Start:s.Start] {
		if c != ' ' && c != '\t' {
			return s
		}
	}
	s.Start = line.Start
	return s
}

func around(out *ExtractOut, f *syntax.File, s Symbol, lines int) {
	out.Before = bounded(f.Text(f.LineSpan(s.Whole.Line-lines, s.Whole.Line-1)), maxDependency)
	out.After = bounded(f.Text(f.LineSpan(s.Whole.EndLine+1, s.Whole.EndLine+lines)), maxDependency)
}

// estimate is about how many tokens an answer's code has.
func estimate(out *ExtractOut) int {
	const sample = 1 << 10
	total := estimateTokens(out.Before, sample) + estimateTokens(out.Code, sample) + estimateTokens(out.After, sample)
	rest := 0
	for _, i := range out.Imports {
		rest += len(i)
	}
	for _, d := range out.Dependencies {
		rest += len(d.Code)
	}
	if rest > 0 { // of the same language as the code, so about as dense
		total += rest * max(total, 1) / max(len(out.Before)+len(out.Code)+len(out.After), 1)
	}
	return total
}

// estimateTokens counts so many bytes that a text begins with, and takes the rest
// for the same.
func estimateTokens(text string, sample int) int {
	if len(text) <= sample {
		return tokens.Count(text)
	}
	head := bounded(text, sample)
	return tokens.Count(head) * len(text) / len(head)
}
