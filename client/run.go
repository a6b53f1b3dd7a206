package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/coder/websocket"

	"github.com/parleyhq/parley"
)

// run is the room's goroutine: it connects, reads until the connection is
// lost, and connects again, until the room ends.
func (r *Room) run(ctx context.Context) {
	defer close(r.done)
	r.serveFromOptions(ctx)
	err := r.live(ctx)
	r.stop()
	r.end(err)
}

func (r *Room) live(ctx context.Context) error {
	attempt := 0
	for {
		welcomed, err := r.connectAndRead(ctx)
		if ctx.Err() != nil {
			return ErrClosed
		}
		if welcomed {
			attempt = 0
		}
		joined := r.hasJoined()
		if isFinal(err) || !joined && !r.opts.RetryDial {
			return finalError(err)
		}
		attempt++
		pause := r.pause(attempt, err)
		r.log.Info("the connection to the room is lost", "error", err, "attempt", attempt, "retry_in", pause)
		r.opts.tell(State{Phase: Waiting, Err: err, Attempt: attempt, RetryIn: pause})
		if !sleep(ctx, pause) {
			return ErrClosed
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// pause doubles from attempt to attempt; a random part of it keeps those apart
// who lost their connections together.
func (r *Room) pause(attempt int, err error) time.Duration {
	least, most := r.opts.backoffMin(), r.opts.backoffMax()
	d := most
	if shift := attempt - 1; shift < 20 {
		d = min(most, least<<shift)
	}
	if websocket.CloseStatus(err) == statusFlooding {
		d = most
	}
	d -= rand.N(d/2 + 1)
	if refused, ok := errors.AsType[*parley.Error](err); ok {
		d = max(d, time.Duration(refused.RetryAfterMS)*time.Millisecond)
	}
	return d
}

// isFinal reports whether to try again is of no use.
func isFinal(err error) bool {
	if _, ok := endError(err); ok {
		return true
	}
	refused, ok := errors.AsType[*refusal](err)
	return ok && refused.final()
}

func finalError(err error) error {
	if end, ok := endError(err); ok {
		return end
	}
	if refused, ok := errors.AsType[*refusal](err); ok {
		return refused.problem
	}
	return err
}

func endError(err error) (*EndError, bool) {
	if closed, ok := errors.AsType[websocket.CloseError](err); ok {
		switch closed.Code {
		case statusUnauthorized, statusRemoved, statusReplaced:
			return &EndError{Status: int(closed.Code), Reason: closed.Reason}, true
		}
	}
	return nil, false
}

func (r *Room) hasJoined() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.order.joined
}

// end tells everybody who waits that the room has ended, and waits for its
// handlers.
func (r *Room) end(err error) {
	r.mu.Lock()
	r.err = err
	joined := r.order.joined
	r.mu.Unlock()
	close(r.over)
	r.outbox.close(err)
	r.endInboxes(err)
	r.endServing()
	if r.ownsIt {
		r.http.CloseIdleConnections()
	}
	if joined {
		r.opts.tell(State{Phase: Ended, Err: err})
	}
}
