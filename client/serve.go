package client

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Handler serves requests that are addressed to us. It returns the result, as
// any value that can be written as JSON, or an error: an [*RPCError] goes out
// as it is, any other as an internal one. What it returns is sent to the
// requester and, where the request fulfils a proposal, to the proposer.
//
// ctx ends, with [ErrCancelled] as its cause, when the requester cancels; with
// another cause when the room ends, or the ctx of [Room.Serve]. The answer is
// sent all the same. A panic is answered as an internal error and logged.
//
// Handlers run at the same time, up to [Options.Concurrency].
type Handler func(ctx context.Context, req *Request) (result any, err error)

// ErrCancelled is the cause for a handler's ctx to end when its requester no
// longer waits.
var ErrCancelled = errors.New("client: the requester cancelled")

// Request is one that is addressed to us, of which kind and payload say the
// same. Its sender is Envelope.From.
type Request struct {
	Envelope *parley.Envelope
	Kind     parley.Kind    // effective, with the SUBJECT that the payload has
	Params   jsontext.Value // nil where absent

	room *Room
}

// Room is where the request came in.
func (q *Request) Room() *Room { return q.room }

// Decode reads the params into a Go value. The error is an [*RPCError], for the
// handler to return.
func (q *Request) Decode(v any) error {
	if err := json.Unmarshal(q.Params, v); err != nil {
		return &RPCError{Code: CodeInvalidParams, Message: err.Error()}
	}
	return nil
}

// Progress reports to the requester how far the work is, if it asked for that
// (_meta.progressToken), and else does nothing. Params of p are not used.
// Errors are those of [Room.Send].
func (q *Request) Progress(ctx context.Context, p Progress) error {
	token := parley.Member(parley.Member(q.Params, "_meta"), "progressToken")
	if token == nil {
		return nil
	}
	b := append([]byte(`{"progressToken":`), token...)
	b = strconv.AppendFloat(append(b, `,"progress":`...), p.Progress, 'f', -1, 64)
	if p.Total != 0 {
		b = strconv.AppendFloat(append(b, `,"total":`...), p.Total, 'f', -1, 64)
	}
	if p.Message != "" {
		b = appendString(append(b, `,"message":`...), p.Message)
	}
	_, err := q.room.Notify(ctx, q.Envelope.From, progressed, jsontext.Value(append(b, '}')),
		Correlate(q.Envelope.ID), InContext(sameContext(q.Envelope)))
	return err
}

// Serve hands the requests that come from now on to h, until ctx or the room
// ends, and waits for the handlers. It returns the cause of ctx or the error of
// [Room.Err]. A room has one handler at a time: where there is another the
// error is invalid_argument.
//
// Requests that arrived before are not served. [Options.Handler] misses none
// that is younger than the room's first welcome. Older ones are history, of
// which nobody here knows whether they were answered; they are in
// [Room.Envelopes] alone.
func (r *Room) Serve(ctx context.Context, h Handler) error {
	serving, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if err := r.setHandler(serving, h); err != nil {
		return err
	}
	var cause error
	select {
	case <-ctx.Done():
		cause = context.Cause(ctx)
	case <-r.over:
		cause = r.Err()
	}
	stop(cause)
	r.endServing()
	return cause
}

// server runs the handlers. Guarded by the room's mu.
type server struct {
	most     int
	begin    func(*job) // starts a goroutine that handles; nil where nobody serves
	leaving  bool       // requests are refused at once
	running  int
	waiting  []*job
	inflight map[string]*job
	seen     window[struct{}]

	goroutines sync.WaitGroup
}

// job is a request that is not answered yet.
type job struct {
	*Request
	cancel    context.CancelCauseFunc // once it runs
	cancelled bool
}

const (
	keptRequests   = 16_384
	waitingPerSlot = 16
)

func (s *server) init(most int) {
	s.most = most
	s.inflight = make(map[string]*job)
	s.seen = newWindow[struct{}](keptRequests)
}

func (r *Room) serveFromOptions(ctx context.Context) {
	if r.opts.Handler != nil {
		_ = r.setHandler(ctx, r.opts.Handler) // the first one is never refused
	}
}

func (r *Room) setHandler(ctx context.Context, h Handler) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return r.err
	case h == nil:
		return parley.Errorf(parley.InvalidArgument, "the handler is nil")
	case r.server.begin != nil:
		return parley.Errorf(parley.InvalidArgument, "this room has a handler already")
	}
	r.server.begin = func(j *job) { r.server.goroutines.Go(func() { r.work(ctx, h, j) }) }
	return nil
}

// endServing takes no more requests, and waits until those that there are were
// answered. Their contexts have ended before.
func (r *Room) endServing() {
	r.mu.Lock()
	r.server.begin = nil
	r.mu.Unlock()
	r.server.goroutines.Wait()
}

// serve looks for requests that are addressed to us, and for their
// cancellations. It reports whether the loops over Envelopes are to see e.
func (r *Room) serve(e *parley.Envelope, kind parley.Kind) (deliver bool) {
	if kind.Type != parley.TypeRequest && kind.Type != parley.TypeProposal {
		return true
	}
	ours := kind.Type == parley.TypeRequest && e.Addressed(r.ID())
	if !ours && !r.opts.Strict {
		return true
	}
	call, err := parley.ReadCall(kind, e.Payload)
	switch {
	case err != nil:
		r.lied(e, kind, err, ours)
		return !r.opts.Strict
	case !ours:
	case kind.Method == cancelled:
		r.cancelRequest(e, call)
	case !isNotification(kind.Method):
		r.accept(&job{Request: &Request{Envelope: e, Kind: call.Kind, Params: call.Params, room: r}})
	}
	return true
}

