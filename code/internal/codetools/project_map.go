package codetools

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

// longPatience is how long one call of a tool that looks at many files may take.
const longPatience = 30 * time.Second

var projectMap = tool.Tool{
	Name:  "get_project_map",
	Title: "Map the project",
	Description: "See what a project, or a folder of it, consists of: its modules (Go packages; Python, JavaScript and TypeScript files, or folders of them) " +
		"with counts, which module imports which, import cycles, where programs begin, the most complex functions, and a Mermaid graph. " +
		"Use it first in a project that you do not know.",
	Capabilities: languages,
	Limits: []tool.Limit{
		{Name: "max_files", Community: 500, Pro: 5_000, Enterprise: 50_000},
		{Name: "max_modules", Community: 200, Pro: 1_000, Enterprise: 5_000},
	},
	Annotations: reads,
	Timeout:     longPatience,
}

// MapIn is what get_project_map takes.
type MapIn struct {
	Path         string `json:"path,omitempty" jsonschema:"the folder to map; the whole project by default"`
	ByFolder     bool   `json:"by_folder,omitempty" jsonschema:"take Python, JavaScript and TypeScript by folder, as Go always is, and not by file"`
	IncludeTests bool   `json:"include_tests,omitempty" jsonschema:"look at tests too"`
	Platform     string `json:"platform,omitempty" jsonschema:"for Go, the platform whose imports count, such as linux/amd64; by default that of the server"`
	NoGraph      bool   `json:"no_graph,omitempty" jsonschema:"leave out the Mermaid graph"`
	MaxFiles     int    `json:"max_files,omitempty" jsonschema:"how many files are looked at" minimum:"0"`
	MaxModules   int    `json:"max_modules,omitempty" jsonschema:"how many modules are listed, those with the most imports first" minimum:"0"`
}

// MapOut is what get_project_map answers.
type MapOut struct {
	Path        string        `json:"path"`
	GoModule    string        `json:"go_module,omitzero" jsonschema:"what the import paths of the Go packages begin with"`
	Guessed     bool          `json:"go_module_guessed,omitzero" jsonschema:"there is no go.mod: it was concluded from the imports"`
	Files       int           `json:"files" jsonschema:"how many were looked at"`
	Languages   []LanguageOut `json:"languages"`
	Modules     []ModuleOut   `json:"modules"`
	Edges       []EdgeOut     `json:"edges" jsonschema:"which of these modules imports which"`
	Cycles      []CycleOut    `json:"cycles" jsonschema:"modules that import each other in a circle while they are loaded"`
	EntryPoints []EntryOut    `json:"entry_points" jsonschema:"where programs begin"`
	HotSpots    []HotSpotOut  `json:"hot_spots" jsonschema:"the functions with the highest cyclomatic complexity"`
	Graph       string        `json:"mermaid,omitzero" jsonschema:"the most connected modules, as a Mermaid flowchart; thick arrows lie on cycles"`
	GivenUpOut
	Unread    int      `json:"files_left_out,omitzero" jsonschema:"files beyond the limit"`
	Notes     []string `json:"notes,omitzero" jsonschema:"what may be missing, and why"`
	Truncated bool     `json:"truncated,omitzero" jsonschema:"there is more than is listed"`
}

// LanguageOut counts the files of one language.
type LanguageOut struct {
	Language  syntax.Language `json:"language"`
	Files     int             `json:"files"`
	Lines     int             `json:"lines"`
	Functions int             `json:"functions"`
	Classes   int             `json:"classes"`
}

// ModuleOut is a module in an answer.
type ModuleOut struct {
	Name       string          `json:"name" jsonschema:"as it is imported, where that can be told, and otherwise its path"`
	Path       string          `json:"path" jsonschema:"the file, or the folder"`
	Language   syntax.Language `json:"language"`
	Files      int             `json:"files"`
	Lines      int             `json:"lines"`
	Functions  int             `json:"functions"`
	Classes    int             `json:"classes"`
	Imports    int             `json:"imports" jsonschema:"how many modules of the project it imports"`
	ImportedBy int             `json:"imported_by" jsonschema:"how many import it"`
}

// EdgeOut says that one module imports another.
type EdgeOut struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Deferred bool   `json:"deferred,omitzero" jsonschema:"only within functions, or only for types: not while it is loaded"`
}

// CycleOut is a set of modules of which each imports each, perhaps by others.
type CycleOut struct {
	Modules int      `json:"modules" jsonschema:"how many are in it"`
	Path    []string `json:"path" jsonschema:"a shortest way around, back to where it begins"`
}

// EntryOut is where a program begins.
type EntryOut struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Kind string `json:"kind" jsonschema:"main package, __main__ module, __main__ guard, bin, library (main of package.json) or script"`
	Name string `json:"name,omitzero"`
}

