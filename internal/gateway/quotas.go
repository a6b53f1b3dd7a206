package gateway

import "sync"

// quotas let each participant do something so many times at once. There is one
// for each that ever did, which are those whom the space knows.
type quotas struct {
	each int

	mu    sync.Mutex
	taken map[string]chan struct{}
}

func newQuotas(each int) *quotas {
	return &quotas{each: each, taken: make(map[string]chan struct{})}
}

func (s *quotas) of(who string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.taken[who]
	if taken == nil {
		taken = make(chan struct{}, s.each)
		s.taken[who] = taken
	}
	return taken
}

// acquire waits until the participant has one left. It reports false where done
// is closed before.
func (s *quotas) acquire(who string, done <-chan struct{}) (release func(), ok bool) {
	taken := s.of(who)
	select {
	case taken <- struct{}{}:
		return func() { <-taken }, true
	case <-done:
		return nil, false
	}
}
