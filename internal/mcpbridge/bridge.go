package mcpbridge

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
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
	room    atomic.Pointer[client.Room] // where the server is now; nil while it is down
	base    atomic.Pointer[session]     // what keeps the server in the room; nil while it is down
	fresh   chan struct{}               // holds one: the base session's lists have changed
	tracker tracker
	answers time.Duration // for calls in flight to be answered before the bridge leaves
}

// Join says which room to join, and as whom.
type Join struct {
	URL   string // of the gateway
	Token string
	Space string // default: as [client.Options.Space]

	// Connect is what connections to the server are made with. Its
	// OnNotification is the bridge's own. Default: nil.
	Connect *Options

	// OnState is told what becomes of the server, on one goroutine, which waits
	// for it. Default: nobody is told.
	OnState func(State)

	// OnJoin is told each time that the server has joined the room.
	OnJoin func(participant string)

	// OnOffer is told what the server has to offer, completely, after it has
	// joined and after each change; nil when it is down. It is called on one
	// goroutine, which waits for it. Default: nobody is told.
	OnOffer func(participant string, o *Offer)

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
	b := &Bridge{server: s, join: j, log: j.Log, answers: 5 * time.Second, fresh: make(chan struct{}, 1)}
	b.tracker.metrics = j.Metrics
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	connect := Options{}
	if j.Connect != nil {
		connect = *j.Connect
	}
	connect.OnNotification = b.announce
	b.up = NewSupervisor(s, &SupervisorOptions{Connect: &connect, OnState: b.heard})
	return b
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
	supervised := make(chan struct{})
	go func() {
		defer close(supervised)
		b.up.Run(ctx)
	}()
	defer func() {
		stop()
		<-supervised
	}()
	var last *Upstream
	for {
		up, err := b.up.Ready(ctx, last)
		if err != nil {
			return nil // ctx ended
		}
		if err := b.attend(ctx, up); err != nil {
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
	alive, dead := context.WithCancel(ctx)
	defer dead()
	go func() {
		select {
		case <-up.Done():
			dead()
		case <-alive.Done():
		}
	}()
	room, err := client.Dial(alive, b.join.URL, &client.Options{
		Token: b.join.Token, Space: b.join.Space,
		Routing: client.RoutingDirected, Kinds: []string{parley.KindRestartBridge},
		PresenceOff: true, EchoOff: true, Exclusive: true, RetryDial: true,
		Handler: b.handler(ctx, up), Logger: b.log,
	})
	if err != nil {
		if alive.Err() != nil {
			return nil
		}
		return err
	}
	base := &session{up: up, log: b.log}
	b.base.Store(base)
	b.room.Store(room)
	b.tracker.join(up)
	if b.join.OnJoin != nil {
		b.join.OnJoin(room.ID())
	}
	offers := b.offering(alive, room.ID(), base)
	b.obey(alive, room)
	dead()
	<-offers
	b.tracker.join(nil)
	b.room.Store(nil)
	b.base.Store(nil)
	if err := room.Err(); err != nil && ctx.Err() == nil && up.reason() == nil {
		room.Close()
		return err
	}
	b.leave(ctx, room)
	return nil
}

// leave lets the calls in flight be answered.
func (b *Bridge) leave(ctx context.Context, room *client.Room) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.answers)
	defer cancel()
	room.Leave(ctx)
}

// obey follows the room until it or the server ends, and restarts the server
// when somebody who may asks for it.
func (b *Bridge) obey(ctx context.Context, room *client.Room) {
	for e, err := range room.Envelopes(ctx) {
		if err != nil {
			if gap := (*client.Gap)(nil); errors.As(err, &gap) {
				continue
			}
			return
		}
		if e.Kind != parley.KindRestartBridge {
			continue
		}
		if who, _ := parley.MemberString(e.Payload, "participant"); who == room.ID() {
			b.log.Info("restarting the server", "participant", who, "asked by", e.From)
			b.up.Restart()
		}
	}
}

// errStopping answers calls in flight when it is we who stop.
var errStopping = errors.New("the bridge is stopping")

// handler turns requests into calls of one connection to the server, until
// running ends.
func (b *Bridge) handler(running context.Context, up *Upstream) client.Handler {
	return func(ctx context.Context, req *client.Request) (any, error) {
		switch req.Kind.Method {
		case "initialize":
			// The handshake is the bridge's; who asks is told what it heard.
			return up.Info().Raw, nil
		case "ping":
			return jsontext.Value("{}"), nil
		}
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		defer context.AfterFunc(running, func() { stop(errStopping) })()
		ctx, cancel := context.WithTimeoutCause(ctx, b.callTimeout(req.Room()), errTimeout)
		defer cancel()
		var report func(jsontext.Value)
		if parley.Member(parley.Member(req.Params, "_meta"), "progressToken") != nil {
			report = func(params jsontext.Value) { b.progress(ctx, req, params) }
		}
		// What the server says while it works on the call belongs to the call.
		began := b.join.Metrics.begin()
		result, err := up.Call(context.WithValue(ctx, callKey{}, req), req.Kind.Method, req.Params, report)
		b.join.Metrics.end(began, err)
		if err != nil {
			return nil, b.failure(err)
		}
		return result, nil
	}
}

type callKey struct{}

var errTimeout = errors.New("the server did not answer in time (limits: call_timeout)")

const defaultCallTimeout = 5 * time.Minute

func (b *Bridge) callTimeout(room *client.Room) time.Duration {
	if d := room.Welcome().Space.Limits.CallTimeout; d > 0 {
		return d
	}
	return defaultCallTimeout
}

// progress passes a report on to whoever made the call.
func (b *Bridge) progress(ctx context.Context, req *client.Request, params jsontext.Value) {
	_, err := req.Room().Notify(ctx, req.Envelope.From, "notifications/progress", params,
		client.Correlate(req.Envelope.ID), client.InContext(req.Envelope.Context))
	if err != nil {
		b.log.Debug("progress was not sent", "error", err)
	}
}

// announce sends what the server says of itself to everybody, and what it says
// of a call to whoever made it.
func (b *Bridge) announce(ctx context.Context, method string, params jsontext.Value) {
	room, base := b.room.Load(), b.base.Load()
	if room == nil || base == nil {
		return
	}
	if isListChange(method) {
		base.catalogue.changed()
		select {
		case b.fresh <- struct{}{}:
		default:
		}
	}
	to, opts := "", []client.SendOption(nil)
	if req, ok := ctx.Value(callKey{}).(*client.Request); ok && method == "notifications/message" {
		to, opts = req.Envelope.From, []client.SendOption{client.Correlate(req.Envelope.ID), client.InContext(req.Envelope.Context)}
	}
	ctx, cancel := context.WithTimeout(ctx, b.answers)
	defer cancel()
	if _, err := room.Notify(ctx, to, method, params, opts...); err != nil {
		b.log.Warn("a notification of the server was not sent", "method", method, "error", err)
	}
}

// failure is what the requester is told of a call that failed.
func (b *Bridge) failure(err error) error {
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return &client.RPCError{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data}
	}
	switch {
	case errors.Is(err, ErrSessionLost):
		return &client.RPCError{Code: CodeServerGone, Message: err.Error()} // it did not look at the call
	case errors.Is(err, ErrServerGone), errors.Is(err, ErrBadAnswer):
		return &client.RPCError{
			Code: CodeServerGone, Message: err.Error() + "; whether it acted on the call is not known",
			Data: jsontext.Value(`{"code":"` + OutcomeUnknown + `"}`),
		}
	}
	return err
}
