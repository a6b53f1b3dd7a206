package codetools

import (
	"bytes"
	"context"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// A reading is one of the two ways to take code of which only the first line has
// no indentation: the others are as deep as in the file, or as deep as they are
// behind a first line that has none.
type reading bool

const (
	likelier   reading = true
	lessLikely reading = false
)

// looksCut says whether there are two ways.
func looksCut(code string) bool {
	first, rest, more := strings.Cut(trimEmptyLines(strings.ReplaceAll(code, "\r\n", "\n")), "\n")
	return more && indentOf(first) == "" && strings.TrimSpace(rest) != ""
}

// fit gives new code the indentation of the symbol and the line endings of the
// file, without an empty line before or after it. Lines that begin within a
// string keep what they are.
func (p *Project) fit(ctx context.Context, f *syntax.File, s Symbol, code string, r reading) ([]byte, error) {
	code = strings.ReplaceAll(code, "\r\n", "\n")
	code = trimEmptyLines(code)
	lines := strings.SplitAfter(code, "\n")
	want := indentAt(f, s.Whole.Start)
	have := indentOf(lines[0])
	if have != want {
		fixed, err := p.linesInStrings(ctx, f.Language, code)
		if err != nil {
			return nil, err
		}
		indent(lines, have, want, fixed, alreadyIndented(f, s, lines, have, want, fixed) == bool(r))
	}
	if err := p.likeFile(ctx, f, s, lines, want); err != nil {
		return nil, err
	}
	joined := strings.Join(lines, "")
	if at := wholeLines(f, s.Whole); at.Start == s.Whole.Start && want != "" {
		joined = strings.TrimPrefix(joined, want) // it stands behind something else on its line
	}
	if endsLinesInCRLF(f.Source) {
		joined = strings.ReplaceAll(joined, "\n", "\r\n")
	}
	return []byte(joined), nil
}

func trimEmptyLines(code string) string {
	code = strings.TrimRight(code, " \t\r\n")
	for {
		line, rest, more := strings.Cut(code, "\n")
		if !more || strings.TrimSpace(line) != "" {
			return code
		}
		code = rest
	}
}

// indentAt is the white space that the line of an offset begins with.
func indentAt(f *syntax.File, offset int) string {
	line, _ := f.Position(offset)
	at := f.LineSpan(line, line)
	return indentOf(string(f.Source[at.Start:max(at.Start, min(offset, at.End))]))
}

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// alreadyIndented says whether only the first line has lost its indentation,
// as happens to code that was cut out with the mouse: the others are as deep as
// in the file.
func alreadyIndented(f *syntax.File, s Symbol, lines []string, have, want string, fixed map[int]bool) bool {
	if have != "" || len(lines) == 1 {
		return false
	}
	least, closing, found := "", true, false // closing: only brackets are so little indented
	for i, line := range lines[1:] {
		text := strings.TrimSpace(line)
		if text == "" || fixed[i+2] {
			continue
		}
		in := indentOf(line)
		if !found || len(in) < len(least) {
			least, closing, found = in, true, true
		}
		if in == least {
			closing = closing && strings.IndexByte(")]}", text[0]) >= 0
		}
	}
	if !found || !strings.HasPrefix(least, want) {
		return false
	}
	if f.Language != syntax.Python {
		return least == want // of the bracket at the end
	}
	if first := lines[0][0]; first == '@' || first == '#' || closing {
		return least == want // a decorator or comment is as deep as what follows
	}
	return s.Function >= 0 && least != "" && least == indentAt(f, f.Functions[s.Function].Body.Start)
}

// indent exchanges one indentation for another.
func indent(lines []string, have, want string, fixed map[int]bool, onlyFirst bool) {
	for i, line := range lines {
		switch {
		case fixed[i+1] || strings.TrimSpace(line) == "" && i > 0:
		case onlyFirst && i > 0:
		default:
			if cut, ok := strings.CutPrefix(line, have); ok {
				line = cut
			} else {
				line = strings.TrimLeft(line, " \t")
			}
			lines[i] = want + line
		}
	}
}

// linesInStrings are the lines of a text, from 1, that begin within a string,
// docstrings apart.
func (p *Project) linesInStrings(ctx context.Context, l syntax.Language, code string) (map[int]bool, error) {
	if l == syntax.Go {
		return goLinesInStrings(code), nil
	}
	f, err := p.Parse(ctx, l, "", []byte(code))
	if err != nil {
		return nil, err
	}
	inside := map[int]bool{}
	for n := range f.Tree.Root().All() {
		switch n.Kind() {
		case "string", "template_string":
			if n.Parent().Kind() == "expression_statement" && l == syntax.Python {
				continue
			}
			at := f.Span(n.Start(), n.End())
			for line := at.Line + 1; line <= at.EndLine; line++ {
				inside[line] = true
			}
		}
	}
	return inside, nil
}

func goLinesInStrings(code string) map[int]bool {
	inside := map[int]bool{}
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(code))
	var s scanner.Scanner
	s.Init(file, []byte(code), func(token.Position, string) {}, 0)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return inside
		}
		if tok == token.STRING {
			first := file.Line(pos)
			for i := range strings.Count(text, "\n") {
				inside[first+1+i] = true
			}
		}
	}
}

// endsLinesInCRLF says what most lines of a file end in.
func endsLinesInCRLF(src []byte) bool {
	return 2*bytes.Count(src, []byte("\r\n")) > bytes.Count(src, []byte("\n"))
}
