package mcpbridge

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/response"
)

// wrapping is one answer on its way into the envelope.
type wrapping struct {
	shape  *response.Shape
	answer *response.Answer
	room   client.Limits
}

const (
	// bracketsAround is how many there are around data in an envelope of a room.
	bracketsAround = 4
	// bytesAround is how much such an envelope may hold besides the result.
	bytesAround = 8 << 10
)

// onlyStructured is the text of an answer that fits into the room once, but not
// twice.
const onlyStructured = "This answer is too long to be given twice: see structuredContent."

// result is the server's result with the envelope for its content. Its other
// members stay as they are.
func (w *wrapping) result(result jsontext.Value, t *theirs) (jsontext.Value, Usage) {
	// As an envelope spells it, so that what a profile saves is not mixed up with
	// what another spelling does.
	if data, err := jsontext.AppendFormat(nil, w.answer.Data); err == nil && len(data) > 0 {
		w.answer.Data = data
	}
	if deepest(w.answer.Data)+bracketsAround > cmp.Or(w.room.Nesting, parley.DefaultNesting) {
		w.answer.Data = mcp.Quote(string(w.answer.Data))
	}
	body := w.shape.Append(nil, w.answer)
	used := w.usage(body)
	meta := parley.Member(result, "_meta")
	if meta.Kind() != '{' {
		meta = jsontext.Value(`{}`)
	}
	ours := []member{
		{"content", w.content(t, body)},
		{"structuredContent", body},
		{"_meta", mcp.SetMember(meta, usageKey, used.json())},
	}
	return replaced(result, ours), used
}

// content is the envelope as text, and what stands beside it.
func (w *wrapping) content(t *theirs, body []byte) jsontext.Value {
	content := t.content(string(body))
	if most := int(w.room.EnvelopeBytes); most > 0 && len(content)+len(body)+t.rest+bytesAround > most {
		return t.content(onlyStructured)
	}
	return content
}

// member is one of an object's.
type member struct {
	name  string
	value jsontext.Value
}

// replaced is an object with other values for some members, in their places or
// else at the end. It is written at once: results may be large.
func replaced(object jsontext.Value, by []member) jsontext.Value {
	size := len(object)
	for _, m := range by {
		size += len(m.value)
	}
	out := append(make(jsontext.Value, 0, size), '{')
	put := func(name string, value jsontext.Value) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(jsonrpc.AppendString(out, name), ':'), value...)
	}
	for name, value := range parley.Members(object) {
		i := slices.IndexFunc(by, func(m member) bool { return m.name == name })
		if i >= 0 {
			value = by[i].value
			by = slices.Delete(by, i, i+1)
		}
		put(name, value)
	}
	for _, m := range by {
		put(m.name, m.value)
	}
	return append(out, '}')
}
