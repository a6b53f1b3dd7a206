package gateway

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// Whoever has many waiting waits for them; whoever has one does not.
func TestTurnsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		hold, _ := turns.acquire(t.Context(), "first")
		var order []string
		for _, who := range []string{"greedy", "greedy", "greedy", "greedy", "ann", "bob", "bob"} {
			go func() {
				release, err := turns.acquire(t.Context(), who)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, who)
				release()
			}()
			synctest.Wait() // they come in this order
		}
		hold()
		synctest.Wait()
		const want = "greedy ann bob greedy bob greedy greedy"
		if got := strings.Join(order, " "); got != want {
			t.Errorf("served: %s, want %s", got, want)
		}
		if turns.free != 1 || len(turns.of)+len(turns.lines) != 0 {
			t.Errorf("left: %+v", turns)
		}
	})
}

// Who gives up leaves nothing behind, and takes nobody's turn.
func TestTurnsThatAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(2)
		one, _ := turns.acquire(t.Context(), "ann")
		two, _ := turns.acquire(t.Context(), "ann")
		ctx, cancel := context.WithCancel(t.Context())
		var failed []error
		var mu sync.Mutex
		for _, who := range slices.Repeat([]string{"ann", "bob"}, 3) {
			go func() {
				_, err := turns.acquire(ctx, who)
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, err)
			}()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if len(failed) != 6 || !errors.Is(errors.Join(failed...), context.Canceled) {
			t.Errorf("errors: %v", failed)
		}
		one()
		two()
		if turns.free != 2 || len(turns.of)+len(turns.lines) != 0 {
			t.Errorf("left: %+v", turns)
		}
	})
}
