package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

const (
	notifications = "notifications/"
	progressed    = notifications + "progress"
	cancelled     = notifications + "cancelled"
)

func isNotification(method string) bool { return strings.HasPrefix(method, notifications) }

// Reply is what came back for a request.
type Reply struct {
	Envelope *parley.Envelope
	Result   jsontext.Value // byte for byte as it was sent
}

// Decode reads the result into a Go value.
func (r *Reply) Decode(v any) error {
	if err := json.Unmarshal(r.Result, v); err != nil {
		return fmt.Errorf("client: the result of %s: %w", r.Envelope.Kind, err)
	}
	return nil
}

// Progress is a report on a request that is being worked on.
type Progress struct {
	Progress float64
	Total    float64 // 0 where it is not known
	Message  string
	Params   jsontext.Value // all of it
}

// call is a request of ours that has no answer yet.
type call struct {
	to       []string
	reply    chan *parley.Envelope // capacity 1
	progress chan Progress         // nil where nobody wants it
}

const keptProgress = 16

// Request asks one participant, and waits for the answer: until ctx ends, or
// for [Options.CallTimeout] where ctx has no deadline. If it ends the other
// side is told, by notifications/cancelled.
//
// The answer is found by the envelope, never by a JSON-RPC id. One that is an
// error comes as an [*RPCError]; other errors are those of [NewRequest] and
// [Room.Send].
func (r *Room) Request(ctx context.Context, to, method string, params any, opts ...SendOption) (*Reply, error) {
	e, err := NewRequest(to, method, params, opts...)
	if err != nil {
		return nil, err
	}
	return r.Call(ctx, e, opts...)
}

// Call sends a request that was composed before, and waits for its answer as
// [Room.Request] does. Of the options only [OnProgress] counts.
func (r *Room) Call(ctx context.Context, request *parley.Envelope, opts ...SendOption) (*Reply, error) {
	if request.ID == "" {
		named := *request
		named.ID = NewID()
		request = &named
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.callTimeout())
		defer cancel()
	}
	report := collect(opts).progress
	c := r.expect(request, report != nil)
	defer r.forget(request.ID)
	if _, err := r.Send(ctx, request); err != nil {
		if errors.Is(err, ErrUnacknowledged) {
			r.cancelCall(request, ctx)
		}
		return nil, err
	}
	return r.await(ctx, request, c, report)
}

func (r *Room) expect(request *parley.Envelope, reports bool) *call {
	c := &call{to: request.To, reply: make(chan *parley.Envelope, 1)}
	if reports {
		c.progress = make(chan Progress, keptProgress)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[request.ID] = c
	return c
}

func (r *Room) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, id)
}

func (r *Room) await(ctx context.Context, request *parley.Envelope, c *call, report func(Progress)) (*Reply, error) {
	for {
		select {
		case p := <-c.progress:
			report(p)
		case e := <-c.reply:
			for len(c.progress) > 0 {
				report(<-c.progress)
			}
			return readReply(e)
		case <-ctx.Done():
			r.cancelCall(request, ctx)
			return nil, fmt.Errorf("client: no answer to %s (id %s): %w", request.Kind, request.ID, context.Cause(ctx))
		case <-r.over:
			return nil, r.Err()
		}
	}
}

// cancelCall tells those who were asked that nobody waits any more.
func (r *Room) cancelCall(request *parley.Envelope, ctx context.Context) {
	reason := "the requester no longer waits"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		reason = "the requester's time is up"
	}
	params := appendString([]byte(`{"requestId":`), request.ID)
	params = append(appendString(append(params, `,"reason":`...), reason), '}')
	e, err := NewRequest("", cancelled, jsontext.Value(params), To(request.To...), Correlate(request.ID), InContext(sameContext(request)))
	if err == nil { // nothing in it is a caller's
		r.detach(e)
	}
}

