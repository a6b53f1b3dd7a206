package provider

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/parleyhq/parley/tool/sampling"
)

// Structured tells whether q wants nothing but a typed answer, which endpoints
// have a way of their own for: sampling.SchemaTool is its only tool. Beside
// other tools it is one like any other.
func Structured(q *sampling.Request) (sampling.Tool, bool) {
	if len(q.Tools) != 1 || q.Tools[0].Name != sampling.SchemaTool || q.ToolChoice.Mode == sampling.None {
		return sampling.Tool{}, false
	}
	return q.Tools[0], true
}

// Answer is a typed answer that came as text, as the call that it stands for.
// It is false where the text is no JSON object: then it is left to who asked.
func Answer(text string) (sampling.ToolUse, bool) {
	input, ok := Object(text)
	if !ok || strings.TrimSpace(text) == "" {
		return sampling.ToolUse{}, false
	}
	return sampling.ToolUse{ID: CallID(), Name: sampling.SchemaTool, Input: input}, true
}

// CallID is an id for a call that came without one.
func CallID() string { return "call_" + uuid.NewString() }

// Object is text as JSON, if it is that of an object. Of no text, which some
// models give for no arguments, it makes the empty one.
func Object(text string) (jsontext.Value, bool) {
	value := jsontext.Value(strings.TrimSpace(text))
	if len(value) == 0 {
		return jsontext.Value(`{}`), true
	}
	return value, value.Kind() == '{' && value.IsValid()
}

// Usage is the _meta of a reply, which says how many tokens of a model it took.
// Nothing, where the endpoint has not told.
func Usage(input, output int64) jsontext.Value {
	if input <= 0 && output <= 0 {
		return nil
	}
	return fmt.Appendf(nil, `{"parley/usage":{"input_tokens":%d,"output_tokens":%d}}`, max(input, 0), max(output, 0))
}

// A Meter counts what has come of a reply, tells of it and bounds it.
type Meter struct {
	Tell func(Progress) // or nil
	at   Progress
}

// Add counts one more piece. It fails with Garbled where it is too much.
func (m *Meter) Add(bytes int) error {
	m.at.Pieces++
	m.at.Bytes += bytes
	if m.at.Bytes > MaxReply {
		return &Error{Kind: Garbled, Message: fmt.Sprintf("the reply is longer than %d MiB", MaxReply>>20)}
	}
	if m.Tell != nil {
		m.Tell(m.at)
	}
	return nil
}
