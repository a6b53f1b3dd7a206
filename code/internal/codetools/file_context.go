package codetools

import (
	"context"
	"path"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

var fileContext = tool.Tool{
	Name:  "get_file_context",
	Title: "Know a file before reading it",
	Description: "What to know before reading a file: what it says it is for, what it imports and from which files of the project, what it exports with signatures, " +
		"which files import it, notes such as TODO, its most complex functions, its size in lines and tokens, and the hash that update_symbol takes.",
	Capabilities: languages,
	Limits: []tool.Limit{
		{Name: "max_symbols", Community: 100, Pro: 500, Enterprise: 2_000},
		{Name: "max_files", Community: 200, Pro: 2_000, Enterprise: 20_000},
	},
	Annotations: reads,
	Timeout:     longPatience,
}

// ContextIn is what get_file_context takes.
type ContextIn struct {
	Path        string          `json:"path" jsonschema:"the file, relative to the folder"`
	Language    syntax.Language `json:"language,omitempty" jsonschema:"only where the file's name does not say it" enum:"go,python,javascript,typescript,tsx"`
	NoImporters bool            `json:"no_importers,omitempty" jsonschema:"do not search the project for files that import it"`
	MaxSymbols  int             `json:"max_symbols,omitempty" jsonschema:"how many exported symbols are listed" minimum:"0"`
	MaxFiles    int             `json:"max_files,omitempty" jsonschema:"how many files are searched for imports of this one" minimum:"0"`
}

// ContextOut is what get_file_context answers.
type ContextOut struct {
	Path      string          `json:"path"`
	Language  syntax.Language `json:"language"`
	Module    string          `json:"module" jsonschema:"how it is imported, or its path"`
	Purpose   string          `json:"purpose,omitzero" jsonschema:"what its documentation says, or that of its package; cut where it is long"`
	Bytes     int             `json:"bytes"`
	Tokens    int             `json:"tokens" jsonschema:"about how many it takes to read it"`
	Lines     LinesOut        `json:"lines"`
	Hash      fileHash        `json:"hash" jsonschema:"for update_symbol's expected_hash"`
	Functions int             `json:"functions"`
	Classes   int             `json:"classes"`
	Test      bool            `json:"test,omitzero" jsonschema:"it holds tests"`
	Entry     []EntryOut      `json:"entry_points,omitzero" jsonschema:"where programs begin in it"`
	Imports   []ImportedOut   `json:"imports"`
	Exports   []ExportOut     `json:"exports" jsonschema:"what others can use of it, in the order of the file"`
	Importers []ImporterOut   `json:"importers" jsonschema:"files of the project that import it, or in Go its package"`
	Searched  int             `json:"files_searched" jsonschema:"for importers"`
	Unread    int             `json:"files_left_out,omitzero" jsonschema:"files beyond the limit that were not searched for importers"`
	Markers   []MarkerOut     `json:"markers" jsonschema:"comments that begin with TODO, FIXME, HACK, XXX, BUG or Deprecated"`
	HotSpots  []HotSpotOut    `json:"hot_spots" jsonschema:"its most complex functions"`
	Errors    int             `json:"syntax_errors,omitzero"`
	GivenUpOut
	Notes     []string `json:"notes,omitzero" jsonschema:"why importers may be missing"`
	Truncated bool     `json:"truncated,omitzero" jsonschema:"there is more than is listed"`
}

// ImportedOut is an import with what it means in the project.
type ImportedOut struct {
	ImportOut
	Files []string `json:"files,omitzero" jsonschema:"the files, or in Go the folder, of the project that it means"`
}

// ExportOut is something that others can use.
type ExportOut struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Line       int    `json:"line"`
	EndLine    int    `json:"end_line"`
	Signature  string `json:"signature,omitzero"`
	Documented bool   `json:"documented,omitzero"`
}

// ImporterOut is a file that imports another.
type ImporterOut struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Test bool   `json:"test,omitzero"`
}

// MarkerOut is a note that somebody left.
type MarkerOut struct {
	Kind string `json:"kind"`
	Line int    `json:"line"`
	Text string `json:"text,omitzero" jsonschema:"the rest of the line, cut where it is long"`
}

// Bounds on what an answer lists besides symbols.
const (
	maxImports   = 200
	maxImporters = 200
	maxMarkers   = 50
	maxPurpose   = 1_000 // bytes
	maxMarker    = 120   // bytes
)

// FileContext is the tool get_file_context.
func (p *Project) FileContext(ctx context.Context, call *tool.Call, in ContextIn) (ContextOut, error) {
	f, err := p.File(ctx, in.Path, in.Language)
	if err != nil {
		return ContextOut{}, err
	}
	l, err := p.layout(ctx, path.Dir(f.Path))
	if err != nil {
		return ContextOut{}, err
	}
	out := ContextOut{
		Path: f.Path, Language: f.Language, Module: f.Path, Bytes: len(f.Source), Tokens: estimateTokens(string(f.Source), 4<<10),
		Lines: LinesOut(f.Lines), Hash: syntax.Derive(f, hashOfFile), Functions: len(f.Functions), Classes: len(f.Classes),
		Test: isTest(f.Path), Entry: entriesOf(f), Errors: len(f.Errors),
		Markers: markers(f), HotSpots: append([]HotSpotOut{}, hotSpots(f, 5, "")...), Importers: []ImporterOut{},
	}
	switch f.Language {
	case syntax.Go:
		out.Module = l.importPath(path.Dir(f.Path))
	case syntax.Python:
		out.Module = l.pythonName(f.Path)
	}
	out.Purpose = p.purpose(ctx, f)
	out.imports(l, f)
	exports := exportsOf(f)
	out.Exports = atMost(exports, limitOf(call, "max_symbols", in.MaxSymbols, len(exports)), &out.Truncated)
	out.Markers = atMost(out.Markers, maxMarkers, &out.Truncated)
	if !in.NoImporters { // not in the return statement: it may evaluate out before the call that fills it in
		err = p.importers(ctx, call, l, f, in.MaxFiles, &out)
	}
	return out, err
}

func (out *ContextOut) imports(l *layout, f *syntax.File) {
	out.Imports = []ImportedOut{}
	for _, im := range f.Imports {
		i := ImportedOut{ImportOut: importOut(im, &out.Truncated)}
		for _, t := range l.targets(f.Path, f.Language, im) {
			i.Files = append(i.Files, t.path)
		}
		out.Imports = append(out.Imports, i)
	}
	out.Imports = atMost(out.Imports, maxImports, &out.Truncated)
}
