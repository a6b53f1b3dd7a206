package jsonrpc

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Message is one JSON-RPC message as it came. All values are slices of what
// was received, byte for byte.
type Message struct {
	ID     jsontext.Value // a string or a number; nil where absent or null
	Method string         // "" in a response
	Params jsontext.Value // nil where absent
	Result jsontext.Value // nil where absent
	Error  jsontext.Value // the error object; nil where absent or null

	// Fault says why the message cannot be relayed, where it is clear enough
	// to know whose it is but not strict enough for an envelope.
	Fault error
}

// IsResponse reports whether m answers a request.
func (m *Message) IsResponse() bool { return m.Method == "" }

// IsNotification reports whether m wants no answer.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// CallID is the id of the call that a response answers, or 0 where it is
// none of ours: who encodes requests with [Number] counts them from 1.
func (m *Message) CallID() int64 {
	n, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// ErrNotMessage is about something that is no JSON-RPC at all.
var ErrNotMessage = errors.New("not a JSON-RPC message")

// MaxBatch bounds the messages of one batch; peers of 2025-03-26 may send
// them, and nobody since.
const MaxBatch = 1000

// MaxID bounds a JSON-RPC id, in bytes.
const MaxID = 1 << 10

// Decode reads one line, event or body, which may be a batch. What cannot be understood is
// ErrNotMessage; what can be understood but holds something that two parsers
// could read differently comes back with its fault, so that the call that it
// answers fails instead of waiting for ever.
//
// data must not change afterwards.
func Decode(data []byte) ([]Message, error) {
	elements := []jsontext.Value{jsontext.Value(bytes.TrimSpace(data))}
	if elements[0].Kind() == '[' {
		elements = elements[:0]
		for v, err := range Values(data, lenient...) {
			if err != nil || len(elements) == MaxBatch {
				return nil, ErrNotMessage
			}
			elements = append(elements, v)
		}
	}
	messages := make([]Message, len(elements))
	for i, raw := range elements {
		m, err := decodeOne(raw)
		if err != nil {
			return nil, err
		}
		messages[i] = m
	}
	return messages, nil
}

// lenient reads what other parsers would let through, to find out whose it is.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

func decodeOne(raw jsontext.Value) (Message, error) {
	m, err := read(raw)
	if err != nil {
		fault := err
		if m, err = readLeniently(raw); err != nil {
			return Message{}, ErrNotMessage
		}
		m.Fault = fault
	}
	if m.Method == "" && m.ID == nil && m.Error == nil {
		return Message{}, ErrNotMessage
	}
	return m, nil
}

// readLeniently finds out whose a message is that cannot be relayed.
func readLeniently(raw jsontext.Value) (Message, error) {
	m, err := read(raw, lenient...)
	if err == nil {
		return m, nil
	}
	if flat := flatten(raw); len(flat) < len(raw) {
		return read(flat, lenient...)
	}
	return Message{}, err
}

func read(raw jsontext.Value, opts ...jsontext.Options) (Message, error) {
	var m Message
	for f, err := range Members(raw, opts...) {
		if err != nil {
			return Message{}, err
		}
		switch f.Name {
		case "id":
			if f.Value.Kind() == '"' || f.Value.Kind() == '0' {
				m.ID = f.Value
			}
			if len(m.ID) > MaxID {
				return Message{}, ErrNotMessage
			}
		case "method":
			s, err := jsontext.AppendUnquote(nil, f.Value)
			if err != nil || len(s) == 0 {
				return Message{}, ErrNotMessage
			}
			m.Method = string(s)
		case "params":
			m.Params = f.Value
		case "result":
			m.Result = f.Value
		case "error":
			if f.Value.Kind() == '{' {
				m.Error = f.Value
			}
		}
	}
	return m, nil
}

// Field is one member of a JSON object: its name decoded, its value as it
// stands at [start, end) of the object's bytes.
type Field struct {
	Name       string
	Value      jsontext.Value
	Start, End int
}

// decoders saves the decoders' buffers from one message to the next.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

type decoder struct {
	jsontext.Decoder
	from bytes.Buffer
}

// Members yields the members of one JSON object that is all there is in raw.
// An error, in its last turn, is a reason not to have looked.
func Members(raw jsontext.Value, opts ...jsontext.Options) iter.Seq2[Field, error] {
	return func(yield func(Field, error) bool) {
		name := ""
		for v, err := range contents('{', raw, opts) {
			switch {
			case err != nil:
				yield(Field{}, err)
				return
			case v.isName:
				s, err := unquote(v.value, opts)
				if err != nil && len(opts) == 0 {
					yield(Field{}, err)
					return
				}
				name = s
			case !yield(Field{Name: name, Value: v.value, Start: v.end - len(v.value), End: v.end}, nil):
				return
			}
		}
	}
}

// unquote is a string's text. What was read without options is valid, and most
// names have nothing to unescape.
func unquote(v jsontext.Value, opts []jsontext.Options) (string, error) {
	if len(opts) == 0 && bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1]), nil
	}
	s, err := jsontext.AppendUnquote(nil, v)
	return string(s), err
}

// Values yields the elements of one JSON array that is all there is in raw.
func Values(raw jsontext.Value, opts ...jsontext.Options) iter.Seq2[jsontext.Value, error] {
	return func(yield func(jsontext.Value, error) bool) {
		for v, err := range contents('[', raw, opts) {
			if !yield(v.value, err) || err != nil {
				return
			}
		}
	}
}

type content struct {
	value  jsontext.Value
	end    int // offset of the byte after it
	isName bool
}

// contents yields what stands between the brackets of one object or array.
func contents(open jsontext.Kind, raw jsontext.Value, opts []jsontext.Options) iter.Seq2[content, error] {
	return func(yield func(content, error) bool) {
		dec := decoders.Get().(*decoder)
		defer func() {
			dec.from = bytes.Buffer{} // raw may be long
			dec.Reset(empty{})
			decoders.Put(dec)
		}()
		dec.from = *bytes.NewBuffer(raw)
		dec.Reset(&dec.from, opts...)
		tok, err := dec.ReadToken()
		if err != nil || tok.Kind() != open {
			yield(content{}, ErrNotMessage)
			return
		}
		for n := 0; ; n++ {
			if k := dec.PeekKind(); k == ']' || k == '}' {
				break
			}
			v, err := dec.ReadValue()
			if err != nil {
				yield(content{}, err)
				return
			}
			// The decoder's slice lives until its next read, ours as long as raw.
			end := int(dec.InputOffset())
			if !yield(content{raw[end-len(v) : end : end], end, open == '{' && n%2 == 0}, nil) {
				return
			}
		}
		if _, err := dec.ReadToken(); err != nil {
			yield(content{}, err)
		} else if _, err := dec.ReadToken(); err != io.EOF {
			yield(content{}, ErrNotMessage)
		}
	}
}

type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, io.EOF }
