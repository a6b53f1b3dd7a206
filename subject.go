package parley

import (
	"strings"
)

// CheckSubject refuses, with invalid_subject, a SUBJECT that is a URI or path
// with a "." or ".." segment (section 4 of the contract): it names something
// else than a pattern would read in it.
//
// A SUBJECT counts as a URI or path where it has a slash or backslash, plain or
// percent-encoded, and always on a METHOD of resources/*. A tool that is called
// ".." is a name. Segments end at slashes, backslashes, colons, semicolons,
// question marks, number signs and control characters, so that file:../x,
// /a/..;v=1/b and /a/..?q are seen; blanks beside the dots do not count, since
// some systems drop them. Percent-encoding is undone up to four times over;
// a SUBJECT that is encoded more often, or that holds the overlong encodings by
// which separators were once smuggled past checks, is refused as well.
func CheckSubject(k Kind) error {
	if !hasDotSubject(k) {
		return nil
	}
	return Errorf(InvalidSubject, "%q is not a plain path or URI", clip(k.Subject, 80)).
		WithHint(`resolve "." and ".." segments, and write them unencoded where they are part of a name, before you send`)
}

func hasDotSubject(k Kind) bool {
	// A dot segment is made of dots or percent signs; most SUBJECTs have neither.
	if strings.IndexByte(k.Subject, '.') < 0 && strings.IndexByte(k.Subject, '%') < 0 {
		return false
	}
	plain, whole := undoPercent(k.Subject)
	if !strings.ContainsAny(plain, `/\`) && !strings.HasPrefix(k.Method, "resources/") {
		return false
	}
	return !whole || hasOverlong(plain) || hasDotSegment(plain)
}

// isDoubtfulPath reports whether programs may resolve a parameter's value to
// another path than it seems to say.
func isDoubtfulPath(s string) bool {
	if strings.ContainsFunc(s, isC0) {
		return true
	}
	plain, whole := undoPercent(s)
	return !whole || hasOverlong(plain) || hasDotSegment(plain) || separators(plain) != separators(s)
}

func isC0(r rune) bool { return r < ' ' || r == 0x7f }

func separators(s string) int { return strings.Count(s, "/") + strings.Count(s, `\`) }

// hasOverlong finds the bytes that start an overlong encoding of ASCII: no
// valid UTF-8 has them.
func hasOverlong(s string) bool {
	return strings.IndexByte(s, 0xc0) >= 0 || strings.IndexByte(s, 0xc1) >= 0
}

// hasDotSegment reports whether s has a segment of one or two dots.
func hasDotSegment(s string) bool {
	dots, others := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case endsSegment(c):
			if others == 0 && (dots == 1 || dots == 2) {
				return true
			}
			dots, others = 0, 0
		case c == '.':
			dots++
		case c != ' ':
			others++
		}
	}
	return others == 0 && (dots == 1 || dots == 2)
}

func endsSegment(c byte) bool {
	switch c {
	case '/', '\\', ':', ';', '?', '#', 0x7f:
		return true
	}
	return c < ' '
}

// canonicalPath is s with percent-encoding undone, backslashes turned into
// slashes and runs of slashes joined: what different spellings of one path or
// URI have in common. It returns s itself where that changes nothing.
func canonicalPath(s string) string {
	if strings.IndexByte(s, '%') < 0 && strings.IndexByte(s, '\\') < 0 && !strings.Contains(s, "//") {
		return s
	}
	s, _ = undoPercent(s)
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			c = '/'
		}
		if c == '/' && len(out) > 0 && out[len(out)-1] == '/' {
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

// maxEncodings bounds the work that a text like %25252525… can cause.
const maxEncodings = 4

// undoPercent decodes percent-encoding until there is none; whole is false
// where four rounds did not suffice.
func undoPercent(s string) (plain string, whole bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, true
	}
	b := []byte(s)
	for range maxEncodings {
		before := len(b)
		if b = decodePercent(b); len(b) == before {
			return string(b), true
		}
	}
	plain = string(b)
	return plain, len(decodePercent(b)) == len(plain)
}

// decodePercent decodes in place.
func decodePercent(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); i++ {
		if c, ok := percentByte(b[i:]); ok {
			out = append(out, c)
			i += 2
		} else {
			out = append(out, b[i])
		}
	}
	return out
}

func percentByte(s []byte) (byte, bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	hi, ok1 := hexDigit(s[1])
	lo, ok2 := hexDigit(s[2])
	return hi<<4 | lo, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
