package mcpbridge

import (
	"context"
	"slices"
	"sync"
	"time"
)

// turns are the calls of one session of which the server may ask something back.
//
// A request of a legacy server says nothing of the call that it belongs to; only
// over HTTP does the stream tell. So from the first one on that could be told of
// several, calls take turns: the next one begins when the one before has ended,
// or waits for an answer itself, and that answer is handed on when the turn is
// free again. A call of another client is not held up by one whose client
// never comes back.
type turns struct {
	mu      sync.Mutex
	flights []*flight       // what the server works on, oldest first
	single  bool            // they take turns
	working int             // how many wait for no answer
	queue   []chan struct{} // who waits for a turn, oldest first
	left    []leftCall      // that nobody waits for any more, oldest first
}

// leftCall is a call that was cancelled. The server may go on with it.
type leftCall struct {
	*flight
	at time.Time
}

// Bounds of the cancelled calls that are remembered.
const (
	maxLeft = 64
	leftFor = time.Minute
)

// gather is how long a call that waits for an answer keeps its turn: some servers
// ask several things at once.
const gather = 50 * time.Millisecond

// turnPatience bounds the wait for a turn: one call may wait for what another
// one does, and a long one should not hold up all others.
const turnPatience = 5 * time.Second

// fly notes that the server works on a call, when it is its turn.
func (t *turns) fly(ctx context.Context, f *flight) (landed func(), err error) {
	if err := t.enter(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flights = append(t.flights, f)
	f.flying, f.works = true, true
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.flights = slices.DeleteFunc(t.flights, func(other *flight) bool { return other == f })
		f.flying = false
		t.rest(f)
		if ctx.Err() != nil {
			t.left = append(t.left[max(0, len(t.left)+1-maxLeft):], leftCall{f, time.Now()})
		}
	}, nil
}

// enter waits for a turn.
func (t *turns) enter(ctx context.Context) error {
	t.mu.Lock()
	if !t.single || t.working == 0 {
		t.working++
		t.mu.Unlock()
		return nil
	}
	mine := make(chan struct{})
	t.queue = append(t.queue, mine)
	t.mu.Unlock()
	patience := time.NewTimer(turnPatience)
	defer patience.Stop()
	select {
	case <-mine:
		return nil
	case <-patience.C:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.queue, mine); i >= 0 {
		t.queue = slices.Delete(t.queue, i, i+1)
		t.working++
	}
	if ctx.Err() != nil {
		t.pass()
		return context.Cause(ctx)
	}
	return nil
}

// pass ends a turn. The caller holds mu.
func (t *turns) pass() {
	t.working--
	if t.working == 0 && len(t.queue) > 0 {
		t.working++
		close(t.queue[0])
		t.queue = slices.Delete(t.queue, 0, 1)
	}
}

// rest ends the turn of a call that has one. The caller holds mu.
func (t *turns) rest(f *flight) {
	if f.works {
		f.works = false
		t.pass()
	}
}

// pause notes that a call waits for an answer, until the function is called,
// which waits for its turn.
func (t *turns) pause(f *flight) (resume func(context.Context)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.waits++
	if f.waits == 1 {
		f.gathered = time.AfterFunc(gather, func() { t.gathered(f) })
	}
	return func(ctx context.Context) {
		t.mu.Lock()
		f.waits--
		if f.waits == 0 {
			f.gathered.Stop()
		}
		over := f.works || f.waits > 0 || !f.flying
		t.mu.Unlock()
		if over || t.enter(ctx) != nil {
			return
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if f.works || f.waits > 0 || !f.flying {
			t.pass()
			return
		}
		f.works = true
	}
}

// gathered ends the turn of a call that still waits.
func (t *turns) gathered(f *flight) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.waits > 0 {
		t.rest(f)
	}
}

// takeTurns begins with it.
func (t *turns) takeTurns() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.single = true
}

// candidates are the calls that a request of the server may belong to, the
// likeliest first: one that waits for an answer asks for nothing else, and the
// newest has asked the least.
func (t *turns) candidates() []*flight {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Clone(t.flights)
	slices.Reverse(all)
	if t.working > 0 {
		all = slices.DeleteFunc(all, func(f *flight) bool { return !f.works })
	}
	return all
}

// inFlight are all of them, oldest first.
func (t *turns) inFlight() []*flight {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.flights)
}

// suspects are those, and behind them the cancelled ones.
func (t *turns) suspects() []*flight {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left = slices.DeleteFunc(t.left, func(l leftCall) bool { return time.Since(l.at) > leftFor })
	all := slices.Clone(t.flights)
	for _, l := range t.left {
		all = append(all, l.flight)
	}
	return all
}
