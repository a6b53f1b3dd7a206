package mcpfront

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// flight is one call of a server, from its first round to its result. In the
// stateless era it may outlive the request that began it.
type flight struct {
	x          *exchange // whom to tell what belongs to it; guarded by the seat's mu once it flies
	asked      string    // what the client asked for: a further round has to ask for the same
	server     string
	method     string
	tool       string       // its own name, where a tool is called
	fulfilment string       // the id of what fulfilled its proposal
	proposal   string       // the id of the proposal
	amended    *amendment   // how that was changed before it was approved
	waits      bool         // it is answered with what it waits for
	cut        bool         // it is answered with the head of its result
	settled    bool         // what became of it is known
	asking     atomic.Int32 // how many questions wait for the client
	strict     bool         // the client may hold results against the tool's schema

	over context.Context // ends when it has landed
	land context.CancelFunc
	ids  []string // that it is known by; guarded by the seat's mu

	// Of one that flies alone.
	asks   chan *question
	done   chan struct{} // closed once result and err are set
	cancel context.CancelCauseFunc
	result jsontext.Value
	err    error
	open   map[string]*question // that wait for the client, by their key
	keys   int                  // counts them
	until  time.Time            // for how long it waits for the client
	parked atomic.Bool          // its client is not there
}

// question is what a server asks of the client.
type question struct {
	method string
	params jsontext.Value
	answer chan answer // holds one
}

type answer struct {
	result jsontext.Value
	err    error
}

func (x *exchange) newFlight(server, method string) *flight {
	fl := &flight{x: x, asked: x.wants(), server: server, method: method, strict: x.target != ""}
	fl.over, fl.land = context.WithCancel(context.Background())
	return fl
}

// wants is what a request asks for, without how.
func (x *exchange) wants() string {
	name, _ := mcp.NameOf(x.msg.Method, x.msg.Params)
	return x.msg.Method + "\n" + name
}

// rounds makes a call, and what rounds a server asks for where the client is of
// the era that answers requests.
func (x *exchange) rounds(ctx context.Context, server, method string, params jsontext.Value) (jsontext.Value, error) {
	fl := x.newFlight(server, method)
	defer x.seat.land(fl)
	result, err := x.roundsOf(ctx, fl, params)
	x.collect(fl)
	return result, err
}

func (x *exchange) roundsOf(ctx context.Context, fl *flight, params jsontext.Value) (jsontext.Value, error) {
	first := params
	fl.tool = toolOf(fl.method, params)
	for round := 1; ; round++ {
		result, err := x.once(ctx, fl, params)
		if err != nil || !asksForInput(result) {
			return result, err
		}
		fl.settled = false
		if x.modern() {
			return result, nil
		}
		first = fl.amended.ofRounds(first)
		responses, err := x.askAll(ctx, result, round)
		if err != nil {
			x.giveUp(ctx, fl, first, result)
			return nil, err
		}
		params = mcp.NextRound(first, result, responses)
	}
}

func asksForInput(result jsontext.Value) bool {
	kind, _ := parley.MemberString(result, "resultType")
	return kind == mcp.InputRequired
}

// askAll asks the client, one after the other, what a server of the stateless
// era wants to know by its result. What gets no answer ends the call, unless the
// server wants to know.
func (x *exchange) askAll(ctx context.Context, result jsontext.Value, round int) (jsontext.Value, error) {
	if round == maxRounds {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the server asked for input " + strconv.Itoa(maxRounds) + " times, and gave no result"}
	}
	b, count := jsontext.Value{'{'}, 0
	for f, err := range jsonrpc.Members(member(result, "inputRequests")) {
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the server's inputRequests cannot be read"}
		}
		if count++; count > maxInputs {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the server asked for more than " + strconv.Itoa(maxInputs) + " things at once"}
		}
		method, _ := parley.MemberString(f.Value, "method")
		answer, err := x.askOne(ctx, method, member(f.Value, "params"))
		if err != nil && (ctx.Err() != nil || errors.Is(err, errNoAnswer) || !mcp.TakesErrors(result)) {
			return nil, err
		}
		if err != nil {
			answer = mcp.Unanswered(rpcError(err))
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, mcp.Quote(f.Name)...), ':'), answer...)
	}
	return append(b, '}'), nil
}

func (x *exchange) askOne(ctx context.Context, method string, params jsontext.Value) (jsontext.Value, error) {
	if err := x.declares(method, params); err != nil {
		return nil, err
	}
	return x.session.ask(ctx, x, method, params)
}

