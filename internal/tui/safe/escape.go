package safe

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	joiner    = '\u200d' // makes one emoji of several
	nonJoiner = '\u200c' // separates letters in some scripts
	nbsp      = '\u00a0'
)

// Printable reports whether a terminal shows r as itself, and obeys nothing.
func Printable(r rune) bool {
	return unicode.IsPrint(r) || r == joiner || r == nonJoiner || r == nbsp
}

// Escaped is s on one line, with an escape of JSON in place of whatever is not
// [Printable], so that it can be typed again. Line breaks and tabs become \n and \t. It
// is for lines that are written one after the other, as by "parley tail"; what is laid
// out in columns takes [Line].
func Escaped(s string) string {
	if IsPrintable(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case Printable(r):
			b.WriteString(s[i : i+size])
		default:
			writeEscape(&b, r)
		}
		i += size
	}
	return b.String()
}

// EscapedLines is s line by line, tabs as blanks, and each line [Escaped].
func EscapedLines(s string) []string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\t", "    ")
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = Escaped(line)
	}
	return lines
}

// IsPrintable reports whether [Escaped] changes nothing.
func IsPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !Printable(r) }) < 0
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
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(b, `\u%04x`, unit)
		}
	}
}
