package mcpbridge

import (
	"context"
	"crypto/cipher"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/response"
)

// Bridge is an MCP server's place in a room: it joins as a participant while
// the server is up, turns the requests that are addressed to it into MCP
// calls, and sends what the server announces to everybody.
//
// While the server is down the participant is absent: a proposal stays open
// then, instead of being fulfilled into nothing. Calls in flight when the server
// dies are answered with an error at once, and never made again.
type Bridge struct {
	server  Server
	join    Join
	log     *slog.Logger
	up      *Supervisor
	sealer  cipher.AEAD
	now     atomic.Pointer[attendance] // nil while the server is not in the room
	origins newest[originKey, *origin] // of requests, for the rounds that may follow
	// spent are requestStates of ours that were used. What somebody else has
	// answered counts once: else a caller could repeat what was confirmed a single
	// time. A bridge that is started again knows nothing of them.
	spent   newest[string, struct{}]
	gave    newest[gift, bool] // requestStates of the server's own
	running context.Context    // Run's
	tracker tracker
	said    keptWords
	asks    atomic.Bool   // a legacy server has asked back, without a word of which call
	answers time.Duration // for calls in flight to be answered before the bridge leaves
}

// Join says which room to join, and as whom.
type Join struct {
	URL   string // of the gateway
	Token string

	// HTTP makes the connections to the gateway. Default: as
	// [client.Options.HTTPClient].
	HTTP *http.Client

	Space string // default: as [client.Options.Space]

	// Connect is what connections to the server are made with. Capabilities,
	// OnNotification and OnRequest are the bridge's own. Default: nil.
	Connect *Options

	// Serves names those who answer what the server asks for where the caller
	// cannot, by what that is: "sampling", "elicitation". Default: nobody.
	Serves map[string][]string

	// Unanswered lists the requests to the participant that nobody has answered,
	// as those that a crash left behind. They are answered with [OutcomeUnknown]
	// when the server has joined. Default: nothing is asked.
	Unanswered func(context.Context) ([]Unanswered, error)

	// OnState is told what becomes of the server, on one goroutine, which waits
	// for it. Default: nobody is told.
	OnState func(State)

	// OnJoin is told each time that the server has joined the room.
	OnJoin func(participant string)

	// Before is told what the server offers before it joins, which waits for it: so
	// that nobody calls by what was known of another run. Where that cannot be read
	// it is not called. Default: nobody is told.
	Before func(ctx context.Context, o *Offer)

	// OnOffer is told what the server has to offer, completely, after it has
	// joined and after each change; nil when it is down. What it offers to some
	// callers alone, [Bridge.OfferFor] says. It is called on one goroutine, which
	// waits for it. Default: nobody is told.
	OnOffer func(participant string, o *Offer)

	// Wrap has what tools answer put into the envelope of package response, as its
	// configuration says for the tool. Default: results cross as they are.
	Wrap *response.Source

	// Metrics count what the bridge does. Default: nothing is counted.
	Metrics *Metrics

	// Log gets what goes wrong without any call failing by it. Default: dropped.
	Log *slog.Logger
}

// OutcomeUnknown is the code in the data of an error that answers a call whose
// server died: whether it acted is not known.
const OutcomeUnknown = "outcome_unknown"

// CodeServerGone is the JSON-RPC code of that error.
const CodeServerGone = -32001

// NewBridge makes a bridge that does nothing until Run.
func NewBridge(s Server, j Join) *Bridge {
	b := &Bridge{server: s, join: j, log: j.Log, sealer: sealer(j.Token), answers: 5 * time.Second}
	b.tracker.metrics, b.tracker.mask = j.Metrics, s.mask()
	b.tracker.was, b.tracker.since = FirstStart, time.Now()
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	o := b.connectOptions()
	o.Capabilities = b.baseCapabilities()
	o.OnNotification = func(ctx context.Context, method string, params jsontext.Value) {
		if a := b.now.Load(); a != nil {
			a.announce(ctx, a.base, method, params)
		}
	}
	o.OnRequest = func(ctx context.Context, method string, params jsontext.Value) (jsontext.Value, error) {
		if a := b.now.Load(); a != nil {
			return a.asked(ctx, a.base, method, params)
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "nobody is there yet to ask"}
	}
	b.up = NewSupervisor(s, &SupervisorOptions{Connect: &o, OnState: b.heard})
	return b
}