// giveUp tells a server that wants to know that nobody comes back with what it
// asked for. What it says to that is for nobody. To what was approved the client
// may come back, unless it has cancelled it.
func (x *exchange) giveUp(ctx context.Context, fl *flight, params, result jsontext.Value) {
	round := mcp.GiveUp(params, result)
	if round == nil || fl.fulfilment != "" && (ctx.Err() == nil || !x.withdraws(ctx)) {
		return
	}
	var opts []client.SendOption
	if fl.fulfilment != "" {
		opts = append(opts, client.Correlate(fl.fulfilment))
	}
	e, err := client.NewRequest(fl.server, fl.method, round, opts...)
	if err != nil {
		return
	}
	s := x.seat
	s.hold()
	if !x.front.start(func() {
		defer s.release()
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		_, _ = s.room.Call(ctx, e)
	}) {
		s.release()
	}
}

// declares refuses what the client did not say that it can be asked for. A model
// that knows of no tools would answer as if none had been offered.
func (c *caller) declares(method string, params jsontext.Value) error {
	name := map[string]string{"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}[method]
	can := member(c.caps, name)
	switch {
	case name == "" || can.Kind() != '{':
		return &jsonrpc.Error{Code: codeRefused, Message: "the client did not declare that it can be asked for " + clip(method)}
	case name == "sampling" && member(can, "tools").Kind() != '{' && (member(params, "tools") != nil || member(params, "toolChoice") != nil):
		return invalidParams("the request offers tools, and the client declared sampling without sampling.tools")
	}
	return nil
}

// of is the exchange that a flight belongs to at present.
func (s *seat) of(fl *flight) *exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fl.x
}

// answer takes a request that a server makes of us in mid-call.
func (s *seat) answer(ctx context.Context, req *client.Request) (any, error) {
	switch req.Kind.Method {
	case "sampling/createMessage", "elicitation/create", "roots/list":
	default:
		return nil, client.MethodNotFound(req.Kind.Method)
	}
	fl := s.flightOf(req.Envelope.Correlation.IDs)
	if fl == nil {
		fl = s.flightToCome(ctx, req.Envelope)
	}
	if fl == nil || fl.server != req.Envelope.From {
		return nil, &client.RPCError{Code: codeRefused, Message: "no client of " + s.place.Participant + " waits for the call that this belongs to"}
	}
	result, err := s.asked(ctx, fl, req)
	if err != nil {
		e := rpcError(err)
		return nil, &client.RPCError{Code: e.Code, Message: e.Message, Data: e.Data}
	}
	return result, nil
}

