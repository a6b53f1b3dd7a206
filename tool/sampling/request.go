package sampling

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/schema"
)

// A Request asks a model: the params of sampling/createMessage.
type Request struct {
	Messages      []Message
	MaxTokens     int64 // of the reply
	SystemPrompt  string
	Temperature   *float64 // nil: as the model's owner likes
	StopSequences []string
	Preferences   Preferences // which model
	Tools         []Tool
	ToolChoice    ToolChoice
	// IncludeContext is "none", "thisServer" or "allServers"; MCP has
	// deprecated all but "none", which is the same as "".
	IncludeContext string
	Metadata       jsontext.Value // an object for the provider; optional
	Meta           jsontext.Value // the object _meta; optional
	Rest           jsontext.Value // an object of the members that this package does not know
}

// Preferences say what matters in the choice of a model. Priorities go from 0,
// which does not matter, to 1. Who chooses may do otherwise.
type Preferences struct {
	Hints        []Hint // names or pieces of names, the first that is there counts
	Cost         float64
	Speed        float64
	Intelligence float64
	Rest         jsontext.Value
}

// A Hint is a model's name, or a piece of it.
type Hint struct {
	Name string
	Rest jsontext.Value
}

// A Tool is offered to a model.
type Tool struct {
	Name        string
	Title       string         // optional
	Description string         // optional
	InputSchema jsontext.Value // JSON Schema of type object; nil: an object with any members
	Rest        jsontext.Value // an object of all other members, such as annotations
}

// A ToolMode is whether a model uses tools.
type ToolMode string

// The modes of MCP.
const (
	Auto     ToolMode = "auto" // as the model likes
	Required ToolMode = "required"
	None     ToolMode = "none"
)

// ToolChoice is whether a model uses tools. The zero value leaves it out, and
// means Auto.
type ToolChoice struct {
	Mode ToolMode
	Rest jsontext.Value
}

// ReadRequest reads a request. Errors are a [*DecodeError]; whether its
// messages go together is for [Check] to say.
func ReadRequest(data []byte) (*Request, error) {
	r := new(Request)
	return r, r.UnmarshalJSON(data)
}

// UnmarshalJSON is [ReadRequest].
func (r *Request) UnmarshalJSON(data []byte) error {
	raw, err := document(data)
	if err != nil {
		return err
	}
	o := open(raw, "")
	read := Request{
		Messages:       listOf(o, "messages", true, MaxMessages, readMessage),
		MaxTokens:      o.count("maxTokens"),
		SystemPrompt:   o.optional("systemPrompt"),
		Temperature:    o.number("temperature"),
		StopSequences:  listOf(o, "stopSequences", false, maxMembers, readString),
		Preferences:    nested(o, "modelPreferences", readPreferences),
		Tools:          listOf(o, "tools", false, MaxTools, readTool),
		ToolChoice:     nested(o, "toolChoice", readToolChoice),
		IncludeContext: o.optional("includeContext"),
		Metadata:       o.optionalValue("metadata", '{'),
		Meta:           o.optionalValue("_meta", '{'),
	}
	read.Rest = o.rest()
	if o.err == nil {
		*r = read
	}
	return o.err
}

// MarshalJSON writes the request. It fails where a raw value is not JSON.
func (r Request) MarshalJSON() ([]byte, error) {
	o := begin(nil)
	o.name("messages")
	o.b = appendList(o.b, r.Messages, Message.append)
	o.optional("systemPrompt", r.SystemPrompt)
	o.integer("maxTokens", r.MaxTokens)
	if r.Temperature != nil {
		o.number("temperature", *r.Temperature)
	}
	if len(r.StopSequences) > 0 {
		o.name("stopSequences")
		o.b = appendList(o.b, r.StopSequences, appendString)
	}
	if p := r.Preferences.append(nil); len(p) > len("{}") {
		o.raw("modelPreferences", p)
	}
	if len(r.Tools) > 0 {
		o.name("tools")
		o.b = appendList(o.b, r.Tools, Tool.append)
	}
	if c := r.ToolChoice.append(nil); len(c) > len("{}") {
		o.raw("toolChoice", c)
	}
	o.optional("includeContext", r.IncludeContext)
	o.raw("metadata", r.Metadata)
	o.raw("_meta", r.Meta)
	return valid(o.end(r.Rest))
}

