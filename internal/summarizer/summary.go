// Package summarizer is a participant that sums up lines of reasoning (section 8 of
// the contract): when a context has been concluded it asks somebody who serves
// sampling for a summary, and puts that on record as a conclusion in the context,
// with metadata.summary_of: which says that it takes the place of no decision.
//
//	err := summarizer.Run(ctx, room, summarizer.Options{Types: …, Serves: []string{"model"}})
//
// It sees what everybody sees, and asks as everybody asks: the request is on
// record too, in a context of its own of type "summary". Where nobody is there
// who serves sampling it says nothing, and the digest stands in. A context in which
// fewer than three envelopes came since its last summary gets none: also not from
// one who has just started, who looks for what was missed in the last 24 hours.
//
// What a model is told comes from participants, and so does what it makes of it:
// a summary is a reader's aid, and never more than the word of who was asked.
//
// # Concurrency
//
// Run owns two goroutines: one follows the room, one sums up, one context after
// the other. Both have ended when it returns.
package summarizer

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/space"
)

// Type is that of the contexts in which summaries are asked for.
const Type = "summary"

// Options say what to sum up. Types and Serves are required.
type Options struct {
	// Types are those of contexts that get a summary.
	Types []string

	// Idle is when a context of a type is concluded that nobody sends anything in.
	Idle func(typ string) time.Duration

	// Serves are participants who serve sampling: the first of them that is here
	// is asked.
	Serves []string

	// Tokens is how much of a context the model is told. Default: 8,000.
	Tokens int

	// Log gets what cannot be told anybody else. Default: nowhere.
	Log *slog.Logger
}

const (
	defaultTokens = 8_000
	mostWatched   = 16_384 // contexts that are waited for
	mostMissed    = 1_000  // of each type, that were touched before we came
	missedSince   = 24 * time.Hour
	leastNew      = 3 // envelopes, below which reading them is less than asking
)

// Filter is what a room has to be opened with in [client.Options] Contexts, so that
// only contexts of the types arrive.
func Filter(types []string) string {
	return space.OfTypes(types...).String()
}

// Run sums up until ctx ends, and returns nil then. Any other end is the room's.
func Run(ctx context.Context, room *client.Room, o Options) error {
	if o.Tokens == 0 {
		o.Tokens = defaultTokens
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(ctx)
	w := &watch{room: room, o: o, asking: client.NewContext(Type, nil), due: make(map[string]time.Time), news: make(chan struct{}, 1)}
	var working sync.WaitGroup
	working.Go(func() { w.work(ctx) })
	err := w.follow(ctx)
	stop()
	working.Wait()
	return err
}

// watch is the contexts that are waited for.
type watch struct {
	room   *client.Room
	o      Options
	asking *parley.Context // in which the model is asked
	news   chan struct{}   // has room for one: something is due sooner

	// Owned by work.
	hour  time.Time // when it began
	asked int       // since then

	mu    sync.Mutex
	due   map[string]time.Time // when each is to be looked at
	wakes time.Time            // when work looks again by itself
}

// follow notes which contexts are referred to.
func (w *watch) follow(ctx context.Context) error {
	for e, err := range w.room.Envelopes(ctx) {
		if _, gap := errors.AsType[*client.Gap](err); gap {
			continue
		}
		if err != nil {
			break
		}
		if e.Context != nil && e.From != w.room.ID() {
			w.wait(e.Context.ID, w.idle(e.Context.Type))
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return w.room.Err()
}

// idle is after how long a context may be concluded. Its type may be another than
// an envelope says: that is found out when it is looked at.
func (w *watch) idle(typ string) time.Duration {
	if !slices.Contains(w.o.Types, typ) {
		typ = w.o.Types[0]
	}
	return w.o.Idle(typ)
}

func (w *watch) wait(id string, idle time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := time.Now().Add(idle)
	if _, known := w.due[id]; known || len(w.due) < mostWatched {
		w.due[id] = at
	}
	if at.Before(w.wakes) { // what comes later is found in time
		select {
		case w.news <- struct{}{}:
		default:
		}
	}
}

// next takes out a context that is to be looked at, or says when there will be
// one.
func (w *watch) next(now time.Time) (id string, in time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var first time.Time
	for one, at := range w.due {
		if first.IsZero() || at.Before(first) {
			id, first = one, at
		}
	}
	if id == "" {
		first = now.Add(time.Hour)
	}
	if in = first.Sub(now); in > 0 {
		w.wakes = first
		return "", in
	}
	delete(w.due, id)
	return id, 0
}

// work looks at what is due.
func (w *watch) work(ctx context.Context) {
	w.missed(ctx)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		id, in := w.next(time.Now())
		if id != "" {
			w.look(ctx, id)
			continue
		}
		timer.Reset(in)
		select {
		case <-timer.C:
		case <-w.news:
		case <-ctx.Done():
		}
	}
}

// missed notes what was open or concluded before we came.
func (w *watch) missed(ctx context.Context) {
	for _, typ := range w.o.Types {
		q := &client.ContextQuery{Type: typ, Descending: true, Limit: mostMissed}
		for c, err := range w.room.API().Contexts(ctx, q) {
			if err != nil {
				w.failed(ctx, "which contexts there are is not known", err)
				return
			}
			if time.Since(c.Touched) < missedSince {
				w.wait(c.ID, time.Until(c.Touched.Add(w.idle(typ))))
			}
		}
	}
}

// look sums a context up if it is concluded, and nobody has done it.
func (w *watch) look(ctx context.Context, id string) {
	c, err := w.room.API().Context(ctx, id)
	switch {
	case err != nil:
		w.failed(ctx, "a context cannot be looked at", err, "context", id)
	case !slices.Contains(w.o.Types, c.Type) || c.Opener == w.room.ID():
	case c.State != client.ContextConcluded:
		w.wait(id, max(time.Until(c.Touched.Add(w.idle(c.Type))), shortest))
	default:
		if err := w.sumUp(ctx, c); err != nil {
			w.failed(ctx, "a context got no summary", err, "context", id)
		}
	}
}

// shortest keeps clocks that differ from making us ask again and again.
const shortest = 10 * time.Millisecond

// failed says in the log what went wrong, unless we are leaving.
func (w *watch) failed(ctx context.Context, what string, err error, more ...any) {
	if ctx.Err() == nil {
		w.o.Log.Warn(what, append(more, "error", err)...)
	}
}

// fresh is the newest envelope of a context, if enough was said in it since it was
// summed up last; nil otherwise.
func (w *watch) fresh(ctx context.Context, id string) (newest *parley.Envelope, err error) {
	n, through := 0, uint64(0)
	q := &client.Query{Context: id, Descending: true, Limit: leastNew + 1} // a summary may be among them
	for e, err := range w.room.API().Envelopes(ctx, q) {
		switch {
		case err != nil:
			return nil, err
		case e.From == w.room.ID():
			through = max(through, summedUp(e))
		case e.Seq > through:
			n++
			newest = cmp.Or(newest, e)
		}
	}
	if n < leastNew {
		return nil, nil
	}
	return newest, nil
}

// summedUp is up to where a summary looked: others may have spoken while it was
// made.
func summedUp(e *parley.Envelope) uint64 {
	through, _ := strconv.ParseUint(string(parley.Member(e.Context.Metadata, "through")), 10, 64)
	return through
}
