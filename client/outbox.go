package client

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/parleyhq/parley"
)

// maxDetached bounds the envelopes that nobody waits for: cancellations and
// answers that the room gives by itself.
const maxDetached = 1_024

// outbox holds what is not acknowledged yet, in the order in which it was
// sent. A new connection starts with all of it.
type outbox struct {
	wake chan struct{} // something is there to write, or may be

	mu       sync.Mutex // guards what follows
	pending  map[string]*sending
	todo     []*sending // not written on this connection
	next     uint64
	detached int
	quiet    chan struct{} // closed when detached gets to 0; nil: nobody waits
	err      error         // why nothing is sent any more

	acknowledged, resent int64
}

// sending is one envelope on its way.
type sending struct {
	id    string
	frame []byte
	n     uint64          // its turn
	wrote bool            // to some connection
	again bool            // to another one before: it may be on record
	gone  bool            // no longer pending
	done  chan sendResult // capacity 1; nil where nobody waits
}

type sendResult struct {
	receipt Receipt
	err     error
}

func (o *outbox) init() {
	o.wake = make(chan struct{}, 1)
	o.pending = make(map[string]*sending)
}

// add hands a frame over. Where nobody waits for it, it may be left out: false
// and no error says that too many are waiting.
func (o *outbox) add(id string, frame []byte, waited bool) (*sending, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return nil, o.err
	case o.pending[id] != nil:
		return nil, parley.Errorf(parley.DuplicateID, "an envelope with the id %q is being sent", id)
	case !waited && o.detached >= maxDetached:
		return nil, parley.Errorf(parley.RateLimited, "%d envelopes that nobody waits for are not acknowledged", o.detached)
	}
	s := &sending{id: id, frame: frame, n: o.next}
	o.next++
	if waited {
		s.done = make(chan sendResult, 1)
	} else {
		o.detached++
	}
	o.pending[id] = s
	o.todo = append(o.todo, s)
	o.poke()
	return s, nil
}

func (o *outbox) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// rewind makes everything that is not acknowledged due again, for a new
// connection.
func (o *outbox) rewind() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.todo = slices.SortedFunc(maps.Values(o.pending), func(a, b *sending) int { return cmp.Compare(a.n, b.n) })
	o.poke()
}

// take is the next frame to write, or nil.
func (o *outbox) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.todo) > 0 {
		s := o.todo[0]
		o.todo[0] = nil
		o.todo = o.todo[1:]
		if s.gone {
			continue
		}
		if s.wrote {
			o.resent++
		}
		s.again, s.wrote = s.wrote, true
		return s.frame
	}
	o.todo = nil
	return nil
}

// settle ends a sending with what the gateway said, and reports whether there
// was one with that id.
func (o *outbox) settle(id string, res sendResult) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.pending[id]
	if s == nil {
		return false
	}
	switch {
	case res.err == nil:
		o.acknowledged++
	case s.again && saysNothingOfBefore(res.err):
		res.err = fmt.Errorf("%w (id %s): %w", ErrUnacknowledged, id, res.err)
	}
	o.remove(s, res)
	return true
}

// saysNothingOfBefore reports whether an envelope is refused before the gateway
// looks whether it has it already (section 5 of the contract): what became of
// it over an earlier connection is not known then.
func saysNothingOfBefore(refused error) bool {
	return errors.Is(refused, &parley.Error{Code: parley.RateLimited}) ||
		errors.Is(refused, &parley.Error{Code: parley.Unavailable})
}

// abandon gives a sending up. It reports whether the envelope was written, so
// that it may have been admitted.
func (o *outbox) abandon(s *sending) (wrote bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !s.gone {
		o.remove(s, sendResult{})
	}
	return s.wrote
}

// close fails what is pending and whatever comes.
func (o *outbox) close(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
	for _, s := range o.pending {
		o.remove(s, sendResult{err: err})
	}
}

func (o *outbox) remove(s *sending, res sendResult) {
	delete(o.pending, s.id)
	s.gone, s.frame = true, nil
	if s.done != nil {
		s.done <- res
		return
	}
	if o.detached--; o.detached == 0 && o.quiet != nil {
		close(o.quiet)
		o.quiet = nil
	}
}

// drained is closed when nothing is on its way that nobody waits for.
func (o *outbox) drained() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.quiet == nil {
		o.quiet = make(chan struct{})
	}
	quiet := o.quiet
	if o.detached == 0 {
		close(o.quiet)
		o.quiet = nil
	}
	return quiet
}

func (o *outbox) counts() (acknowledged, resent int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acknowledged, o.resent
}
