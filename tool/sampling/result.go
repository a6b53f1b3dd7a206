package sampling

import "github.com/go-json-experiment/json/jsontext"

// A StopReason is why a model said no more. MCP knows the first four; any
// other may come.
type StopReason string

// The stop reasons that are acted on.
const (
	EndTurn       StopReason = "endTurn"
	StopSequence  StopReason = "stopSequence"
	MaxTokens     StopReason = "maxTokens"
	ToolUseWanted StopReason = "toolUse"
)

// Refusal reports whether the model, or somebody between, would not answer, in
// the words of any of the providers.
func (s StopReason) Refusal() bool {
	switch s {
	case "refusal", "content_filter", "contentFilter", "content_filtered", "safety":
		return true
	}
	return false
}

// CutOff reports whether the reply ended at the limit of tokens.
func (s StopReason) CutOff() bool {
	return s == MaxTokens || s == "max_tokens" || s == "length"
}

// A Result is a model's reply: the result of sampling/createMessage.
type Result struct {
	Role       Role // Assistant
	Content    []Block
	Model      string
	StopReason StopReason     // optional
	Meta       jsontext.Value // the object _meta; optional
	Rest       jsontext.Value // an object of the members that this package does not know

	shape shape
}

// Message is what the reply says, without what is about the reply.
func (r Result) Message() Message {
	return Message{Role: r.Role, Content: r.Content, shape: r.shape}
}

// ReadResult reads a reply. It has to be an assistant's, and to hold no
// tool_result. Errors are a [*DecodeError].
func ReadResult(data []byte) (*Result, error) {
	r := new(Result)
	return r, r.UnmarshalJSON(data)
}

// UnmarshalJSON is [ReadResult].
func (r *Result) UnmarshalJSON(data []byte) error {
	raw, err := document(data)
	if err != nil {
		return err
	}
	o := open(raw, "")
	m := o.message()
	read := Result{Role: m.Role, Content: m.Content, shape: m.shape, Model: o.text("model"), StopReason: StopReason(o.optional("stopReason"))}
	read.Meta, read.Rest = o.optionalValue("_meta", '{'), o.rest()
	if m.Role == User {
		o.wrong("role", `a model's reply has the role "assistant"`)
	}
	if len(m.ToolResults()) > 0 {
		o.wrong("content", "a model's reply holds no tool_result")
	}
	if o.err != nil {
		return o.err
	}
	*r = read
	return nil
}

// MarshalJSON writes the reply. It fails where a raw value is not JSON.
func (r Result) MarshalJSON() ([]byte, error) {
	o := begin(nil)
	o.message(r.Message())
	o.text("model", r.Model)
	o.optional("stopReason", string(r.StopReason))
	o.raw("_meta", r.Meta)
	return valid(o.end(r.Rest))
}