func (s *seat) asked(ctx context.Context, fl *flight, req *client.Request) (jsontext.Value, error) {
	fl.asking.Add(1)
	defer fl.asking.Add(-1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(fl.over, func() { cancel(errLanded) })()
	x := s.of(fl)
	if err := x.declares(req.Kind.Method, req.Params); err != nil {
		return nil, err
	}
	if x.session != nil {
		return x.session.ask(ctx, x, req.Kind.Method, req.Params)
	}
	q := &question{method: req.Kind.Method, params: req.Params, answer: make(chan answer, 1)}
	select {
	case fl.asks <- q:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case a := <-q.answer:
		return a.result, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// fly makes a call that may outlive its request: on a goroutine of its own.
func (x *exchange) fly(ctx context.Context, fl *flight, call func(context.Context) (jsontext.Value, error)) (jsontext.Value, error) {
	fl.asks, fl.done, fl.open = make(chan *question), make(chan struct{}), map[string]*question{}
	flying, cancel := context.WithCancelCause(x.front.ctx)
	fl.cancel = cancel
	x.seat.hold()
	if !x.front.start(func() {
		defer x.seat.release()
		defer close(fl.done)
		defer x.seat.land(fl)
		fl.result, fl.err = call(flying)
		cancel(nil)
	}) {
		cancel(nil)
		fl.land()
		x.seat.release()
		return nil, errSessionEnded
	}
	return x.attend(ctx, fl)
}

// gather is how long a server's next question is waited for, once it has asked
// one: what it asks at once the client is asked at once, also on a busy machine.
// Who answers takes longer.
const gather = 50 * time.Millisecond

// attend waits for a flight's result, or for what its server asks of the client,
// which ends the request.
func (x *exchange) attend(ctx context.Context, fl *flight) (jsontext.Value, error) {
	var soon <-chan time.Time
	for {
		select {
		case <-fl.done:
			x.collect(fl)
			return fl.result, fl.err
		case q := <-fl.asks:
			fl.ask(q)
			soon = time.After(gather)
		case <-soon:
			return x.park(fl)
		case <-ctx.Done():
			fl.cancel(errCancelled)
			<-fl.done
			return nil, context.Cause(ctx)
		}
	}
}

// ask adds a question to those that wait for the client.
func (fl *flight) ask(q *question) {
	if len(fl.open) == maxAsked {
		q.answer <- answer{err: parley.Errorf(parley.LimitReached, "the client has %d requests to answer", maxAsked)}
		return
	}
	fl.keys++
	fl.open["q"+strconv.Itoa(fl.keys)] = q
}

// parkedFor is how long a call waits for its client to come back with answers.
const parkedFor = 5 * time.Minute

// Bounds of the calls that wait for their clients.
const (
	maxParked     = 1_024
	maxParkedEach = 128 // of one participant
)

// park asks the client, and keeps the flight until it comes back.
func (x *exchange) park(fl *flight) (jsontext.Value, error) {
	f := x.front
	state := statePrefix + rand.Text()
	f.mu.Lock()
	each := 0
	for _, other := range f.parked {
		if other.x.place == x.place {
			each++
		}
	}
	full := len(f.parked) >= maxParked || each >= maxParkedEach
	if !full {
		f.parked[state] = fl
		fl.parked.Store(true)
		fl.until = time.Now().Add(parkedFor)
	}
	f.mu.Unlock()
	if full {
		fl.cancel(errSessionEnded)
		<-fl.done
		return nil, parley.Errorf(parley.LimitReached, "calls that wait for their client's answers: the limit is %d for one participant and %d for all", maxParkedEach, maxParked)
	}
	b := jsontext.Value(`{"resultType":"input_required","_meta":{"` + mcp.MetaErrors + `":true},"inputRequests":{`)
	for i, key := range slices.Sorted(maps.Keys(fl.open)) {
		q := fl.open[key]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, mcp.Quote(key)...), `:{"method":`...), mcp.Quote(q.method)...)
		if q.params != nil {
			b = append(append(b, `,"params":`...), q.params...)
		}
		b = append(b, '}')
	}
	b = append(append(append(b, `},"requestState":`...), mcp.Quote(state)...), '}')
	return b, nil
}

// statePrefix begins the requestState of a call that waits in this process; it
// means nothing to anybody else.
const statePrefix = "parley.front."

// resumes is the flight that a retry goes on with.
func (x *exchange) resumes(params jsontext.Value) *flight {
	state, _ := parley.MemberString(params, "requestState")
	f := x.front
	f.mu.Lock()
	defer f.mu.Unlock()
	fl := f.parked[state]
	if fl == nil || fl.x.place != x.place || fl.x.target != x.target || fl.asked != x.wants() {
		return nil
	}
	delete(f.parked, state)
	fl.parked.Store(false)
	return fl
}

// retries goes on with a call of ours that waits for the client, where is says
// that the request means to.
func (x *exchange) retries(ctx context.Context, params jsontext.Value) (result jsontext.Value, is bool, err error) {
	if state, _ := parley.MemberString(params, "requestState"); !strings.HasPrefix(state, statePrefix) {
		return nil, false, nil
	}
	fl := x.resumes(params)
	if fl == nil {
		return nil, true, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the call that this goes on with is not here any more, or the requestState was changed",
			Data: jsontext.Value(`{"code":"outcome_unknown"}`)}
	}
	result, err = x.goOn(ctx, fl, params)
	return result, true, err
}

// goOn hands a client's answers to the server, and waits on.
func (x *exchange) goOn(ctx context.Context, fl *flight, params jsontext.Value) (jsontext.Value, error) {
	x.seat.mu.Lock()
	fl.x = x
	x.seat.mu.Unlock()
	if mcp.GivesUp(params) {
		fl.cancel(errCancelled)
	}
	responses := member(params, "inputResponses")
	for key, q := range fl.open {
		q.answer <- answered(member(responses, key))
	}
	clear(fl.open)
	return x.attend(ctx, fl)
}

// answered is what a client says to a question.
func answered(v jsontext.Value) answer {
	if v == nil {
		return answer{err: &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the client did not answer"}}
	}
	if why := mcp.ReadUnanswered(v); why != nil {
		return answer{err: why}
	}
	return answer{result: v}
}

// unpark gives up calls whose clients did not come back.
func (f *Front) unpark(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for state, fl := range f.parked {
		if now.After(fl.until) {
			delete(f.parked, state)
			fl.cancel(errors.New("the client did not come back with what the server asked for"))
		}
	}
}
