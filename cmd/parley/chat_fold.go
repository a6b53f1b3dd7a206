package main

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// narrowest is the screen, in columns, on which lines are still folded.
const narrowest = 16

// folded is text with no line wider than the screen. A terminal would let the rest
// of a line begin at its left edge, where whatever a participant wrote could pass for
// a line of ours: here it stands behind the same bar, or further in. JSON Lines stay
// whole.
func folded(text []byte, columns int) []byte {
	if columns < narrowest {
		return text
	}
	var out []byte
	for line := range bytes.Lines(text) {
		out = append(out, foldedLine(line, columns-1)...)
	}
	return out
}

func foldedLine(line []byte, columns int) []byte {
	if len(line) <= columns || line[0] == '{' { // what --json writes is for programs
		return line
	}
	var out []byte
	inset := insetOf(line, columns)
	at, blank, atBlank := 0, -1, 0 // the column, and where the last blank was
	for len(line) > 0 {
		n, wide := nextShown(line)
		if at+wide > columns {
			cut, after := len(out), len(out)
			if blank >= 0 && atBlank > columns/2 {
				cut, after = blank, blank+1
			}
			at, blank = columnsOf(out[after:])+len(inset), -1
			out = slices.Replace(out, cut, after, []byte("\n"+inset)...)
		}
		if line[0] == ' ' {
			blank, atBlank = len(out), at
		}
		out, line, at = append(out, line[:n]...), line[n:], at+wide
	}
	return out
}

// insetOf is what stands in front of the rest of a line.
func insetOf(line []byte, columns int) string {
	if bytes.HasPrefix(line, []byte(bar)) {
		return bar
	}
	in := len(line) - len(bytes.TrimLeft(line, " "))
	return strings.Repeat(" ", min(in+4, columns/2))
}

// columnsOf is how wide text is, which has no end of a line in it.
func columnsOf(text []byte) (columns int) {
	for len(text) > 0 {
		n, wide := nextShown(text)
		text, columns = text[n:], columns+wide
	}
	return columns
}

// nextShown is how long the next letter is, or colour, in bytes, and how wide.
// Where terminals differ it is taken for wide.
func nextShown(text []byte) (n, columns int) {
	if end := bytes.IndexByte(text, 'm'); text[0] == '\x1b' && end >= 0 {
		return end + 1, 0
	}
	r, n := utf8.DecodeRune(text)
	switch {
	case r < ' ':
		return n, 0
	case r >= 0x2300 || 0x1100 <= r && r < 0x1160: // Hangul, Han, pictures
		return n, 2
	}
	return n, 1
}
