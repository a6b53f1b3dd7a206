package taint

// A state is what is known at one point of a function: what the names hold, and
// what was found out about hostile texts. A branch is a state on top of another,
// which holds only what the branch changes, so that a branch costs what it does
// and not what came before it.
type state struct {
	up    *state
	vars  map[string]*value
	clear map[uint64]danger
	local map[string]bool // names that end with this state
	dead  bool            // no way leads here
	depth int             // how many states there are below
}

func (s *state) branch() *state { return &state{up: s, depth: s.depth + 1} }

func (s *state) get(name string) (*value, bool) {
	for ; s != nil; s = s.up {
		if v, ok := s.vars[name]; ok {
			return v, true
		}
	}
	return nil, false
}

func (s *state) set(name string, v *value) {
	if s.vars == nil {
		s.vars = map[string]*value{}
	}
	s.vars[name] = v
}

func (s *state) declare(name string, v *value) {
	if s.local == nil {
		s.local = map[string]bool{}
	}
	s.local[name] = true
	s.set(name, v)
}

// cleared is what the text id can no longer do here.
func (s *state) cleared(id uint64) danger {
	for ; s != nil; s = s.up {
		if d, ok := s.clear[id]; ok {
			return d
		}
	}
	return 0
}

func (s *state) setCleared(id uint64, d danger) {
	if s.cleared(id) == d {
		return
	}
	if s.clear == nil {
		s.clear = map[uint64]danger{}
	}
	s.clear[id] = d
}

func (s *state) learn(facts []fact) {
	for _, f := range facts {
		s.setCleared(f.id, s.cleared(f.id)|f.clear)
	}
}

// settle writes what is known of texts only here into the value itself, so that
// it is not lost where this branch ends.
func (s *state) settle(v *value) *value {
	if v == nil {
		return v
	}
	for i, t := range v.taints {
		if s.cleared(t.id)&t.left != 0 {
			c := v.clone()
			c.taints = append([]taint(nil), v.taints[:i]...)
			for _, t := range v.taints[i:] {
				if t.left &^= s.cleared(t.id); t.left != 0 {
					c.taints = append(c.taints, t)
				}
			}
			return c
		}
	}
	return v
}

// become makes s what the branch on top of it is.
func (s *state) become(b *state) {
	if b.dead {
		s.dead = true
	}
	for name, v := range b.vars {
		if !b.local[name] {
			s.set(name, v)
		}
	}
	for id, d := range b.clear {
		s.setCleared(id, d)
	}
}

// merge makes s what one of the branches on top of it is. The dead ones do not
// count.
func (s *state) merge(branches ...*state) {
	alive := branches[:0:0]
	for _, b := range branches {
		if !b.dead {
			alive = append(alive, b)
		}
	}
	switch len(alive) {
	case 0:
		s.dead = true
		return
	case 1:
		s.become(alive[0])
		return
	}
	vars, clear := map[string]*value{}, map[uint64]danger{}
	for _, b := range alive {
		for name := range b.vars {
			if !b.local[name] {
				vars[name] = nil
			}
		}
		for id := range b.clear {
			clear[id] = byAll
		}
	}
	for name := range vars {
		var v *value
		for i, b := range alive {
			one, _ := b.get(name)
			if b.local[name] {
				one, _ = s.get(name)
			}
			one = b.settle(one)
			if i == 0 {
				v = one
			} else {
				v = join(v, one)
			}
		}
		s.set(name, v)
	}
	for id := range clear {
		d := byAll
		for _, b := range alive {
			d &= b.cleared(id)
		}
		s.setCleared(id, d)
	}
}

// mayBe makes s also what the branch on top of it is, and says whether that was
// news.
func (s *state) mayBe(b *state) bool {
	news := false
	for name, v := range b.vars {
		if b.local[name] {
			continue
		}
		old, there := s.get(name)
		v = b.settle(v)
		next := v
		if there {
			next = join(old, v)
		}
		if !there || next != old {
			s.set(name, next)
			news = news || len(next.all()) > 0
		}
	}
	for id, d := range b.clear {
		if was := s.cleared(id); was&^d != 0 {
			s.setCleared(id, was&d)
			news = true
		}
	}
	return news
}

// since is all that changed on top of base, in one state.
func (s *state) since(base *state) *state {
	out := base.branch()
	for ; s != nil && s != base; s = s.up {
		for name, v := range s.vars {
			if _, ok := out.vars[name]; !ok && !s.local[name] {
				out.set(name, v)
			}
		}
		for id, d := range s.clear {
			if _, ok := out.clear[id]; !ok {
				if out.clear == nil {
					out.clear = map[uint64]danger{}
				}
				out.clear[id] = d
			}
		}
	}
	return out
}
