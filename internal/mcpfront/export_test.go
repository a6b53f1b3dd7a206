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

// Bounds that tests reach.
const (
	MaxSessionsEach = maxSessionsEach
	MaxListensEach  = maxListensEach
	MaxCallsEach    = maxCallsEach
	ParkedFor       = parkedFor
)
