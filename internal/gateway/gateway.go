package gateway

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/console"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// Gateway serves spaces.
type Gateway struct {
	opts    Options
	log     *slog.Logger
	now     func() time.Time
	rooms   map[string]*room
	tokens  map[TokenHash][]identity
	turns   *turns // of connections that read the journal or catch up
	metrics *metrics
	probe   probe
	api     *api

	tick    atomic.Int64 // seconds that the sweeper has counted
	closing atomic.Bool

	ctx     context.Context // of reading the journal; ends with the gateway
	cancel  context.CancelFunc
	running sync.WaitGroup
	over    chan struct{} // closed when the first Shutdown has done its work
}

// New opens the log of every space, rebuilds its state, and starts it. The
// gateway runs until Shutdown; ctx only bounds the start.
func New(ctx context.Context, opts Options) (*Gateway, error) {
	if opts.Journal == nil {
		return nil, parley.Errorf(parley.InvalidConfig, "a gateway needs a journal")
	}
	opts.RetainBytes = cmp.Or(opts.RetainBytes, retainDefault)
	opts.CheckpointEvery = cmp.Or(opts.CheckpointEvery, checkpointDefault)
	opts.RetainEvery = cmp.Or(opts.RetainEvery, retainEveryDefault)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	g := &Gateway{
		opts: opts, log: opts.Logger, now: opts.Now,
		rooms:   make(map[string]*room),
		tokens:  make(map[TokenHash][]identity),
		turns:   newTurns(bulkTurns()),
		metrics: newMetrics(),
		probe:   probe{turn: make(chan struct{}, 1)},
		over:    make(chan struct{}),
	}
	guard, err := newOriginGuard(append(hostsOf(opts.PublicURL), opts.Hosts...), opts.Origins)
	if err != nil {
		return nil, err
	}
	g.api = &api{
		g: g, guard: guard, metrics: g.metrics, reads: newShares(apiReads, readsWaiting),
		sessions: newSessions(mostSessions), codes: newCodes(), attempts: newAttempts(g.log), approvals: newApprovals(), pages: console.Embedded(),
	}
	g.metrics.watchJournal(g)
	g.ctx, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for _, s := range opts.Spaces {
		if s.Rules.Name == "" || g.rooms[s.Rules.Name] != nil {
			g.cancel()
			return nil, parley.Errorf(parley.InvalidConfig, "two spaces are called %q, or one has no name", s.Rules.Name)
		}
		if g.rooms[s.Rules.Name], err = g.open(ctx, s); err != nil {
			g.cancel()
			return nil, err
		}
	}
	for _, r := range g.rooms {
		g.running.Go(r.run)
		g.running.Go(r.rouse)
	}
	g.running.Go(g.sweep)
	g.running.Go(g.retain)
	if opts.Sessions != "" {
		g.restoreSessions()
		g.running.Go(g.keepSessions)
	}
	if opts.ApprovalLinks != "" {
		g.restoreApprovals()
	}
	return g, nil
}

// open opens a space's log and reads its state out of it.
func (g *Gateway) open(ctx context.Context, s Space) (*room, error) {
	r := g.newRoom(s)
	var err error
	if r.record, err = g.opts.Journal.Open(ctx, r.name, r); err != nil {
		return nil, err
	}
	r.metrics.watch(r)
	bounds, err := r.record.Bounds(ctx)
	if err != nil {
		return nil, err
	}
	r.epoch = bounds.Epoch
	r.frames = newFrameLog(max(1, bounds.First, bounds.Last-min(bounds.Last, warmEnvelopes)+1), g.opts.RetainBytes)
	as, err := r.replay(ctx, bounds)
	if err != nil {
		return nil, fmt.Errorf("space %s: %w", r.name, err)
	}
	r.adopt(as)
	return r, g.addTokens(r)
}

func (g *Gateway) newRoom(s Space) *room {
	rules := s.Rules.WithDefaults()
	if rules.NewID == nil {
		rules.NewID = newID
	}
	return &room{
		g: g, name: rules.Name, rules: rules, limits: rules.Limits, people: s.Participants,
		log:     g.log.With("space", rules.Name),
		metrics: g.metrics.space(rules.Name), retention: s.Retention,
		inbox:  make(chan submission, submissions),
		large:  newQuotas(largeAtOnce),
		calls:  make(chan func()),
		lists:  make(chan struct{}, 1),
		notice: make(chan struct{}, 1),
		alarm:  make(chan struct{}, 1),
		healed: make(chan *restored),
		ended:  make(chan struct{}),
		quit:   make(chan struct{}),
		conns:  make(map[string][]*conn),
		floods: make(map[string]*flood),
	}
}

// room is the space of that name: not_found where there is none.
func (g *Gateway) room(name string) (*room, error) {
	if r := g.rooms[name]; r != nil {
		return r, nil
	}
	return nil, noSpace(name)
}

func noSpace(name string) *parley.Error {
	return parley.Errorf(parley.NotFound, "there is no space %.80q here for you", name)
}

// Spaces lists the names of the spaces, sorted.
func (g *Gateway) Spaces() []string { return slices.Sorted(maps.Keys(g.rooms)) }

// Limits are those of a space, filled in; ok is false where there is none.
func (g *Gateway) Limits(name string) (limits space.Limits, ok bool) {
	r := g.rooms[name]
	if r == nil {
		return limits, false
	}
	return r.limits, true
}

// Record is a space's log, to be read.
func (g *Gateway) Record(name string) (journal.Reader, error) {
	r, err := g.room(name)
	if err != nil {
		return nil, err
	}
	return r.record, nil
}

// View calls fn with the state of a space, which fn must only read, quickly,
// and keep nothing of. It returns once all that fn could see is on record: the
// error is unavailable where it turned out not to be.
func (g *Gateway) View(ctx context.Context, name string, fn func(*space.State)) error {
	r, err := g.room(name)
	if err != nil {
		return err
	}
	return r.ask(ctx, func() error {
		if r.down {
			return unavailable()
		}
		fn(r.state)
		return nil
	})
}

// Delivered reports whether all connections of a participant have been sent
// what they receive of everything on record.
func (g *Gateway) Delivered(ctx context.Context, name, participant string) (delivered bool, err error) {
	r, err := g.room(name)
	if err != nil {
		return false, err
	}
	err = r.ask(ctx, func() error {
		delivered = !slices.ContainsFunc(r.conns[participant], func(c *conn) bool { return !r.frames.delivered(c.cur) })
		return nil
	})
	return delivered, err
}

// Handler serves everything that the gateway offers over HTTP, and more.
func (g *Gateway) Handler(more ...Route) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /ws", g.api.withToken(serveWS))
	g.api.register(mux)
	for _, route := range more {
		mux.Handle(route.Pattern, g.api.mount(route))
	}
	return g.api.wrap(mux)
}

// Server is an HTTP server for a gateway's handler, with the bounds that keep
// slow or endless requests from holding it up. A handler that reads a body
// bounds that itself.
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ConnContext:       paced(),
	}
}
