package store

import (
	"slices"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/lookalike"
)

// People are those who are here, sorted; at most 2,000 of them.
func (s *Store) People() []string { return sorted(s.people) }

// Here reports whether somebody is.
func (s *Store) Here(id string) bool { return s.people[id] }

func (s *Store) presence(e *parley.Envelope) {
	if e.Seq > 0 && e.Seq <= s.told {
		return
	}
	id := text(parley.Member(e.Payload, "participant"), "id")
	switch text(e.Payload, "event") {
	case "join":
		s.arrive(id)
	case "leave":
		delete(s.people, id)
	}
}

func (s *Store) arrive(id string) {
	if id != "" && len(s.people) < mostPeople {
		s.people[strings.Clone(id)] = true
		s.look(id)
	}
}

// LooksLike names somebody whose id can be taken for this one, as agent-1 for
// agent-l; "" where nobody came by who has one.
func (s *Store) LooksLike(id string) string {
	for _, other := range s.looks[lookalike.Skeleton(id)] {
		if other != id {
			return other
		}
	}
	return ""
}

// Lookalikes counts the ids that can be taken for another one: with it changes how
// rows look that were there before.
func (s *Store) Lookalikes() int { return s.alike }

// Know takes in who may come: an id can be taken for that of somebody who is not here.
func (s *Store) Know(ids []string) {
	for _, id := range ids {
		s.look(id)
	}
}

// look remembers how an id looks: the first two of each look are enough.
func (s *Store) look(id string) {
	if s.looks == nil {
		s.looks = map[string][]string{}
	}
	skeleton := lookalike.Skeleton(id)
	if list := s.looks[skeleton]; len(list) < 2 && !slices.Contains(list, id) && len(s.looks) < mostPeople {
		s.looks[skeleton] = append(list, strings.Clone(id))
		if len(list) > 0 {
			s.alike++
		}
	}
}
