package room

import (
	"cmp"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/tool"
)

// Serve joins the room at a gateway's URL, as client.Dial takes it, and serves
// until ctx ends, which is a nil error. Any other end is the room's:
// client.ErrRemoved, client.ErrReplaced, or a *[parley.Error] where the gateway
// refuses the participant or the options cannot be meant. A gateway that cannot be
// reached is tried again.
//
// When ctx ends, calls that wait for somebody's answer are cancelled: runs that are
// kept are put away, to be gone on with, and others answered with an error. Functions
// that are at work get five seconds to come to their end. The server is not closed.
func Serve(ctx context.Context, server *tool.Server, url string, o Options) error {
	a, err := newAttendance(ctx, server, o)
	if err != nil {
		return err
	}
	defer a.stop(errLeaving)
	a.room, err = client.Dial(ctx, url, &client.Options{
		Token: o.Token, Space: o.Space, HTTPClient: o.HTTPClient, Logger: a.log,
		// What names us comes whatever is asked for; beside it we need nothing.
		Routing: client.RoutingDirected, Kinds: []string{kindCancelled},
		EchoOff: true, Exclusive: true, RetryDial: true, Strict: true,
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if o.OnJoin != nil {
		o.OnJoin(a.room.ID())
	}
	a.begin(a.announce)
	a.begin(func() { a.goOn(a.room.Welcome().History.Last) })
	a.attend(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return a.room.Err()
}

// errLeaving is why calls end when it is we who leave.
var errLeaving = errors.New("the tool server is leaving the room")

const (
	// defaultFarewell is how long functions have to come to their end when we leave,
	// and then again, once their contexts have ended.
	defaultFarewell = 5 * time.Second
	// defaultArrival is how long a question waits for somebody who answers such:
	// after a restart of everything they come back in any order.
	defaultArrival = 30 * time.Second
)

// attendance is a server's time in a room.
type attendance struct {
	// Static, but that room is there once it is joined.
	server *tool.Server
	opts   Options
	log    *slog.Logger
	key    []byte         // that ids of questions are made with
	about  jsontext.Value // the result of initialize
	room   *client.Room

	arrival  time.Duration
	farewell time.Duration
	lookups  chan struct{} // holds one for each look into the record

	ctx  context.Context // ends, with errLeaving, when calls are to end
	stop context.CancelCauseFunc
	wg   sync.WaitGroup // what calls run on
	late sync.WaitGroup // what goes on until the room has ended

	mu        sync.Mutex // guards what follows
	over      bool       // nothing more is begun
	calls     map[string]*call
	callers   map[string]int // how many calls each has
	refusing  int
	questions map[string]*question
	came      chan struct{} // closed, and made anew, when somebody joins
}

const mostLookups = 16

func newAttendance(ctx context.Context, server *tool.Server, o Options) (*attendance, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, []byte(o.Token), nil, "parley: a tool's questions in a room", sha256.Size)
	if err != nil {
		return nil, err
	}
	about, err := introduce(ctx, server)
	if err != nil {
		return nil, err
	}
	a := &attendance{
		server: server, opts: o, log: o.log(), key: key, about: about,
		arrival: cmp.Or(o.arrival, defaultArrival), farewell: cmp.Or(o.farewell, defaultFarewell),
		lookups: make(chan struct{}, mostLookups),
		calls:   make(map[string]*call), callers: make(map[string]int), questions: make(map[string]*question),
		came: make(chan struct{}),
	}
	a.ctx, a.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	return a, nil
}

// begin runs f, which the end waits for, unless that has come.
func (a *attendance) begin(f func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return false
	}
	a.wg.Go(f)
	return true
}

// announce has those read the tools again who know them of an earlier life of ours.
func (a *attendance) announce() {
	if _, err := a.room.Notify(a.ctx, "", "tools/list_changed", nil); err != nil && a.ctx.Err() == nil {
		a.log.Warn("that the tools may have changed was not told", "error", err)
	}
}

// attend follows the room until ctx or the room ends, and then leaves it.
func (a *attendance) attend(ctx context.Context) {
	a.late.Go(a.follow)
	select {
	case <-ctx.Done():
		a.part()
	case <-a.room.Done():
		a.part()
		a.stop(errLeaving) // nobody can be told anything any more
	}
	ended := make(chan struct{})
	a.late.Go(func() {
		defer close(ended)
		a.wg.Wait()
	})
	wait(ended, a.farewell)
	a.stop(errLeaving)
	wait(ended, a.farewell) // of a function that does not heed that, nobody hears any more
	a.room.Close()
	a.late.Wait()
}

// part begins nothing more, and ends the calls that wait for an answer.
func (a *attendance) part() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	for _, c := range a.calls {
		if c.asking > 0 {
			c.stop(errLeaving)
		}
	}
}

func wait(ended <-chan struct{}, most time.Duration) {
	patience := time.NewTimer(most)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
	}
}

// follow takes in what happens in the room, until it ends.
func (a *attendance) follow() {
	for e, err := range a.room.Envelopes(context.WithoutCancel(a.ctx)) {
		if _, gap := errors.AsType[*client.Gap](err); gap {
			a.recheck()
			continue
		}
		if err != nil {
			return
		}
		a.take(e)
	}
}

const (
	notifications = "notifications/"
	cancelled     = notifications + "cancelled"
	kindCancelled = parley.TypeRequest + ":" + cancelled
)

// take does what an envelope asks for. It does not wait for anything.
func (a *attendance) take(e *parley.Envelope) {
	kind := parley.SplitKind(e.Kind)
	switch {
	case e.Kind == parley.KindPresence:
		a.somebodyCame()
	case kind.Type == parley.TypeResponse:
		a.answered(e)
	case kind.Type != parley.TypeRequest || !e.Addressed(a.room.ID()):
	case kind.Method == cancelled:
		a.cancel(e)
	case !strings.HasPrefix(kind.Method, notifications):
		a.accept(e, false)
	}
}

// somebodyCame wakes those who wait for somebody to ask.
func (a *attendance) somebodyCame() {
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.came)
	a.came = make(chan struct{})
}

// coming is closed when somebody joins.
func (a *attendance) coming() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.came
}

// present is the first of some who is in the room; "" is nobody. err is about not
// knowing.
func (a *attendance) present(ctx context.Context, some []string) (string, error) {
	if len(some) == 0 {
		return "", nil
	}
	people := a.room.Participants()
	if w := a.room.Welcome(); w.Total > len(w.Participants) { // we were not told of all
		var err error
		if people, err = a.room.API().Participants(ctx); err != nil {
			return "", err
		}
	}
	for _, who := range some {
		if who != a.room.ID() && slices.ContainsFunc(people, func(p client.Participant) bool { return p.ID == who && p.Present }) {
			return who, nil
		}
	}
	return "", nil
}
