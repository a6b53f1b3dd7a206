package mcpfront

import "time"

// Sweep does what the sweeper would do at a time.
func (f *Front) Sweep(now time.Time) { f.endIdle(now) }

// Counts are what the front keeps at present.
func (f *Front) Counts() (sessions, seats, parked int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.sessions), len(f.seats), len(f.parked)
}

// Leftovers are what the seats keep of calls, streams and subscriptions.
func (f *Front) Leftovers() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n = len(f.parked)
	for _, s := range f.seats {
		s.mu.Lock()
		n += len(s.flights) + len(s.awaited) + len(s.handovers) + len(s.watchers) + s.calls + s.listens
		n += len(s.listeners) + s.holders - 2*f.sessionsOf(s)
		s.mu.Unlock()
	}
	for _, s := range f.sessions {
		s.mu.Lock()
		n += len(s.inflight) + len(s.asked) + s.busy
		s.mu.Unlock()
	}
	return n
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
