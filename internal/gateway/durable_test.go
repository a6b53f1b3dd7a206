package gateway

import (
	"slices"
	"testing"
)

// What waits until something is on record is done in the order in which it was
// asked for, also what is asked for while that goes on: else a connection could
// be told an older welcome after a newer one.
func TestBarriersKeepTheirOrder(t *testing.T) {
	var r room
	var done []int
	note := func(n int) func(error) { return func(error) { done = append(done, n) } }
	r.appended = 1
	r.whenDurable(func(error) {
		r.whenDurable(note(2)) // the space's goroutine comes in between
		done = append(done, 1)
	})
	r.settled = 1
	r.passBarriers()
	r.whenDurable(note(3))
	if !slices.Equal(done, []int{1, 2, 3}) {
		t.Errorf("done in the order %v", done)
	}
}