func (b *Bridge) connectOptions() Options {
	var o Options
	if b.join.Connect != nil {
		o = *b.join.Connect
	}
	tell := o.OnStderr
	o.OnStderr = func(line string) {
		b.said.add(line)
		if tell != nil {
			tell(line)
		}
	}
	return o
}

// baseCapabilities are what is declared in the session that callers share: what
// others in the room answer for them or, where every caller uses it, whatever
// one of them may be able to.
func (b *Bridge) baseCapabilities() jsontext.Value {
	switch {
	case b.server.Sessions != SessionsShared:
		return withServed(nil, b.join.Serves)
	case b.server.Roots:
		return jsontext.Value(`{"elicitation":{},"roots":{},"sampling":{"tools":{}}}`)
	}
	return jsontext.Value(`{"elicitation":{},"sampling":{"tools":{}}}`)
}

// heard passes on what became of the server.
func (b *Bridge) heard(s State) {
	b.tracker.server(s)
	if b.join.OnState != nil {
		b.join.OnState(s)
	}
}

// Run keeps the server in the room until ctx ends, and returns nil then. Any
// other end is the room's: [client.ErrRemoved], [client.ErrReplaced], or a
// *parley.Error where the gateway refuses the participant.
func (b *Bridge) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	b.running = ctx
	// The server is there until the last call has been told that nobody waits.
	supervising, leave := context.WithCancel(context.WithoutCancel(ctx))
	supervised := make(chan struct{})
	go func() {
		defer close(supervised)
		b.up.Run(supervising)
	}()
	defer func() {
		stop()
		leave()
		<-supervised
	}()
	var last *Upstream
	for {
		up, err := b.up.Ready(ctx, last)
		if err != nil {
			return nil // ctx ended
		}
		if err := b.attend(ctx, up); err != nil {
			b.tracker.failed(err)
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		last = up
	}
}

// attend is in the room for as long as one connection to the server lasts.
func (b *Bridge) attend(ctx context.Context, up *Upstream) error {
	a := b.newAttendance(ctx, up)
	defer a.end()
	defer context.AfterFunc(up.ctx, a.stop)()
	b.now.Store(a)
	defer b.now.Store(nil)
	a.introduce()
	room, err := client.Dial(a.ctx, b.join.URL, &client.Options{
		Token: b.join.Token, Space: b.join.Space, HTTPClient: b.join.HTTP,
		Routing: client.RoutingDirected, Kinds: []string{parley.KindRestartBridge},
		EchoOff: true, Exclusive: true, RetryDial: true, Concurrency: maxCalls,
		Handler: func(ctx context.Context, req *client.Request) (any, error) { return a.handle(ctx, req) }, Logger: b.log,
	})
	if err != nil {
		if a.ctx.Err() != nil {
			return nil
		}
		return err
	}
	before := room.Welcome().History.Last
	a.room.Store(room)
	b.tracker.join(up)
	if b.join.OnJoin != nil {
		b.join.OnJoin(room.ID())
	}
	offers := a.offering()
	a.start(func() { b.settle(a.ctx, room, before) })
	a.obey()
	b.tracker.join(nil)
	if err := room.Err(); err != nil && a.ctx.Err() == nil {
		b.over(a, offers)
		room.Close()
		return err
	}
	b.over(a, offers)
	b.leave(ctx, room)
	return nil
}

// introduce tells Before what the server offers.
func (a *attendance) introduce() {
	if a.b.join.Before == nil {
		return
	}
	if o, err := a.base.offer(a.ctx, a.base.declared); err == nil {
		a.b.join.Before(a.ctx, o)
	}
}

// over ends what the attendance tells others.
func (b *Bridge) over(a *attendance, offers <-chan struct{}) {
	b.now.Store(nil)
	a.stop()
	<-offers
}

// leave lets the calls in flight be answered.
func (b *Bridge) leave(ctx context.Context, room *client.Room) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.answers)
	defer cancel()
	room.Leave(ctx)
}

// obey follows the room until it or the server ends: it restarts the server
// when somebody who may asks for it, and hears of those who leave.
func (a *attendance) obey() {
	room := a.room.Load()
	for e, err := range room.Envelopes(a.ctx) {
		if err != nil {
			if gap := (*client.Gap)(nil); errors.As(err, &gap) {
				continue
			}
			return
		}
		switch e.Kind {
		case parley.KindRestartBridge:
			if who, _ := parley.MemberString(e.Payload, "participant"); who == room.ID() {
				a.b.log.Info("restarting the server", "participant", who, "asked by", e.From)
				a.b.up.Restart()
			}
		case parley.KindPresence:
			if event, _ := parley.MemberString(e.Payload, "event"); event == "leave" {
				who, _ := parley.MemberString(parley.Member(e.Payload, "participant"), "id")
				a.left(who)
			}
		case rootsChanged:
			if e.Addressed(room.ID()) {
				a.rootsChanged(e.From, parley.Member(e.Payload, "params"))
			}
		}
	}
}

