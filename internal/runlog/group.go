package runlog

import (
	"io/fs"
	"sync"
)

// group lets callers who come at the same time share what each of them would
// do alone. Whoever is the first of a batch does it for all, when the batch before is done.
type group struct {
	commit func(lines []byte) error // one at a time
	turn   chan struct{}            // holds a token while a commit is under way

	mu     sync.Mutex
	next   *batch // those who wait for their turn, or nil; guarded by mu
	closed bool   // guarded by mu
}

type batch struct {
	lines []byte
	done  chan struct{} // closed when err is known
	err   error
}

func newGroup(commit func([]byte) error) *group {
	return &group{commit: commit, turn: make(chan struct{}, 1)}
}

// join adds a line to the next batch, and returns when that is committed. After
// close it fails. A batch is not committed where admit, if there is one, has an error.
func (g *group) join(line []byte, admit func() error) error {
	b, first, err := g.enter(line, admit)
	switch {
	case err != nil:
		return err
	case !first:
		<-b.done
		return b.err
	}
	g.turn <- struct{}{}
	g.mu.Lock()
	g.next = nil // whoever comes now is of the next one
	g.mu.Unlock()
	b.err = g.commit(b.lines)
	<-g.turn
	close(b.done)
	return b.err
}

// enter is where a caller becomes one of a batch, under g.mu as admit is.
func (g *group) enter(line []byte, admit func() error) (b *batch, first bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, false, fs.ErrClosed
	}
	if admit != nil {
		if err := admit(); err != nil {
			return nil, false, err
		}
	}
	if first = g.next == nil; first {
		g.next = &batch{done: make(chan struct{})}
	}
	g.next.lines = append(g.next.lines, line...)
	return g.next, first, nil
}

// close lets nobody join any more, and waits for those who did.
func (g *group) close() {
	g.mu.Lock()
	g.closed = true
	waiting := g.next
	g.mu.Unlock()
	if waiting != nil {
		<-waiting.done
	}
	g.turn <- struct{}{}
	<-g.turn
}
