package codetools

import (
	"context"
	"fmt"
	"go/token"
	"maps"
	"path"
	"slices"
)

// golang finds the places in Go: by types where a package is built for the
// platform, and by names elsewhere.
func (s *referenceSearch) golang(ctx context.Context, candidates []string) error {
	if len(candidates) == 0 {
		return nil
	}
	c := newGoChecker(ctx, s)
	for _, name := range candidates {
		dir := path.Dir(name)
		c.wanted[dir] = true
		c.tested[dir] = c.tested[dir] || isTest(name)
	}
	for _, dir := range slices.Sorted(maps.Keys(c.wanted)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.checkAll(dir)
	}
	s.goFound(c, candidates)
	return ctx.Err()
}

// goFound chooses among the places that the type checker saw, and adds those of
// the files that it did not.
func (s *referenceSearch) goFound(c *goChecker, candidates []string) {
	asked := map[string]bool{}
	for _, name := range candidates {
		asked[name] = true
	}
	targets := map[token.Pos]bool{}
	about := goTargets{packages: map[string]bool{}}
	for _, d := range c.definitions {
		if !s.wanted.matches(d.pkg, d.full) {
			continue
		}
		targets[d.pos] = true
		about.called = about.called || !d.value
		at := c.set.PositionFor(d.pos, false)
		if d.full == s.wanted.name {
			about.packages[path.Dir(at.Filename)] = true
		} else {
			about.members = true
		}
		if asked[at.Filename] {
			s.found = append(s.found, ReferenceOut{Path: at.Filename, Line: at.Line, Column: at.Column, Kind: isDefinition, By: byTypes, Symbol: d.full})
		}
	}
	about.none = len(targets) == 0
	about.called = about.called || about.none
	s.inGo = !about.none
	unresolved := 0
	for _, u := range c.uses {
		at := c.set.PositionFor(u.pos, false)
		r := ReferenceOut{Path: at.Filename, Line: at.Line, Column: at.Column, Kind: isReference, By: byTypes}
		if u.called {
			r.Kind = isCall
		}
		switch {
		case !asked[at.Filename]:
			continue
		case targets[u.of]:
		case u.called && !about.called, u.from != "" && !about.none && !about.maySay(s.layout, u.from):
			continue // what a package has is no field or method
		case u.of == token.NoPos && (about.none || about.maySay(s.layout, u.from) || u.member && about.members || !u.member && about.packages[path.Dir(at.Filename)]):
			r.By = byName
			unresolved++
		default:
			continue
		}
		s.found = append(s.found, r)
	}
	if unresolved > 0 {
		s.notes = append(s.notes, fmt.Sprintf("%d Go places are found by name: their types come from packages that are not in the folder, or the code does not type-check", unresolved))
	}
	s.goUnchecked(c, candidates, about)
}

// goTargets is what is known of the symbol in Go.
type goTargets struct {
	packages map[string]bool // folders at whose top it is declared
	members  bool            // it is a field or method, perhaps among others
	called   bool            // it may be called
	none     bool            // nothing of that name is declared
}

// maySay says whether an import path that could not be resolved may be that of
// a package in which the symbol is declared: by its last part, which is all that
// is known where the served folder lies within a module.
func (g goTargets) maySay(l *layout, importPath string) bool {
	if importPath == "" {
		return false
	}
	for dir := range g.packages {
		if dir == "." && len(l.above) > 0 {
			dir = l.above[len(l.above)-1]
		}
		if path.Base(dir) == path.Base(importPath) {
			return true
		}
	}
	return false
}
