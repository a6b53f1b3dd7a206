package gateway

import (
	"errors"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// Redaction is carried out once its order is on record: first checkpoints are
// made, since the state cannot be read out of what is redacted any more, as many
// as the journal keeps, since older ones may quote it; then the record loses its
// words, then memory does. What is cut short is taken up again, after a while or
// at the next start: the state knows which orders are not done.

// redaction is an order that is being carried out.
type redaction struct {
	space.Redaction
	again bool // it may have been carried out before
	left  int  // checkpoints that have to be made first
}

// redactRetry is how long an order waits that could not be carried out.
const redactRetry = 10 * time.Second

// redact carries an order out.
func (r *room) redact(order space.Redaction, again bool) {
	r.prepare(redaction{order, again, journal.KeptCheckpoints})
}

// prepare makes the checkpoints.
func (r *room) prepare(d redaction) {
	if d.left == 0 {
		r.helpers.Go(func() { r.strike(d) })
		return
	}
	d.left--
	r.save(func(err error) {
		r.later(func() {
			if err != nil {
				r.notRedacted(d, err)
				return
			}
			r.prepare(d)
		})
	})
}

// strike takes the words off the record, and then out of memory.
func (r *room) strike(d redaction) {
	seqs, err := r.record.Redact(r.g.ctx, d.ID, d.Order)
	r.later(func() {
		if err != nil {
			r.notRedacted(d, err)
			return
		}
		for _, seq := range seqs {
			r.frames.forget(seq)
		}
		r.redacted(d)
		r.log.Info("redacted", "id", d.ID)
	})
}

func (r *room) redacted(d redaction) {
	r.state.Redacted(d.Redaction)
	r.saver.struck = true
}

// notRedacted decides what becomes of an order that could not be carried out.
func (r *room) notRedacted(d redaction, err error) {
	refusal, refused := errors.AsType[*parley.Error](err)
	switch {
	case r.down || r.draining || r.g.ctx.Err() != nil: // it is taken up again when the space is back
	case d.again && refused && refusal.Code == parley.NotFound: // retention dropped it since
		r.redacted(d)
	case refused && refusal.Code != parley.Unavailable:
		r.own(r.state.RedactionFailed(d.ID, refusal, r.now()))
	default:
		r.log.Error("a redaction could not be carried out; it is tried again", "id", d.ID, "error", err, "retry", redactRetry)
		r.redoAt = r.now().Add(redactRetry)
		r.schedule(r.now())
	}
}

// redo takes up the orders that could not be carried out.
func (r *room) redo(now time.Time) {
	if r.redoAt.IsZero() || r.redoAt.After(now) || r.down || r.draining {
		return
	}
	r.redoAt = time.Time{}
	for _, order := range r.state.Redacting() {
		r.redact(order, true)
	}
}
