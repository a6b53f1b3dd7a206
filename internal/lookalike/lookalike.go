package lookalike

import (
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Skeleton is the same for names that look alike.
func Skeleton(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	for _, r := range norm.NFKD.String(name) {
		switch {
		case r < 0x80:
			b.WriteByte(ascii(byte(r)))
		case isUnseen(r):
		default:
			if like, ok := table()[r]; ok {
				b.WriteString(like)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return pairs.Replace(b.String())
}

// pairs of letters look like one.
var pairs = strings.NewReplacer("rn", "m", "vv", "w")

// ascii is one character for those that look alike.
func ascii(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return ascii(c + 'a' - 'A')
	case c == '0':
		return 'o'
	case c == '1' || c == 'i' || c == '|':
		return 'l'
	case c == '.' || c == '_' || c == ' ':
		return '-'
	case c == '`':
		return '\''
	}
	return c
}

// isUnseen reports whether r shows on another character, or not at all.
func isUnseen(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0
}

// table is what single characters look like. It is written as groups, separated by
// blanks, of what is looked like and all that do, which are told by their distances.
// Numbers are of base 36.
var table = sync.OnceValue(func() map[rune]string {
	all := map[rune]string{}
	for group := range strings.SplitSeq(encoded, " ") {
		like, chars, _ := strings.Cut(group, ":")
		var word strings.Builder
		for c := range strings.SplitSeq(like, ".") {
			word.WriteRune(number(c))
		}
		r := rune(0)
		for distance := range strings.SplitSeq(chars, ",") {
			r += number(distance)
			all[r] = word.String()
		}
	}
	return all
})

func number(s string) rune {
	n, err := strconv.ParseInt(s, 36, 32)
	if err != nil {
		panic("lookalike: the table is broken: " + err.Error())
	}
	return rune(n)
}

// Confusable finds the first of some names that looks like a name and is another one.
func Confusable(name string, among []string) (like string, ok bool) {
	skeleton := Skeleton(name)
	for _, other := range among {
		if other != name && Skeleton(other) == skeleton {
			return other, true
		}
	}
	return "", false
}

// Mixed reports whether a name has letters of several scripts that look alike, as
// Latin and Cyrillic do. Few names have a good reason for that.
func Mixed(name string) bool {
	var first *unicode.RangeTable
	for _, r := range name {
		if s := scriptOf(r); s != nil && first != nil && s != first {
			return true
		} else if s != nil {
			first = s
		}
	}
	return false
}

var scripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Georgian, unicode.Hebrew, unicode.Lisu,
}

func scriptOf(r rune) *unicode.RangeTable {
	for _, s := range scripts {
		if unicode.Is(s, r) {
			return s
		}
	}
	return nil
}
