package client

import (
	"cmp"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/parleyhq/parley"
)

// Options say how to join. Nil is valid, and so is the zero value; a gateway
// wants a token all the same, unless its configuration says otherwise.
type Options struct {
	// Token is presented as "Authorization: Bearer".
	Token string

	// Space is the name of the space. Default: what the URL says with space=
	// or topic=, else the gateway's choice.
	Space string

	// History asks for that many of the newest envelopes first. Default: none.
	History int

	// After resumes where an earlier [Room] was: everything that happened since
	// arrives first. It wins over History. Default: from now on.
	After *parley.Position

	// Routing says whose envelopes arrive. Default: RoutingAll, or what the
	// gateway's configuration says.
	Routing Routing

	// Contexts says which contexts arrive besides the main one: "all", "none",
	// "type:reasoning,workflow", "id:ID,…" or "tree:ID". Default: all.
	Contexts string

	// Kinds are patterns; only what matches one arrives, besides system/* and
	// what names us in to. Default: all.
	Kinds []string

	// PresenceOff keeps system/presence away. [Room.Participants] is then as
	// old as the connection.
	PresenceOff bool

	// EchoOff keeps away what we sent ourselves.
	EchoOff bool

	// Exclusive closes our other connections; their rooms end with
	// [ErrReplaced]. Whoever serves requests should set it, so that none is
	// served twice.
	Exclusive bool

	// Compression offers the gateway to compress what is 512 bytes and longer
	// (RFC 7692). It saves bytes at the price of processor time, on both sides:
	// set it where the way is long or narrow. Default: off, as over loopback
	// and local networks it gains nothing.
	Compression bool

	// Handler serves the requests that are addressed to us, from the first one
	// on. See also [Room.Serve]. Default: nobody answers them.
	Handler Handler

	// Concurrency bounds the requests that are handled at the same time. As many
	// as 16 times that wait; further ones are answered with CodeBusy.
	// Default: 64.
	Concurrency int

	// Strict keeps requests and proposals whose kind contradicts their payload
	// from [Room.Envelopes] too, and answers such requests to us with −32600 even
	// where there is no Handler. Set it where the loop over Envelopes acts on
	// requests. Default: they are seen, as everything is, and never handled.
	Strict bool

	// OnArrival is told of everything that [Room.Envelopes] would give, in its
	// order, and before anybody who waits in a call hears of it. It is called
	// from the room's goroutine: it must return soon, and must not call methods
	// that wait.
	OnArrival func(e *parley.Envelope)

	// OnState is told when the connection is lost, found again, and when the
	// room ends. It is called from the room's goroutine, one state after the
	// other: it must return soon, and must not call methods that wait.
	OnState func(State)

	// Buffer bounds what waits for one loop over [Room.Envelopes], in
	// envelopes; in bytes the bound is 16 MiB. Default: 4,096.
	Buffer int

	// CallTimeout bounds [Room.Request] and its like where ctx has no deadline.
	// Default: what the space says (call_timeout), else 5 minutes.
	CallTimeout time.Duration

	// DialTimeout bounds one attempt to connect, up to the welcome.
	// Default: 30 seconds.
	DialTimeout time.Duration

	// RetryDial makes [Dial] try again, as a room does later on, where the
	// gateway cannot be reached yet. Default: Dial tries once.
	RetryDial bool

	// PingInterval is the time between two pings. Default: 30 seconds.
	PingInterval time.Duration

	// PongTimeout is how long an answer to a ping may take before the
	// connection counts as lost. Default: 15 seconds.
	PongTimeout time.Duration

	// BackoffMin and BackoffMax bound the pauses between attempts, which double
	// and are shortened by up to a half at random. Defaults: 200 milliseconds
	// and 30 seconds.
	BackoffMin, BackoffMax time.Duration

	// HTTPClient makes the connections. Its Timeout bounds the upgrade alone.
	// Default: one of the room's own.
	HTTPClient *http.Client

	// Logger gets what goes wrong without any call failing by it; never a token
	// nor a payload. Default: dropped.
	Logger *slog.Logger
}

// Routing says whose envelopes arrive (section 6 of the contract).
type Routing string

// The routings.
const (
	RoutingAll      Routing = "all"      // everything
	RoutingDirected Routing = "directed" // broadcasts, and what names us in to
)

const (
	defaultBuffer      = 4_096
	bufferBytes        = 16 << 20
	defaultConcurrency = 64
	defaultCallTimeout = 5 * time.Minute
)

func (o *Options) buffer() int                 { return cmp.Or(o.Buffer, defaultBuffer) }
func (o *Options) concurrency() int            { return cmp.Or(o.Concurrency, defaultConcurrency) }
func (o *Options) dialTimeout() time.Duration  { return cmp.Or(o.DialTimeout, 30*time.Second) }
func (o *Options) pingInterval() time.Duration { return cmp.Or(o.PingInterval, 30*time.Second) }
func (o *Options) pongTimeout() time.Duration  { return cmp.Or(o.PongTimeout, 15*time.Second) }
func (o *Options) backoffMin() time.Duration   { return cmp.Or(o.BackoffMin, 200*time.Millisecond) }
func (o *Options) backoffMax() time.Duration {
	return max(cmp.Or(o.BackoffMax, 30*time.Second), o.backoffMin())
}

func (o *Options) tell(s State) {
	if o.OnState != nil {
		o.OnState(s)
	}
}

// header is what every HTTP request carries.
func (o *Options) header() http.Header {
	h := http.Header{}
	if o.Token != "" {
		h.Set("Authorization", "Bearer "+o.Token)
	}
	return h
}

func (o *Options) logger() *slog.Logger {
	if o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Logger
}

// check refuses, with invalid_argument, what no gateway would understand.
func (o *Options) check() error {
	switch {
	case o.History < 0:
		return parley.Errorf(parley.InvalidArgument, "History is %d", o.History)
	case o.Buffer < 0 || o.Concurrency < 0:
		return parley.Errorf(parley.InvalidArgument, "Buffer and Concurrency cannot be negative")
	case o.Routing != "" && o.Routing != RoutingAll && o.Routing != RoutingDirected:
		return parley.Errorf(parley.InvalidArgument, "Routing %q is neither %q nor %q", o.Routing, RoutingAll, RoutingDirected)
	case o.After != nil && o.After.Epoch == "":
		return parley.Errorf(parley.InvalidArgument, "After has no epoch: a position is both")
	case strings.ContainsAny(o.Token, "\r\n"):
		return parley.Errorf(parley.InvalidArgument, "the token has a line break").WithHint("trim what was read from a file")
	}
	for _, pattern := range o.Kinds {
		if strings.Contains(pattern, ",") {
			return parley.Errorf(parley.InvalidArgument, "a comma cannot stand in the kind pattern %q", pattern)
		}
		if _, err := parley.ParseCapability(pattern); err != nil {
			return err
		}
	}
	return nil
}
