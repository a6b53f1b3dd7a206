package main

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// forest is contexts in their places.
type forest struct {
	root  string // the context whose tree it is; "" is all
	nodes map[string]*node
	list  []*node // by when they were opened
	roots []*node
}

// node is a context with those that are nested in it.
type node struct {
	id       string
	first    uint64                // where it was opened, or, if it never was, the oldest in it
	entry    *client.ContextRecord // nil for one that was never opened
	asked    bool                  // it is among what was asked for; others show where those stand
	circle   bool                  // what it is nested in descends from it
	children []*node
}

func newForest(root string) *forest { return &forest{root: root, nodes: make(map[string]*node)} }

// add takes in a context that was asked for.
func (f *forest) add(c client.ContextRecord) {
	f.put(&node{id: c.ID, first: c.First, entry: &c, asked: true})
}

func (f *forest) put(n *node) {
	if f.nodes[n.id] == nil {
		f.nodes[n.id] = n
		f.list = append(f.list, n)
	}
}

// climb adds what the contexts are nested in, up to the root.
func (f *forest) climb(ctx context.Context, rec record) error {
	for i := 0; i < len(f.list); i++ { // it grows meanwhile
		n := f.list[i]
		parent := n.parent()
		if n.id == f.root || parent == "" {
			continue
		}
		if above := f.nodes[parent]; above != nil {
			if above.entry == nil {
				above.first = min(above.first, n.first)
			}
			continue
		}
		c, err := rec.context(ctx, parent)
		switch {
		case errors.Is(err, &parley.Error{Code: parley.NotFound}):
			f.put(&node{id: parent, first: n.first})
		case err != nil:
			return err
		default:
			f.put(&node{id: parent, first: c.First, entry: &c})
		}
	}
	return nil
}

func (n *node) parent() string {
	if n.entry == nil {
		return ""
	}
	return n.entry.Parent
}

// oldest is where the oldest of the contexts was opened; 0 where there is none.
func (f *forest) oldest() uint64 {
	if len(f.list) == 0 {
		return 0
	}
	return f.list[0].first
}

// arrange puts every context below its parent, once.
func (f *forest) arrange() {
	slices.SortFunc(f.list, func(a, b *node) int { return cmp.Compare(a.first, b.first) })
	for _, n := range f.list {
		if parent := f.nodes[n.parent()]; parent != nil && n.id != f.root {
			parent.children = append(parent.children, n)
		} else {
			f.roots = append(f.roots, n)
		}
	}
	reached := make(map[*node]bool, len(f.list))
	for _, n := range f.roots {
		reach(n, reached)
	}
	for _, n := range f.list {
		if !reached[n] {
			top := f.cut(n)
			f.roots = append(f.roots, top)
			reach(top, reached)
		}
	}
	slices.SortStableFunc(f.roots, func(a, b *node) int { return cmp.Compare(a.first, b.first) })
}

// reach notes all that stands below a node, however deep.
func reach(n *node, reached map[*node]bool) {
	reached[n] = true
	for next := []*node{n}; len(next) > 0; next = next[1:] {
		for _, child := range next[0].children {
			reached[child] = true
			next = append(next, child)
		}
	}
}

// cut opens the circle that a node stands on, or hangs from, above its oldest, and
// returns that.
func (f *forest) cut(n *node) *node {
	passed := make(map[*node]bool)
	for !passed[n] {
		passed[n] = true
		n = f.nodes[n.parent()]
	}
	oldest := n
	for next := f.nodes[n.parent()]; next != n; next = f.nodes[next.parent()] {
		if next.first < oldest.first {
			oldest = next
		}
	}
	oldest.circle = true
	above := f.nodes[oldest.parent()]
	above.children = slices.DeleteFunc(above.children, func(child *node) bool { return child == oldest })
	return oldest
}
