package excerpt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parleyhq/parley/internal/tokens"
)

// pieceBytes is how much of a text is counted at once while looking for the place
// to cut it.
const pieceBytes = 1 << 10

// bytesPerToken is what package tokens goes by where a text is too long to be
// counted.
const bytesPerToken = 4

// Head is the beginning of a text, up to so many tokens, and about how many it has.
// It ends with a line where that costs little.
func Head(s string, most int) (head string, n int) {
	end, n := fitting(s, most)
	head = s[:end]
	if nl := strings.LastIndexByte(head, '\n'); end < len(s) && nl > 0 && nl >= end/4*3 {
		head = head[:nl+1]
	}
	return head, n
}

// fitting is how many bytes of a text have at most so many tokens, and about how
// many they have.
func fitting(s string, most int) (end, n int) {
	if len(s) <= most && len(s) <= pieceBytes { // a token has at least one byte
		return len(s), tokens.Count(s)
	}
	for end < min(len(s), tokens.MostExact) {
		next := step(s, end, min(pieceBytes, tokens.MostExact-end))
		more := tokens.Count(s[end:next])
		if n+more > most {
			part, count := within(s[end:next], most-n, end == 0)
			return end + part, n + count
		}
		end, n = next, n+more
	}
	if byBytes := most * bytesPerToken; end < len(s) && byBytes > end {
		end = boundary(s, min(len(s), byBytes))
		return end, end / bytesPerToken
	}
	return boundary(s, end), n
}

// step is where a piece of about so many bytes ends that begins at start: rather
// before a blank, since a token seldom goes over one.
func step(s string, start, bytes int) int {
	end := start + bytes
	if end >= len(s) {
		return len(s)
	}
	if blank := strings.LastIndexByte(s[start+bytes/2:end], ' '); blank >= 0 {
		return start + bytes/2 + blank
	}
	if end = boundary(s, end); end <= start {
		_, size := utf8.DecodeRuneInString(s[start:])
		end = start + size
	}
	return end
}

// within is fitting for a piece, by halving. Something comes of it where it has
// to, so that a reader gets on.
func within(piece string, most int, something bool) (end, n int) {
	low, high := 0, len(piece)
	for low < high {
		mid := (low + high + 1) / 2
		if count := tokens.Count(piece[:atRune(piece, mid)]); count <= most {
			low, n = mid, count
		} else {
			high = mid - 1
		}
	}
	end = boundary(piece, low)
	if end == 0 && something && piece != "" {
		_, end = utf8.DecodeRuneInString(piece)
		n = tokens.Count(piece[:end])
	}
	return end, n
}

// atRune is the last place at or before i where a code point begins.
func atRune(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// lookBack is how many code points one character may have that is not parted.
// What has more has them to do harm.
const lookBack = 32

// boundary is the last place at or before i where a text can be cut without
// parting what people read as one character.
func boundary(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	i = atRune(s, i)
	at := i
	for range lookBack {
		if at == 0 || !joined(s, at) {
			return at
		}
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return i
}

// joined reports whether what stands before a place and what stands behind it
// belong together. It knows the common cases of Unicode's text segmentation, not
// all of it.
func joined(s string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	behind, _ := utf8.DecodeRuneInString(s[at:])
	switch {
	case before == '\r' && behind == '\n':
		return true
	case before == zeroWidthJoiner, extends(behind):
		return true
	case isFlag(before) && isFlag(behind):
		return flagsBefore(s[:at])%2 == 1
	}
	return false
}

const zeroWidthJoiner = '\u200d'

// extends reports whether a code point goes with the one before it.
func extends(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r == zeroWidthJoiner, unicode.In(r, unicode.Mn, unicode.Mc, unicode.Me):
		return true
	case r >= 0x1f3fb && r <= 0x1f3ff: // tones of skin
		return true
	case r >= 0x1160 && r <= 0x11ff: // vowels and finals of Hangul
		return true
	}
	return r >= 0xe0020 && r <= 0xe007f // tags, as in the flag of Wales
}

// isFlag reports whether a code point is half of a flag.
func isFlag(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// flagsBefore is how many halves of flags a text ends with, as far as it matters.
func flagsBefore(s string) (n int) {
	for n < 2*lookBack {
		r, size := utf8.DecodeLastRuneInString(s)
		if !isFlag(r) {
			break
		}
		s = s[:len(s)-size]
		n++
	}
	return n
}
