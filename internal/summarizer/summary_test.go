package summarizer

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Whoever sums up is woken for what is due sooner than all else, and for nothing
// that comes later.
func TestWaking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watch{due: make(map[string]time.Time), news: make(chan struct{}, 1)}
		for _, step := range []struct {
			id    string
			idle  time.Duration
			wakes bool
			then  time.Duration // until the first is due
		}{
			{"a", time.Minute, true, time.Minute},
			{"a", 2 * time.Minute, false, 2 * time.Minute},
			{"b", 3 * time.Minute, false, 2 * time.Minute},
			{"a", 4 * time.Minute, false, 3 * time.Minute},
			{"c", time.Second, true, time.Second},
			{"d", 2 * time.Hour, false, time.Second},
		} {
			w.next(time.Now())
			w.wait(step.id, step.idle)
			if woken := len(w.news) > 0; woken != step.wakes {
				t.Errorf("%s after %v wakes: %t", step.id, step.idle, woken)
			}
			if id, in := w.next(time.Now()); id != "" || in != step.then {
				t.Errorf("%s after %v: %q is next, in %v, want %v", step.id, step.idle, id, in, step.then)
			}
			select {
			case <-w.news:
			default:
			}
		}
		var order []string
		for range 4 {
			id, in := w.next(time.Now())
			if id == "" {
				time.Sleep(in)
				id, _ = w.next(time.Now())
			}
			order = append(order, id)
		}
		if !slices.Equal(order, []string{"c", "b", "a", "d"}) {
			t.Errorf("they are looked at in the order %q", order)
		}
	})
}
