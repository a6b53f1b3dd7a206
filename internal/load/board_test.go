package load

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func testBoard(t *testing.T, receivers int) (*board, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "board")
	b, err := makeBoard(path, receivers)
	if err != nil {
		t.Skip("no shared memory here: ", err)
	}
	t.Cleanup(func() { b.close() })
	return b, path
}

// Whatever one writes the other sees: two maps of one file.
func TestBoardIsShared(t *testing.T) {
	a, path := testBoard(t, 3)
	b, err := openBoard(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	a.enter(measured)
	a.counts[0].Store(5)
	a.counts[1].Store(4)
	b.counts[2].Store(7)
	if a.slowest() != 4 || a.deliveries() != 16 || b.phase() != measured || len(b.counts) != 3 {
		t.Errorf("slowest %d, deliveries %d, phase %d, %d receivers", a.slowest(), a.deliveries(), b.phase(), len(b.counts))
	}
	b.begin()
	a.counts[2].Store(9)
	if b.slowest() != 0 || a.deliveries() != 2 {
		t.Errorf("since the beginning: slowest %d, deliveries %d", b.slowest(), a.deliveries())
	}
}

// However many claim at once, no more is under way than the window holds, and
// all of it is used.
func TestWindowIsNeverOverrun(t *testing.T) {
	const window, messages, receivers = 10, 2_000, 4
	b, _ := testBoard(t, receivers)
	var sent atomic.Int64
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for sent.Load() < messages {
				n := b.claim(window, 4)
				if n == 0 {
					n = -deliverOne(b)
				}
				if under := b.outstanding(b.claimed()); under > window {
					t.Errorf("%d messages are under way", under)
					return
				}
				sent.Add(int64(max(n, 0)))
			}
		})
	}
	all.Wait()
	for deliverOne(b) > 0 {
	}
	if n := b.claim(window, 100); n != window {
		t.Errorf("of an empty window %d can be claimed", n)
	}
	if n := b.claim(window, 100); n != 0 {
		t.Errorf("of a full window %d can be claimed", n)
	}
	b.forgive(3)
	if n := b.claim(window, 100); n != 3 {
		t.Errorf("of 3 that were given up %d can be claimed", n)
	}
}

// deliverOne delivers a message to a receiver that lacks one.
func deliverOne(b *board) int {
	claimed := b.claimed()
	for i := range b.counts {
		if got := b.counts[i].Load(); got < claimed && b.counts[i].CompareAndSwap(got, got+1) {
			return 1
		}
	}
	return 0
}

func TestBoardThatIsNone(t *testing.T) {
	if _, err := openBoard(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a board that is not there was opened")
	}
	b, _ := testBoard(t, 0)
	b.claimAny(5)
	b.wrote(2)
	if b.outstanding(b.claimed()) != 3 {
		t.Errorf("without receivers %d are under way, want what was not written yet", b.outstanding(b.claimed()))
	}
}

// A window full of what never comes opens again, and not while anything moves.
func TestStuckWindowOpens(t *testing.T) {
	b, _ := testBoard(t, 2)
	s := &sender{worker: &worker{board: b}}
	b.claim(5, 5)
	late := func() { s.stuckSince -= stuckFor + 1 }
	s.unstick()
	late()
	b.counts[0].Add(1)
	if s.unstick(); b.claim(5, 5) != 0 {
		t.Error("it opened though something had come")
	}
	late()
	if s.unstick(); b.claim(5, 5) != 5 {
		t.Error("it does not open")
	}
	other := &sender{worker: s.worker, i: 1, stuckSince: 1}
	if other.unstick(); b.claim(5, 5) != 0 {
		t.Error("every sender gives up for itself")
	}
}
