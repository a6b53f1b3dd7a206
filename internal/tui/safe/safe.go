package safe

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// maxCluster is how many characters may form one that is seen. The longest emoji that
// people use has ten.
const maxCluster = 10

// Text is s in as many lines as it has, safe to be shown. Tabs become blanks.
func Text(s string) string {
	if isPlain(s, true) {
		return s
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\t", "    ")
	var b strings.Builder
	b.Grow(len(s))
	for g := graphemes.FromString(s); g.Next(); {
		if g.Value() == "\n" {
			b.WriteByte('\n')
		} else {
			writeCluster(&b, g.Value())
		}
	}
	return b.String()
}

// OneLine is s in one line, safe to be shown: where it broke stands a sign.
func OneLine(s string) string {
	if isPlain(s, false) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for g := graphemes.FromString(s); g.Next(); {
		writeInLine(&b, g.Value())
	}
	return b.String()
}

// Line is s in one line of at most width columns, safe to be shown; an ellipsis says
// that something was cut off. It does not look at what cannot be seen.
func Line(s string, width int) string {
	if width < 1 {
		return ""
	}
	if len(s) <= width && isPlain(s, false) {
		return s
	}
	var b strings.Builder
	columns, kept := 0, 0 // what fits, also with an ellipsis behind it
	for g := graphemes.FromString(s); g.Next(); {
		at := b.Len()
		writeInLine(&b, g.Value())
		columns += Width(b.String()[at:])
		if columns > width {
			return b.String()[:kept] + "…"
		}
		if columns < width {
			kept = b.Len()
		}
	}
	return b.String()
}

// Width is how many columns text takes that is safe and in one line.
func Width(s string) int { return ansi.StringWidth(s) }

func isPlain(s string, lines bool) bool {
	for i := range len(s) {
		if (s[i] < ' ' || s[i] > '~') && (s[i] != '\n' || !lines) {
			return false
		}
	}
	return true
}

func writeInLine(b *strings.Builder, cluster string) {
	switch cluster {
	case "\n", "\r", "\r\n":
		b.WriteString(" ⏎ ")
	case "\t":
		b.WriteByte(' ')
	default:
		writeCluster(b, cluster)
	}
}

// writeCluster writes what would be seen as one character.
func writeCluster(b *strings.Builder, cluster string) {
	if len(cluster) == 1 && cluster[0] >= ' ' && cluster[0] <= '~' {
		b.WriteByte(cluster[0])
		return
	}
	n := 0
	if needsBase(cluster) {
		b.WriteRune('◌')
		n = 1
	}
	var before [2]rune // the last two
	for i := 0; i < len(cluster); n++ {
		r, size := utf8.DecodeRuneInString(cluster[i:])
		switch {
		case n == maxCluster:
			fmt.Fprintf(b, "⟨+%d⟩", utf8.RuneCountInString(cluster[i:]))
			return
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(b, "⟨0x%02X⟩", cluster[i])
		case isShown(r) || joins(r) && endsEmoji(before):
			b.WriteString(cluster[i : i+size])
		default:
			fmt.Fprintf(b, "⟨U+%04X⟩", r)
		}
		before = [2]rune{before[1], r}
		i += size
	}
}

// needsBase reports whether a cluster would show on top of what stands before it.
func needsBase(cluster string) bool {
	r, size := utf8.DecodeRuneInString(cluster)
	if !isShown(r) || r == utf8.RuneError && size == 1 {
		return false
	}
	return unicode.IsMark(r) || Width(cluster) == 0
}

// isShown reports whether r shows, and changes nothing around it.
func isShown(r rune) bool {
	switch {
	case unicode.Is(hidden, r):
		return false
	case unicode.IsPrint(r), unicode.Is(unicode.Zs, r):
		return true
	}
	return unicode.Is(pictographic, r) // Unicode keeps places for emoji to come
}

func joins(r rune) bool { return r == 0x200D || r == 0xFE0F }

// endsEmoji reports whether a joiner may follow: behind an emoji, which may have said
// how it shows.
func endsEmoji(before [2]rune) bool {
	last := before[1]
	if last == 0xFE0F || 0x1F3FB <= last && last <= 0x1F3FF && before[0] != 0 {
		last = before[0]
	}
	return unicode.Is(pictographic, last)
}
