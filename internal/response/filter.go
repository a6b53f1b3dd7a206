package response

import (
	"bytes"

	"github.com/parleyhq/parley/internal/jsonrpc"
)

// valueSet is a set of kinds of values that are left out of data.
type valueSet uint8

const (
	emptyArrays valueSet = 1 << iota
	emptyObjects
	nulls
	defaults // false, zero and the empty string
)

// has says whether the set holds the kind of a value without white space.
func (set valueSet) has(value []byte) bool {
	switch string(value) {
	case "[]":
		return set&emptyArrays != 0
	case "{}":
		return set&emptyObjects != 0
	case "null":
		return set&nulls != 0
	case `""`, "false":
		return set&defaults != 0
	}
	return set&defaults != 0 && isZero(value)
}

// isZero says whether a value is the number zero, in whatever spelling: -0.00e5.
func isZero(value []byte) bool {
	value = bytes.TrimPrefix(value, []byte("-"))
	if value[0] != '0' {
		return false
	}
	mantissa := value
	if e := bytes.IndexAny(value, "eE"); e >= 0 {
		mantissa = value[:e]
	}
	return !bytes.ContainsAny(mantissa, "123456789")
}

// filter says which members data keeps. Names are as they stand in JSON, with
// their quotes.
type filter struct {
	only   map[string]bool // at the top; nil: all
	drop   map[string]bool // at the top
	values valueSet        // at any depth
}

// newFilter is nil where it would keep everything.
func newFilter(values valueSet, only []string, drop ...[]string) *filter {
	f := &filter{values: values, only: quotedSet(only), drop: quotedSet(drop...)}
	if f.only == nil && f.drop == nil && values == 0 {
		return nil
	}
	return f
}

// newErrorFilter is the one for errors: what include_on_error lists is left out
// only for the tier's sake.
func newErrorFilter(values valueSet, o override, common, tier []string) *filter {
	f := newFilter(values, o.includeOnly, common, o.excludeFields)
	if f == nil {
		return newFilter(0, nil, tier)
	}
	for name := range quotedSet(o.includeOnError) {
		delete(f.drop, name)
		if f.only != nil {
			f.only[name] = true
		}
	}
	for name := range quotedSet(tier) {
		if f.drop == nil {
			f.drop = map[string]bool{}
		}
		f.drop[name] = true
	}
	return f
}

// quotedSet is nil where there are no names.
func quotedSet(lists ...[]string) (set map[string]bool) {
	for _, list := range lists {
		for _, name := range list {
			if set == nil {
				set = map[string]bool{}
			}
			set[string(jsonrpc.AppendString(nil, name))] = true
		}
	}
	return set
}

// keeps says whether a member at the top is wanted.
func (f *filter) keeps(quoted []byte) bool {
	return (f.only == nil || f.only[string(quoted)]) && !f.drop[string(quoted)]
}

// apply filters the object that begins at buf[at] and goes to the end of buf. It
// was written by the codec: valid, without white space, names in the spelling
// of the filter's. What is kept moves forward, so nothing is allocated.
func (f *filter) apply(buf []byte, at int) []byte {
	p := pass{filter: f, buf: buf, read: at, write: at}
	p.object(true)
	return buf[:p.write]
}

// pass is one walk over data.
type pass struct {
	*filter
	buf         []byte
	read, write int // write is never ahead of read
}

// move keeps the next n bytes.
func (p *pass) move(n int) {
	if p.write != p.read {
		copy(p.buf[p.write:], p.buf[p.read:p.read+n])
	}
	p.read += n
	p.write += n
}

// object keeps what is wanted of an object. At the top names decide as well.
func (p *pass) object(top bool) {
	p.move(1)
	first := p.write
	for p.buf[p.read] != '}' {
		if p.buf[p.read] == ',' {
			p.read++
		}
		before := p.write
		name := p.buf[p.read : jsonrpc.EndOfString(p.buf, p.read)+1]
		if top && !p.keeps(name) {
			p.read += len(name) + 1
			p.read += valueLen(p.buf[p.read:])
			continue
		}
		if before > first {
			p.buf[p.write] = ','
			p.write++
		}
		p.move(len(name) + 1)
		value := p.write
		p.value()
		if p.values.has(p.buf[value:p.write]) {
			p.write = before
		}
	}
	p.move(1)
}

// value keeps a value, less what is unwanted in it. Elements of arrays stay:
// their places may mean something.
func (p *pass) value() {
	switch {
	case p.values == 0:
		p.move(valueLen(p.buf[p.read:]))
	case p.buf[p.read] == '{':
		p.object(false)
	case p.buf[p.read] == '[':
		p.move(1)
		for p.buf[p.read] != ']' {
			if p.buf[p.read] == ',' {
				p.move(1)
			}
			p.value()
		}
		p.move(1)
	default:
		p.move(valueLen(p.buf[p.read:]))
	}
}

// valueLen is how long the value is that text begins with.
func valueLen(text []byte) int {
	depth := 0
	for i := 0; ; {
		switch text[i] {
		case '"':
			i = jsonrpc.EndOfString(text, i) + 1
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':':
			i++
		default:
			i += scalarLen(text[i:])
		}
		if depth == 0 {
			return i
		}
	}
}

// scalarLen is how long the number or literal is that text begins with.
func scalarLen(text []byte) int {
	if n := bytes.IndexAny(text, ",]}"); n >= 0 {
		return n
	}
	return len(text)
}
