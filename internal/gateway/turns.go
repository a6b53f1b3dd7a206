package gateway

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// turns let so many do something at once. Those who wait are served participant
// by participant, so that one who brings a thousand connections keeps nobody
// waiting longer than one who brings a single one.
type turns struct {
	mu    sync.Mutex
	free  int
	lines []*line // of those who have somebody waiting, the next one first
	of    map[string]*line
}

// line is what waits for one participant, the oldest first.
type line struct {
	who     string
	waiting []chan struct{} // closed when it is its turn
}

// bulkTurns is how many catch up at once: one processor is left to those who
// are live, since the scheduler looks at the network only when nothing else is
// ready to run.
func bulkTurns() int { return max(1, min(journalReads, runtime.GOMAXPROCS(0)-1)) }

func newTurns(n int) *turns { return &turns{free: n, of: make(map[string]*line)} }

// acquire waits for a turn. The error is the context's. Whatever else is ready
// to run goes first: else those who pass on their turns would have the
// processor among themselves for as long as the scheduler lets anybody.
func (t *turns) acquire(ctx context.Context, who string) (release func(), err error) {
	turn := t.queue(who)
	if turn == nil {
		runtime.Gosched()
		return t.release, nil
	}
	select {
	case <-turn:
		runtime.Gosched()
		return t.release, nil
	case <-ctx.Done():
	}
	if !t.giveUp(who, turn) {
		t.release() // it came at that very moment
	}
	return nil, ctx.Err()
}

// queue takes a turn, which is nil, or the place in the line.
func (t *turns) queue(who string) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return nil
	}
	l := t.of[who]
	if l == nil {
		l = &line{who: who}
		t.of[who] = l
		t.lines = append(t.lines, l)
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	return turn
}

// release passes the turn on.
func (t *turns) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		t.free++
		return
	}
	l := t.lines[0]
	close(l.waiting[0])
	l.waiting[0] = nil
	l.waiting = l.waiting[1:]
	t.lines = t.lines[1:]
	if len(l.waiting) > 0 {
		t.lines = append(t.lines, l)
		return
	}
	delete(t.of, l.who)
}

// giveUp leaves the line. It reports false where the turn had come.
func (t *turns) giveUp(who string, turn chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.of[who]
	if l == nil {
		return false
	}
	i := slices.Index(l.waiting, turn)
	if i < 0 {
		return false
	}
	if l.waiting = slices.Delete(l.waiting, i, i+1); len(l.waiting) == 0 {
		delete(t.of, who)
		i = slices.Index(t.lines, l)
		t.lines = slices.Delete(slices.Clone(t.lines), i, i+1)
	}
	return true
}
