package sampling

import (
	"bytes"
	"encoding/base64"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
)

// An objectWriter writes one JSON object.
type objectWriter struct {
	b     []byte
	names []string // of the members that are fields of ours, written so far
	space [12]string
}

func begin(dst []byte) *objectWriter {
	o := &objectWriter{b: append(dst, '{')}
	o.names = o.space[:0]
	return o
}

// name writes what stands before a value.
func (o *objectWriter) name(name string) {
	o.comma()
	o.names = append(o.names, name)
	o.b = append(jsonrpc.AppendString(o.b, name), ':')
}

func (o *objectWriter) comma() {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
}

func (o *objectWriter) text(name, s string) {
	o.name(name)
	o.b = jsonrpc.AppendString(o.b, s)
}

func (o *objectWriter) optional(name, s string) {
	if s != "" {
		o.text(name, s)
	}
}

func (o *objectWriter) integer(name string, n int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

// number leaves out what JSON has no number for.
func (o *objectWriter) number(name string, n float64) {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return
	}
	o.name(name)
	o.b = strconv.AppendFloat(o.b, n, 'g', -1, 64)
}

func (o *objectWriter) base64(name string, data []byte) {
	o.name(name)
	o.b = append(base64.StdEncoding.AppendEncode(append(o.b, '"'), data), '"')
}

// raw leaves out a member that is nil.
func (o *objectWriter) raw(name string, v jsontext.Value) {
	if v != nil {
		o.name(name)
		o.b = appendRaw(o.b, v)
	}
}

// broken stands where a caller's value is no JSON, which MarshalJSON tells. No
// JSON holds this byte.
const broken = 0

// appendRaw takes one value, and not the beginning of another member.
func appendRaw(dst []byte, v jsontext.Value) []byte {
	if !v.IsValid() {
		return append(dst, broken)
	}
	return append(dst, v...)
}

// appendList writes a list, and each of its elements by one, such as Message.append.
func appendList[T any](dst []byte, list []T, one func(T, []byte) []byte) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(v, dst)
	}
	return append(dst, ']')
}

// end adds the members of rest, but for those that are written already: a field
// that somebody has set counts for more than what was once read.
func (o *objectWriter) end(rest jsontext.Value) []byte {
	if rest == nil {
		return append(o.b, '}')
	}
	from := 0
	for f, err := range jsonrpc.Members(rest) {
		if err != nil {
			return append(o.b, broken)
		}
		if !slices.Contains(o.names, f.Name) {
			o.comma()
			o.b = append(append(o.b, nameAsWritten(rest[from:f.Start])...), ':')
			o.b = append(o.b, f.Value...)
		}
		from = f.End
	}
	return append(o.b, '}')
}

func (o *objectWriter) endBlock(e Extra) []byte {
	o.raw("annotations", e.Annotations)
	o.raw("_meta", e.Meta)
	return o.end(e.Rest)
}

// valid refuses what a caller's raw values have made invalid.
func valid(b []byte) ([]byte, error) {
	if bytes.IndexByte(b, broken) >= 0 {
		return nil, syntaxOf(b)
	}
	return b, nil
}
