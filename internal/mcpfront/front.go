package mcpfront

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// Place is a participant's in one space.
type Place struct{ Space, Participant string }

// Waiting is a proposal that waits for a decision, or to be collected.
type Waiting struct {
	ID       string
	Outdated bool // nobody can approve it any more: the tool has another definition
	Unsure   bool // it was approved, and nobody can tell any more whether it is this call
}

// House is what the front asks of the process that it runs in.
type House interface {
	// Who says who a request comes from: the places that its token has, the
	// default first. The error is a *parley.Error.
	Who(r *http.Request) ([]Place, error)

	// Dial joins a space as one of its participants.
	Dial(ctx context.Context, p Place, o *client.Options) (*client.Room, error)

	// Servers are the participants of a space whose tools are listed, sorted.
	Servers(space string) []string

	// Offer is what a server of the space has for a participant whose client
	// declares the given capabilities (nil for none): unavailable while the
	// server is down, not_found where the house does not keep its lists: then
	// they are asked for in the room.
	Offer(ctx context.Context, p Place, server string, capabilities jsontext.Value) (*Offer, error)

	// Listed is told the tools of a server whose lists are not kept by the
	// house, as the server answered them in the room.
	Listed(ctx context.Context, space, server string, tools []jsontext.Value)

	// Uncollected finds the proposal of the same call that is open, or whose
	// outcome nobody fetched yet, or one that may be of the same call.
	Uncollected(ctx context.Context, p Place, kind parley.Kind, to string, params jsontext.Value) (w Waiting, found bool, err error)

	// ResultBudget is how many tokens a result of a server's tool may have that a
	// participant's clients are given whole, 0 for any number. tool is "" for what
	// is no tool's result.
	ResultBudget(p Place, server, tool string) int

	// Collected notes that a proposal's outcome was fetched.
	Collected(ctx context.Context, p Place, proposal string) error

	// Round finds the fulfilment of an approved call that params are a further
	// round of, and its proposal.
	Round(ctx context.Context, p Place, kind parley.Kind, to string, params jsontext.Value) (fulfilment, proposal string, found bool, err error)
}

// Options say how the front serves. The zero value works.
type Options struct {
	Version string // of Parley, as clients are told; "0" where empty

	// Linger is how long a participant stays in the room after the last call or
	// session of its clients. Default: a minute.
	Linger time.Duration

	// SessionIdle ends a session that neither calls nor listens. Default: half
	// an hour.
	SessionIdle time.Duration

	// Patience is how long a list waits for what servers offer. Default: 5
	// seconds.
	Patience time.Duration

	// MaxBody bounds one message of a client, in bytes. Default: 4 MiB; what
	// becomes an envelope is bounded by the space besides.
	MaxBody int

	// Metrics count what the clients of each space do. Default: nothing is
	// counted.
	Metrics map[string]*Metrics

	// BodyTime is how long a client may take to send one message. Default: 30
	// seconds.
	BodyTime time.Duration

	// Log gets what goes wrong without any call failing by it. Default: dropped.
	Log *slog.Logger
}

// Bounds that are not configurable.
const (
	maxSessions     = 4_096 // of all participants
	maxSessionsEach = 256   // of one
	maxCallsEach    = 256   // of one participant, at a time
	maxListensEach  = 64    // of one participant, at a time
	maxRounds       = 64    // of one multi-round-trip call
	maxInputs       = 64    // that a server may ask for in one round
	pageEntries     = 1_000 // of one list
	pageBytes       = 4 << 20
	sweepEvery      = 5 * time.Second
)

// Front serves /mcp. [New] makes one.
type Front struct {
	house House
	opts  Options
	log   *slog.Logger

	ctx     context.Context // ends with the front
	stop    context.CancelFunc
	running sync.WaitGroup // calls that outlive their HTTP request, the sweeper

	mu       sync.Mutex
	closed   bool
	seats    map[Place]*seat
	sessions map[string]*session
	parked   map[string]*flight // calls that wait for a client's answers, by their requestState
}

// New makes a front, which runs until Close.
func New(h House, o Options) *Front {
	o.Version = cmp.Or(o.Version, "0")
	o.Linger = cmp.Or(o.Linger, time.Minute)
	o.SessionIdle = cmp.Or(o.SessionIdle, 30*time.Minute)
	o.BodyTime = cmp.Or(o.BodyTime, 30*time.Second)
	o.Patience = cmp.Or(o.Patience, 5*time.Second)
	o.MaxBody = cmp.Or(o.MaxBody, 4<<20)
	f := &Front{
		house: h, opts: o, log: o.Log,
		seats:    map[Place]*seat{},
		sessions: map[string]*session{},
		parked:   map[string]*flight{},
	}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	f.ctx, f.stop = context.WithCancel(context.Background())
	f.running.Go(f.sweep)
	return f
}

// Close ends every session, stream and call, and leaves the rooms.
func (f *Front) Close() {
	f.mu.Lock()
	f.closed = true
	sessions := f.sessions
	f.sessions = map[string]*session{}
	f.mu.Unlock()
	f.stop()
	for _, s := range sessions {
		s.end()
	}
	f.running.Wait()
	f.mu.Lock()
	seats := f.seats
	f.seats = map[Place]*seat{}
	f.mu.Unlock()
	for _, s := range seats {
		s.close()
	}
}

// start runs fn, which Close waits for; false where the front is closed.
func (f *Front) start(fn func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.running.Go(fn)
	}
	return !f.closed
}

// sweep ends what nobody uses any more.
func (f *Front) sweep() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-f.ctx.Done():
			return
		case now := <-tick.C:
			f.endIdle(now)
		}
	}
}

func (f *Front) endIdle(now time.Time) {
	var sessions []*session
	var seats []*seat
	f.mu.Lock()
	for _, s := range f.sessions {
		if s.idleSince(now) > f.opts.SessionIdle || s.seat.gone() {
			sessions = append(sessions, s)
		}
	}
	for at, s := range f.seats {
		if s.unusedSince(now) > f.opts.Linger {
			delete(f.seats, at)
			seats = append(seats, s)
		}
	}
	f.mu.Unlock()
	for _, s := range sessions {
		f.endSession(s)
	}
	f.unpark(now)
	for _, s := range seats {
		s.close()
	}
}