// HotSpotOut is a function that is complex.
type HotSpotOut struct {
	Path       string `json:"path,omitzero"`
	Name       string `json:"name"`
	Line       int    `json:"line"`
	Cyclomatic int    `json:"cyclomatic"`
	Cognitive  int    `json:"cognitive"`
}

// Bounds on what an answer lists besides modules.
const (
	maxEdges    = 5_000
	maxCycles   = 50
	maxEntries  = 100
	maxHotSpots = 10
)

// ProjectMap is the tool get_project_map.
func (p *Project) ProjectMap(ctx context.Context, call *tool.Call, in MapIn) (MapOut, error) {
	platform, err := platformOf(in.Platform)
	if err != nil {
		return MapOut{}, err
	}
	dir, err := p.root.Clean(in.Path)
	if err != nil {
		return MapOut{}, err
	}
	if _, err := p.root.List(ctx, dir); err != nil {
		return MapOut{}, err
	}
	l, err := p.layout(ctx, dir)
	if err != nil {
		return MapOut{}, err
	}
	files := l.below(dir, in.IncludeTests)
	out := MapOut{Path: dir, Notes: l.notes(dir, len(files)), Truncated: l.incomplete()}
	if wanted := limitOf(call, "max_files", in.MaxFiles, len(files)); wanted < len(files) {
		out.Unread, out.Truncated = len(files)-wanted, true
		files = files[:wanted]
	}
	digests, err := p.digestAll(ctx, files, platform)
	if err != nil {
		return MapOut{}, err
	}
	g := newGraph(l, digests, in.ByFolder)
	out.add(l, g, digests, limitOf(call, "max_modules", in.MaxModules, len(g.modules)))
	if !in.NoGraph {
		out.Graph = g.mermaid()
	}
	return out, nil
}

// limitOf is how many of what there is a call gets. A hint says so where it is
// the tier that makes it fewer.
func limitOf(call *tool.Call, limit string, asked, found int) int {
	if asked <= 0 {
		asked = max(found, 1)
	}
	return call.Clamp(limit, asked)
}

func (out *MapOut) add(l *layout, g *graph, digests []*digest, most int) {
	out.GoModule, out.Guessed = l.goModule(out.Path)
	out.Files = len(digests)
	out.languages(digests)
	out.hotSpots(digests)
	out.EntryPoints = append([]EntryOut{}, l.entries(out.Path)...)
	var failed givenUp
	for _, d := range digests {
		out.EntryPoints = append(out.EntryPoints, d.entries...)
		if d.failed != nil {
			failed.add(d.path, d.failed)
		}
	}
	out.GivenUpOut = failed.out()
	out.Truncated = out.Truncated || out.FailedFiles > 0
	out.EntryPoints = atMost(out.EntryPoints, maxEntries, &out.Truncated)
	listed := g.mostConnected(most)
	out.Truncated = out.Truncated || len(listed) < len(g.modules)
	out.Modules, out.Edges = []ModuleOut{}, []EdgeOut{}
	shown := make([]bool, len(g.modules))
	for _, i := range listed {
		out.Modules = append(out.Modules, g.modules[i])
		shown[i] = true
	}
	for _, i := range listed {
		for _, e := range g.edges[i] {
			if shown[e.to] {
				out.Edges = append(out.Edges, EdgeOut{g.modules[i].Name, g.modules[e.to].Name, e.deferred})
			}
		}
	}
	out.Edges = atMost(out.Edges, maxEdges, &out.Truncated)
	out.Cycles = atMost(g.cycles(), maxCycles, &out.Truncated)
}

func (out *MapOut) languages(digests []*digest) {
	out.Languages = []LanguageOut{}
	for _, l := range syntax.Languages() {
		n := LanguageOut{Language: l}
		for _, d := range digests {
			if d.language == l {
				n.Files++
				n.Lines += d.lines
				n.Functions += d.functions
				n.Classes += d.classes
			}
		}
		if n.Files > 0 {
			out.Languages = append(out.Languages, n)
		}
	}
}

func (out *MapOut) hotSpots(digests []*digest) {
	out.HotSpots = []HotSpotOut{}
	for _, d := range digests {
		out.HotSpots = append(out.HotSpots, d.hot...)
	}
	slices.SortStableFunc(out.HotSpots, moreComplex)
	out.HotSpots = out.HotSpots[:min(len(out.HotSpots), maxHotSpots)]
}

func moreComplex(a, b HotSpotOut) int {
	return cmp.Or(cmp.Compare(b.Cyclomatic, a.Cyclomatic), cmp.Compare(b.Cognitive, a.Cognitive), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
}
