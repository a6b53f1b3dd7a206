package webhook

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// courier works for one webhook.
type courier struct {
	// static
	desk    *Desk
	hook    *Hook
	log     *slog.Logger
	feed    *feed
	reader  journal.Reader // since Start
	signer  signer
	client  *http.Client
	metrics *hookMetrics
	news    chan struct{} // holds one
	calls   chan func()
	results chan result
	ended   chan struct{} // closed when run has returned
	testing chan struct{} // holds one: a test is under way

	// owned by run
	state
	flying     int
	paused     time.Time // until then nothing is sent
	readAgain  time.Time // the journal could not be read
	saveAt     time.Time // zero where there is nothing to save
	saved      place
	troubled   bool // the file could not be written
	delivered  uint64
	lastResult *result
	begun      map[string]bool // begin's own: series of which an earlier event is not done with

	mu   sync.Mutex
	told []*item // what is not on record, on its way to run
}

const (
	mostFlights = 4                      // requests at a time
	readAtOnce  = 256                    // records, before others have their turn
	saveWithin  = 250 * time.Millisecond // of an event that can be found again
	lookEvery   = time.Minute            // at where the record ends, without an event
	tryAgain    = 5 * time.Second        // what this machine cannot do
)

func newCourier(d *Desk, h *Hook, f *feed) (*courier, error) {
	s, err := newSigner(h.Secrets)
	if err == nil {
		err = CheckURL(h.URL, h.AllowHTTP)
	}
	if err != nil {
		return nil, err
	}
	return &courier{
		desk: d, hook: h, feed: f, signer: s, client: newClient(d, h),
		log:     d.log.With("space", h.Space, "webhook", h.Name),
		news:    make(chan struct{}, 1),
		calls:   make(chan func()),
		results: make(chan result, mostFlights),
		ended:   make(chan struct{}),
		testing: make(chan struct{}, 1),
		begun:   map[string]bool{},
	}, nil
}

// wake has run look at what is new.
func (c *courier) wake() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// tell hands over an event that is not on record.
func (c *courier) tell(it *item) {
	c.mu.Lock()
	c.told = append(c.told, it)
	if over := len(c.told) - mostPending; over > 0 {
		c.told = slices.Delete(c.told, 0, over)
	}
	c.mu.Unlock()
	c.wake()
}

// run owns the webhook's state until ctx ends.
func (c *courier) run(ctx context.Context) {
	defer close(c.ended)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		more := c.takeIn(ctx)
		next := c.save(c.begin())
		if c.readAgain.After(time.Now()) {
			next = sooner(next, c.readAgain)
		}
		c.measure()
		wait := time.Until(next)
		if more {
			wait = 0
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-c.news:
		case <-timer.C:
		case r := <-c.results:
			c.settle(r)
		case f := <-c.calls:
			f()
		}
	}
	c.leave()
}

// leave waits for what is under way, and keeps where things stand.
func (c *courier) leave() {
	for c.flying > 0 {
		c.settle(<-c.results)
	}
	c.takeTold()
	if index, end, known := c.feed.next(c.at.index); known && index == 0 {
		c.at = end
	}
	if c.at != c.saved || !c.saveAt.IsZero() {
		c.write()
	}
}

// takeIn reads what is new, as long as there is room for it. It reports whether
// there is more.
func (c *courier) takeIn(ctx context.Context) (more bool) {
	c.takeTold()
	if time.Now().Before(c.readAgain) {
		return false
	}
	for range readAtOnce {
		if len(c.pending) >= mostPending {
			return false
		}
		index, end, known := c.feed.next(c.at.index)
		switch {
		case known && index == 0:
			c.at = end
			return false
		case known && c.disabled == nil:
			r, err := recordAt(ctx, c.reader, index)
			if err == nil && r != nil {
				err = c.consider(ctx, r)
			}
			if err != nil {
				c.unreadable(ctx, err)
				return false
			}
			if r != nil {
				continue
			}
		case known:
			c.at = end // nobody wants what is between
			return false
		}
		return c.scan(ctx)
	}
	return true
}

