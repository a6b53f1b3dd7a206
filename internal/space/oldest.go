package space

import "time"

// OldestProposal is when the oldest open proposal was made; zero where none is
// open.
func (s *State) OldestProposal() (oldest time.Time) {
	for _, p := range s.proposals.open {
		if oldest.IsZero() || p.Opened.Before(oldest) {
			oldest = p.Opened
		}
	}
	return oldest
}
