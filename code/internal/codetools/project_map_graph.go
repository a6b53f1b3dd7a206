package codetools

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// A graph is which module imports which.
type graph struct {
	modules []ModuleOut // sorted by path
	edges   [][]edgeTo  // by module, sorted
	circles [][]int     // what components finds
}

type edgeTo struct {
	to       int
	deferred bool
}

// moduleOf is the file or folder that a file is a module of.
func moduleOf(file string, l syntax.Language, byFolder bool) string {
	if l == syntax.Go || byFolder {
		return path.Dir(file)
	}
	return file
}

func newGraph(l *layout, digests []*digest, byFolder bool) *graph {
	g := &graph{}
	index := map[string]int{}
	for _, d := range digests {
		at := moduleOf(d.path, d.language, byFolder)
		if _, ok := index[at]; !ok {
			index[at] = len(g.modules)
			g.modules = append(g.modules, ModuleOut{Name: l.nameOf(at, d, byFolder), Path: at, Language: d.language})
		}
		m := &g.modules[index[at]]
		m.Files++
		m.Lines += d.lines
		m.Functions += d.functions
		m.Classes += d.classes
	}
	g.tellApart()
	to := make([]map[int]bool, len(g.modules)) // whether it is deferred
	for _, d := range digests {
		from := index[moduleOf(d.path, d.language, byFolder)]
		for _, im := range d.imports {
			for _, t := range l.targets(d.path, d.language, im.Import) {
				at := t.path
				if byFolder && d.language != syntax.Go {
					at = path.Dir(at)
				}
				i, ok := index[at]
				if !ok || i == from {
					continue
				}
				if to[from] == nil {
					to[from] = map[int]bool{}
				}
				was, there := to[from][i]
				to[from][i] = im.deferred && (was || !there)
			}
		}
	}
	g.connect(to)
	return g
}

// tellApart names modules that would have the same name by their paths.
func (g *graph) tellApart() {
	count := map[string]int{}
	for _, m := range g.modules {
		count[m.Name]++
	}
	for i := range g.modules {
		if m := &g.modules[i]; count[m.Name] > 1 {
			m.Name = m.Path
		}
	}
}

func (l *layout) nameOf(at string, d *digest, byFolder bool) string {
	switch {
	case d.language == syntax.Go:
		return l.importPath(at)
	case d.language == syntax.Python && !byFolder:
		return l.pythonName(at)
	}
	return at
}

func (g *graph) connect(to []map[int]bool) {
	g.edges = make([][]edgeTo, len(g.modules))
	for from, all := range to {
		for _, i := range slices.Sorted(maps.Keys(all)) {
			g.edges[from] = append(g.edges[from], edgeTo{i, all[i]})
			g.modules[from].Imports++
			g.modules[i].ImportedBy++
		}
	}
	g.circles = g.components()
}

// mostConnected are at most so many modules, in the order of their paths.
func (g *graph) mostConnected(most int) []int {
	all := make([]int, len(g.modules))
	for i := range all {
		all[i] = i
	}
	if len(all) > most {
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(g.degree(b), g.degree(a)) })
		all = all[:most]
		slices.Sort(all)
	}
	return all
}

func (g *graph) degree(i int) int { return g.modules[i].Imports + g.modules[i].ImportedBy }
