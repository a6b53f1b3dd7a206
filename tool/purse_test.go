package tool

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Branches that ask at once do not hold more together than their parent has,
// whichever of them looks first.
func TestPursesAreNotOverspent(t *testing.T) {
	const limit = 1000
	for range 300 {
		whole := newPurse(nil, limit)
		var held atomic.Int64
		var wg sync.WaitGroup
		start := make(chan struct{})
		for range 8 {
			branch := newPurse(whole, limit-1)
			wg.Go(func() {
				<-start
				for range 100 { // the last of them find nothing left
					if output := branch.hold(1, 10); output > 0 {
						held.Add(1 + output)
					}
				}
			})
		}
		close(start)
		wg.Wait()
		if got := held.Load(); got > limit || got != whole.spent {
			t.Fatalf("%d of %d tokens were held, and %d counted", got, limit, whole.spent)
		}
	}
}
