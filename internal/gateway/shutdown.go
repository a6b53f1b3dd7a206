package gateway

import (
	"context"
	"time"
)

// shutdown ends a space.
func (r *room) shutdown(ctx context.Context) error {
	drained := make(chan struct{})
	err := r.do(ctx, func() { r.drain(drained) })
	if err == nil {
		select {
		case <-drained:
		case <-ctx.Done():
			err = ctx.Err()
			r.cutOff()
			<-drained
		}
	}
	if settled := r.settled(ctx); err == nil {
		err = settled
	}
	select {
	case <-r.ended:
	default:
		close(r.quit)
	}
	return err
}

// drain takes nothing more and lets the connections go, each after what has
// been accepted until now.
func (r *room) drain(drained chan struct{}) {
	if r.drained != nil || r.draining {
		close(drained) // the second call; the first one waits
		return
	}
	r.draining = true
	if len(r.conns) == 0 {
		close(drained)
		return
	}
	r.drained = drained
	for _, list := range r.conns {
		for _, c := range list {
			c.close(closing{code: statusGoingAway, reason: "the gateway is going away", upTo: r.state.Seq(), drain: true})
		}
	}
}

// cutOff closes the sockets of all connections.
func (r *room) cutOff() {
	for _, c := range r.everyConn(nil) {
		c.breakOff()
		c.cur.rouse()
	}
}

// settled records the floods that were counted, and waits until everything is
// on record.
func (r *room) settled(ctx context.Context) error {
	done := make(chan error, 1)
	err := r.do(ctx, func() {
		if r.down {
			done <- unavailable()
			return
		}
		r.countFloods(r.now().Add(time.Minute)) // all seconds are over
		r.whenDurable(func(err error) { done <- err })
	})
	if err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
