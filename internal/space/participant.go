package space

import (
	"maps"
	"slices"
	"time"

	"github.com/parleyhq/parley"
)

// Participant is one that the space knows.
type Participant struct {
	ID           string
	Capabilities parley.Capabilities
	Connections  int       // 0 is absent
	Since        time.Time // when it came; zero where it is absent
	Tools        int       // whose definitions are on record
	Pinned       bool      // of these, only accepted ones can be called
	Grants       []Grant   // in force, oldest first
}

// Grant is one in force, as a part of somebody's capabilities.
type Grant struct {
	ID           string
	Seq          uint64
	From         string
	Capabilities parley.Capabilities // less what was revoked of them
	Expires      time.Time           // zero is never
}

// Participants lists everybody who is known, by id.
func (s *State) Participants() []Participant {
	granted := make(map[string][]Grant)
	for _, g := range s.grants {
		granted[g.to] = append(granted[g.to], g.public())
	}
	list := make([]Participant, 0, len(s.members))
	for _, id := range slices.Sorted(maps.Keys(s.members)) {
		list = append(list, s.participant(id, granted[id]))
	}
	return list
}

// Participant is one who is known.
func (s *State) Participant(id string) Participant {
	var granted []Grant
	for _, g := range s.grants {
		if g.to == id {
			granted = append(granted, g.public())
		}
	}
	return s.participant(id, granted)
}

func (s *State) participant(id string, granted []Grant) Participant {
	return Participant{
		ID: id, Capabilities: s.Capabilities(id), Connections: s.connections[id], Since: s.since[id],
		Tools: len(s.tools.of[id]), Pinned: s.rules.Pins[id], Grants: granted,
	}
}

func (g *grant) public() Grant { return Grant{g.id, g.seq, g.from, g.caps, g.expires} }
