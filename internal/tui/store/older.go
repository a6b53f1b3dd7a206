package store

import "github.com/parleyhq/parley"

// First is the position of the oldest row that has one; 0 where there is none.
func (s *Store) First() uint64 {
	for _, r := range s.rows {
		if r.Seq > 0 {
			return r.Seq
		}
	}
	return 0
}

// Room is how many rows can still be put before the first one.
func (s *Store) Room() int { return s.most - len(s.rows) }

// Before puts what happened before the first row in front of it: envelopes in their
// order, as far as there is room. What became of older calls and proposals is taken
// from the rows that were there.
func (s *Store) Before(envelopes []*parley.Envelope) {
	past := New(max(1, s.Room()))
	past.Me = s.Me
	for _, e := range envelopes {
		past.Add(e)
	}
	for _, r := range s.rows {
		past.later(r)
	}
	s.dropped -= len(past.rows)
	for i, r := range past.rows {
		r.N = s.dropped + i
		for _, id := range r.ids {
			if s.byID[id] == nil {
				s.byID[id] = r
			}
		}
	}
	s.rows = append(past.rows, s.rows...)
	for id, c := range past.contexts {
		if known := s.contexts[id]; known != nil {
			known.Count += c.Count
			known.Type, known.Parent = c.Type, c.Parent // the first to name a context says what it is
		} else if len(s.contexts) < mostContexts {
			s.contexts[id] = c
		}
	}
}

// later takes into an older row what a newer one says of it.
func (s *Store) later(newer *Row) {
	r := s.byID[newer.On]
	switch {
	case r == nil:
	case newer.Type == Answer && r.State == Running:
		r.State, r.Answer = newer.State, newer.Text
	case newer.Type == Call && r.Waits() && r.method == newer.method && r.From != newer.From:
		r.State, r.By, r.Closed, r.Answer = newer.State, newer.From, newer.ID, newer.Answer
	case newer.Type == Other && r.Waits():
		r.State, r.By, r.Closed, r.Why = newer.State, newer.From, newer.ID, newer.Text
	}
}