// Check is [Check] of the request's messages, of which there has to be one.
func (r Request) Check() error {
	if len(r.Messages) == 0 {
		return &PairingError{Fault: Empty, Block: -1}
	}
	return Check(r.Messages)
}

// listOf reads a list that is a member. One that is there and empty is left to
// rest, unless there has to be one.
func listOf[T any](o *object, name string, must bool, most int, read func(jsontext.Value, string) (T, error)) []T {
	f := o.take(name, '[')
	if f == nil {
		if must {
			o.must(name, '[')
		}
		return nil
	}
	all, err := readList(f.Value, strings.TrimPrefix(o.at+"."+name, "."), most, read)
	o.fail(err)
	if f.used = must || len(all) > 0; !f.used {
		return nil
	}
	return all
}

// nested reads an object that is a member. One that is there and empty is left
// to rest.
func nested[T any](o *object, name string, read func(*object) T) (t T) {
	f := o.take(name, '{')
	if f == nil {
		return t
	}
	in := open(f.Value, name)
	f.used = len(in.fields) > 0
	t = read(in)
	o.fail(in.err)
	return t
}

func readString(raw jsontext.Value, at string) (string, error) {
	if raw.Kind() != '"' {
		return "", &DecodeError{Where: at, Problem: "expected a string, got " + schema.KindInWords(raw.Kind())}
	}
	return unquote(raw), nil
}

func appendString(s string, dst []byte) []byte { return jsonrpc.AppendString(dst, s) }

func readPreferences(o *object) Preferences {
	return Preferences{
		Hints:        listOf(o, "hints", false, maxMembers, readHint),
		Cost:         o.priority("costPriority"),
		Speed:        o.priority("speedPriority"),
		Intelligence: o.priority("intelligencePriority"),
		Rest:         o.rest(),
	}
}

func (p Preferences) append(dst []byte) []byte {
	o := begin(dst)
	if len(p.Hints) > 0 {
		o.name("hints")
		o.b = appendList(o.b, p.Hints, Hint.append)
	}
	o.priority("costPriority", p.Cost)
	o.priority("speedPriority", p.Speed)
	o.priority("intelligencePriority", p.Intelligence)
	return o.end(p.Rest)
}

func (o *objectWriter) priority(name string, n float64) {
	if n != 0 {
		o.number(name, n)
	}
}

func readHint(raw jsontext.Value, at string) (Hint, error) {
	o := open(raw, at)
	h := Hint{Name: o.optional("name"), Rest: o.rest()}
	return h, o.err
}

func (h Hint) append(dst []byte) []byte {
	o := begin(dst)
	o.optional("name", h.Name)
	return o.end(h.Rest)
}

func readTool(raw jsontext.Value, at string) (Tool, error) {
	o := open(raw, at)
	t := Tool{
		Name:        o.label("name"),
		Title:       o.optional("title"),
		Description: o.optional("description"),
		InputSchema: o.value("inputSchema", '{'),
	}
	t.Rest = o.rest()
	return t, o.err
}

func (t Tool) append(dst []byte) []byte {
	o := begin(dst)
	o.text("name", t.Name)
	o.optional("title", t.Title)
	o.optional("description", t.Description)
	input := t.InputSchema
	if input == nil {
		input = jsontext.Value(`{"type":"object"}`)
	}
	o.raw("inputSchema", input)
	return o.end(t.Rest)
}

func readToolChoice(o *object) ToolChoice {
	return ToolChoice{Mode: ToolMode(o.optional("mode")), Rest: o.rest()}
}

func (c ToolChoice) append(dst []byte) []byte {
	o := begin(dst)
	o.optional("mode", string(c.Mode))
	return o.end(c.Rest)
}

// lastUser is the last message that a user sent.
func (r Request) lastUser() (Message, bool) {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == User {
			return m, true
		}
	}
	return Message{}, false
}
