package codetools

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

// An edit is a file before and after one piece of it was exchanged.
type edit struct {
	before, after  *syntax.File
	was, symbol    Symbol // in before and in after
	start          int    // where the piece begins, in both
	oldEnd, newEnd int    // where it ends, in each
	doubled        []string
}

func (e *edit) unchanged() bool { return bytes.Equal(e.before.Source, e.after.Source) }

// edited puts the new code in the symbol's place and makes sure that nothing
// else came of it. Code of which only the first line has no indentation can be
// read in two ways: where the likelier one is refused, the other one is tried.
func (p *Project) edited(ctx context.Context, f *syntax.File, s Symbol, in UpdateIn) (*edit, error) {
	s, err := withBinding(f, s, in.Code)
	if err != nil {
		return nil, err
	}
	e, err := p.editedAs(ctx, f, s, in, likelier)
	if err != nil && ctx.Err() == nil && looksCut(in.Code) {
		if other, no := p.editedAs(ctx, f, s, in, lessLikely); no == nil {
			return other, nil
		}
	}
	return e, err
}

func (p *Project) editedAs(ctx context.Context, f *syntax.File, s Symbol, in UpdateIn, r reading) (*edit, error) {
	fit, err := p.fit(ctx, f, s, in.Code, r)
	if err != nil {
		return nil, err
	}
	at := replaced(f, s, fit)
	fit = withoutSeparator(f, at, fit)
	src := slices.Concat(f.Source[:at.Start], fit, f.Source[at.End:])
	after, err := p.Parse(ctx, f.Language, f.Path, src)
	if err != nil {
		return nil, err
	}
	if len(after.Errors) > 0 {
		return nil, doesNotParse(f, after)
	}
	e := &edit{before: f, after: after, was: s, start: at.Start, oldEnd: at.End, newEnd: at.Start + len(fit)}
	if err := e.strictly(); err != nil {
		return nil, err
	}
	if e.symbol, err = e.find(s, in.NewName); err != nil {
		return nil, err
	}
	if err := e.keepsOthers(); err != nil {
		return nil, err
	}
	e.doubled, err = e.twice()
	return e, err
}

// replaced is the piece that the new code takes the place of: the lines of the
// symbol from where it stands alone on them, without the comment above it where
// the new code has none.
func replaced(f *syntax.File, s Symbol, fit []byte) syntax.Span {
	at := s.Whole
	if !beginsWithComment(f.Language, fit) {
		at.Start = min(skipComments(f.Language, f.Source, at.Start), s.Span.Start)
		at = f.Span(at.Start, at.End)
	}
	if !mayEndInComment(f.Language, fit) {
		at = f.Span(at.Start, withoutComment(f, s, at.End))
	}
	return wholeLines(f, at)
}

// withoutComment is where the code ends whose last line has a comment behind it.
// That stays, as the one above does. In Python, the last line of several belongs
// to the body.
func withoutComment(f *syntax.File, s Symbol, end int) int {
	if f.Tree == nil || f.Language == syntax.Python && s.Span.Line != s.Span.EndLine {
		return end
	}
	for n := range f.Tree.Root().All() {
		if n.Kind() == "comment" && n.End() == end && n.Start() >= s.Span.End && f.Span(n.Start(), n.End()).Line == s.Span.EndLine {
			return len(bytes.TrimRight(f.Source[:n.Start()], " \t"))
		}
	}
	return end
}

// mayEndInComment says whether the last line has what begins one.
func mayEndInComment(l syntax.Language, code []byte) bool {
	last := code[bytes.LastIndexByte(code, '\n')+1:]
	if l == syntax.Python {
		return bytes.IndexByte(last, '#') >= 0
	}
	return bytes.Contains(last, []byte("//")) || bytes.Contains(last, []byte("/*")) || bytes.Contains(last, []byte("*/"))
}

// withoutSeparator leaves out the comma or semicolon at the end of the code that
// the file has behind it already, so that there are not two.
func withoutSeparator(f *syntax.File, at syntax.Span, fit []byte) []byte {
	last := fit[len(fit)-1]
	rest := f.Source[min(skipComments(f.Language, f.Source, at.End), len(f.Source)):]
	if f.Language == syntax.Python || last != ',' && last != ';' || len(rest) == 0 || rest[0] != last {
		return fit
	}
	return fit[:len(fit)-1]
}

func beginsWithComment(l syntax.Language, code []byte) bool {
	code = bytes.TrimLeft(code, " \t\r\n")
	return commentEnd(l, code) > 0
}

// skipComments is where code begins behind comments and white space.
func skipComments(l syntax.Language, src []byte, at int) int {
	for {
		for at < len(src) && strings.IndexByte(" \t\r\n", src[at]) >= 0 {
			at++
		}
		n := commentEnd(l, src[at:])
		if n == 0 {
			return at
		}
		at += n
	}
}

// commentEnd is how long the comment is that the text begins with; 0 for none.
func commentEnd(l syntax.Language, text []byte) int {
	line := []byte("//")
	if l == syntax.Python {
		line = []byte("#")
	}
	if bytes.HasPrefix(text, line) {
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			return i
		}
		return len(text)
	}
	if l != syntax.Python && bytes.HasPrefix(text, []byte("/*")) {
		if i := bytes.Index(text[2:], []byte("*/")); i >= 0 {
			return i + 4
		}
	}
	return 0
}

