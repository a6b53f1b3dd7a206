package codetools

import "slices"

// cycles are the sets of modules that import each other while they are loaded,
// the largest first.
func (g *graph) cycles() []CycleOut {
	out := []CycleOut{}
	for _, part := range g.circles[:min(len(g.circles), maxCycles+1)] { // one more, so that the cut shows
		c := CycleOut{Modules: len(part)}
		for _, i := range g.around(part) {
			c.Path = append(c.Path, g.modules[i].Name)
		}
		out = append(out, c)
	}
	return out
}

// around is a shortest way from the first module of a component back to it.
func (g *graph) around(part []int) []int {
	start := part[0]
	inside := make(map[int]bool, len(part))
	for _, i := range part {
		inside[i] = true
	}
	from := map[int]int{}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, e := range g.edges[at] {
			if e.deferred || !inside[e.to] {
				continue
			}
			if e.to == start {
				way := []int{start}
				for i := at; i != start; i = from[i] {
					way = append(way, i)
				}
				way = append(way, start)
				slices.Reverse(way)
				return way
			}
			if _, seen := from[e.to]; !seen {
				from[e.to] = at
				queue = append(queue, e.to)
			}
		}
	}
	return nil
}

// tarjan finds strongly connected components. It keeps a stack of its own, which
// a long chain of imports cannot exhaust.
type tarjan struct {
	graph       *graph
	number, low []int // from 1, in the order in which modules were met
	open        []int // modules whose component is not complete
	isOpen      []bool
	calls       []visit
	found       [][]int
}

type visit struct{ at, edge int }

// components are the sets of two and more modules that import each other, the
// largest first. Imports that are deferred do not count.
func (g *graph) components() [][]int {
	n := len(g.modules)
	t := &tarjan{graph: g, number: make([]int, n), low: make([]int, n), isOpen: make([]bool, n)}
	met := 0
	for root := range n {
		if t.number[root] != 0 {
			continue
		}
		t.enter(root, &met)
		for len(t.calls) > 0 {
			t.step(&met)
		}
	}
	slices.SortStableFunc(t.found, func(a, b []int) int { return len(b) - len(a) })
	return t.found
}

func (t *tarjan) enter(i int, met *int) {
	*met++
	t.number[i], t.low[i] = *met, *met
	t.open = append(t.open, i)
	t.isOpen[i] = true
	t.calls = append(t.calls, visit{at: i})
}

func (t *tarjan) step(met *int) {
	v := &t.calls[len(t.calls)-1]
	if v.edge < len(t.graph.edges[v.at]) {
		e := t.graph.edges[v.at][v.edge]
		v.edge++
		switch {
		case e.deferred:
		case t.number[e.to] == 0:
			t.enter(e.to, met)
		case t.isOpen[e.to]:
			t.low[v.at] = min(t.low[v.at], t.number[e.to])
		}
		return
	}
	at := v.at
	t.calls = t.calls[:len(t.calls)-1]
	if len(t.calls) > 0 {
		up := t.calls[len(t.calls)-1].at
		t.low[up] = min(t.low[up], t.low[at])
	}
	if t.low[at] == t.number[at] {
		t.complete(at)
	}
}

// complete takes the component that a module is the root of off the stack.
func (t *tarjan) complete(root int) {
	var part []int
	for {
		i := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		t.isOpen[i] = false
		part = append(part, i)
		if i == root {
			break
		}
	}
	if len(part) > 1 {
		slices.Sort(part)
		t.found = append(t.found, part)
	}
}
