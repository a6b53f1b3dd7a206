package client

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// ContextRoom is a room inside one context: a line of reasoning, a workflow, a
// delegated task (section 8 of the contract). Everything that is sent with it
// carries the context, an [InContext] among the options notwithstanding.
// [Room.Context] makes one.
//
// It need not be closed: a context is concluded when nothing has referred to it
// for a while, and opens again if somebody does. Its methods may be called from
// any goroutine.
type ContextRoom struct {
	room    *Room
	current parley.Context // without metadata

	mu       sync.Mutex
	metadata jsontext.Value // goes out with the next envelope; nil is none
	err      error          // why the metadata cannot be sent
}

// ContextOption says how [Room.Context] makes a context.
type ContextOption func(*contextOptions)

type contextOptions struct {
	id        string
	parent    *parley.Context
	parentSet bool
	metadata  any
}

// ContextID goes on with a context that exists, or chooses the id of a new one.
// Default: a UUID that nobody can guess.
func ContextID(id string) ContextOption { return func(o *contextOptions) { o.id = id } }

// ContextParent chooses what the context belongs to; nil is the main context.
// Default: the context that ctx carries.
func ContextParent(parent *parley.Context) ContextOption {
	return func(o *contextOptions) { o.parent, o.parentSet = parent, true }
}

// ContextMetadata tells more of the context, as a JSON object. It goes out with
// the first envelope, see [ContextRoom.SetMetadata]. Everybody in the space can
// read it.
func ContextMetadata(v any) ContextOption { return func(o *contextOptions) { o.metadata = v } }

// Context begins a context of a type, as "reasoning", "workflow", "delegation"
// or one of one's own. Nothing is sent yet: the first envelope opens it.
//
//	ctx, thinking := room.Context(ctx, "reasoning")
//	thinking.Think(ctx, "this looks like a security risk")
//	thinking.Conclude(ctx, map[string]any{"decision": "deny"})
//
// The ctx that it returns carries the context, and so does that of a [Handler]
// whose request came in one. A context that is begun with such a ctx is its
// child, by [Room.Context] of the same room as by [ContextRoom.Context]. It has
// no effect on the methods of [Room] itself: what is sent with the plain room
// goes where its options say, so that no function sends into a context unknown
// to whoever wrote it.
//
// What cannot be meant, as metadata that are no object, is told by the methods
// that send.
func (r *Room) Context(ctx context.Context, typ string, opts ...ContextOption) (context.Context, *ContextRoom) {
	return r.begin(ctx, typ, r.contextOf(ctx), opts)
}

// Context begins a child of this context, whatever ctx carries. See
// [Room.Context].
func (c *ContextRoom) Context(ctx context.Context, typ string, opts ...ContextOption) (context.Context, *ContextRoom) {
	return c.room.begin(ctx, typ, &c.current, opts)
}

func (r *Room) begin(ctx context.Context, typ string, parent *parley.Context, opts []ContextOption) (context.Context, *ContextRoom) {
	o := contextOptions{parent: parent}
	for _, set := range opts {
		set(&o)
	}
	c := &ContextRoom{room: r, current: *NewContext(typ, o.parent)}
	if o.id != "" {
		c.current.ID = o.id
	}
	c.err = c.current.Check()
	if o.metadata != nil && c.err == nil {
		c.err = c.SetMetadata(o.metadata)
	}
	return r.withContext(ctx, &c.current), c
}

// contextKey is that of the context that a ctx carries for one room: a context
// of one space means nothing in another.
type contextKey struct{ room *Room }

func (r *Room) withContext(ctx context.Context, c *parley.Context) context.Context {
	return context.WithValue(ctx, contextKey{r}, c)
}

func (r *Room) contextOf(ctx context.Context) *parley.Context {
	c, _ := ctx.Value(contextKey{r}).(*parley.Context)
	return c
}

// Room is the room that the context is in, for reading and for what belongs to
// no context.
func (c *ContextRoom) Room() *Room { return c.room }

// ID is the context's id. An envelope elsewhere that follows from this context
// names it with [Correlate].
func (c *ContextRoom) ID() string { return c.current.ID }