// doesNotParse tells where, never what.
func doesNotParse(before, after *syntax.File) error {
	var places []ErrorOut
	for _, e := range after.Errors[:min(len(after.Errors), 10)] {
		places = append(places, ErrorOut{e.Line, e.Column, e.Message})
	}
	first := places[0]
	if len(before.Errors) > 0 {
		return tool.Errorf(tool.InvalidArgument,
			"the file had syntax errors before and would have one on line %d, column %d: only a result without any is written", first.Line, first.Column).
			WithDetails(map[string]any{"syntax_errors": places})
	}
	return tool.Errorf(tool.InvalidArgument, "the file would not parse with this code: line %d, column %d: %s", first.Line, first.Column, first.Message).
		WithDetails(map[string]any{"syntax_errors": places})
}

// strictly refuses what the language does, and its grammar here does not.
func (e *edit) strictly() error {
	bad := strictFault(e.after)
	if bad == nil {
		return nil
	}
	line, column := e.after.Position(bad.offset)
	what := "the file would not parse with this code"
	if strictFault(e.before) != nil {
		what = "the file has a fault already, and only a result without any is written"
	}
	return tool.Errorf(tool.InvalidArgument, "%s: line %d, column %d: %s", what, line, column, bad.message).
		WithDetails(map[string]any{"syntax_errors": []ErrorOut{{line, column, bad.message}}})
}

// find is the symbol where the new code now stands.
func (e *edit) find(s Symbol, newName string) (Symbol, error) {
	wanted := s.Name
	if newName != "" {
		wanted = s.Name[:len(s.Name)-len(s.Simple())] + simple(newName)
	}
	var there []string
	for _, n := range Symbols(e.after) {
		if n.Span.Start < e.start || n.Span.End > e.newEnd {
			continue
		}
		if n.Name == wanted && sameSort(s, n) {
			return n, nil
		}
		if len(there) < maxSuggestions {
			there = append(there, n.Name)
		}
	}
	err := tool.Errorf(tool.InvalidArgument, "the code does not declare %q where it was: give all of it, and new_name where it has another name", bounded(wanted, 100))
	if len(there) > 0 {
		err = err.WithDetails(map[string]any{"declared": there})
	}
	return Symbol{}, err
}

// sameSort says whether one symbol may take another's place: a function may
// become a variable that holds one, but never a class.
func sameSort(a, b Symbol) bool { return (a.Class >= 0) == (b.Class >= 0) }

// keepsOthers refuses code that reaches beyond its place: by a comment that
// does not end, a decorator for what follows, or an indentation that takes it
// in.
func (e *edit) keepsOthers() error {
	was, is := e.outside(e.before, e.oldEnd), e.outside(e.after, e.newEnd)
	for i, name := range was {
		if i >= len(is) || is[i] != name {
			return tool.Errorf(tool.InvalidArgument, "the code would change what %q is, which is outside of it: does everything in it end?", bounded(name.name, 100))
		}
	}
	if len(is) > len(was) {
		return tool.Errorf(tool.InvalidArgument, "the code would make something else of what follows it: does everything in it end?")
	}
	return nil
}

// A place is a symbol with the distance from the beginning or end of the file.
type place struct {
	name, kind string
	start, end int
}

// outside are the symbols that do not lie in the piece that ends there. Those
// around it keep their beginning, those behind it their distance from the end.
func (e *edit) outside(f *syntax.File, end int) (all []place) {
	for _, s := range Symbols(f) {
		at := place{s.Name, s.Kind, s.Whole.Start, s.Whole.End}
		if s.Span.Start >= e.start && s.Span.End <= end {
			continue
		}
		if at.start >= end {
			at.start -= len(f.Source)
		}
		if at.end >= end {
			at.end -= len(f.Source)
		}
		all = append(all, at)
	}
	return all
}

// within are the names of the symbols in the piece that ends there.
func (e *edit) within(f *syntax.File, end int) map[string]bool {
	names := map[string]bool{}
	for _, s := range Symbols(f) {
		if s.Span.Start >= e.start && s.Span.End <= end {
			names[s.Name] = true
		}
	}
	return names
}

func (e *edit) answer(previousHash string) UpdateOut {
	was, is := e.within(e.before, e.oldEnd), e.within(e.after, e.newEnd)
	old, now := e.before.Span(e.start, e.oldEnd), e.after.Span(e.start, e.newEnd)
	out := UpdateOut{
		Path: e.after.Path, Symbol: e.symbol.Name, Kind: e.symbol.Kind,
		Line: now.Line, EndLine: now.EndLine,
		LinesBefore: old.EndLine - old.Line + 1, LinesAfter: now.EndLine - now.Line + 1,
		Added: lacking(is, was), Removed: lacking(was, is), Dropped: e.dropped(), Twice: e.doubled,
		PreviousHash: previousHash, Hash: hashOf(e.after.Source),
	}
	out.Diff, out.Truncated = e.diff()
	return out
}

// lacking are the names of one set that another does not have.
func lacking(of, in map[string]bool) (names []string) {
	for name := range of {
		if !in[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxTold)]
}