// lied answers a request whose kind contradicts its payload, where we are the
// one to answer.
func (r *Room) lied(e *parley.Envelope, kind parley.Kind, err error, ours bool) {
	r.mu.Lock()
	r.stats.Lied++
	answer := ours && !isNotification(kind.Method) &&
		(r.server.begin != nil || r.opts.Strict) &&
		!r.order.isHistory(e.Seq) && r.server.seen.add(e.ID, struct{}{})
	r.mu.Unlock()
	if answer {
		r.detach(r.errorResponse(e, &RPCError{Code: CodeInvalidRequest, Message: err.Error()}))
	}
}

// accept starts to handle a request, or lets it wait. One that was seen before
// is not run again.
func (r *Room) accept(j *job) {
	id := j.Envelope.ID
	r.mu.Lock()
	s := &r.server
	if s.begin == nil && !s.leaving || r.order.isHistory(j.Envelope.Seq) || !s.seen.add(id, struct{}{}) {
		r.mu.Unlock()
		return
	}
	if s.leaving {
		r.mu.Unlock()
		r.detach(r.errorResponse(j.Envelope, &RPCError{Code: CodeBusy, Message: "whom you asked is leaving the room"}))
		return
	}
	if len(s.waiting) >= s.most*waitingPerSlot {
		r.mu.Unlock()
		r.detach(r.errorResponse(j.Envelope, &RPCError{Code: CodeBusy, Message: "too many requests are waiting here"}))
		return
	}
	defer r.mu.Unlock()
	s.inflight[id] = j
	if s.running < s.most {
		s.running++
		s.begin(j)
		return
	}
	s.waiting = append(s.waiting, j)
}

// cancelRequest ends the ctx of a request's handler, if it is the requester
// who asks for that.
func (r *Room) cancelRequest(e *parley.Envelope, call parley.Call) {
	ids := e.Correlation.IDs
	if id, ok := parley.MemberString(call.Params, "requestId"); ok {
		ids = append(slices.Clip(ids), id)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		j := r.server.inflight[id]
		if j == nil || j.Envelope.From != e.From {
			continue
		}
		j.cancelled = true
		if j.cancel != nil {
			j.cancel(ErrCancelled)
		}
	}
}

// work handles one request after the other, until none is waiting.
func (r *Room) work(ctx context.Context, h Handler, j *job) {
	for j != nil {
		r.handle(ctx, h, j)
		j = r.nextJob(j)
	}
}

func (r *Room) nextJob(done *job) *job {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.server
	delete(s.inflight, done.Envelope.ID)
	if len(s.waiting) == 0 {
		s.running--
		return nil
	}
	j := s.waiting[0]
	s.waiting[0] = nil
	s.waiting = s.waiting[1:]
	return j
}

func (r *Room) handle(serving context.Context, h Handler, j *job) {
	ctx, cancel := context.WithCancelCause(serving)
	defer cancel(nil)
	r.mu.Lock()
	j.cancel = cancel
	if j.cancelled {
		cancel(ErrCancelled)
	}
	r.mu.Unlock()
	result, err := r.invoke(ctx, h, j.Request)
	if err != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		err = &RPCError{Code: CodeCancelled, Message: "cancelled: " + context.Cause(ctx).Error()}
	}
	r.reply(context.WithoutCancel(serving), j.Envelope, result, err)
}

func (r *Room) invoke(ctx context.Context, h Handler, q *Request) (result any, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // it is not begun any more
	}
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("a handler panicked", "kind", q.Kind.String(), "id", q.Envelope.ID, "panic", p, "stack", string(debug.Stack()))
			err = &RPCError{Code: CodeInternal, Message: "the handler failed"}
		}
	}()
	return h(r.withContext(ctx, q.Envelope.Context), q)
}

// reply sends a handler's answer. Where the gateway does not let it through,
// the requester at least learns that.
func (r *Room) reply(ctx context.Context, request *parley.Envelope, result any, failure error) {
	err := r.tryReply(ctx, request, result, failure)
	refused, ok := errors.AsType[*parley.Error](err)
	if ok && refused.Code != parley.InvalidCorrelation {
		failure = &RPCError{Code: CodeInternal, Message: fmt.Sprintf("the answer could not be sent: %v", refused)}
		err = r.insist(ctx, r.errorResponse(request, failure, To(request.From)))
	}
	if err != nil && !errors.Is(err, ErrClosed) {
		r.log.Warn("a request was left without our answer", "kind", request.Kind, "id", request.ID, "error", err)
	}
}

func (r *Room) tryReply(ctx context.Context, request *parley.Envelope, result any, failure error) error {
	if failure != nil {
		return r.insist(ctx, r.errorResponse(request, failure))
	}
	e, err := r.NewResponse(request, result)
	if err != nil {
		return err
	}
	return r.insist(ctx, e)
}

// insist sends an envelope, again and again for as long as the gateway cannot
// write its journal: what was asked for is done, and only the answer tells.
func (r *Room) insist(ctx context.Context, e *parley.Envelope) error {
	for attempt := 1; ; attempt++ {
		_, err := r.Send(ctx, e)
		if !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
			return err
		}
		pause := time.NewTimer(r.pause(attempt, err))
		select {
		case <-pause.C:
		case <-r.over:
			pause.Stop()
			return err
		}
	}
}