// answer hands responses and progress to the calls that wait for them. Both
// count only from whom was asked.
func (r *Room) answer(e *parley.Envelope, kind parley.Kind) {
	progress := kind.Type == parley.TypeRequest && kind.Method == progressed
	if kind.Type != parley.TypeResponse && !progress {
		return
	}
	for _, id := range e.Correlation.IDs {
		c := r.calls[id]
		switch {
		case c == nil || !slices.Contains(c.to, e.From):
		case progress:
			c.report(parley.Member(e.Payload, "params"))
		default:
			delete(r.calls, id) // the first wins
			c.reply <- e
		}
	}
}

// report keeps the newest progress for the call that waits.
func (c *call) report(params jsontext.Value) {
	if c.progress == nil {
		return
	}
	p := Progress{
		Progress: number(params, "progress"),
		Total:    number(params, "total"),
		Message:  text(params, "message"),
		Params:   params,
	}
	for {
		select {
		case c.progress <- p:
			return
		default:
		}
		select {
		case <-c.progress: // the oldest says least
		default:
		}
	}
}

// readReply reads a response strictly, in a lazy space as well.
func readReply(e *parley.Envelope) (*Reply, error) {
	if parley.IsRedacted(e.Payload) {
		return nil, parley.Errorf(parley.NotFound, "%s answered, and what it said was redacted", e.From)
	}
	if err := parley.CheckResponse(e.Payload); err != nil {
		return nil, err
	}
	if failure := parley.Member(e.Payload, "error"); failure != nil {
		return nil, readRPCError(failure)
	}
	return &Reply{Envelope: e, Result: parley.Member(e.Payload, "result")}, nil
}

// Respond answers a request with a result: any value that can be written as
// JSON. The gateway takes one answer to a request, from those it was addressed
// to. Whoever has a [Handler] need not call it.
func (r *Room) Respond(ctx context.Context, request *parley.Envelope, result any, opts ...SendOption) (Receipt, error) {
	e, err := r.NewResponse(request, result, opts...)
	if err != nil {
		return Receipt{}, err
	}
	return r.Send(ctx, e)
}

// RespondError answers a request with an error: an [*RPCError] as it is, any
// other as an internal one.
func (r *Room) RespondError(ctx context.Context, request *parley.Envelope, failure error, opts ...SendOption) (Receipt, error) {
	return r.Send(ctx, r.errorResponse(request, failure, opts...))
}

// NewResponse composes the answer to a request: to the requester, and to the
// proposer where it fulfils a proposal that was seen in this room.
func (r *Room) NewResponse(request *parley.Envelope, result any, opts ...SendOption) (*parley.Envelope, error) {
	raw, err := encodeParams("result", result)
	if err != nil {
		return nil, err
	}
	if raw == nil {
		raw = jsontext.Value("null")
	}
	return r.response(request, answerPayload(request.Payload, "result", raw), opts), nil
}

func (r *Room) errorResponse(request *parley.Envelope, failure error, opts ...SendOption) *parley.Envelope {
	return r.response(request, answerPayload(request.Payload, "error", asRPCError(failure).encode()), opts)
}

func (r *Room) response(request *parley.Envelope, payload jsontext.Value, opts []SendOption) *parley.Envelope {
	o := collect(opts)
	kind := parley.SplitKind(request.Kind).As(parley.TypeResponse)
	return o.apply(&parley.Envelope{
		Kind:        kind.String(),
		To:          r.answerTo(request),
		Correlation: parley.CorrelateWith(request.ID),
		Context:     sameContext(request),
		Payload:     payload,
	})
}

// answerTo is the requester, and the proposer whose proposal the request
// fulfils.
func (r *Room) answerTo(request *parley.Envelope) []string {
	to := []string{request.From}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range request.Correlation.IDs {
		if proposer, ok := r.offers.proposer(id); ok && !slices.Contains(to, proposer) {
			to = append(to, proposer)
		}
	}
	return to
}
