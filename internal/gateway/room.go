package gateway

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// room is one running space. Its goroutine, run, owns the state and is the
// only one that appends to the log, so that its order is the space's order.
type room struct {
	// Set before it runs.
	g       *Gateway
	name    string
	rules   space.Rules
	limits  space.Limits
	people  map[string]Participant
	log     *slog.Logger
	record  journal.Log
	frames  *frameLog
	large   *quotas // of messages that are being read
	metrics *spaceMetrics
	inbox   chan submission
	calls   chan func()
	lists   chan struct{} // has room for one: lists of tools are taken in one after the other
	notice  chan struct{} // has room for one: there are effects, or a failure
	healed  chan *restored
	ended   chan struct{} // closed when run has returned
	quit    chan struct{} // closed to make it return
	helpers sync.WaitGroup

	retention Retention
	retaining sync.Mutex // held while it is seen to: what two drop at once, one drops twice

	// Owned by run.
	state    *space.State
	epoch    string
	first    uint64 // the oldest seq that is on record; 0 is none
	appended uint64 // records handed to the journal
	index    uint64 // in the chain, of the last of them
	heals    int    // how often the state was rebuilt
	saver    saver
	redoAt   time.Time // when redactions are tried again; zero is never
	down     bool      // nothing is taken: the state is being rebuilt
	draining bool      // nothing is taken any more
	drained  chan struct{}
	floods   map[string]*flood
	salts    salts
	expiry   time.Time // when something runs out; zero is never
	timer    *time.Timer

	connsMu sync.Mutex
	conns   map[string][]*conn // by participant; written by run alone

	// Shared with the journal's goroutine.
	mu       sync.Mutex
	settled  uint64 // records that are on record, or failed
	barriers []barrier
	passing  bool // barriers are being passed: nothing overtakes them
	effects  []effect
	todo     []func()
	failed   error       // why the log takes nothing; run resets it
	failing  atomic.Bool // failed is set, or the space is down since
	asleep   []*cursor   // for rouse to wake
	alarm    chan struct{}

	batch    []entry   // owned by the journal's goroutine: scratch
	answered []*cursor // the same
}

// pending is what has to be done once a record is durable.
type pending struct {
	by      submitter // nil for the gateway's own
	effects []space.Effect
	refused *parley.Error  // of a refusal
	lineage *space.Lineage // of the context that it belongs to
	since   time.Time      // when the record was handed over
}

// run is the space's goroutine.
func (r *room) run() {
	defer r.helpers.Wait()
	defer close(r.ended)
	r.timer = time.NewTimer(time.Hour)
	defer r.timer.Stop()
	r.resume()
	for {
		select {
		case s := <-r.inbox:
			r.take(s)
		case call := <-r.calls:
			call()
		case <-r.notice:
			r.attend()
		case as := <-r.healed:
			r.heal(as)
		case <-r.timer.C:
			r.tick(r.now())
		case <-r.quit:
			return
		}
	}
}

func (r *room) now() time.Time { return r.g.now() }

// do runs fn on the space's goroutine and waits for it. The error is
// unavailable where the space has ended, or the context's.
func (r *room) do(ctx context.Context, fn func()) error {
	done := make(chan struct{})
	call := func() { defer close(done); fn() }
	select {
	case r.calls <- call:
	case <-r.ended:
		return goingAway()
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-r.ended:
		return goingAway()
	}
}

// ask runs fn on the space's goroutine, and waits until all that fn could see, or
// put there itself, is on record.
func (r *room) ask(ctx context.Context, fn func() error) error {
	settled := make(chan error, 1)
	err := r.do(ctx, func() {
		if err := fn(); err != nil {
			settled <- err
			return
		}
		r.whenDurable(func(err error) { settled <- err })
	})
	if err != nil {
		return err
	}
	select {
	case err := <-settled:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// put has the gateway's own envelope put on record, and waits for that; fn makes
// it, and may find that none is needed.
func (r *room) put(ctx context.Context, fn func(*space.State, time.Time) (*parley.Envelope, error)) error {
	return r.ask(ctx, func() error {
		if err := r.closed(); err != nil {
			return err
		}
		e, err := fn(r.state, r.now())
		if err == nil && e != nil && !r.own(e) {
			return unavailable()
		}
		return err
	})
}

// attend does what the journal's goroutine left to do.
func (r *room) attend() {
	r.mu.Lock()
	effects, todo, failed := r.effects, r.todo, r.failed
	r.effects, r.todo, r.failed = nil, nil, nil
	r.mu.Unlock()
	if failed != nil {
		r.fail(failed)
	}
	for _, e := range effects {
		r.perform(e)
	}
	for _, fn := range todo {
		fn()
	}
}

// later runs fn on the space's goroutine, in turn, and does not wait for that.
// Where the space has ended it never runs.
func (r *room) later(fn func()) {
	r.mu.Lock()
	r.todo = append(r.todo, fn)
	r.mu.Unlock()
	r.signal()
}

// effect is one that became due with the envelope at seq.
type effect struct {
	space.Effect
	seq uint64
}

func (r *room) perform(e effect) {
	switch e.Type {
	case space.Redact:
		r.redact(e.Redaction, false)
		return
	case space.Restart:
		r.restart(e.Participant)
		return
	}
	for _, c := range r.conns[e.Participant] {
		switch e.Type {
		case space.Rewelcome:
			r.welcome(c)
		case space.Remove:
			c.close(closing{code: statusRemoved, reason: "removed: " + e.Reason, upTo: e.seq, drain: true})
		}
	}
}

// tick does what is due: notices of what ran out, counts of floods.
func (r *room) tick(now time.Time) {
	r.expire(now)
	r.countFloods(now)
	r.redo(now)
	r.schedule(now)
}

// expire puts on record what has run out.
func (r *room) expire(now time.Time) {
	if r.down || r.draining || r.expiry.IsZero() || r.expiry.After(now) {
		return
	}
	for _, e := range r.state.Expired(now) {
		if !r.own(e) {
			return
		}
	}
	r.expiry = r.state.NextExpiry()
}

// schedule sets the timer to what is due next.
func (r *room) schedule(now time.Time) {
	wait := time.Hour
	if !r.expiry.IsZero() {
		wait = min(wait, max(0, r.expiry.Sub(now)))
	}
	if !r.redoAt.IsZero() {
		wait = min(wait, max(0, r.redoAt.Sub(now)))
	}
	if len(r.floods) > 0 {
		wait = min(wait, time.Second)
	}
	r.timer.Reset(wait)
}

// whatExpires reports whether an envelope may bring an end that comes sooner
// than what is known. Ends that are gone only make the timer early.
func whatExpires(k parley.Kind) bool {
	switch k.Type {
	case parley.TypeProposal, parley.KindGrant:
		return true
	}
	return false
}
