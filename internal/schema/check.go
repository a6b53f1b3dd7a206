package schema

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// A Fault is one thing that does not fit a form.
type Fault struct {
	What     What
	At       jsontext.Pointer // of the value, or of the object that lacks members
	Expected string           // in words; of [Missing], what the first of Names has to be
	Null     bool             // null would have fitted too
	Got      jsontext.Value   // of [Kind] and [Bounds]; valid for the call only
	Length   int              // of [Length], how many elements there are
	Names    []string         // of [Missing]: what is not there
}

// What says what kind of fault it is.
type What int

const (
	Kind    What = iota // the value is of another type
	Bounds              // it has the type, and is none of those that are allowed
	Length              // a list is too short or too long
	Unknown             // there is no such member
	Missing             // members are not there
)

// passes are reused, since what is checked is mostly small.
var passes = sync.Pool{New: func() any { return new(pass) }}

// A pass goes over one value.
type pass struct {
	jsontext.Decoder
	text  bytes.Buffer
	whole []whole
	tell  func(Fault) error
}

// whole is an integer that is written as 3.0 or 3e2, which a schema takes for
// one, and Go does not.
type whole struct {
	from, to int64 // where it stands
	n        int64
}

// Check holds raw, which has to be one JSON value, against the form, and tells
// what does not fit. It goes on until tell fails. The error is that of tell, or
// the decoder's. Otherwise it returns raw with integers as Go takes them.
func (f *Form) Check(raw []byte, tell func(Fault) error) ([]byte, error) {
	p := passes.Get().(*pass)
	defer p.release()
	p.tell, p.text = tell, *bytes.NewBuffer(raw)
	p.Reset(&p.text)
	if err := f.check(p); err != nil {
		return nil, err
	}
	if _, err := p.ReadToken(); err != io.EOF {
		return nil, cmp.Or(err, errMore)
	}
	return p.rewritten(raw), nil
}

var errMore = errors.New("there is something behind the value")

// release gives up what is the caller's.
func (p *pass) release() {
	p.text, p.tell, p.whole = bytes.Buffer{}, nil, p.whole[:0]
	p.Reset(&p.text)
	passes.Put(p)
}

func (p *pass) rewritten(raw []byte) []byte {
	if len(p.whole) == 0 {
		return raw
	}
	var out []byte
	at := int64(0)
	for _, w := range p.whole {
		out = strconv.AppendInt(append(out, raw[at:w.from]...), w.n, 10)
		at = w.to
	}
	return append(out, raw[at:]...)
}

// wrong tells of the value that was read last.
func (f *Form) wrong(p *pass, what What, got jsontext.Value) error {
	return p.tell(Fault{What: what, At: p.StackPointer(), Expected: f.expected, Null: f.null, Got: got})
}

// check goes over the next value.
func (f *Form) check(p *pass) error {
	if f == nil {
		return p.SkipValue()
	}
	kind := p.PeekKind()
	if len(f.kinds) > 0 && !slices.Contains(f.kinds, kind) {
		v, err := p.ReadValue() // behind the value, the decoder knows its place
		if err != nil {
			return err
		}
		return f.wrong(p, Kind, v)
	}
	switch {
	case kind == '{' && (len(f.members) > 0 || f.closed || f.rest != nil):
		return f.checkObject(p)
	case kind == '[' && (f.items != nil || f.minItems != nil || f.maxItems != nil):
		return f.checkList(p)
	case kind == '0' && (f.integer || f.min != nil || f.max != nil):
		return f.checkNumber(p)
	case kind == '"' && len(f.enum) > 0:
		return f.checkEnum(p)
	}
	return p.SkipValue()
}

func (f *Form) checkObject(p *pass) error {
	if _, err := p.ReadToken(); err != nil {
		return err
	}
	var seen uint64
	for p.PeekKind() != '}' {
		name, err := p.ReadValue()
		if err != nil {
			return err
		}
		next := f.rest
		if i := f.index(name); i >= 0 {
			seen |= 1 << i
			next = f.members[i].form
		} else if f.closed {
			if err := p.tell(Fault{What: Unknown, At: p.StackPointer(), Expected: cmp.Or(quoted(f.names(math.MaxUint64)), "none")}); err != nil {
				return err
			}
		}
		if err := next.check(p); err != nil {
			return err
		}
	}
	if _, err := p.ReadToken(); err != nil {
		return err
	}
	if missing := f.names(f.required &^ seen); missing != nil {
		return p.tell(Fault{What: Missing, At: p.StackPointer(), Expected: f.child(missing[0]).expected, Names: missing})
	}
	return nil
}

// index finds a member by its name, as it stands in JSON; -1: there is none.
func (f *Form) index(name jsontext.Value) int {
	for i := range f.members {
		if bytes.Equal(f.members[i].quoted, name) {
			return i
		}
	}
	if bytes.IndexByte(name, '\\') < 0 {
		return -1
	}
	text, _ := jsontext.AppendUnquote(nil, name)
	return slices.IndexFunc(f.members, func(m member) bool { return m.name == string(text) })
}

// names are those of the members whose bits are set.
func (f *Form) names(which uint64) (names []string) {
	for i, m := range f.members {
		if which&(1<<i) != 0 {
			names = append(names, m.name)
		}
	}
	return names
}

func (f *Form) checkList(p *pass) error {
	if _, err := p.ReadToken(); err != nil {
		return err
	}
	n := 0
	for ; p.PeekKind() != ']'; n++ {
		if err := f.items.check(p); err != nil {
			return err
		}
	}
	if _, err := p.ReadToken(); err != nil {
		return err
	}
	if f.minItems != nil && n < *f.minItems {
		return p.tell(Fault{What: Length, At: p.StackPointer(), Expected: fmt.Sprintf("at least %d elements", *f.minItems), Length: n})
	} else if f.maxItems != nil && n > *f.maxItems {
		return p.tell(Fault{What: Length, At: p.StackPointer(), Expected: fmt.Sprintf("at most %d elements", *f.maxItems), Length: n})
	}
	return nil
}

func (f *Form) checkNumber(p *pass) error {
	v, err := p.ReadValue()
	if err != nil {
		return err
	}
	n, err := strconv.ParseFloat(string(v), 64)
	fits := err == nil && (f.min == nil || n >= *f.min) && (f.max == nil || n <= *f.max)
	written := f.integer && bytes.ContainsAny(v, ".eE")
	if !fits || written && (n != math.Trunc(n) || math.Abs(n) > maxWhole) {
		return f.wrong(p, Bounds, v)
	}
	if written {
		end := p.InputOffset()
		p.whole = append(p.whole, whole{end - int64(len(v)), end, int64(n)})
	}
	return nil
}

// maxWhole is up to where a float64 tells integers apart.
const maxWhole = 1 << 53

func (f *Form) checkEnum(p *pass) error {
	v, err := p.ReadValue()
	if err != nil {
		return err
	}
	text, _ := jsontext.AppendUnquote(nil, v)
	if !slices.Contains(f.enum, string(text)) {
		return f.wrong(p, Bounds, v)
	}
	return nil
}