// Parent is the id of the context that this one belongs to; "" is the main one.
func (c *ContextRoom) Parent() string { return c.current.Parent }

// Ref is what [InContext] takes to put a single envelope into the context.
func (c *ContextRoom) Ref() *parley.Context {
	ref := c.current
	return &ref
}

// SetMetadata tells more of the context, as a JSON object: it goes out with the
// next envelope, and replaces what was told before. Where that envelope is
// refused it goes out with the one after. The error is invalid_argument for
// anything but an object.
func (c *ContextRoom) SetMetadata(v any) error {
	raw, err := encodeParams("metadata", v)
	if err == nil && raw.Kind() != '{' {
		err = parley.Errorf(parley.InvalidArgument, "metadata: not a JSON object").WithHint("give a struct or a map")
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.metadata = raw
	return nil
}

// next is the context as the next envelope carries it.
func (c *ContextRoom) next() (*parley.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	next := c.current
	next.Metadata, c.metadata = c.metadata, nil
	return &next, nil
}

// sent takes back the metadata of an envelope that may not have been admitted,
// unless there are newer ones. An error of whom was asked says that it was.
func (c *ContextRoom) sent(e *parley.Context, err error) {
	if _, answered := errors.AsType[*RPCError](err); err == nil || answered {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.metadata == nil {
		c.metadata = e.Metadata
	}
}

// within sends with options that put the envelope into the context.
func within[T any](c *ContextRoom, opts []SendOption, send func(opts []SendOption) (T, error)) (T, error) {
	next, err := c.next()
	if err != nil {
		var none T
		return none, err
	}
	v, err := send(append(slices.Clip(opts), InContext(next)))
	c.sent(next, err)
	return v, err
}

// moved is within for what was composed before.
func moved[T any](c *ContextRoom, e *parley.Envelope, send func(e *parley.Envelope) (T, error)) (T, error) {
	return within(c, nil, func(opts []SendOption) (T, error) {
		inside := *e
		inside.Context = collect(opts).context
		return send(&inside)
	})
}

// Think shares a thought: an envelope of kind reflection, to everybody or by
// [To] to some. Errors are those of [Room.Send].
func (c *ContextRoom) Think(ctx context.Context, thought string, opts ...SendOption) (Receipt, error) {
	return c.say(ctx, kindReflection, append(appendString([]byte(`{"thought":`), thought), '}'), opts)
}

// Conclude says what came out: an envelope of kind conclusion, by convention the
// context's last. payload is any value that can be written as JSON, as
// {"decision": …}; nil is none. What there is to tell of the whole, as how sure
// it is, belongs to [ContextRoom.SetMetadata] before. Errors are
// invalid_argument and those of [Room.Send].
func (c *ContextRoom) Conclude(ctx context.Context, payload any, opts ...SendOption) (Receipt, error) {
	raw, err := encodeParams("payload", payload)
	if err != nil {
		return Receipt{}, err
	}
	return c.say(ctx, kindConclusion, raw, opts)
}

// Kinds that contexts have by convention.
const (
	kindReflection = "reflection"
	kindConclusion = "conclusion"
)

func (c *ContextRoom) say(ctx context.Context, kind string, payload jsontext.Value, opts []SendOption) (Receipt, error) {
	return within(c, opts, func(opts []SendOption) (Receipt, error) {
		return c.room.Send(ctx, collect(opts).apply(&parley.Envelope{Kind: kind, Payload: payload}))
	})
}

// Send is [Room.Send] in the context, whichever the envelope names.
func (c *ContextRoom) Send(ctx context.Context, e *parley.Envelope) (Receipt, error) {
	return moved(c, e, func(e *parley.Envelope) (Receipt, error) { return c.room.Send(ctx, e) })
}

// Chat is [Room.Chat] in the context.
func (c *ContextRoom) Chat(ctx context.Context, message string, opts ...SendOption) (Receipt, error) {
	return within(c, opts, func(opts []SendOption) (Receipt, error) { return c.room.Chat(ctx, message, opts...) })
}

// Notify is [Room.Notify] in the context.
func (c *ContextRoom) Notify(ctx context.Context, to, method string, params any, opts ...SendOption) (Receipt, error) {
	return within(c, opts, func(opts []SendOption) (Receipt, error) { return c.room.Notify(ctx, to, method, params, opts...) })
}

// Request is [Room.Request] in the context; the answer comes in it as well.
func (c *ContextRoom) Request(ctx context.Context, to, method string, params any, opts ...SendOption) (*Reply, error) {
	return within(c, opts, func(opts []SendOption) (*Reply, error) { return c.room.Request(ctx, to, method, params, opts...) })
}

// Call is [Room.Call] in the context, whichever the request names.
func (c *ContextRoom) Call(ctx context.Context, request *parley.Envelope, opts ...SendOption) (*Reply, error) {
	return moved(c, request, func(e *parley.Envelope) (*Reply, error) { return c.room.Call(ctx, e, opts...) })
}

// Respond is [Room.Respond] in the context, not in that of the request.
func (c *ContextRoom) Respond(ctx context.Context, request *parley.Envelope, result any, opts ...SendOption) (Receipt, error) {
	return within(c, opts, func(opts []SendOption) (Receipt, error) { return c.room.Respond(ctx, request, result, opts...) })
}

// RespondError is [Room.RespondError] in the context, not in that of the
// request.
func (c *ContextRoom) RespondError(ctx context.Context, request *parley.Envelope, failure error, opts ...SendOption) (Receipt, error) {
	return within(c, opts, func(opts []SendOption) (Receipt, error) { return c.room.RespondError(ctx, request, failure, opts...) })
}

// Propose is [Room.Propose] in the context.
func (c *ContextRoom) Propose(ctx context.Context, to, method string, params any, opts ...SendOption) (*Proposal, error) {
	return within(c, opts, func(opts []SendOption) (*Proposal, error) { return c.room.Propose(ctx, to, method, params, opts...) })
}

// Fulfil is [Room.Fulfil] in the context.
func (c *ContextRoom) Fulfil(ctx context.Context, proposal *parley.Envelope, opts ...SendOption) (*Reply, error) {
	return within(c, opts, func(opts []SendOption) (*Reply, error) { return c.room.Fulfil(ctx, proposal, opts...) })
}

// FulfilID is [Room.FulfilID] in the context.
func (c *ContextRoom) FulfilID(ctx context.Context, id string, opts ...SendOption) (*Reply, error) {
	return within(c, opts, func(opts []SendOption) (*Reply, error) { return c.room.FulfilID(ctx, id, opts...) })
}

// Amend is [Room.Amend] in the context.
func (c *ContextRoom) Amend(ctx context.Context, proposal *parley.Envelope, params any, opts ...SendOption) (*Reply, error) {
	return within(c, opts, func(opts []SendOption) (*Reply, error) { return c.room.Amend(ctx, proposal, params, opts...) })
}

// Reject is [Room.Reject] in the context, not in that of the proposal.
func (c *ContextRoom) Reject(ctx context.Context, proposal *parley.Envelope, reason, message string, opts ...SendOption) (Receipt, error) {
	return within(c, opts, func(opts []SendOption) (Receipt, error) {
		return c.room.Reject(ctx, proposal, reason, message, opts...)
	})
}

// Withdraw is [Room.Withdraw] in the context, not in that of the proposal.
func (c *ContextRoom) Withdraw(ctx context.Context, proposal *parley.Envelope, opts ...SendOption) (Receipt, error) {
	return within(c, opts, func(opts []SendOption) (Receipt, error) { return c.room.Withdraw(ctx, proposal, opts...) })
}

// sameContext is where an answer to an envelope belongs. It does not repeat the
// metadata, which newer ones may have replaced meanwhile.
func sameContext(e *parley.Envelope) *parley.Context {
	if e.Context == nil || e.Context.Metadata == nil {
		return e.Context
	}
	return &parley.Context{ID: e.Context.ID, Type: e.Context.Type, Parent: e.Context.Parent}
}
