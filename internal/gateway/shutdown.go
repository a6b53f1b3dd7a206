package gateway

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Shutdown ends the gateway: it refuses what is new, waits until what was
// accepted is on record and delivered, and closes every connection with 1001.
// When ctx ends first, connections are cut off, and the error is its. The
// journal stays open. Afterwards no goroutine of the gateway is left, unless
// the journal itself hangs. Further calls wait for the first one.
func (g *Gateway) Shutdown(ctx context.Context) error {
	if g.closing.Swap(true) {
		select {
		case <-g.over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer close(g.over)
	errs := make(chan error, len(g.rooms))
	for _, r := range g.rooms {
		go func() { errs <- r.shutdown(ctx) }()
	}
	var failed []error
	for range g.rooms {
		failed = append(failed, <-errs)
	}
	g.cancel()
	if !finished(&g.running, closeWithin) {
		failed = append(failed, errors.New("the journal does not let go of the gateway"))
	}
	return errors.Join(failed...)
}

// finished waits for goroutines, and reports whether they ended in time.
func finished(running *sync.WaitGroup, within time.Duration) bool {
	done := make(chan struct{})
	go func() { running.Wait(); close(done) }()
	timeout := time.NewTimer(within)
	defer timeout.Stop()
	select {
	case <-done:
		return true
	case <-timeout.C:
		return false
	}
}

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
			finishedOr(drained, closeWithin)
		}
	}
	if finished := r.finish(ctx); err == nil {
		err = finished
	}
	close(r.quit)
	return err
}

func finishedOr(done <-chan struct{}, within time.Duration) {
	timeout := time.NewTimer(within)
	defer timeout.Stop()
	select {
	case <-done:
	case <-timeout.C:
	}
}

// drain takes nothing more and lets the connections go, each after what has
// been accepted until now.
func (r *room) drain(drained chan struct{}) {
	if r.failing.Load() {
		r.attend()
	}
	r.draining = true
	if len(r.conns) == 0 {
		close(drained)
		return
	}
	r.drained = drained
	upTo := r.state.Seq()
	if r.down {
		_, next := r.frames.bounds()
		upTo = next - 1 // the rest never happens
	}
	for _, list := range r.conns {
		for _, c := range list {
			c.close(closing{code: statusGoingAway, reason: "the gateway is going away", upTo: upTo, drain: true})
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

// finish records the floods that were counted, and waits until everything is
// on record.
func (r *room) finish(ctx context.Context) error {
	done := make(chan error, 1)
	err := r.do(ctx, func() {
		if r.down {
			done <- unavailable()
			return
		}
		r.countFloods(r.now().Add(time.Minute)) // all seconds are over
		settle := func(error) {                 // without a checkpoint a start only takes longer
			r.later(func() { r.whenDurable(func(err error) { done <- err }) })
		}
		if r.saver.unsaved >= checkpointAtEnd || r.saver.struck || r.saver.busy {
			r.save(settle)
		} else {
			settle(nil)
		}
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
