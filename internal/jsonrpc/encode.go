package jsonrpc

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Number is a request's id that we count ourselves.
func Number(n int64) jsontext.Value { return strconv.AppendInt(nil, n, 10) }

// EncodeRequest writes a request or, with a nil id, a notification. Params may
// be nil. Like everything here it comes on one line.
func EncodeRequest(id jsontext.Value, method string, params jsontext.Value) []byte {
	b := make([]byte, 0, len(id)+len(method)+len(params)+64)
	b = append(b, `{"jsonrpc":"2.0"`...)
	if id != nil {
		b = append(append(b, `,"id":`...), id...)
	}
	b = AppendString(append(b, `,"method":`...), method)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return onOneLine(append(b, '}'))
}

// EncodeResult answers a request, its id repeated as it was written.
func EncodeResult(id, result jsontext.Value) []byte {
	b := make([]byte, 0, len(id)+len(result)+32)
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), id...)
	b = append(append(b, `,"result":`...), result...)
	return onOneLine(append(b, '}'))
}

// EncodeError answers a request. Where it is not known what was asked the id is
// nil and left out: MCP's schema has no null there.
func EncodeError(id jsontext.Value, e *Error) []byte {
	b := []byte(`{"jsonrpc":"2.0"`)
	if id != nil {
		b = append(append(b, `,"id":`...), id...)
	}
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

// AppendString appends s as a JSON string; invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

// Member writes the first member of an object, which is the last one too
// where the object was empty.
func Member(name string, value []byte, last bool) []byte {
	b := append(AppendString(nil, name), ':')
	b = append(b, value...)
	if !last {
		b = append(b, ',')
	}
	return b
}

// Splice returns a copy of v with [start, end) replaced.
func Splice(v jsontext.Value, start, end int, by []byte) jsontext.Value {
	return slices.Concat(v[:start], by, v[end:])
}
