package gateway

import (
	"context"
	"time"

	"github.com/parleyhq/parley/internal/journal"
)

// Retention says how much of a space's record is kept. Zero is everything.
type Retention struct {
	Age   time.Duration
	Bytes int64
}

// retain drops from every space's record what is not to be kept, now and then.
func (g *Gateway) retain() {
	ticker := time.NewTicker(g.opts.RetainEvery)
	defer ticker.Stop()
	for {
		for _, r := range g.rooms {
			if err := r.retain(g.ctx); err != nil && g.ctx.Err() == nil {
				r.log.Warn("nothing could be dropped from the record; it is tried again", "error", err)
			}
		}
		select {
		case <-ticker.C:
		case <-g.ctx.Done():
			return
		}
	}
}

// retain drops what is older, or more, than the space keeps. The marker that
// says so is itself what drops it; a checkpoint stands before it, so that no
// right comes back with what is dropped.
func (r *room) retain(ctx context.Context) error {
	if r.retention == (Retention{}) {
		return nil
	}
	r.retaining.Lock()
	defer r.retaining.Unlock()
	keep := journal.Retention{Bytes: r.retention.Bytes}
	if r.retention.Age > 0 {
		keep.Before = r.now().Add(-r.retention.Age)
	}
	cut, err := r.record.Cut(ctx, keep)
	if err != nil || cut.Records == 0 {
		return err
	}
	done := make(chan error, 1)
	err = r.do(ctx, func() {
		if r.saver.index >= cut.Through.Index {
			r.mark(cut, done)
			return
		}
		r.save(func(err error) {
			if err != nil {
				done <- err
				return
			}
			r.later(func() { r.mark(cut, done) })
		})
	})
	if err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-r.ended:
		return goingAway()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mark puts a marker on record, and with it drops everything up to there.
func (r *room) mark(cut journal.Dropped, done chan<- error) {
	if r.down {
		done <- unavailable()
		return
	}
	r.append(journal.NewMarker(r.now().UTC().Truncate(time.Millisecond), cut, r.salts.next()), pending{})
	r.whenDurable(func(err error) {
		if err == nil {
			r.later(func() { r.first = max(r.first, cut.Through.Seq+1) })
			r.log.Info("dropped from the record", "records", cut.Records, "through", cut.Through.Seq)
		}
		done <- err
	})
}
