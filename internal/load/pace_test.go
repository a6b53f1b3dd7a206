package load

import (
	"math/rand/v2"
	"testing"
)

// Whoever looks at any moment sends what was due by then, each message once and
// stamped with the moment at which it was due.
func TestPace(t *testing.T) {
	for _, rate := range []float64{0.5, 1, 3, 7, 333.3, 1_000, 99_999, 3_000_000} {
		rnd := rand.New(rand.NewPCG(1, uint64(rate)))
		p := &pace{start: 1_000_000_007, rate: rate}
		now, last, sent := p.start, int64(0), 0
		for sent < 5_000 {
			n := p.due(now)
			if want := int(float64(now-p.start)*rate/1e9) + 1 - sent; n != want {
				t.Fatalf("rate %g, %d ns after the start, %d sent: %d are due, want %d", rate, now-p.start, sent, n, want)
			}
			for _, at := range p.take(nil, n) {
				if at > now || at < last {
					t.Fatalf("rate %g: due at %d, taken at %d, the one before %d", rate, at, now, last)
				}
				last = at
			}
			if sent += n; p.next() <= now {
				t.Fatalf("rate %g: all that was due was taken, and the next is due at %d, now is %d", rate, p.next(), now)
			}
			now = p.next() + int64(rnd.Float64()*20e9/rate) - int64(rnd.IntN(2))
			now = max(now, last)
		}
	}
}

func TestPaceBeforeItsStart(t *testing.T) {
	p := &pace{start: 100, rate: 1e9}
	if n := p.due(99); n != 0 {
		t.Errorf("%d are due before the start", n)
	}
	if n := p.due(100); n != 1 {
		t.Errorf("%d are due at the start, want the first", n)
	}
}

// A sender that stood still catches up, and says since when its messages are late.
func TestPaceHidesNoStall(t *testing.T) {
	p := &pace{start: 0, rate: 1_000}
	p.take(nil, p.due(0))
	stall := int64(1e9)
	stamps := p.take(nil, p.due(stall))
	if len(stamps) != 1_000 || stamps[0] != 1e6 || stamps[999] != stall {
		t.Errorf("after a second at 1000 per second: %d messages, from %d to %d", len(stamps), stamps[0], stamps[len(stamps)-1])
	}
}
