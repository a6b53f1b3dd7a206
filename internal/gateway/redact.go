package gateway

import (
	"context"
	"errors"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// Redaction is carried out once its order is on record: first checkpoints are
// made, since the state cannot be read out of what is redacted any more, as many
// as the journal keeps, since older ones may quote it; then the record loses its
// words, then memory does. What is cut short is taken up again at the next start:
// the state knows which orders are not done.

// redact carries an order out.
func (r *room) redact(id string) { r.redactAfter(journal.KeptCheckpoints, id, false) }

// redactAgain carries out an order that may have been carried out before.
func (r *room) redactAgain(id string) { r.redactAfter(journal.KeptCheckpoints, id, true) }

func (r *room) redactAfter(checkpoints int, id string, again bool) {
	if checkpoints == 0 {
		r.helpers.Go(func() { r.strike(id, again) })
		return
	}
	r.save(func(err error) {
		if err == nil { // else when the space is back
			r.later(func() { r.redactAfter(checkpoints-1, id, again) })
		}
	})
}

// strike takes what an envelope said off the record.
func (r *room) strike(id string, again bool) {
	seqs, err := r.strikeRecord(r.g.ctx, id)
	r.later(func() {
		refusal, refused := errors.AsType[*parley.Error](err)
		switch {
		case err == nil:
			for _, seq := range seqs {
				r.frames.forget(seq)
			}
			r.log.Info("redacted", "id", id)
		case again && refused && refusal.Code == parley.NotFound: // it was dropped since
		case refused && refusal.Code != parley.Unavailable:
			r.own(r.state.RedactionFailed(id, refusal, r.now()))
			return
		default:
			if r.g.ctx.Err() == nil {
				r.log.Error("a redaction is left to the next start", "id", id, "error", err)
			}
			return
		}
		r.state.Redacted(id)
		r.saver.struck = true
	})
}

// strikeRecord redacts every envelope with the id, and says where they stand.
func (r *room) strikeRecord(ctx context.Context, id string) (seqs []uint64, err error) {
	for rec, err := range r.record.Read(ctx, journal.Query{ID: id}) {
		if err != nil {
			return nil, err
		}
		if !space.Redactable(parley.SplitKind(rec.Effective)) {
			return nil, parley.Errorf(parley.KindMismatch, "capability/*, space/* and system/* cannot be redacted; %q is one", id)
		}
		seqs = append(seqs, rec.Seq)
	}
	return seqs, r.record.Redact(ctx, id)
}
