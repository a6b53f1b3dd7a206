package tool

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/tokens"
	"github.com/parleyhq/parley/tool/sampling"
)

// DefaultMaxTokens is how long a model's reply may be where a request does not
// say, in tokens.
const DefaultMaxTokens = 4096

// DefaultRetries is how often a model is asked again whose reply does not hold
// what was wanted.
const DefaultRetries = 2

// A SampleOption changes how a typed answer, or a call of tools, is asked for.
type SampleOption func(*sampleOptions)

type sampleOptions struct {
	retries int
	schema  sampling.SchemaOptions
}

// Retries is how often the model is asked again whose reply does not hold what
// was wanted, each time with a hint of what was wrong. Default: DefaultRetries.
func Retries(n int) SampleOption { return func(o *sampleOptions) { o.retries = max(n, 0) } }

// WithSchema says more of the answer than its type does: a description for the
// model, a JSON Schema of one's own, whether JSON in a text counts.
func WithSchema(s sampling.SchemaOptions) SampleOption {
	return func(o *sampleOptions) { o.schema = s }
}

func optionsOf(opts []SampleOption) sampleOptions {
	o := sampleOptions{retries: DefaultRetries}
	for _, set := range opts {
		set(&o)
	}
	return o
}

// Sample asks a model, and returns its text in Parsed. The tool has to need
// [Sampling], and [SamplingTools] where the request offers tools.
//
// Errors are an [*AskError], a [*sampling.ParseError] for a reply that says
// nothing or is a refusal, and a [*sampling.PairingError] for messages that do
// not go together, which are not sent.
func (c *Call) Sample(ctx context.Context, ask sampling.Request) (sampling.Exchange[string], error) {
	if err := sampling.CheckTools(ask.Tools); err != nil {
		return sampling.Exchange[string]{}, err
	}
	o, err := converse(ctx, c, ask, 0, sampling.ReadText)
	if err != nil {
		return sampling.Exchange[string]{}, err
	}
	return o.Exchange(ask)
}

// SampleAs asks a model for a T, a struct or a map, by the reserved tool
// [sampling.SchemaTool]: the answer is validated, and asked for again where it
// does not fit. The tool has to need [SamplingTools]. Errors are those of
// [Call.Sample].
func SampleAs[T any](ctx context.Context, c *Call, ask sampling.Request, opts ...SampleOption) (sampling.Exchange[T], error) {
	o := optionsOf(opts)
	schema, err := schemaFor[T](o.schema)
	if err != nil {
		return sampling.Exchange[T]{}, err
	}
	sent, err := schema.Request(ask)
	if err != nil {
		return sampling.Exchange[T]{}, err
	}
	outcome, err := converse(ctx, c, sent, o.retries, schema.Read)
	if err != nil {
		return sampling.Exchange[T]{}, err
	}
	return outcome.Exchange(ask)
}

// SampleTools asks a model to call at least one of the request's tools. The calls
// are in Value; who has made them gets the exchange by Exchange, with a result
// for each. The tool has to need [SamplingTools]. Errors are those of [Call.Sample].
func (c *Call) SampleTools(ctx context.Context, ask sampling.Request, opts ...SampleOption) (sampling.Outcome[[]sampling.ToolUse], error) {
	if len(ask.Tools) == 0 {
		return sampling.Outcome[[]sampling.ToolUse]{}, fmt.Errorf("%s: there are no tools to call", methodSample)
	}
	if ask.ToolChoice.Mode == "" {
		ask.ToolChoice.Mode = sampling.Required
	}
	if err := sampling.CheckTools(ask.Tools); err != nil {
		return sampling.Outcome[[]sampling.ToolUse]{}, err
	}
	read := func(r *sampling.Result) sampling.Outcome[[]sampling.ToolUse] { return sampling.ReadCalls(ask, r) }
	return converse(ctx, c, ask, optionsOf(opts).retries, read)
}

// schemas are those of types that were asked for without options, by type.
var schemas sync.Map // reflect.Type: *sampling.Schema[T]

