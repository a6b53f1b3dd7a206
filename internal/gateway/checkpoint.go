package gateway

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// checkpoint is the body of a checkpoint's record (section 9 of the contract).
type checkpoint struct {
	Index uint64         `json:"index"` // of the record that State stands after
	State jsontext.Value `json:"state"` // a space.Snapshot
}

// saver is what a space knows of its checkpoints. Its goroutine owns it.
type saver struct {
	unsaved int    // envelopes since the newest checkpoint
	index   uint64 // of the record that the newest one on record stands after
	struck  bool   // there were redactions since that it does not know of
	busy    bool   // one is being made
	size    int    // bytes of the newest one: the next takes about as many
	waiting []func(error)
}

// place is where a state stands: behind which envelope, and which record.
type place struct{ seq, index uint64 }

// save has the state as it is now put on record, and then called: with nil once
// it is durable. Whoever comes while one is being made waits for the next.
func (r *room) save(then func(error)) {
	if r.down {
		then(unavailable())
		return
	}
	if r.saver.busy {
		r.saver.waiting = append(r.saver.waiting, then)
		return
	}
	r.saver.busy, r.saver.unsaved, r.saver.struck = true, 0, false
	state, at, heals := r.state.Copy(), place{r.state.Seq(), r.index}, r.heals
	room := r.saver.size + r.saver.size/8
	salt, now := r.salts.next(), r.now().UTC().Truncate(time.Millisecond)
	// To write it out takes long, and the space goes on meanwhile.
	r.helpers.Go(func() {
		body, err := appendCheckpoint(make([]byte, 0, room), at.index, state.Snapshot())
		if len(body) > journal.MaxCheckpoint {
			err = parley.Errorf(parley.LimitReached, "the state takes %d bytes, more than a checkpoint's %d", len(body), journal.MaxCheckpoint)
		}
		rec := journal.NewCheckpoint(now, body, salt)
		r.later(func() {
			if err == nil && (r.down || r.heals != heals) {
				err = unavailable() // what it holds may not have happened
			}
			r.putCheckpoint(rec, at, err, then)
		})
	})
}

func appendCheckpoint(dst []byte, index uint64, state *space.Snapshot) ([]byte, error) {
	dst = strconv.AppendUint(append(dst, `{"index":`...), index, 10)
	dst, err := state.AppendJSON(append(dst, `,"state":`...))
	return append(dst, '}'), err
}

// putCheckpoint hands a checkpoint to the journal.
func (r *room) putCheckpoint(rec *journal.Record, at place, err error, then func(error)) {
	r.saver.size = len(rec.Body)
	done := func(err error) {
		r.later(func() { r.saved(at, err) })
		then(err)
	}
	if err != nil {
		done(err)
		return
	}
	r.append(rec, pending{})
	r.whenDurable(done)
}

// saved notes what became of a checkpoint.
func (r *room) saved(at place, err error) {
	r.saver.busy = false
	if err == nil {
		r.saver.index = at.index
		r.metrics.checkpoint.Store(at.seq)
	} else if !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
		r.log.Error("no checkpoint could be made: starts take longer, and nothing can be redacted or dropped", "error", err)
	}
	if len(r.saver.waiting) == 0 {
		return
	}
	waiting := r.saver.waiting
	r.saver.waiting = nil
	r.save(func(err error) {
		for _, then := range waiting {
			then(err)
		}
	})
}

// saveWhenDue makes a checkpoint every so many envelopes.
func (r *room) saveWhenDue() {
	r.saver.unsaved++
	if r.saver.unsaved >= r.g.opts.CheckpointEvery && !r.saver.busy {
		r.save(func(error) {})
	}
}

// readCheckpoint reads the state out of a checkpoint's record, under the rules
// of today.
func (r *room) readCheckpoint(rec *journal.Record) (state *space.State, index uint64, err error) {
	var c checkpoint
	if err := json.Unmarshal(rec.Body, &c, json.RejectUnknownMembers(true)); err != nil {
		return nil, 0, fmt.Errorf("the checkpoint at record %d: %w", rec.Index, err)
	}
	snapshot, err := space.ReadSnapshot(c.State)
	if err != nil {
		return nil, 0, fmt.Errorf("the checkpoint at record %d: %w", rec.Index, err)
	}
	if c.Index >= rec.Index {
		return nil, 0, fmt.Errorf("the checkpoint at record %d says that it stands after record %d", rec.Index, c.Index)
	}
	return space.Restore(r.rules, snapshot), c.Index, nil
}
