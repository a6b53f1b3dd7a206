package command

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/nearest"
)

const blanks = " \t\r\n"

// A scanner reads a line from left to right.
type scanner struct {
	line string
	end  int // of what is read
	at   int
}

func (s *scanner) rest() string { return s.line[s.at:s.end] }

// skip passes over blanks, and returns where it is then.
func (s *scanner) skip() int {
	for s.at < s.end && strings.IndexByte(blanks, s.line[s.at]) >= 0 {
		s.at++
	}
	return s.at
}

// raw is what comes before the next blank, as it stands.
func (s *scanner) raw() string {
	from := s.at
	if n := strings.IndexAny(s.rest(), blanks); n >= 0 {
		s.at += n
	} else {
		s.at = s.end
	}
	return s.line[from:s.at]
}

// all is everything that is left.
func (s *scanner) all() string {
	s.skip()
	text := s.rest()
	s.at = s.end
	return text
}

// peek is the word that comes next, as it stands.
func (s *scanner) peek() string {
	s.skip()
	ahead := *s
	return ahead.raw()
}

// word is the next word without its quotes. On an error it is as far as it goes.
func (s *scanner) word() (string, error) {
	s.skip()
	text, err := s.value()
	if err == nil && s.rest() != "" && strings.IndexByte(blanks, s.line[s.at]) < 0 {
		err = s.wrong(s.at, "something follows the closing quote", "put a blank between them")
	}
	return text, err
}

// value is what begins here: a text in quotes, a list or an object of JSON, or all
// that comes before the next blank.
func (s *scanner) value() (string, error) {
	switch rest := s.rest(); {
	case rest == "":
		return "", nil
	case rest[0] == '"' || rest[0] == '\'':
		return s.quoted()
	case rest[0] == '{' || rest[0] == '[':
		before := s.at
		if v, err := s.json(); err == nil && (s.rest() == "" || strings.IndexByte(blanks, s.line[s.at]) >= 0) {
			return string(v), nil
		}
		s.at = before
	}
	return s.raw(), nil
}

// quoted is a text in quotes: those of JSON, or single ones with nothing special in
// them.
func (s *scanner) quoted() (string, error) {
	from, quote := s.at, s.line[s.at]
	for s.at++; s.at < s.end; s.at++ {
		switch c := s.line[s.at]; {
		case c == '\\' && quote == '"':
			s.at++
		case c == quote:
			s.at++
			return s.unquoted(from)
		}
	}
	s.at = s.end
	text, _ := unescape(s.line[from+1 : s.end])
	return text, s.wrong(from, "this quote is not closed", "end the text with "+string(quote))
}

func (s *scanner) unquoted(from int) (string, error) {
	inner := s.line[from+1 : s.at-1]
	if s.line[from] == '\'' {
		return inner, nil
	}
	text, ok := unescape(inner)
	if !ok {
		return text, s.wrong(from, "what stands in these quotes is no text of JSON", `write \\ for a backslash, \" for a quote, \n for a new line; in 'single quotes' nothing is special`)
	}
	return text, nil
}

// unescape reads the escapes of JSON; a new line and the like may stand as they are.
func unescape(inner string) (string, bool) {
	if strings.IndexByte(inner, '\\') < 0 && utf8.ValidString(inner) {
		return inner, true
	}
	inner = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(inner)
	text, err := jsontext.AppendUnquote(nil, `"`+inner+`"`)
	return string(text), err == nil
}

// json is the JSON value that begins here.
func (s *scanner) json() (jsontext.Value, error) {
	from := s.at
	dec := jsontext.NewDecoder(strings.NewReader(s.rest()))
	v, err := dec.ReadValue()
	if err != nil {
		at, problem := s.whereJSON(dec, err)
		return nil, s.wrong(at, problem, "write JSON, such as {\"path\": \"a.txt\", \"lines\": [1, 2]}; for a text write name=text")
	}
	s.at = from + int(dec.InputOffset())
	return v.Clone(), nil
}

// whereJSON says in our words what is wrong with JSON; the library quotes its input.
func (s *scanner) whereJSON(dec *jsontext.Decoder, err error) (at int, problem string) {
	at = s.at + min(int(dec.InputOffset()), len(s.rest()))
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = s.at + min(int(syntax.ByteOffset), len(s.rest()))
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return at, "a name stands twice in this JSON"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return s.end, "this JSON is not finished"
	}
	return at, "this is no valid JSON"
}

// wrong is an error about what stands at a place.
func (s *scanner) wrong(at int, problem, hint string) error {
	at = min(at, len(s.line))
	return &Error{at, column(s.line, at), problem, hint}
}

func column(line string, at int) int { return utf8.RuneCountInString(line[:at]) + 1 }

func (s *scanner) unknown(at int, name string) error {
	hint := "/help lists what can be typed; // in front says the line"
	if near := nearest.To(name, names()); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return s.wrong(at, shown(name)+" is not known", hint)
}

// shown is a few characters of what was typed, quoted and harmless.
func shown(text string) string {
	const most = 60 // bytes
	if len(text) > most {
		return strconv.Quote(strings.ToValidUTF8(text[:most], "")) + "…"
	}
	return strconv.Quote(text)
}

func errorAt(a Arg, format string, args ...any) *Error {
	return &Error{At: a.at, Column: a.column, Problem: fmt.Sprintf(format, args...)}
}
