// Package jsonc reads JSON as people write it into configurations: with
// comments and trailing commas.
//
//	plain := jsonc.Plain([]byte(`{"a": 1, // one
//	}`))
//	// {"a": 1        \n}
//
// Only blanks are written, so an offset in what comes out is an offset in the
// file. Whether it is JSON, and what it says, is for a decoder to find.
//
// # Concurrency
//
// There is no state.
package jsonc

import "bytes"

// Plain is data with blanks in place of comments, of commas before a closing
// bracket and of a byte order mark. All else keeps its place. What cannot be
// meant as JSON stays, to be refused: a comment without an end, a comma without
// a value before it.
func Plain(data []byte) []byte {
	s := scan{data: bytes.Clone(data), comma: -1}
	if bytes.HasPrefix(s.data, []byte(mark)) {
		blank(s.data[:len(mark)])
	}
	for at := 0; at < len(s.data); {
		at += s.step(at)
	}
	return s.data
}

// mark is what some editors put before UTF-8.
const mark = "\ufeff"

// scan is where the reading stands.
type scan struct {
	data  []byte
	last  byte // the last one that means something; 0 at the beginning
	comma int  // a comma that may turn out to be trailing, or -1
}

// step reads what begins at an offset, and says how long that is.
func (s *scan) step(at int) int {
	switch c := s.data[at]; c {
	case ' ', '\t', '\r', '\n':
		return 1
	case '/':
		if n := commentLen(s.data[at:]); n > 0 {
			blank(s.data[at : at+n])
			return n
		}
	case '"':
		s.last, s.comma = c, -1
		return stringLen(s.data[at:])
	case ',':
		if s.comma = -1; s.afterValue() {
			s.comma = at
		}
		s.last = c
		return 1
	case '}', ']':
		if s.comma >= 0 {
			s.data[s.comma] = ' '
		}
	}
	s.last, s.comma = s.data[at], -1
	return 1
}

// afterValue says whether a value has just ended.
func (s *scan) afterValue() bool { return bytes.IndexByte([]byte("{[,:\x00"), s.last) < 0 }

// commentLen is how long the comment is that text begins with, 0 for none.
func commentLen(text []byte) int {
	if bytes.HasPrefix(text, []byte("//")) {
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			return end
		}
		return len(text)
	}
	if bytes.HasPrefix(text, []byte("/*")) {
		if end := bytes.Index(text[2:], []byte("*/")); end >= 0 {
			return end + 4
		}
	}
	return 0
}

// stringLen is how long the string is that text begins with, quotes included.
func stringLen(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// blank keeps line breaks, so that lines stay lines.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}
