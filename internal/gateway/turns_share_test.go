package gateway

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parleyhq/parley"
)

// TestShares plays what parties do, by letter: a asks, A has done with what it
// began first. Behind the arrow stands who begins, in that order.
func TestShares(t *testing.T) {
	for _, c := range []struct{ name, play, begins string }{
		{"one alone has half", "aaaa", "aa"},
		{"and goes on when it has done", "aaaaAA", "aaaa"},
		{"another one begins at once", "aaaaaaab", "aab"},
		{"two share it", "aabbaaabbbAABBAB", "aabbaabbab"},
		{"a late one does not wait for a long queue", "aabbaaaaaaaacA", "aabbc"},
		{"and the others after it", "aabbaaaaabbbbbcABA", "aabbcab"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newSharesHarness(4, 100)
			for _, r := range c.play {
				who := strings.ToLower(string(r))
				if who == string(r) {
					h.ask(who)
				} else {
					h.done(who)
				}
			}
			if got := strings.Join(h.begun, ""); got != c.begins {
				t.Errorf("%s: %s begin, want %s", c.play, got, c.begins)
			}
		})
	}
}

// sharesHarness keeps count of what turns grants.
type sharesHarness struct {
	*turns
	waiting []wish
	doing   map[string]int
	begun   []string
}

type wish struct {
	who   string
	begin chan struct{}
}

func newSharesHarness(atOnce, waiting int) *sharesHarness {
	return &sharesHarness{turns: newShares(atOnce, waiting), doing: map[string]int{}}
}

func (h *sharesHarness) ask(who string) error {
	begin, err := h.queue(who)
	switch {
	case err != nil:
		return err
	case begin == nil:
		h.doing[who]++
		h.begun = append(h.begun, who)
	default:
		h.waiting = append(h.waiting, wish{who, begin})
	}
	return nil
}

func (h *sharesHarness) done(who string) {
	h.doing[who]--
	h.release(who)
	h.look()
}

// look notes what may begin. At most one wish is granted by one step.
func (h *sharesHarness) look() {
	for i := 0; i < len(h.waiting); i++ {
		w := h.waiting[i]
		select {
		case <-w.begin:
			h.waiting = append(h.waiting[:i:i], h.waiting[i+1:]...)
			h.doing[w.who]++
			h.begun = append(h.begun, w.who)
			i--
		default:
		}
	}
}

// Whatever parties do: nobody has more than half, nothing is left idle that
// somebody may use, nobody is passed over for long, and nothing is kept of who
// has gone.
func TestSharesAreFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const atOnce, each = 4, 2
		h := newSharesHarness(atOnce, 10)
		parties := []string{"a", "b", "c", "d"}
		passed := map[string]int{} // grants to others since a party could have begun
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			who := rapid.SampledFrom(parties).Draw(t, "who")
			before := len(h.begun)
			switch act := rapid.IntRange(0, 2).Draw(t, "act"); {
			case act == 0 && h.doing[who] > 0:
				h.done(who)
			case act == 1 && len(h.waiting) > 0:
				i := rapid.IntRange(0, len(h.waiting)-1).Draw(t, "wish")
				w := h.waiting[i]
				if !h.giveUp(w.who, w.begin) {
					t.Fatal("a wish that was not granted cannot be taken back")
				}
				h.waiting = append(h.waiting[:i:i], h.waiting[i+1:]...)
			default:
				_ = h.ask(who)
			}
			all := 0
			waits := map[string]int{}
			for _, w := range h.waiting {
				waits[w.who]++
			}
			for _, p := range parties {
				all += h.doing[p]
				if h.doing[p] > each {
					t.Fatalf("%s does %d at once", p, h.doing[p])
				}
				if waits[p] > 10 {
					t.Fatalf("%d of %s wait", waits[p], p)
				}
			}
			for _, granted := range h.begun[before:] {
				for _, p := range parties {
					passed[p]++
				}
				passed[granted] = 0
			}
			for _, p := range parties {
				may := waits[p] > 0 && h.doing[p] < each
				if !may {
					passed[p] = 0
				}
				if may && all < atOnce {
					t.Fatalf("%s waits, and only %d of %d are taken", p, all, atOnce)
				}
				if passed[p] > len(parties) {
					t.Fatalf("%s was passed over %d times", p, passed[p])
				}
			}
		}
		for len(h.waiting) > 0 || len(h.doing) > 0 {
			for p, n := range h.doing {
				if n == 0 {
					delete(h.doing, p)
					continue
				}
				h.done(p)
			}
		}
		if len(h.of) != 0 || len(h.lines) != 0 || h.free != atOnce {
			t.Fatalf("%d lines, %d of them queued, %d free are left", len(h.of), len(h.lines), h.free)
		}
	})
}

func TestSharesEnd(t *testing.T) {
	h := newShares(2, 1)
	release, err := h.acquire(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := h.acquire(ended, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("who waits no longer is told %v", err)
	}
	turn, err := h.queue("a")
	if err != nil {
		t.Errorf("what was taken back still counts: %v", err)
	}
	if _, err := h.queue("a"); !errors.Is(err, &parley.Error{Code: parley.RateLimited}) {
		t.Errorf("one too many is told %v", err)
	}
	release()
	<-turn
	h.release("a")
	if len(h.of) != 0 || h.free != 2 {
		t.Errorf("left: %+v", h)
	}
}
