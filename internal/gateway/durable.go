package gateway

import (
	"slices"
	"time"

	"github.com/parleyhq/parley/internal/journal"
)

// Durable implements [journal.Sink]: what is on record now is delivered. The
// journal calls it, so it must not wait for anything.
func (r *room) Durable(records []*journal.Record) {
	r.metrics.commit(len(records), time.Since(records[0].Token.(*pending).since))
	// Answers are there before the frames are: a connection that ends once it
	// has sent a frame has its acknowledgement by then.
	r.answered = r.answered[:0]
	for _, rec := range records {
		p := rec.Token.(*pending)
		switch {
		case p.by == nil:
		case p.refused != nil:
			p.by.refused(rec.ID, p.refused)
		case rec.Type == journal.Admitted:
			if c := p.by.admitted(rec); c != nil {
				r.answered = append(r.answered, c)
			}
		}
	}
	r.deliver(records)
	for _, c := range r.answered {
		c.rouse()
	}
	clear(r.answered)
	r.settle(records)
	if tell := r.g.opts.Recorded; tell != nil {
		tell(r.name, records)
	}
}

// deliver appends the records' frames to the frame log, and wakes who waits.
func (r *room) deliver(records []*journal.Record) {
	r.batch = r.batch[:0]
	for _, rec := range records {
		if rec.Type == journal.Admitted {
			r.batch = append(r.batch, entry{headerNow(rec), rec.Body})
		}
	}
	if len(r.batch) == 0 {
		return
	}
	r.metrics.admitted.Add(float64(len(r.batch)))
	woken := r.frames.publish(r.batch)
	clear(r.batch)
	r.wake(woken)
}

// wakeHere is how many connections the journal's goroutine wakes itself. More
// are left to a goroutine of their own, so that a large space does not hold up
// the commits of others.
const wakeHere = 16

func (r *room) wake(woken []*cursor) {
	for _, c := range woken[:min(wakeHere, len(woken))] {
		c.rouse()
	}
	if len(woken) <= wakeHere {
		return
	}
	r.mu.Lock()
	r.asleep = append(r.asleep, woken[wakeHere:]...)
	r.mu.Unlock()
	select {
	case r.alarm <- struct{}{}:
	default:
	}
}

// rouse is the goroutine that wakes what wake leaves to it.
func (r *room) rouse() {
	var list []*cursor
	for {
		select {
		case <-r.alarm:
		case <-r.ended:
			return
		}
		r.mu.Lock()
		list, r.asleep = r.asleep, list[:0]
		r.mu.Unlock()
		for _, c := range list {
			c.rouse()
		}
		clear(list)
	}
}

// settle notes what is on record, and passes on what that sets off.
func (r *room) settle(records []*journal.Record) {
	r.mu.Lock()
	r.settled += uint64(len(records))
	effects := len(r.effects)
	for _, rec := range records {
		if rec.Type != journal.Admitted {
			continue
		}
		for _, e := range rec.Token.(*pending).effects {
			r.effects = append(r.effects, effect{e, rec.Seq})
		}
	}
	more := len(r.effects) > effects
	r.mu.Unlock()
	r.passBarriers()
	if more {
		r.signal()
	}
}

// passBarriers does what is due, in its order: whatever comes meanwhile waits
// behind it.
func (r *room) passBarriers() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passing = true
	for due := r.dueBarriers(); len(due) > 0; due = r.dueBarriers() {
		r.mu.Unlock()
		for _, b := range due {
			b.then(nil)
		}
		r.mu.Lock()
	}
	r.passing = false
}

// dueBarriers takes out those that nothing is awaited for any more.
func (r *room) dueBarriers() []barrier {
	n := 0
	for n < len(r.barriers) && r.barriers[n].records <= r.settled {
		n++
	}
	due := slices.Clone(r.barriers[:n])
	r.barriers = slices.Delete(r.barriers, 0, n)
	return due
}

// Failed implements [journal.Sink]: nothing of this is on record, so nobody
// sees it.
func (r *room) Failed(records []*journal.Record, err error) {
	r.metrics.failures.Inc()
	r.mu.Lock()
	r.settled += uint64(len(records))
	r.failed = err
	r.failing.Store(true)
	waiting := r.barriers
	r.barriers = nil
	r.mu.Unlock()
	for _, rec := range records {
		if p := rec.Token.(*pending); p.by != nil {
			p.by.refused(rec.ID, unavailable())
		}
	}
	for _, b := range waiting {
		b.then(unavailable())
	}
	r.signal()
}

func (r *room) signal() {
	select {
	case r.notice <- struct{}{}:
	default:
	}
}

// barrier is something to be done once so many records have been settled: all
// that had been appended when it was made. It must not wait.
type barrier struct {
	records uint64
	then    func(error)
}

// whenDurable calls then once everything that was appended is on record; with
// unavailable where it turns out not to be. Only run calls it, so that barriers
// are in order.
func (r *room) whenDurable(then func(error)) {
	r.mu.Lock()
	failed := r.failed != nil || r.down
	waits := !failed && (r.appended > r.settled || r.passing)
	if waits {
		r.barriers = append(r.barriers, barrier{r.appended, then})
	}
	r.mu.Unlock()
	switch {
	case failed:
		then(unavailable())
	case !waits:
		then(nil)
	}
}