// takeTold takes in what is not on record. It is kept before it is sent: nobody
// could find it again.
func (c *courier) takeTold() {
	c.mu.Lock()
	told := c.told
	c.told = nil
	c.mu.Unlock()
	for _, it := range told {
		switch {
		case c.disabled != nil:
		case len(c.pending) < 2*mostPending:
			c.pending = append(c.pending, it)
		default:
			c.bury(it, "too many events wait")
		}
	}
	if len(told) > 0 {
		c.write()
	}
}

// scan reads the chain on from where it has been read, record by record.
func (c *courier) scan(ctx context.Context) (more bool) {
	_, end, _ := c.feed.next(c.at.index) // before it is read: what comes meanwhile is not skipped
	n := 0
	for r, err := range c.reader.Read(ctx, journal.Query{Chain: true, After: c.at.index, Limit: readAtOnce}) {
		if err == nil {
			if n == 0 && r.Index > c.at.index+1 {
				c.log.Warn("retention has dropped records before it was looked whether they are events",
					"after", c.at.index, "before", r.Index)
			}
			err = c.consider(ctx, r)
		}
		if err != nil {
			c.unreadable(ctx, err)
			return false
		}
		if n++; len(c.pending) >= mostPending {
			return false
		}
	}
	if n == 0 { // nothing of it is there any more
		c.at = end
	}
	return true
}

func (c *courier) unreadable(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	c.readAgain = time.Now().Add(tryAgain)
	c.log.Error("the record cannot be read for a webhook, and is tried again", "error", err)
}

// consider takes in the events of one record, and goes on behind it.
func (c *courier) consider(ctx context.Context, r *journal.Record) error {
	if mayBeEvent(r) && c.disabled == nil {
		all, err := find(ctx, c.reader, r)
		if err != nil {
			return err
		}
		for i := range all {
			c.add(&all[i])
		}
	}
	c.at = placeOf(r)
	return nil
}

func (c *courier) add(f *found) {
	if !c.hook.wants(f) {
		return
	}
	it := &item{ID: idOf(f.typ, f.record), Type: f.typ, At: f.record.TS, Index: f.record.Index, Proposal: f.id}
	if f.typ == EnvelopeRefused {
		var told bool
		if it.Suppressed, told = c.window.admit(f.record); !told {
			c.soon()
			return
		}
	}
	it.Next = time.Now()
	c.pending = append(c.pending, it)
	c.soon()
}

// soon has the state saved.
func (c *courier) soon() {
	at := time.Now().Add(saveWithin)
	if c.saveAt.IsZero() || at.Before(c.saveAt) && !c.troubled {
		c.saveAt = at
	}
}

// begin starts what is due, and says when something will be.
func (c *courier) begin() (next time.Time) {
	now := time.Now()
	next = now.Add(lookEvery)
	if c.disabled != nil {
		return next
	}
	if now.Before(c.paused) {
		return sooner(next, c.paused)
	}
	clear(c.begun)
	for _, it := range c.pending {
		if c.flying == mostFlights {
			break // whichever ends looks again
		}
		if series := it.series(); series != "" {
			if c.begun[series] {
				continue
			}
			c.begun[series] = true
		}
		switch {
		case it.flying:
		case it.Next.After(now):
			next = sooner(next, it.Next)
		default:
			it.flying = true
			c.flying++
			go func(copied item) { c.results <- c.attempt(it, copied) }(*it) // settled by run, or by leave
		}
	}
	return next
}

