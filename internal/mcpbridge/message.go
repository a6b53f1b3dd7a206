package mcpbridge

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// message is one JSON-RPC message as it came from a server. All values are
// slices of what was received, byte for byte.
type message struct {
	id     jsontext.Value // nil where absent or null
	method string         // "" in a response
	params jsontext.Value // nil where absent
	result jsontext.Value // nil where absent
	err    jsontext.Value // the error object; nil where absent or null

	// fault says why the message cannot be relayed, where it is clear enough
	// to know whose it is but not strict enough for an envelope.
	fault error
}

func (m *message) isResponse() bool     { return m.method == "" }
func (m *message) isNotification() bool { return m.method != "" && m.id == nil }

// callID is the id of the call that a response answers, or 0 where it is
// none of ours: we count calls from 1.
func (m *message) callID() int64 {
	n, err := strconv.ParseInt(string(m.id), 10, 64)
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// errNotMessage is what a server wrote that is no JSON-RPC at all.
var errNotMessage = errors.New("not a JSON-RPC message")

// maxBatch bounds the messages of one batch; servers of 2025-03-26 may send
// them, and nobody since.
const maxBatch = 1000

// maxID bounds a JSON-RPC id, in bytes.
const maxID = 1 << 10

// decodeMessages reads one line, event or body. What cannot be understood is
// errNotMessage; what can be understood but holds something that two parsers
// could read differently comes back with its fault, so that the call that it
// answers fails instead of waiting for ever.
//
// data must not change afterwards.
func decodeMessages(data []byte) ([]message, error) {
	elements := []jsontext.Value{jsontext.Value(bytes.TrimSpace(data))}
	if elements[0].Kind() == '[' {
		elements = elements[:0]
		for v, err := range values(data, lenient...) {
			if err != nil || len(elements) == maxBatch {
				return nil, errNotMessage
			}
			elements = append(elements, v)
		}
	}
	messages := make([]message, len(elements))
	for i, raw := range elements {
		m, err := decodeMessage(raw)
		if err != nil {
			return nil, err
		}
		messages[i] = m
	}
	return messages, nil
}

// lenient reads what other parsers would let through, to find out whose it is.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

func decodeMessage(raw jsontext.Value) (message, error) {
	m, err := readMessage(raw)
	if err != nil {
		fault := err
		if m, err = readMessage(raw, lenient...); err != nil {
			return message{}, errNotMessage
		}
		m.fault = fault
	}
	if m.method == "" && m.id == nil && m.err == nil {
		return message{}, errNotMessage
	}
	return m, nil
}

func readMessage(raw jsontext.Value, opts ...jsontext.Options) (message, error) {
	var m message
	for f, err := range members(raw, opts...) {
		if err != nil {
			return message{}, err
		}
		switch f.name {
		case "id":
			if f.value.Kind() == '"' || f.value.Kind() == '0' {
				m.id = f.value
			}
			if len(m.id) > maxID {
				return message{}, errNotMessage
			}
		case "method":
			s, err := jsontext.AppendUnquote(nil, f.value)
			if err != nil || len(s) == 0 {
				return message{}, errNotMessage
			}
			m.method = string(s)
		case "params":
			m.params = f.value
		case "result":
			m.result = f.value
		case "error":
			if f.value.Kind() == '{' {
				m.err = f.value
			}
		}
	}
	return m, nil
}

// field is one member of a JSON object: its name decoded, its value as it
// stands at [start, end) of the object's bytes.
type field struct {
	name       string
	value      jsontext.Value
	start, end int
}

// decoders saves the decoders' buffers from one message to the next.
var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

// members yields the members of one JSON object that is all there is in raw.
// An error, in its last turn, is a reason not to have looked.
func members(raw jsontext.Value, opts ...jsontext.Options) iter.Seq2[field, error] {
	return func(yield func(field, error) bool) {
		name := ""
		for v, err := range contents('{', raw, opts) {
			switch {
			case err != nil:
				yield(field{}, err)
				return
			case v.isName:
				s, err := jsontext.AppendUnquote(nil, v.value)
				if err != nil && len(opts) == 0 {
					yield(field{}, err)
					return
				}
				name = string(s)
			case !yield(field{name: name, value: v.value, start: v.end - len(v.value), end: v.end}, nil):
				return
			}
		}
	}
}

// values yields the elements of one JSON array that is all there is in raw.
func values(raw jsontext.Value, opts ...jsontext.Options) iter.Seq2[jsontext.Value, error] {
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
		dec := decoders.Get().(*jsontext.Decoder)
		defer decoders.Put(dec)
		dec.Reset(bytes.NewBuffer(raw), opts...)
		defer dec.Reset(empty{})
		tok, err := dec.ReadToken()
		if err != nil || tok.Kind() != open {
			yield(content{}, errNotMessage)
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
			yield(content{}, errNotMessage)
		}
	}
}

type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, io.EOF }

// encodeRequest writes a call, or with id 0 a notification.
func encodeRequest(id int64, method string, params jsontext.Value) []byte {
	b := make([]byte, 0, len(method)+len(params)+64)
	b = append(b, `{"jsonrpc":"2.0"`...)
	if id != 0 {
		b = strconv.AppendInt(append(b, `,"id":`...), id, 10)
	}
	b = appendString(append(b, `,"method":`...), method)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return onOneLine(append(b, '}'))
}

// encodeResult answers a server's request, its id repeated as it was written.
func encodeResult(id, result jsontext.Value) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(append(b, `,"result":`...), result...)
	return onOneLine(append(b, '}'))
}

func encodeError(id jsontext.Value, e *RPCError) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(append(b, `,"error":`...), e.JSON()...)
	return onOneLine(append(b, '}'))
}

// onOneLine makes every line break a blank. In valid JSON one can only stand
// between tokens, so nothing but the layout changes.
func onOneLine(b []byte) []byte {
	for i, c := range b {
		if c == '\n' || c == '\r' {
			b[i] = ' '
		}
	}
	return b
}

func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // invalid UTF-8 becomes U+FFFD
	return dst
}
