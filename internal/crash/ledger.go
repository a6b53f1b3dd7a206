package crash

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// Type says what was promised.
type Type uint8

// The promises. Who is the participant that was told.
const (
	Joined       Type = iota + 1 // the first welcome: everything after Seq will come
	Welcomed                     // a further welcome
	Acknowledged                 // ID was admitted, at Seq; Epoch may be untold
	Refused                      // ID was not admitted and never is
	Unwritten                    // the same, since the journal cannot be written
	Delivered                    // ID arrived, at Seq
	Torn                         // a resume was told that envelopes are missing
	Ended                        // the proposal ID was ended by the envelope Ref
	Undecided                    // nobody ended the proposal ID in time
	Acted                        // the request ID, which fulfils the proposal Ref, was acted on
	Bereft                       // a right that was given was not there
	Stolen                       // a right that was taken was used, at Seq
)

// Promise is one thing that a participant was told by the gateway.
type Promise struct {
	Type   Type
	Who    string
	ID     string
	Ref    string
	Seq    uint64
	Epoch  string
	Digest uint64 // of what was delivered; see digest
}

// Ledger holds what the participants were told. The zero value is empty.
type Ledger struct {
	mu    sync.Mutex
	fresh []Promise
	total map[Type]int
	wake  chan struct{} // closed with the next promise; nil where nobody waits
}

// Add notes promises, in the order in which they were made to one participant.
func (l *Ledger) Add(promises ...Promise) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total == nil {
		l.total = make(map[Type]int)
	}
	for _, p := range promises {
		l.total[p.Type]++
	}
	l.fresh = append(l.fresh, promises...)
	if l.wake != nil {
		close(l.wake)
		l.wake = nil
	}
}

// Take is everything that was promised since it was called last.
func (l *Ledger) Take() []Promise {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.fresh
	l.fresh = nil
	return taken
}

// Total counts the promises of a type since the beginning.
func (l *Ledger) Total(t Type) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total[t]
}

// reach waits until n promises of a type were made.
func (l *Ledger) reach(ctx context.Context, t Type, n int) error {
	for {
		next := l.next()
		total := l.Total(t)
		if total >= n {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return fmt.Errorf("%d promises of type %d, not %d: %w", total, t, n, context.Cause(ctx))
		}
	}
}

// next is closed with the next promise.
func (l *Ledger) next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wake == nil {
		l.wake = make(chan struct{})
	}
	return l.wake
}

// answered notes what a send came to. Where nobody knows, nothing is promised.
func (l *Ledger) answered(who, id string, at client.Receipt, err error) {
	if err == nil {
		l.Add(Promise{Type: Acknowledged, Who: who, ID: id, Seq: at.Seq, Epoch: at.Epoch})
		return
	}
	if refused, ok := errors.AsType[*parley.Error](err); ok && !errors.Is(err, client.ErrUnacknowledged) {
		p := Promise{Type: Refused, Who: who, ID: id}
		if refused.Code == parley.Unavailable {
			p.Type = Unwritten
		}
		l.Add(p)
	}
}

// delivered is the promise that an envelope's arrival is.
func delivered(who string, e *parley.Envelope) Promise {
	body := *e
	body.Seq = 0 // as it is on record
	return Promise{Type: Delivered, Who: who, ID: e.ID, Seq: e.Seq, Digest: digest(body.AppendBody(nil))}
}

// digest tells envelopes apart that have the same id.
func digest(body []byte) uint64 {
	h := fnv.New64a()
	h.Write(body)
	return h.Sum64()
}