func sooner(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// settle takes in how an attempt ended.
func (c *courier) settle(r result) {
	it := r.item
	it.flying, it.links = false, r.links
	c.flying--
	if r.aborted {
		return
	}
	c.metrics.attempted(r)
	c.soon()
	switch {
	case r.broken != nil && isGone(r.broken):
		c.remove(it)
		c.lost++
		c.metrics.ended(endedLost)
		c.log.Warn("an event is lost, since its record is", "event", it.Type, "id", it.ID)
		return
	case r.broken != nil:
		it.Next = time.Now().Add(tryAgain)
		c.log.Error("an event cannot be read, and is tried again", "event", it.Type, "id", it.ID, "error", r.broken)
		return
	}
	c.lastResult = &r
	it.Attempts++
	it.Tried, it.Status, it.Error = r.at, r.status, r.problem
	if r.problem == "" {
		c.remove(it)
		c.delivered++
		c.metrics.ended(endedDelivered)
		c.log.Debug("an event was taken", "event", it.Type, "id", it.ID, "attempts", it.Attempts, "status", it.Status)
		return
	}
	c.failed(it, &r)
}

func isGone(err error) bool {
	e, ok := errors.AsType[*parley.Error](err)
	return ok && e.Code == parley.NotFound
}

// failed decides what becomes of an event that was not taken.
func (c *courier) failed(it *item, r *result) {
	now := time.Now()
	switch {
	case r.status == http.StatusGone:
		c.remove(it)
		c.bury(it, it.Error)
		c.disable("the receiver answered 410 Gone: it wants nothing more")
		return
	case it.Attempts > c.hook.Retries || c.disabled != nil:
		c.remove(it)
		c.bury(it, it.Error)
	default:
		wait := max(pause(it.Attempts, rand.Float64()), r.after)
		it.Next = now.Add(wait)
		c.metrics.ended(endedFailed)
		c.log.Info("an event was not taken, and is sent again", "event", it.Type, "id", it.ID,
			"attempts", it.Attempts, "status", it.Status, "problem", it.Error, "in", wait.Round(time.Second))
	}
	if r.after > 0 || busy(r.status) {
		c.paused = now.Add(max(r.after, delays[0]))
	}
}

func (c *courier) remove(it *item) {
	if i := slices.Index(c.pending, it); i >= 0 {
		c.pending = slices.Delete(c.pending, i, i+1)
	}
}

// bury makes a dead letter of an event that is not pending any more.
func (c *courier) bury(it *item, why string) {
	it.Error, it.links = why, nil
	if len(c.dead) >= mostDead {
		c.log.Warn("the oldest dead letter is forgotten, since there are too many", "event", c.dead[0].Type, "id", c.dead[0].ID)
		c.dead = slices.Delete(c.dead, 0, 1)
		c.lost++
	}
	c.dead = append(c.dead, it)
	c.metrics.ended(endedDead)
	c.log.Warn("an event was given up: parley webhook dead lists it", "event", it.Type, "id", it.ID,
		"attempts", it.Attempts, "status", it.Status, "problem", why)
}

// disable ends the sending until somebody enables it. What waits becomes dead
// letters; what is under way does when it fails.
func (c *courier) disable(why string) {
	if c.disabled == nil {
		c.disabled = &disabling{At: time.Now().UTC().Truncate(time.Millisecond), Reason: why}
		c.log.Error("the webhook is disabled: parley webhook enable undoes it", "reason", why)
	}
	for _, it := range slices.Clone(c.pending) {
		if !it.flying {
			c.remove(it)
			c.bury(it, "the webhook was disabled")
		}
	}
	c.write()
}

// save writes the file when it is time, and says when something is due.
func (c *courier) save(next time.Time) time.Time {
	now := time.Now()
	if c.saveAt.IsZero() && c.at != c.saved {
		c.saveAt = now.Add(lookEvery) // it only spares reading
	}
	if !c.saveAt.IsZero() && !now.Before(c.saveAt) {
		c.write()
	}
	if c.saveAt.IsZero() {
		return next
	}
	return sooner(next, c.saveAt)
}

// write writes the file now. What cannot be written is tried again: a crash then
// costs repeats.
func (c *courier) write() {
	data, err := c.encode(c.hook)
	if err == nil {
		err = c.desk.store.write(c.hook, data)
	}
	if err != nil {
		c.saveAt = time.Now().Add(tryAgain)
		if !c.troubled {
			c.log.Error("where a webhook stands cannot be kept: after a restart events come again", "error", err)
		}
		c.troubled = true
		return
	}
	c.saved, c.saveAt, c.troubled = c.at, time.Time{}, false
}

// measure brings the figures in line.
func (c *courier) measure() {
	var oldest time.Time
	for _, it := range c.pending {
		if oldest.IsZero() || it.At.Before(oldest) {
			oldest = it.At
		}
	}
	c.metrics.stands(len(c.pending), len(c.dead), oldest, c.disabled != nil)
}
