package gateway

import (
	"context"
	"fmt"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// restored is a state as it was read from the record, with its place.
type restored struct {
	state *space.State
	first uint64 // the oldest envelope on record
	index uint64 // of the newest record
	saved place  // where the newest checkpoint stands
}

// adopt makes a restored state the space's.
func (r *room) adopt(as *restored) {
	r.state, r.first, r.index = as.state, as.first, as.index
	r.state.Remember(r.forgotten)
	r.saver.index, r.saver.unsaved = as.saved.index, int(as.state.Seq()-as.saved.seq)
	r.metrics.checkpoint.Store(as.saved.seq)
}

// replay reads the state out of the record: from the newest checkpoint and what
// follows it. The chain is checked on the way, so that what was edited there is
// not served. To the frame log it appends what is not in it yet, so that
// whoever resumes is served from memory.
func (r *room) replay(ctx context.Context, bounds journal.Bounds) (as *restored, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			r.logFault("rebuilding the state failed", fault)
			err = fmt.Errorf("rebuilding the state: %v", fault)
		}
	}()
	as, err = r.fromCheckpoint(ctx, bounds)
	if err != nil {
		return nil, err
	}
	as.first, as.index = bounds.First, bounds.Head.Index
	if err := r.fillFrames(ctx, as.state); err != nil {
		return nil, err
	}
	return as, r.applyFrom(ctx, as)
}

// fromCheckpoint is the state that the newest checkpoint holds, or an empty one.
func (r *room) fromCheckpoint(ctx context.Context, bounds journal.Bounds) (*restored, error) {
	rec, err := r.record.Checkpoint(ctx)
	if err != nil {
		return nil, err
	}
	if rec != nil {
		as := &restored{}
		as.state, as.saved.index, err = r.readCheckpoint(rec)
		if err == nil {
			as.saved.seq = as.state.Seq()
			return as, nil
		}
		r.log.Error("a checkpoint cannot be read", "error", err)
	}
	if bounds.First > 1 {
		return nil, parley.Errorf(parley.Unavailable, "the journal of %s begins at seq %d, and has no checkpoint to start from", r.name, bounds.First).
			WithHint("restore a backup; parley log verify says what is wrong with this journal")
	}
	return &restored{state: space.New(r.rules)}, nil
}

// fillFrames appends what lies before the state and is not in the frame log.
func (r *room) fillFrames(ctx context.Context, state *space.State) error {
	_, next := r.frames.bounds()
	for rec, err := range r.record.Read(ctx, journal.Query{After: next - 1, Before: state.Seq() + 1}) {
		if err != nil {
			return err
		}
		r.showFrame(rec, state)
	}
	return nil
}

// applyFrom applies what follows the state.
func (r *room) applyFrom(ctx context.Context, as *restored) error {
	_, next := r.frames.bounds()
	after, err := r.walkFrom(ctx, as.saved.index)
	if err != nil {
		return err
	}
	v := journal.NewVerifier(journal.Origin(r.name))
	if after > 0 {
		v = journal.NewVerifierAt(after)
	}
	for rec, err := range r.record.Read(ctx, journal.Query{Chain: true, After: after}) {
		if err != nil {
			return err
		}
		if err := v.Check(rec); err != nil {
			return parley.Errorf(parley.Unavailable, "the record of %s was tampered with: %v", r.name, err).
				WithHint("parley log verify says more; restore a backup, or keep the file as evidence and begin another")
		}
		as.index = rec.Index
		if rec.Type != journal.Admitted || rec.Seq <= as.state.Seq() {
			continue
		}
		e, err := rec.Decode()
		if err != nil {
			return fmt.Errorf("record %d: %w", rec.Seq, err)
		}
		if err := r.recallAt(ctx, as.state, e); err != nil {
			return fmt.Errorf("record %d: %w", rec.Seq, err)
		}
		as.state.Apply(e, parley.SplitKind(rec.Effective))
		if rec.Seq >= next {
			r.showFrame(rec, as.state)
		}
	}
	return nil
}

// walkFrom is where to begin to check what follows a checkpoint's state. The
// first record of a walk is taken on trust, so that it begins one earlier where
// that is still on record.
func (r *room) walkFrom(ctx context.Context, index uint64) (uint64, error) {
	if index == 0 {
		return 0, nil
	}
	for _, err := range r.record.Read(ctx, journal.Query{Chain: true, After: index - 1, Before: index + 1}) {
		if err != nil {
			return 0, err
		}
		index--
	}
	return index, nil
}

// showFrame appends a frame to the frame log, as far as the state knows where its
// context stands.
func (r *room) showFrame(rec *journal.Record, state *space.State) {
	in := state.Lineage(rec.Context)
	if in == nil {
		in = ownWord(rec)
	}
	r.wake(r.frames.publish([]entry{{headerOf(rec, in), rec.Body}}))
}
