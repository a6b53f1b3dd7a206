package gateway

import (
	"context"
	"fmt"
	"time"
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
	r.helpers.Go(r.mend)
}

// mend tries to recover the log until that works or the gateway ends.
func (r *room) mend() {
	wait := firstRetry
	for {
		as, err := r.restore(r.g.ctx)
		if err == nil {
			select {
			case r.healed <- as:
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
func (r *room) restore(ctx context.Context) (*restored, error) {
	bounds, err := r.record.Recover(ctx)
	if err != nil {
		return nil, err
	}
	if bounds.Epoch != r.epoch {
		return nil, fmt.Errorf("the journal has begun the epoch %s: start the gateway again", bounds.Epoch)
	}
	return r.replay(ctx, bounds)
}

// heal goes on with a state that was rebuilt.
func (r *room) heal(as *restored) {
	r.mu.Lock()
	r.failed = nil // but what took effect before it did stays so
	r.failing.Store(false)
	r.mu.Unlock()
	as.state.AdoptConnections(r.state)
	r.heals++
	r.down = false
	r.adopt(as)
	r.log.Info("the journal takes records again", "seq", r.state.Seq())
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
	for _, order := range r.state.Redacting() {
		r.redact(order, true)
	}
	r.expiry = r.state.NextExpiry()
	r.tick(now)
}
