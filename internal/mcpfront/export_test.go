package mcpfront

import (
	"fmt"
	"maps"
	"time"

	"github.com/parleyhq/parley"
)

// Sweep does what the sweeper would do at a time.
func (f *Front) Sweep(now time.Time) { f.endIdle(now) }

// AddText adds a text to the content of a tool's result.
var AddText = addText

// Counts are what the front keeps at present.
func (f *Front) Counts() (sessions, seats, parked int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.sessions), len(f.seats), len(f.parked)
}

// Reached is how far a participant's seat has got in what happens in its room.
func (f *Front) Reached(at Place) parley.Position {
	f.mu.Lock()
	s := f.seats[at]
	f.mu.Unlock()
	if s == nil {
		return parley.Position{}
	}
	<-s.ready
	return s.room.Position()
}

// Leftovers says what is kept of calls, streams and subscriptions; "" for
// nothing.
func (f *Front) Leftovers() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	left := map[string]int{"parked": len(f.parked)}
	for at, s := range f.seats {
		s.mu.Lock()
		for what, n := range map[string]int{
			"flights": len(s.flights), "awaited": len(s.awaited), "handovers": len(s.handovers), "watchers": len(s.watchers),
			"calls": s.calls, "listens": s.listens, "listeners": len(s.listeners) - f.sessionsOf(s), "holders": s.holders - f.sessionsOf(s),
		} {
			left[at.Participant+" "+what] = n
		}
		s.mu.Unlock()
	}
	for _, s := range f.sessions {
		s.mu.Lock()
		left["requests"] += len(s.inflight)
		left["questions"] += len(s.asked)
		left["busy"] += s.busy
		s.mu.Unlock()
	}
	maps.DeleteFunc(left, func(_ string, n int) bool { return n == 0 })
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprint(left)
}

func (f *Front) sessionsOf(at *seat) (n int) {
	for _, s := range f.sessions {
		if s.seat == at {
			n++
		}
	}
	return n
}

// Bounds that tests reach.
const (
	MaxSessionsEach = maxSessionsEach
	MaxListensEach  = maxListensEach
	MaxCallsEach    = maxCallsEach
	ParkedFor       = parkedFor
)
