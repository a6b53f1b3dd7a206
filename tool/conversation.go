package tool

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	codec "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	wire "github.com/parleyhq/parley/internal/mcp"
)

// conversation is a call of a modern client, which goes on over several requests:
// each is answered with the questions that are open, and the next one brings
// answers. It is the peer of its run.
//
// Its function runs on a goroutine of the conversation's own, from the first
// request on until it returns, and waits in Ask between them.
type conversation struct {
	server  *Server
	d       *declared
	handle  string
	session *mcp.ServerSession // in which it was begun or gone on with; nil over HTTP
	web     bool               // it came over HTTP
	user    string             // who alone can go on with it; "" where nobody is known
	args    meaning            // of the arguments
	size    int                // of the arguments, in bytes
	able    abilities
	revived bool // it is gone on with after a restart
	v       *served
	during  context.Context // the function's
	stop    context.CancelCauseFunc
	done    chan struct{} // closed when the function has returned
	err     error         // of the protocol; read after done

	mu      sync.Mutex
	open    []*open                // in the order in which they were asked; guarded by mu
	early   mcp.InputResponseMap   // answers that came before a function that runs again asked; guarded by mu
	named   map[string]bool        // the names of questions that were asked; guarded by mu
	news    chan struct{}          // closed when there is a new question; guarded by mu
	rounds  int                    // that were answered with questions; guarded by mu
	present []*mcp.CallToolRequest // requests under way, the newest last; guarded by mu
	ctxs    []context.Context      // theirs; guarded by mu
	absence *time.Timer            // runs while no request is under way; guarded by mu
}

// open is a question that waits for its answer.
type open struct {
	key      string // among the questions of the conversation
	question Question
	answer   chan jsontext.Value // as it came; has room for one
}

// errHungUp ends a run whose client has cancelled it.
var errHungUp = errors.New("the client has cancelled the call")

// begin starts a run. kept and answers are what is on record of it, if it is
// gone on with.
func (s *Server) begin(d *declared, req *mcp.CallToolRequest, handle string, k *keeping, answers map[string]*reply) (*conversation, error) {
	c := &conversation{
		server: s, d: d, handle: handle, user: callerOf(req),
		args: meaningOf(req.Params.Arguments), size: len(req.Params.Arguments), able: abilitiesOf(req.ClientCapabilities()),
		revived: answers != nil,
		v:       new(served), done: make(chan struct{}), news: make(chan struct{}),
	}
	// Of the request nothing else is kept: it may be large, and the run may wait
	// for long.
	if c.web = req.Extra != nil && req.Extra.Header != nil; !c.web {
		c.session = req.Session
	}
	err := d.open(&c.v.call, req.Params.Meta)
	if err == nil {
		err = d.lacking(c, true)
	}
	if err != nil {
		return nil, err
	}
	c.v.run = run{peer: c, id: handle, kept: k, answered: answers}
	c.during, c.stop = context.WithCancelCause(context.Background())
	// From here on others may stop it.
	if err := s.runs.add(c, s.opts.MaxRuns); err != nil {
		c.stop(nil)
		return nil, err
	}
	s.calls.begin()
	go c.work(c.during, bytes.Clone(req.Params.Arguments))
	return c, nil
}

// work is the function's goroutine.
func (c *conversation) work(ctx context.Context, arguments []byte) {
	defer c.server.calls.end()
	c.err = c.d.complete(ctx, c.v, arguments)
	cancelled := errors.Is(context.Cause(ctx), errHungUp)
	if c.v.run.kept.close(); parked(ctx) || cancelled {
		c.server.runs.drop(c)
	}
	if cancelled {
		c.forget()
	}
	c.stop(nil)
	close(c.done)
}

func (c *conversation) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// forget takes the run off the disk.
func (c *conversation) forget() {
	if c.v.run.kept != nil {
		c.server.kept.Remove(runName(c.handle))
	}
}

// Can looks at what the client declared when it called.
func (c *conversation) Can(a Ability) bool { return c.able.has(a) }