const rootsChanged = "mcp/request:notifications/roots/list_changed"

// rootsChanged tells the sessions of a caller that its roots have changed. It
// does not wait for servers.
func (a *attendance) rootsChanged(who string, params jsontext.Value) {
	for _, s := range a.all() {
		if s.owner != who || parley.Member(s.declared, "roots") == nil || s.rootsNews.Add(1) > 1 {
			continue
		}
		if !a.start(func() { a.tellRoots(s, params) }) {
			return
		}
	}
}

// tellRoots tells one session, and again what changed meanwhile.
func (a *attendance) tellRoots(s *session, params jsontext.Value) {
	for news := s.rootsNews.Load(); ; news = s.rootsNews.Load() {
		ctx, cancel := context.WithTimeout(a.ctx, listTimeout)
		err := s.up.Notify(ctx, "notifications/roots/list_changed", params)
		cancel()
		if err != nil {
			s.log.Debug("a change of roots was not told", "error", err)
		}
		if s.rootsNews.CompareAndSwap(news, 0) {
			return
		}
	}
}

// errStopping answers calls in flight when it is we who stop.
var errStopping = errors.New("the bridge to the server is stopping")

// handle turns a request of the room into a call of the server.
func (a *attendance) handle(ctx context.Context, req *client.Request) (any, error) {
	a.room.CompareAndSwap(nil, req.Room())
	switch req.Kind.Method {
	case "initialize", "server/discover":
		// The handshake is the bridge's; who asks is told what it heard.
		return a.base.up.Info().Raw, nil
	case "ping":
		return jsontext.Value("{}"), nil
	case "subscriptions/listen":
		return nil, client.MethodNotFound("subscriptions/listen; in a room one subscribes with resources/subscribe")
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(a.b.running, func() { stop(errStopping) })()
	ctx, cancel := context.WithTimeoutCause(ctx, a.b.callTimeout(req.Room()), errTimeout)
	defer cancel()
	began := a.b.join.Metrics.begin()
	result, err := a.serve(ctx, req)
	a.b.join.Metrics.end(began, err)
	if err != nil {
		return nil, a.b.failure(err)
	}
	return result, nil
}

// serve finds the session that a request belongs to, and makes the call in it.
// One that has not looked at the call, since it had ended, is made once more.
func (a *attendance) serve(ctx context.Context, req *client.Request) (jsontext.Value, error) {
	from, err := a.b.originOf(ctx, req)
	if err != nil {
		return nil, err
	}
	meta := parley.Member(req.Params, "_meta")
	declared, err := checkDeclared(parley.Member(meta, mcp.MetaClientCapabilities), a.b.server.Roots)
	if err != nil {
		return nil, err
	}
	done, err := a.begin(from.peer)
	if err != nil {
		return nil, err
	}
	defer done()
	f := &flight{req: req, peer: from.peer, meta: meta, declared: declared}
	began := time.Now()
	if refusal := a.refused(f, began); refusal != nil {
		return refusal, nil
	}
	for again := true; ; again = false {
		s, release, err := a.acquire(ctx, f.peer, declared)
		if err != nil {
			return nil, err
		}
		result, err := a.serveIn(ctx, s, f)
		release()
		if !again || s == a.base || !errors.Is(err, ErrSessionLost) {
			if err == nil {
				result = a.answered(f, began, result)
			}
			return result, err
		}
	}
}

func (a *attendance) serveIn(ctx context.Context, s *session, f *flight) (jsontext.Value, error) {
	switch method := f.req.Kind.Method; {
	case method == "resources/subscribe":
		return s.subscribe(ctx, f.peer, f.req.Params)
	case method == "resources/unsubscribe":
		return s.unsubscribe(ctx, f.peer, f.req.Params)
	case method == "logging/setLevel" && !s.up.modern.Load():
		if level := readLevel(parley.Member(f.req.Params, "level")); level != "" {
			return s.setLevel(ctx, f.peer, level)
		}
	}
	s.heedLevel(ctx, f)
	// What the server says while it works on the call belongs to the call.
	if mayAskBack(f.req.Kind.Method) {
		landed, err := s.turns.fly(ctx, f)
		if err != nil {
			return nil, err
		}
		defer landed()
	}
	ctx = context.WithValue(ctx, flightKey{}, f)
	var report func(jsontext.Value)
	if parley.Member(f.meta, mcp.MetaProgressToken) != nil {
		report = func(params jsontext.Value) { a.progress(ctx, f, params) }
	}
	switch {
	case !s.up.modern.Load():
		return s.up.Call(ctx, f.req.Kind.Method, f.req.Params, report)
	case !mayAskBack(f.req.Kind.Method):
		params := mcp.SetMeta(f.req.Params, mcp.MetaClientCapabilities, withServed(f.declared, a.b.join.Serves))
		return s.up.Call(ctx, f.req.Kind.Method, params, report)
	}
	return a.converse(ctx, s, f, report)
}

var errTimeout = errors.New("the server did not answer in time (limits: call_timeout)")

const defaultCallTimeout = 5 * time.Minute

func (b *Bridge) callTimeout(room *client.Room) time.Duration {
	if d := room.Welcome().Space.Limits.CallTimeout; d > 0 {
		return d
	}
	return defaultCallTimeout
}

// progress passes a report on to whoever made the call.
func (a *attendance) progress(ctx context.Context, f *flight, params jsontext.Value) {
	if _, err := f.req.Room().Notify(ctx, "", "notifications/progress", params, f.about(f.listeners()...)...); err != nil {
		a.b.log.Debug("progress was not sent", "error", err)
	}
}

// announce sends on what the server says: of a call to whoever made it, of a
// session to whose own it is, of itself to everybody.
func (a *attendance) announce(ctx context.Context, s *session, method string, params jsontext.Value) {
	if isListChange(method) {
		s.catalogue.changed()
		if s == a.base {
			select {
			case a.fresh <- struct{}{}:
			default: // it is looked at anyway
			}
		}
	}
	room := a.room.Load()
	if room == nil {
		return // nobody has heard anything yet that could have changed
	}
	opts, tell := s.audience(ctx, method, params)
	if !tell {
		a.b.log.Debug("a notification of the server is for nobody that we know", "method", clip([]byte(method)))
		return
	}
	// What it says at a call's end counts when the call has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.b.answers)
	defer cancel()
	if _, err := room.Notify(ctx, "", method, params, opts...); err != nil {
		a.b.log.Warn("a notification of the server was not sent", "method", method, "error", err)
	}
}

// audience says to whom a notification goes; without options it is everybody.
func (s *session) audience(ctx context.Context, method string, params jsontext.Value) (opts []client.SendOption, tell bool) {
	f := flightOf(ctx)
	switch log := method == "notifications/message"; {
	case method == resourceUpdated:
		uri, _ := parley.MemberString(params, "uri")
		who := s.subscriptions.whoWants(uri)
		return []client.SendOption{client.To(who...)}, len(who) > 0
	case f != nil && (log || method == "notifications/elicitation/complete"):
		return f.about(f.listeners()...), true
	case s.owner != "":
		return []client.SendOption{client.To(s.owner)}, true
	case log && s.up.modern.Load():
		return nil, false // it may be about somebody else's call
	case log && len(s.levels.who()) > 0:
		return []client.SendOption{client.To(s.levels.who()...)}, true
	}
	return nil, true
}

// failure is what the requester is told of a call that failed.
func (b *Bridge) failure(err error) error {
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return &client.RPCError{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data, Raw: rpc.Raw}
	}
	switch {
	case errors.Is(err, ErrSessionLost):
		return &client.RPCError{Code: CodeServerGone, Message: err.Error()} // it did not look at the call
	case errors.Is(err, ErrServerGone), errors.Is(err, ErrBadAnswer):
		return outcomeUnknown(CodeServerGone, err)
	case errors.Is(err, errTimeout), errors.Is(err, errStopping), isServerFault(err):
		return outcomeUnknown(client.CodeInternal, err)
	}
	return err
}

func outcomeUnknown(code int64, err error) error {
	return &client.RPCError{
		Code: code, Message: err.Error() + "; whether it acted on the call is not known",
		Data: jsontext.Value(`{"code":"` + OutcomeUnknown + `"}`),
	}
}

// isServerFault tells statuses that a server, or a proxy before it, may answer
// with when it has begun.
func isServerFault(err error) bool {
	status, ok := errors.AsType[*HTTPError](err)
	return ok && status.Status >= http.StatusInternalServerError
}
