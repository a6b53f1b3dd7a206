package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// submission is what a participant sent, on its way to the space's goroutine.
type submission struct {
	from string
	by   submitter
	env  *parley.Envelope // where it could be read; at least its id, perhaps
	raw  []byte           // as it was sent
	err  *parley.Error    // it is refused already

	// Of a refusal whose bytes were not kept.
	digest parley.Digest
	size   int
}

// submitter is told, once, what became of a submission. It must not wait.
type submitter interface {
	// admitted comes before the envelope's frame is there to be sent; what it
	// returns is roused when it is, nil for nobody.
	admitted(r *journal.Record) *cursor
	refused(id string, err *parley.Error)
}

// parse reads a frame of a participant. What it makes keeps no part of data.
func (r *room) parse(from string, by submitter, data []byte) submission {
	s := submission{from: from, by: by, raw: bytes.Clone(data)}
	if len(data) > r.limits.EnvelopeBytes {
		s.err = tooLarge(r.limits.EnvelopeBytes)
		return s
	}
	env, err := parley.Decode(s.raw, r.limits.Nesting)
	s.env = env
	if err != nil {
		s.err = asError(err)
	}
	return s
}

// asError is a refusal as everybody may see it: what is no refusal is a fault
// of ours, and its details are for the log.
func asError(err error) *parley.Error {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return e
	}
	return parley.Errorf(parley.Internal, "the gateway failed")
}

// submit hands a submission to the space's goroutine, and waits while that has
// enough to do. It reports false where the space has ended.
func (r *room) submit(s submission) bool {
	select {
	case r.inbox <- s:
		return true
	case <-r.ended:
		return false
	}
}

// id is the envelope's, as far as it is known.
func (s *submission) id() string {
	if s.env == nil {
		return ""
	}
	return s.env.ID
}

// sum is the digest and size of the frame as it came.
func (s *submission) sum() (parley.Digest, int) {
	if s.raw == nil {
		return s.digest, s.size
	}
	return sha256.Sum256(s.raw), len(s.raw)
}

// Receipt says where an admitted envelope stands.
type Receipt struct {
	ID    string
	Seq   uint64
	Epoch string
	TS    time.Time
}

// Submit sends one envelope, as the JSON that a WebSocket frame would hold, and
// waits until it is on record. The error is a *parley.Error where it was
// refused: not_found where there is no such space. Where the context ends
// first, the envelope may have been admitted nevertheless.
//
// The caller must have seen that from is who it says.
func (g *Gateway) Submit(ctx context.Context, space, from string, data []byte) (Receipt, error) {
	r, err := g.room(space)
	if err != nil {
		return Receipt{}, err
	}
	w := &waiter{outcome: make(chan outcome, 1)}
	return w.wait(ctx, r, r.parse(from, w, data))
}

// waiter is a submitter that one call waits for.
type waiter struct{ outcome chan outcome }

type outcome struct {
	receipt Receipt
	err     *parley.Error
}

func (w *waiter) admitted(r *journal.Record) *cursor {
	w.outcome <- outcome{receipt: Receipt{ID: r.ID, Seq: r.Seq, Epoch: r.Epoch, TS: r.TS}}
	return nil
}

func (w *waiter) refused(_ string, err *parley.Error) { w.outcome <- outcome{err: err} }

func (w *waiter) wait(ctx context.Context, r *room, s submission) (Receipt, error) {
	select {
	case r.inbox <- s:
	case <-r.ended:
		return Receipt{}, goingAway()
	case <-ctx.Done():
		return Receipt{}, ctx.Err()
	}
	select {
	case o := <-w.outcome:
		if o.err != nil {
			return Receipt{}, o.err
		}
		return o.receipt, nil
	case <-ctx.Done():
		return Receipt{}, ctx.Err()
	case <-r.ended:
		return w.late()
	}
}

// late looks for an outcome that came as the space ended.
func (w *waiter) late() (Receipt, error) {
	select {
	case o := <-w.outcome:
		if o.err == nil {
			return o.receipt, nil
		}
		return Receipt{}, o.err
	default:
		return Receipt{}, goingAway()
	}
}

func goingAway() *parley.Error {
	return parley.Errorf(parley.Unavailable, "the gateway is going away").WithHint("connect again in a moment")
}
