package codetools

import (
	"context"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

// maxAlike bounds how many symbols of one name are tried, each of which costs a
// parse.
const maxAlike = 8

// A CandidateOut is one of several symbols that have the same name.
type CandidateOut struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Line int    `json:"line"`
}

// changed finds the symbol that is meant and puts the new code in its place.
// A getter and its setter have one name, and to replace the wrong one would
// lose the other: of several the line says which is meant, or new code that is
// of one's kind and of no other's.
func (p *Project) changed(ctx context.Context, f *syntax.File, in UpdateIn) (*edit, error) {
	first, err := Find(f, in.Symbol)
	if err != nil {
		return nil, err
	}
	alike := namedAlike(f, first.Name)
	if in.Line > 0 {
		s, err := atLine(alike, in.Line)
		if err != nil {
			return nil, err
		}
		return p.edited(ctx, f, s, in)
	}
	if len(alike) == 1 {
		return p.edited(ctx, f, alike[0], in)
	}
	var fits []*edit
	for _, s := range alike[:min(len(alike), maxAlike)] {
		e, err := p.edited(ctx, f, s, in)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && e.symbol.Kind == s.Kind {
			fits = append(fits, e)
		}
	}
	if len(fits) != 1 || len(alike) > maxAlike {
		return nil, tool.Errorf(tool.InvalidArgument, "%d symbols of the file are called %q: say by line which of them to replace", len(alike), bounded(first.Name, 100)).
			WithDetails(map[string]any{"candidates": candidates(alike)})
	}
	return fits[0], nil
}

// namedAlike are the symbols of a qualified name. What one statement declares is
// one of them, be it a variable and the function that it holds.
func namedAlike(f *syntax.File, name string) []Symbol {
	var alike []Symbol
next:
	for _, s := range Symbols(f) {
		if s.Name != name {
			continue
		}
		for _, a := range alike {
			if s.Whole.Start < a.Whole.End && a.Whole.Start < s.Whole.End {
				continue next
			}
		}
		alike = append(alike, s)
	}
	return alike
}

// atLine is the one that the line lies in.
func atLine(alike []Symbol, line int) (Symbol, error) {
	var found []Symbol
	for _, s := range alike {
		if s.Whole.Line <= line && line <= s.Whole.EndLine {
			found = append(found, s)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return Symbol{}, tool.Errorf(tool.InvalidArgument, "on line %d there are %d symbols called %q, not one", line, len(found), bounded(alike[0].Name, 100)).
		WithDetails(map[string]any{"candidates": candidates(alike)})
}

func candidates(alike []Symbol) []CandidateOut {
	var out []CandidateOut
	for _, s := range alike[:min(len(alike), 4*maxSuggestions)] {
		out = append(out, CandidateOut{bounded(s.Name, 100), s.Kind, s.Span.Line})
	}
	return out
}
