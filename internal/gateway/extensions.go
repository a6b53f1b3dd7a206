package gateway

import (
	"net/http"
	"strings"

	"github.com/parleyhq/parley"
)

// extension is one that a client offers for its connection (RFC 6455, section
// 9.1).
type extension struct {
	name   string
	params []param
}

type param struct {
	name  string
	value string
	has   bool // a value
}

// agreeOn chooses among the extensions that a client offers: the answer is what
// the handshake says, "" for none. Of its offers the first counts that can be
// taken as it is.
func agreeOn(h http.Header) (answer string, err error) {
	for _, line := range h.Values("Sec-WebSocket-Extensions") {
		offers, ok := parseExtensions(line)
		if !ok {
			return "", parley.Errorf(parley.InvalidArgument, "the handshake's Sec-WebSocket-Extensions cannot be read: %.80q", line).
				WithHint("write name; parameter; parameter=value, and commas between several; or leave the header out")
		}
		for _, offer := range offers {
			if answer == "" {
				answer = offer.deflate()
			}
		}
	}
	return answer, nil
}

// deflate is the answer to an offer of compression (RFC 7692); "" declines it.
// Nothing is carried over from one message to the next on either side: so one
// compressed form of an envelope serves everybody, and no connection keeps a
// window. A smaller window than the usual one cannot be had.
func (e *extension) deflate() string {
	if e.name != "permessage-deflate" {
		return ""
	}
	window := "" // what is to be said of it
	seen := make(map[string]bool)
	for _, p := range e.params {
		if seen[p.name] {
			return ""
		}
		seen[p.name] = true
		switch p.name {
		case "server_no_context_takeover", "client_no_context_takeover":
			if p.has {
				return ""
			}
		case "client_max_window_bits": // any window can be read
			if p.has && !isWindow(p.value) {
				return ""
			}
		case "server_max_window_bits":
			if p.value != "15" {
				return ""
			}
			window = "; server_max_window_bits=15"
		default:
			return ""
		}
	}
	return "permessage-deflate; server_no_context_takeover; client_no_context_takeover" + window
}

func isWindow(bits string) bool {
	switch bits {
	case "8", "9", "10", "11", "12", "13", "14", "15":
		return true
	}
	return false
}

// parseExtensions reads a line of the header.
func parseExtensions(line string) (list []extension, ok bool) {
	s := scanner{rest: line}
	for {
		for s.take(',') { // elements of a list may be empty
		}
		if s.rest == "" {
			return list, len(list) > 0
		}
		e, ok := s.extension()
		if !ok || s.rest != "" && s.rest[0] != ',' {
			return nil, false
		}
		list = append(list, e)
	}
}

// scanner takes a header's value apart.
type scanner struct{ rest string }

// space skips what may be between two things.
func (s *scanner) space() { s.rest = strings.TrimLeft(s.rest, " \t") }

// take reads one separator, with the space around it.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	s.space()
	return true
}

// token reads a word, which has at least one character.
func (s *scanner) token() (word string, ok bool) {
	n := 0
	for n < len(s.rest) && isTokenByte(s.rest[n]) {
		n++
	}
	word, s.rest = s.rest[:n], s.rest[n:]
	return word, n > 0
}

func isTokenByte(c byte) bool {
	return c > ' ' && c < 0x7F && !strings.ContainsRune(`()<>@,;:\"/[]?={}`, rune(c))
}

func (s *scanner) extension() (e extension, ok bool) {
	if e.name, ok = s.token(); !ok {
		return e, false
	}
	for s.take(';') {
		p, ok := s.param()
		if !ok {
			return e, false
		}
		e.params = append(e.params, p)
	}
	return e, true
}

func (s *scanner) param() (p param, ok bool) {
	if p.name, ok = s.token(); !ok || !s.take('=') {
		return p, ok
	}
	p.has = true
	p.value, ok = s.value()
	return p, ok
}

// value reads a word, which may stand in quotes.
func (s *scanner) value() (string, bool) {
	if s.rest == "" || s.rest[0] != '"' {
		return s.token()
	}
	var word []byte
	for i := 1; i < len(s.rest); i++ {
		c := s.rest[i]
		switch {
		case c == '"':
			s.rest = s.rest[i+1:]
			return string(word), len(word) > 0
		case c == '\\' && i+1 < len(s.rest):
			i++
			c = s.rest[i]
		}
		if !isTokenByte(c) {
			return "", false
		}
		word = append(word, c)
	}
	return "", false
}
