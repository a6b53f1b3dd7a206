package response

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonc"
	"github.com/parleyhq/parley/internal/nearest"
)

// reader goes through a file and puts what is wrong with it on a list. After
// text that is not JSON, and when the list is full, it stands still.
type reader struct {
	data     []byte // the file
	plain    []byte // the same without comments
	dec      *jsontext.Decoder
	problems []Problem
	broken   bool
}

func newReader(data []byte) *reader {
	// Names that stand twice are told here, with their places.
	plain := jsonc.Plain(data)
	dec := jsontext.NewDecoder(bytes.NewReader(plain), jsontext.AllowDuplicateNames(true))
	return &reader{data: data, plain: plain, dec: dec}
}

// wrong puts a problem on the list.
func (r *reader) wrong(offset int, hint, format string, args ...any) {
	if len(r.problems) >= maxProblems {
		r.broken = true // enough to do
		return
	}
	line, column := place(r.data, offset)
	r.problems = append(r.problems, Problem{line, column, fmt.Sprintf(format, args...), hint})
}

// stop tells of text that is not JSON.
func (r *reader) stop(err error) {
	if r.broken {
		return
	}
	r.broken = true
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if len(bytes.TrimSpace(r.data)) == 0 {
			r.wrong(0, "write {} for a configuration that changes nothing", "the file is empty")
			return
		}
		r.wrong(len(r.data), "a closing quote, bracket or comment end is missing", "the file ends in the middle of a value")
		return
	}
	offset := int(r.dec.InputOffset())
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset = int(s.ByteOffset)
	}
	r.wrong(offset, "look for a missing comma, colon or quote just before", "not valid JSON")
}

// next is the kind of the value that comes next, and where it begins.
func (r *reader) next() (jsontext.Kind, int) {
	kind := r.dec.PeekKind() // goes to the value: past white space, comma and colon
	at := int(r.dec.InputOffset())
	for at < len(r.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.plain[at]) >= 0 {
		at++
	}
	return kind, at
}

// skip leaves a value out.
func (r *reader) skip() {
	if r.broken {
		return
	}
	if err := r.dec.SkipValue(); err != nil {
		r.stop(err)
	}
}

// token reads one token; false where the text is not JSON.
func (r *reader) token() (jsontext.Token, bool) {
	if r.broken {
		return jsontext.Token{}, false
	}
	t, err := r.dec.ReadToken()
	if err != nil {
		r.stop(err)
		return jsontext.Token{}, false
	}
	return t, true
}

// begin reads the first token of a value that is of one of some kinds, and says
// where it stands. A value of another kind is left out and told of.
func (r *reader) begin(what, wanted string, kinds ...jsontext.Kind) (t jsontext.Token, at int, ok bool) {
	kind, at := r.next()
	if kind == 0 || slices.Contains(kinds, kind) { // 0 is what token will tell of
		t, ok = r.token()
		return t, at, ok
	}
	if r.skip(); !r.broken {
		r.wrong(at, "", "%s must be %s", what, wanted)
	}
	return t, at, false
}

// member is where a name stands, and what it is.
type member struct {
	name string
	at   int
}

// object calls visit for each member, which reads or skips its value. What says
// what the object is.
func (r *reader) object(what string, visit func(m member)) {
	if _, _, ok := r.begin(what, "an object", '{'); !ok {
		return
	}
	seen := map[string]bool{}
	for r.dec.PeekKind() != '}' {
		_, at := r.next()
		t, ok := r.token()
		if !ok {
			return
		}
		m := member{t.String(), at}
		if seen[m.name] {
			r.wrong(at, "keep one of them", "%.64q stands here twice", m.name)
		}
		seen[m.name] = true
		if strings.HasPrefix(m.name, "_") {
			r.skip() // a note
		} else {
			visit(m)
		}
		if r.broken {
			return
		}
	}
	r.token()
}

// keys reads an object whose members have names that are known.
func (r *reader) keys(what string, known map[string]func(at int)) {
	r.object(what, func(m member) {
		if read := known[m.name]; read != nil {
			read(m.at)
			return
		}
		r.unknown(m.at, "key", m.name, slices.Sorted(maps.Keys(known)))
		r.skip()
	})
}

// maxKnown bounds the known words that are compared and told: profiles are as
// many as the file likes.
const maxKnown = 50

// unknown tells of a word that is not among those which are known, and of the
// nearest.
func (r *reader) unknown(at int, what, word string, known []string) {
	known = known[:min(len(known), maxKnown)]
	hint := "known: " + strings.Join(known, ", ")
	if near := nearest.To(word, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	r.wrong(at, hint, "unknown %s %.64q", what, word)
}

// text reads a string that is not empty.
func (r *reader) text(what string) (value string, at int) {
	t, at, ok := r.begin(what, "a string", '"')
	if !ok {
		return "", at
	}
	if value = t.String(); value == "" {
		r.wrong(at, "", "%s must not be empty", what)
	}
	return value, at
}

// note reads a string that means nothing here.
func (r *reader) note(what string) func(int) {
	return func(int) { r.begin(what, "a string", '"') }
}

// flag reads true or false.
func (r *reader) flag(what string, set func(on bool)) func(int) {
	return func(int) {
		if t, _, ok := r.begin(what, "true or false", 't', 'f'); ok {
			set(t.Bool())
		}
	}
}

// list reads an array of strings that are not empty; known, unless it is nil,
// are the only ones.
func (r *reader) list(what string, known []string) (list []string) {
	if _, _, ok := r.begin(what, "a list of names", '['); !ok {
		return nil
	}
	for !r.broken && r.dec.PeekKind() != ']' {
		name, at := r.text("a name in " + what)
		if known != nil && name != "" && !slices.Contains(known, name) {
			r.unknown(at, "field", name, known)
		}
		list = append(list, name)
	}
	r.token()
	return list
}

// end sees that nothing comes after the value.
func (r *reader) end() {
	if r.broken {
		return
	}
	_, at := r.next()
	if _, err := r.dec.ReadToken(); err == nil {
		r.wrong(at, "", "there is more after the end of the configuration")
	} else if !errors.Is(err, io.EOF) {
		r.stop(err)
	}
}
