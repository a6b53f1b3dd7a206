package mcpfront

import (
	"context"

	"github.com/parleyhq/parley"
)

// flightToCome waits for a client that comes back for an approved call whose
// server asks for something: the approval came when nobody held the call any
// more. Nil where the question belongs to no such call, or nobody comes.
func (s *seat) flightToCome(ctx context.Context, question *parley.Envelope) *flight {
	ctx, cancel := context.WithTimeout(ctx, parkedFor)
	defer cancel()
	for _, id := range question.Correlation.IDs {
		if proposal := s.approvedAs(ctx, id, question.From); proposal != "" {
			return s.waitingFor(ctx, proposal)
		}
	}
	return nil
}

// approvedAs is the proposal made here that an envelope, a call of a server,
// has fulfilled; "" for none.
func (s *seat) approvedAs(ctx context.Context, id, server string) (proposal string) {
	call, err := s.room.API().Envelope(ctx, id)
	if err != nil || !call.Addressed(server) || call.From == s.place.Participant {
		return ""
	}
	for _, id := range call.Correlation.IDs {
		p, err := s.room.API().Proposal(ctx, id)
		if err == nil && p.From == s.place.Participant && p.Closed.ID == call.ID {
			return id
		}
	}
	return ""
}

// waitingFor is a flight that waits for a proposal, as soon as there is one.
func (s *seat) waitingFor(ctx context.Context, proposal string) *flight {
	for {
		s.mu.Lock()
		w, came := s.awaited[proposal], s.came
		s.mu.Unlock()
		if w != nil {
			return w.last
		}
		select {
		case <-came:
		case <-ctx.Done():
			return nil
		}
	}
}
