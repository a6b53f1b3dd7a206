package client

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/parleyhq/parley"
)

// SendOption adds to an envelope, or to how its answer is waited for.
type SendOption func(*sendOptions)

type sendOptions struct {
	id        string
	to        []string
	toSet     bool
	context   *parley.Context
	correlate []string
	amends    bool
	markdown  bool
	reason    string
	expires   time.Time
	collect   bool
	progress  func(Progress)
}

// To names the addressees. Everybody sees the envelope; only they act on it.
// It wins over an addressee that the call has as a parameter; for
// [Room.Fulfil] it chooses the target.
func To(ids ...string) SendOption { return func(o *sendOptions) { o.to, o.toSet = ids, true } }

// InContext puts the envelope into a line of reasoning or a workflow.
func InContext(c *parley.Context) SendOption { return func(o *sendOptions) { o.context = c } }

// Correlate adds ids of envelopes or contexts that the envelope answers.
func Correlate(ids ...string) SendOption {
	return func(o *sendOptions) { o.correlate = append(o.correlate, ids...) }
}

// Amends says that a fulfilment changes what was proposed. [Room.Amend] sets it.
func Amends() SendOption { return func(o *sendOptions) { o.amends = true } }

// WithID chooses the envelope's id, where a retry has to survive the program.
// Default: a UUIDv7.
func WithID(id string) SendOption { return func(o *sendOptions) { o.id = id } }

// Markdown marks a chat's text.
func Markdown() SendOption { return func(o *sendOptions) { o.markdown = true } }

// Reason says why something is proposed, for whoever decides.
func Reason(text string) SendOption { return func(o *sendOptions) { o.reason = text } }

// Expires ends a proposal that nobody decided. Default: the space's
// proposal_ttl, 24 hours.
func Expires(at time.Time) SendOption { return func(o *sendOptions) { o.expires = at } }

// Collect marks a proposal whose outcome its proposer fetches later, perhaps by
// another run of its program: until it has, the gateway remembers it so that the
// same proposal need not be made twice.
func Collect() SendOption { return func(o *sendOptions) { o.collect = true } }

// OnProgress asks for progress reports. f runs on the goroutine of the call
// that waits. Where it is slower than they come, the oldest are left out.
func OnProgress(f func(Progress)) SendOption { return func(o *sendOptions) { o.progress = f } }

func collect(opts []SendOption) *sendOptions {
	o := new(sendOptions)
	for _, set := range opts {
		set(o)
	}
	return o
}

func (o *sendOptions) name() string {
	if o.id == "" {
		o.id = NewID()
	}
	return o.id
}

// apply writes what concerns every envelope.
func (o *sendOptions) apply(e *parley.Envelope) *parley.Envelope {
	e.ID = o.name()
	if o.toSet {
		e.To = o.to
	}
	if o.context != nil {
		e.Context = o.context
	}
	if len(o.correlate) > 0 {
		e.Correlation = parley.CorrelateWith(append(e.Correlation.IDs, o.correlate...)...)
	}
	e.Amends = e.Amends || o.amends
	return e
}

// NewID makes an envelope id: a UUIDv7.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// NewContext makes a context with an id that nobody can guess. A nil parent
// puts it below the main context.
func NewContext(typ string, parent *parley.Context) *parley.Context {
	c := &parley.Context{ID: uuid.NewString(), Type: typ}
	if parent != nil {
		c.Parent = parent.ID
	}
	return c
}

// NewRequest composes the envelope of a request to one participant, with the
// full kind. params is any value that can be written as JSON, or a
// [jsontext.Value], which is taken byte for byte; nil is none. Errors are
// invalid_argument, and kind_mismatch where params lack what the method needs.
func NewRequest(to, method string, params any, opts ...SendOption) (*parley.Envelope, error) {
	o := collect(opts)
	raw, err := encodeParams("params", params)
	if err != nil {
		return nil, err
	}
	id := o.name()
	if o.progress != nil {
		raw = withProgressToken(raw, id)
	}
	if isNotification(method) {
		id = ""
	}
	e := &parley.Envelope{Payload: callPayload(id, method, raw)}
	if e.Kind, err = fullKind(parley.TypeRequest, method, e.Payload); err != nil {
		return nil, err
	}
	if to != "" {
		e.To = []string{to}
	}
	return o.apply(e), nil
}

// NewProposal composes the envelope of a proposal. to may be empty: whoever
// fulfils it then chooses the target. Errors are those of [NewRequest].
func NewProposal(to, method string, params any, opts ...SendOption) (*parley.Envelope, error) {
	o := collect(opts)
	raw, err := encodeParams("params", params)
	if err != nil {
		return nil, err
	}
	b := appendCall([]byte{'{'}, method, raw)
	if o.reason != "" {
		b = appendString(append(b, `,"reason":`...), o.reason)
	}
	if !o.expires.IsZero() {
		b = appendString(append(b, `,"expires":`...), o.expires.UTC().Format(time.RFC3339))
	}
	if o.collect {
		b = append(b, `,"collect":true`...)
	}
	e := &parley.Envelope{Payload: append(b, '}')}
	if e.Kind, err = fullKind(parley.TypeProposal, method, e.Payload); err != nil {
		return nil, err
	}
	if to != "" {
		e.To = []string{to}
	}
	return o.apply(e), nil
}

// NewFulfilment composes the request that fulfils a proposal: its method, its
// params byte for byte, its target. Where the proposal names no target, or
// several, [To] has to choose; errors are invalid_argument then, and
// kind_mismatch for a proposal whose kind contradicts its payload.
func NewFulfilment(proposal *parley.Envelope, opts ...SendOption) (*parley.Envelope, error) {
	call, err := readProposal(proposal)
	if err != nil {
		return nil, err
	}
	return fulfilment(proposal, call.Kind, call.Params, opts)
}

func fulfilment(proposal *parley.Envelope, kind parley.Kind, params jsontext.Value, opts []SendOption) (*parley.Envelope, error) {
	o := collect(opts)
	if !o.toSet {
		o.to, o.toSet = proposal.To, true
	}
	if len(o.to) != 1 {
		return nil, parley.Errorf(parley.InvalidArgument, "the proposal %s is to %d participants; a fulfilment has one target", proposal.ID, len(o.to)).
			WithHint("name the target")
	}
	o.correlate = append([]string{proposal.ID}, o.correlate...)
	return NewRequest("", kind.Method, params, func(all *sendOptions) { *all = *o })
}

// readProposal reads what a proposal asks for, and refuses one that lies: who
// approves what they read must not set off something else.
func readProposal(e *parley.Envelope) (parley.Call, error) {
	kind, err := parley.ParseKind(e.Kind)
	if err != nil {
		return parley.Call{}, err
	}
	if kind.Type != parley.TypeProposal {
		return parley.Call{}, parley.Errorf(parley.ProposalNotFound, "%s is no proposal, but %s", e.ID, kind.Type)
	}
	return parley.ReadCall(kind, e.Payload)
}

// fullKind is the effective kind of what we compose, or the short one where
// the SUBJECT is too long for a kind.
func fullKind(typ, method string, payload jsontext.Value) (string, error) {
	short := parley.Kind{Type: typ, Method: method}
	if _, err := parley.ParseKind(short.String()); err != nil {
		return "", err
	}
	call, err := parley.ReadCall(short, payload)
	if err != nil {
		return "", err
	}
	if full := call.Kind.String(); len(full) <= parley.MaxKind {
		return full, nil
	}
	return short.String(), nil
}