func schemaFor[T any](o sampling.SchemaOptions) (*sampling.Schema[T], error) {
	if o.Schema != nil || o.Description != "" || o.AcceptText {
		return sampling.NewSchema[T](o)
	}
	if made, ok := schemas.Load(reflect.TypeFor[T]()); ok {
		return made.(*sampling.Schema[T]), nil
	}
	made, err := sampling.NewSchema[T](o)
	if err == nil {
		schemas.Store(reflect.TypeFor[T](), made)
	}
	return made, err
}

// converse asks until the reply is good, or there is nothing to be gained.
func converse[T any](ctx context.Context, c *Call, sent sampling.Request, retries int, read func(*sampling.Result) sampling.Outcome[T]) (sampling.Outcome[T], error) {
	for ; ; retries-- {
		reply, err := c.sample(ctx, sent)
		if err != nil {
			return sampling.Outcome[T]{}, err
		}
		o := read(reply)
		if o.Good() {
			return o, nil
		}
		next, again := o.Retry(sent.Messages)
		if retries == 0 || !again {
			return o, o.Err()
		}
		sent.Messages = next
	}
}

// sample asks a model once, within what the call may spend.
func (c *Call) sample(ctx context.Context, ask sampling.Request) (*sampling.Result, error) {
	needs := Sampling
	if len(ask.Tools) > 0 {
		needs = SamplingTools
	}
	if err := ask.Check(); err != nil {
		return nil, err
	}
	if ask.MaxTokens < 0 {
		return nil, fmt.Errorf("%s: a reply of at most %d tokens is none: give 1 or more, or 0 for %d", methodSample, ask.MaxTokens, DefaultMaxTokens)
	}
	ask.MaxTokens = cmp.Or(ask.MaxTokens, DefaultMaxTokens)
	asked, err := ask.MarshalJSON()
	if err != nil {
		return nil, err
	}
	params, held, err := c.fund(ask, asked)
	if err != nil {
		return nil, err
	}
	var spent int64
	defer func() { c.purse.spend(spent - held) }()
	raw, err := c.ask(ctx, needs, inquiry{method: methodSample, asked: asked, params: params})
	if err != nil {
		return nil, err // what a model said that nobody heard is the model's expense
	}
	spent = estimate(params) + estimate(raw)
	reply, err := sampling.ReadResult(raw)
	if err != nil {
		return nil, &AskError{Reason: Garbled, Method: methodSample, Message: err.Error(), Err: err}
	}
	if n := usedBy(reply); n > 0 {
		spent = n
	}
	return reply, nil
}

// fund holds what a question may cost, and makes the reply no longer than that.
// A budget is counted by estimate before the answer says what it took.
func (c *Call) fund(ask sampling.Request, asked jsontext.Value) (params jsontext.Value, held int64, err error) {
	if c.purse == nil {
		return asked, 0, nil
	}
	input := estimate(asked)
	output := c.purse.hold(input, ask.MaxTokens)
	switch output {
	case ask.MaxTokens:
		return asked, input + output, nil
	case 0:
		return nil, 0, &AskError{Reason: OverTokens, Method: methodSample, Message: fmt.Sprintf(
			"the question takes about %d tokens, and %d are left", input, max(c.purse.left(), 0))}
	}
	ask.MaxTokens = output
	params, err = ask.MarshalJSON()
	return params, input + output, err
}

// usageOf is the member of a reply's _meta that says what it took.
const usageOf = "parley/usage"

// usedBy is what a reply took, as it says of itself; 0 where it says nothing that
// can be.
func usedBy(reply *sampling.Result) int64 {
	var used struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	}
	if raw := parley.Member(reply.Meta, usageOf); raw == nil || json.Unmarshal(raw, &used) != nil {
		return 0
	}
	const most = 1 << 40
	return min(max(used.Input, 0), most) + min(max(used.Output, 0), most)
}

// estimate is about how many tokens a text has.
func estimate(text []byte) int64 { return int64(tokens.OfBytes(len(text))) }
