package gateway

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/parleyhq/parley"
)

// turns let so many do something at once. Those who wait are served party by
// party, so that one who brings a thousand connections keeps nobody waiting
// longer than one who brings a single one.
type turns struct {
	each int // that one party may have at once; 0 is no bound
	most int // of one party that may wait; 0 is no bound

	mu    sync.Mutex
	free  int
	lines []*line          // of those who have somebody waiting and may have one more, the next one first
	of    map[string]*line // of those who have a turn, or somebody waiting
}

// line is what waits for one party, the oldest first.
type line struct {
	who     string
	turns   int // that it has
	waiting []chan struct{}
	queued  bool // is in lines
}

// bulkTurns is how many catch up at once: one processor is left to those who
// are live, since the scheduler looks at the network only when nothing else is
// ready to run.
func bulkTurns() int { return max(1, min(journalReads, runtime.GOMAXPROCS(0)-1)) }

func newTurns(n int) *turns { return &turns{free: n, of: make(map[string]*line)} }

// newShares makes turns of which nobody has more than half, so that the next
// one to come need not wait for what takes long.
func newShares(n, waiting int) *turns {
	t := newTurns(n)
	t.each, t.most = max(1, n/2), waiting
	return t
}

// acquire waits for a turn. The error is the context's, or rate_limited where
// too many wait. Whatever else is ready to run goes first: else those who pass
// on their turns would have the processor among themselves for as long as the
// scheduler lets anybody.
func (t *turns) acquire(ctx context.Context, who string) (release func(), err error) {
	turn, err := t.queue(who)
	if err != nil {
		return nil, err
	}
	release = func() { t.release(who) }
	if turn == nil {
		runtime.Gosched()
		return release, nil
	}
	select {
	case <-turn:
		runtime.Gosched()
		return release, nil
	case <-ctx.Done():
	}
	if !t.giveUp(who, turn) {
		release() // it came at that very moment
	}
	return nil, ctx.Err()
}

// queue takes a turn, which is nil, or the place in the line.
func (t *turns) queue(who string) (turn chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.of[who]
	if l == nil {
		l = &line{who: who}
		t.of[who] = l
	}
	if t.free > 0 && t.mayHave(l) { // then nobody waits who may have it
		t.free--
		l.turns++
		return nil, nil
	}
	if t.most > 0 && len(l.waiting) >= t.most {
		return nil, tooManyWait(len(l.waiting))
	}
	turn = make(chan struct{})
	l.waiting = append(l.waiting, turn)
	t.stand(l)
	return turn, nil
}

func tooManyWait(n int) error {
	err := parley.Errorf(parley.RateLimited, "%d of your questions wait already", n).
		WithHint("wait for their answers before asking more")
	err.RetryAfterMS = 1_000
	return err
}

func (t *turns) mayHave(l *line) bool { return t.each == 0 || l.turns < t.each }

// stand puts a line behind the others, if it waits and may have a turn.
func (t *turns) stand(l *line) {
	if !l.queued && len(l.waiting) > 0 && t.mayHave(l) {
		l.queued = true
		t.lines = append(t.lines, l)
	}
}

// release passes the turn on.
func (t *turns) release(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.of[who]
	l.turns--
	t.stand(l)
	t.forget(l)
	if len(t.lines) == 0 {
		t.free++
		return
	}
	next := t.lines[0]
	t.lines = t.lines[1:]
	next.queued = false
	next.turns++
	close(next.waiting[0])
	next.waiting[0] = nil
	next.waiting = next.waiting[1:]
	t.stand(next)
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
	l.waiting = slices.Delete(l.waiting, i, i+1)
	if l.queued && len(l.waiting) == 0 {
		l.queued = false
		i = slices.Index(t.lines, l)
		t.lines = slices.Delete(slices.Clone(t.lines), i, i+1)
	}
	t.forget(l)
	return true
}

// forget drops a line of which nothing is left.
func (t *turns) forget(l *line) {
	if l.turns == 0 && len(l.waiting) == 0 {
		delete(t.of, l.who)
	}
}
