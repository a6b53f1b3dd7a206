package codetools

import (
	"bytes"
	"context"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// likeFile exchanges tabs for spaces, or spaces for tabs, behind the indentation
// of the symbol itself, where all of the code has the one and the file has the
// other. A symbol that was unlike its file stays so.
func (p *Project) likeFile(ctx context.Context, f *syntax.File, s Symbol, lines []string, want string) error {
	tabs, spaces := countIndents(f.Source)
	if tabs == spaces {
		return nil
	}
	to, from, unit := byte('\t'), byte(' '), 0
	if spaces > tabs {
		to, from, unit = ' ', '\t', unitOf(string(f.Source))
	}
	was := f.Text(wholeLines(f, s.Whole))
	fixed, err := p.linesInStrings(ctx, f.Language, strings.Join(lines, ""))
	if err != nil || hasIndent(strings.SplitAfter(was, "\n"), want, from, nil) || hasIndent(lines, want, to, fixed) {
		return err
	}
	if from == ' ' {
		unit = unitOf(strings.ReplaceAll("\n"+strings.Join(lines, ""), "\n"+want, "\n"))
	}
	if unit == 0 {
		return nil
	}
	for i, line := range lines {
		rest, ok := strings.CutPrefix(line, want)
		if !ok || fixed[i+1] {
			continue
		}
		text := strings.TrimLeft(rest, string(from))
		n := len(rest) - len(text)
		if from == '\t' {
			lines[i] = want + strings.Repeat(" ", n*unit) + text
		} else {
			lines[i] = want + strings.Repeat("\t", n/unit) + strings.Repeat(" ", n%unit) + text
		}
	}
	return nil
}

// countIndents is how many lines begin with a tab, and how many with two spaces.
func countIndents(src []byte) (tabs, spaces int) {
	for line := range bytes.Lines(src) {
		switch {
		case line[0] == '\t':
			tabs++
		case bytes.HasPrefix(line, []byte("  ")):
			spaces++
		}
	}
	return tabs, spaces
}

// hasIndent says whether a line goes on with that behind the indentation that
// all have. One space may be that of a comment's star.
func hasIndent(lines []string, want string, white byte, fixed map[int]bool) bool {
	least := string(white)
	if white == ' ' {
		least = "  "
	}
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, want); ok && !fixed[i+1] && strings.HasPrefix(rest, least) {
			return true
		}
	}
	return false
}

// unitOf is by how many spaces a text indents: the least number that is no
// rarity; 0 where it cannot be told.
func unitOf(text string) int {
	const most = 8
	var lines [most + 1]int
	all := 0
	for line := range strings.Lines(text) {
		n := len(line) - len(strings.TrimLeft(line, " "))
		if n >= 2 && strings.TrimSpace(line) != "" {
			all++
			if n <= most {
				lines[n]++
			}
		}
	}
	for n, count := range lines {
		if count > 0 && count*20 >= all {
			return n
		}
	}
	return 0
}
