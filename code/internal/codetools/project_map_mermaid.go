package codetools

import (
	"fmt"
	"strings"
	"unicode"
)

// Bounds of the graph: what is larger cannot be read, and Mermaid refuses more
// than 500 edges.
const (
	maxGraphNodes = 60
	maxGraphEdges = 200
	maxGraphLabel = 60 // bytes
)

// mermaid is a flowchart of the most connected modules. Edges within a cycle
// are thick, deferred ones are dotted.
func (g *graph) mermaid() string {
	part := make([]int, len(g.modules)) // 0 for none
	for i, c := range g.circles {
		for _, m := range c {
			part[m] = i + 1
		}
	}
	var w strings.Builder
	w.WriteString("flowchart LR\n")
	listed := g.mostConnected(maxGraphNodes)
	shown := make([]bool, len(g.modules))
	for _, i := range listed {
		shown[i] = true
		fmt.Fprintf(&w, "  m%d[\"%s\"]\n", i, graphLabel(g.modules[i].Name))
	}
	edges := 0
	for _, i := range listed {
		for _, e := range g.edges[i] {
			if !shown[e.to] || edges == maxGraphEdges {
				continue
			}
			edges++
			arrow := "-->"
			switch {
			case e.deferred:
				arrow = "-.->"
			case part[i] != 0 && part[i] == part[e.to]:
				arrow = "==>"
			}
			fmt.Fprintf(&w, "  m%d %s m%d\n", i, arrow, e.to)
		}
	}
	if len(listed) < len(g.modules) || edges == maxGraphEdges {
		fmt.Fprintf(&w, "  %%%% %d of %d modules, %d imports\n", len(listed), len(g.modules), edges)
	}
	return w.String()
}

// graphLabel writes a name so that nothing in it means anything to Mermaid, or
// to the page that shows it. Of a long name the end says more.
func graphLabel(name string) string {
	if len(name) > maxGraphLabel {
		name = "…" + strings.ToValidUTF8(name[len(name)-maxGraphLabel:], "")
	}
	var w strings.Builder
	for _, r := range name {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-@ …", r):
			w.WriteRune(r)
		case unicode.IsPrint(r):
			fmt.Fprintf(&w, "#%d;", r)
		default:
			w.WriteByte(' ')
		}
	}
	return w.String()
}