// Ask waits until a request of the client brings the answer.
func (c *conversation) Ask(ctx context.Context, q Question) (jsontext.Value, error) {
	c.mu.Lock()
	o := &open{c.keyOf(q), q, make(chan jsontext.Value, 1)}
	if a, ok := c.early[o.key]; ok {
		delete(c.early, o.key)
		c.mu.Unlock()
		return answered(rawOf(a))
	}
	c.open = append(c.open, o)
	close(c.news)
	c.news = make(chan struct{})
	c.mu.Unlock()
	var why error
	select {
	case raw := <-o.answer:
		return answered(raw)
	case <-ctx.Done():
		why = context.Cause(ctx)
	case <-c.during.Done(): // whatever the tool made of the context that it got
		why = askError(c.during, q.Method, context.Cause(c.during))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = slices.DeleteFunc(c.open, func(p *open) bool { return p == o })
	select {
	case raw := <-o.answer: // it came at the same time, and somebody took the trouble
		return answered(raw)
	default:
		return nil, why
	}
}

// answered is an answer, or the error that came in its place.
func answered(raw jsontext.Value) (jsontext.Value, error) {
	if why := wire.ReadUnanswered(raw); why != nil {
		return nil, &PeerError{Code: why.Code, Message: why.Message, Data: why.Data}
	}
	return raw, nil
}

// keyOf is what a question is called in requests and answers: the name that the
// tool has for it, the first time. A second one of that name is another
// question, and so it may be after a restart, when the order of questions can be
// another: an answer must never get to a question that was not asked. The caller holds mu.
func (c *conversation) keyOf(q Question) string {
	if q.Name == "" || c.named[q.Name] || c.v.run.kept != nil {
		return q.ID
	}
	if c.named == nil {
		c.named = make(map[string]bool)
	}
	c.named[q.Name] = true
	return q.Name
}

// Notify tells the client by the request that is under way, if there is one.
func (c *conversation) Notify(_ context.Context, method string, params jsontext.Value) error {
	c.mu.Lock()
	var req *mcp.CallToolRequest
	var ctx context.Context
	if n := len(c.present); n > 0 {
		req, ctx = c.present[n-1], c.ctxs[n-1]
	}
	c.mu.Unlock()
	if req == nil {
		return nil
	}
	return notify(ctx, req, method, params)
}

// deliver hands answers to those who wait for them. What answers no open
// question was answered before, or was never asked, unless the function of a run
// that is gone on with has not got so far yet.
func (c *conversation) deliver(answers mcp.InputResponseMap) {
	if _, gone := answers[wire.GivenUp]; gone {
		c.stop(errHungUp)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.revived && len(answers) > 0 { // no more than the newest, or they could pile up
		c.early = maps.Clone(answers)
	}
	c.open = slices.DeleteFunc(c.open, func(o *open) bool {
		a, ok := answers[o.key]
		if ok {
			delete(c.early, o.key)
			o.answer <- rawOf(a)
		}
		return ok
	})
}

// attach notes that a request of the client is under way, until detach.
func (c *conversation) attach(ctx context.Context, req *mcp.CallToolRequest) (detach func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.present, c.ctxs = append(c.present, req), append(c.ctxs, ctx)
	if c.absence != nil {
		c.absence.Stop()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.present, req)
		c.present, c.ctxs = slices.Delete(c.present, i, i+1), slices.Delete(c.ctxs, i, i+1)
		if len(c.present) == 0 {
			c.absence = time.AfterFunc(c.patience(), c.abandon)
		}
	}
}

// patience is how long the run is there without a request.
func (c *conversation) patience() time.Duration {
	if c.ended() {
		return fetchable
	}
	return c.server.opts.Patience
}

// abandon ends a run, or its memory, that nobody came back for.
func (c *conversation) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case len(c.present) > 0: // somebody came just now
	case c.ended():
		c.server.runs.drop(c)
		c.forget()
	default:
		c.stop(errParked)
	}
}

// hangUp cancels the run, unless a request still waits for it. A request that ended
// with its connection was not cancelled by the client: the run is put away.
func (c *conversation) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case slices.ContainsFunc(c.ctxs, func(ctx context.Context) bool { return ctx.Err() == nil }):
	case slices.ContainsFunc(c.ctxs, over):
		c.stop(errParked)
	default:
		c.stop(errHungUp)
	}
}

// turn waits until there is something to answer a request with.
func (c *conversation) turn(ctx context.Context) (*mcp.CallToolResult, error) {
	for {
		asked, news := c.waits()
		if asked {
			together()
			if asked := c.asks(); asked != nil {
				return asked, nil
			}
		}
		select {
		case <-c.done:
			return c.outcome()
		case <-news:
		case <-ctx.Done():
			c.hangUp()
			return nil, ctx.Err()
		}
	}
}

// outcome is the call's result. Several requests may ask for it.
func (c *conversation) outcome() (*mcp.CallToolResult, error) {
	if c.err != nil {
		return nil, protocol(c.err)
	}
	result := c.v.result
	result.Meta = maps.Clone(result.Meta) // the SDK writes into it
	return &result, nil
}

// together lets goroutines that are about to ask do so: clients bear a few rounds
// only, and what is asked at once should go out at once.
func together() {
	for range 16 {
		runtime.Gosched()
	}
}

// waits says whether questions are open; news tells when there is another one.
func (c *conversation) waits() (asked bool, news <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0, c.news
}

// asks is a result with the open questions; nil where there are none.
func (c *conversation) asks() *mcp.CallToolResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) == 0 {
		return nil
	}
	c.rounds++
	in := inputRequired{Type: "input_required", Requests: make(map[string]inputRequest, len(c.open)), State: stateOf(c.handle, c.rounds)}
	for _, o := range c.open {
		params, err := o.question.marked()
		if err != nil {
			params = o.question.Params
		}
		in.Requests[o.key] = inputRequest{o.question.Method, params}
	}
	return &mcp.CallToolResult{Meta: mcp.Meta{inputKey: in}}
}

// inputRequired is the result of MCP that asks for input.
type inputRequired struct {
	Type     string                  `json:"resultType"`
	Requests map[string]inputRequest `json:"inputRequests"`
	State    string                  `json:"requestState"`
}

type inputRequest struct {
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
}

// inputKey marks a result in whose stead its inputRequired is sent: the SDK's
// own types would change the questions.
const inputKey = "parley/input-required"

// inputResult is an inputRequired as the SDK sends results.
type inputResult struct {
	mcp.ResultBase
	in inputRequired
}

// MarshalJSON is what the client gets.
func (r *inputResult) MarshalJSON() ([]byte, error) {
	return codec.Marshal(struct {
		inputRequired `json:",inline"`
		Meta          mcp.Meta `json:"_meta,omitempty"`
	}{r.in, r.Meta}, codec.Deterministic(true))
}

// sendsInput is the middleware that sends it.
func sendsInput(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if r, ok := result.(*mcp.CallToolResult); ok && r != nil && err == nil {
			if in, ok := r.Meta[inputKey].(inputRequired); ok {
				return &inputResult{mcp.ResultBase{Meta: mcp.Meta{wire.MetaErrors: true}}, in}, nil
			}
		}
		return result, err
	}
}
