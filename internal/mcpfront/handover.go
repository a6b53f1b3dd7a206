package mcpfront

// handover is a proposal whose outcome is being sent to clients.
type handover struct {
	clients int
	ended   chan struct{} // closed when one of them has it or not, and made anew
}

// handOver notes that the outcome of a proposal is being sent to a client, until
// done: from the moment that the client has it, its next call is another one,
// and the record says so a little later. An empty id is none.
func (s *seat) handOver(proposal string) (done func()) {
	if proposal == "" {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.handovers[proposal]
	if h == nil {
		h = &handover{ended: make(chan struct{})}
		s.handovers[proposal] = h
	}
	h.clients++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(h.ended)
		h.ended = make(chan struct{})
		if h.clients--; h.clients == 0 {
			delete(s.handovers, proposal)
		}
	}
}

// handing is closed when a client has got the outcome of a proposal, or has not;
// nil where none is being sent it.
func (s *seat) handing(proposal string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.handovers[proposal]; h != nil {
		return h.ended
	}
	return nil
}
