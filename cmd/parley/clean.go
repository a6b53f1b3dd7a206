package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// What participants say is not to be trusted: an escape sequence could repaint
// what somebody is about to approve, and a change of direction could make it
// read as something else. So nothing reaches a terminal that is not shown as
// itself.

const (
	joiner    = '\u200d' // makes one emoji of several
	nonJoiner = '\u200c' // separates letters in some scripts
	nbsp      = '\u00a0'
)

// shown reports whether a terminal shows r as itself, and obeys nothing.
func shown(r rune) bool {
	return unicode.IsPrint(r) || r == joiner || r == nonJoiner || r == nbsp
}

// clean is s on one line, with an escape in place of whatever a terminal would
// not show as itself. Line breaks and tabs become \n and \t.
func clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case shown(r):
			b.WriteString(s[i : i+size])
		default:
			writeEscape(&b, r)
		}
		i += size
	}
	return b.String()
}

// cleanLines is s line by line, tabs as blanks, and each line clean.
func cleanLines(s string) []string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\t", "    ")
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = clean(line)
	}
	return lines
}

func isClean(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !shown(r) }) < 0
		}
	}
	return true
}

func writeEscape(b *strings.Builder, r rune) {
	switch r {
	case '\n':
		b.WriteString(`\n`)
	case '\r':
		b.WriteString(`\r`)
	case '\t':
		b.WriteString(`\t`)
	default:
		for _, unit := range utf16Units(r) {
			fmt.Fprintf(b, `\u%04x`, unit)
		}
	}
}

// utf16Units is r as JSON escapes spell it.
func utf16Units(r rune) []uint16 { return utf16.AppendRune(nil, r) }
