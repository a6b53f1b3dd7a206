package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// How long to wait before the journal is tried again.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// fail stops taking anything, and has the state rebuilt from the record: what
// it holds beyond that never happened.
func (r *room) fail(cause error) {
	if r.down {
		return
	}
	r.down = true
	r.log.Error("the space takes nothing until its journal does", "error", cause)
	r.mender.Go(r.mend)
}

// mend tries to recover the log until that works or the gateway ends.
func (r *room) mend() {
	wait := firstRetry
	for {
		state, err := r.restore(r.g.ctx)
		if err == nil {
			select {
			case r.healed <- state:
			case <-r.ended:
			}
			return
		}
		r.log.Warn("the journal is still not writable", "error", err, "retry", wait)
		select {
		case <-time.After(wait):
		case <-r.g.ctx.Done():
			return
		}
		wait = min(2*wait, lastRetry)
	}
}

// restore recovers the log and reads the state out of it. Once the log has
// recovered everything that was appended before has been settled.
func (r *room) restore(ctx context.Context) (*space.State, error) {
	bounds, err := r.record.Recover(ctx)
	if err != nil {
		return nil, err
	}
	if bounds.Epoch != r.epoch {
		return nil, fmt.Errorf("the journal has begun the epoch %s: start the gateway again", bounds.Epoch)
	}
	return r.replay(ctx)
}

// replay applies what is on record to a new state, and appends to the frame
// log what is not in it yet, so that whoever resumes is served from memory.
func (r *room) replay(ctx context.Context) (state *space.State, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			r.logFault("rebuilding the state failed", fault)
			err = fmt.Errorf("rebuilding the state: %v", fault)
		}
	}()
	state = space.New(r.rules)
	_, next := r.frames.bounds()
	for rec, err := range r.record.Read(ctx, journal.Query{}) {
		if err != nil {
			return nil, err
		}
		e, err := rec.Decode()
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", rec.Seq, err)
		}
		kind := parley.SplitKind(rec.Effective)
		state.Apply(e, kind)
		if rec.Seq >= next {
			r.wake(r.frames.publish([]entry{{headerOf(rec), rec.Body}}))
		}
	}
	return state, nil
}

// heal goes on with a state that was rebuilt.
func (r *room) heal(state *space.State) {
	r.mu.Lock()
	r.failed = nil // but what took effect before it did stays so
	r.failing.Store(false)
	r.mu.Unlock()
	state.AdoptConnections(r.state)
	r.state, r.down = state, false
	r.log.Info("the journal takes records again", "seq", state.Seq())
	r.resume()
	for _, list := range r.conns {
		for _, c := range list {
			r.welcome(c)
		}
	}
}

// resume brings the record in line with what is true now: at a start, and
// after the state was rebuilt.
func (r *room) resume() {
	now := r.now()
	for _, e := range r.state.Reconcile(now) {
		if !r.own(e) {
			return
		}
	}
	r.expiry = r.state.NextExpiry()
	r.tick(now)
}
