package space

import (
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// The events of system/presence.
const (
	joined = "join"
	left   = "leave"
)

// Connect takes in one more connection of a participant. Its first one makes
// a presence to put on record; the error is limit_reached, rate_limited or
// not_found. The limit of connections does not keep out who has none: others could
// take them all.
func (s *State) Connect(id string, now time.Time) (*parley.Envelope, error) {
	if limit := s.rules.Limits.Connections; s.connections[id] > 0 && s.connected >= limit {
		return nil, parley.Errorf(parley.LimitReached, "connections: %d are open, the limit is %d", s.connected, limit)
	}
	return s.Replace(id, now)
}

// Replace is Connect for a connection in whose place another one of the same
// participant goes, so that the limit of connections does not count.
func (s *State) Replace(id string, now time.Time) (*parley.Envelope, error) {
	limits := s.rules.Limits
	switch {
	case !s.Known(id):
		return nil, parley.Errorf(parley.NotFound, "no participant here is called %.80q", id)
	case s.connections[id] == 0 && len(s.connections) >= limits.Participants:
		return nil, parley.Errorf(parley.LimitReached, "participants: %d are here, the limit", limits.Participants)
	}
	if err := s.arrive(id, now); err != nil {
		return nil, err
	}
	s.connections[id]++
	s.connected++
	if s.connections[id] == 1 {
		s.since[id] = now
		s.enrol(id)
	}
	if s.connections[id] > 1 || s.present[id] {
		return nil, nil
	}
	return s.presence(joined, id, now), nil
}

// Disconnect lets a connection go. The participant's last one makes a presence
// to put on record.
func (s *State) Disconnect(id string, now time.Time) *parley.Envelope {
	if s.connections[id] == 0 {
		return nil
	}
	s.connections[id]--
	s.connected--
	if s.connections[id] > 0 {
		return nil
	}
	delete(s.connections, id)
	delete(s.since, id)
	s.roster.remove(id)
	if !s.present[id] {
		return nil
	}
	return s.presence(left, id, now)
}

// AdoptConnections takes over who is connected, and how fast they send, from
// a state that a rebuilt one replaces.
func (s *State) AdoptConnections(old *State) {
	s.connections, s.connected, s.since = old.connections, old.connected, old.since
	s.buckets, s.arrivals = old.buckets, old.arrivals
	s.inContexts, s.bucketsKept = old.inContexts, old.bucketsKept
	for _, id := range slices.Sorted(maps.Keys(s.connections)) {
		s.enrol(id)
	}
}

// Reconcile makes what brings the record in line with what is true, after a
// start and after the state was rebuilt: presences of those who are connected
// and are not, and notices of grants that the configuration has ended.
func (s *State) Reconcile(now time.Time) []*parley.Envelope {
	var list []*parley.Envelope
	for _, id := range slices.Sorted(maps.Keys(s.lapsed)) {
		list = append(list, s.system(parley.KindNotice, now, lapsedPayload(id), id))
	}
	for _, id := range slices.Sorted(maps.Keys(s.present)) {
		if s.connections[id] == 0 {
			list = append(list, s.presence(left, id, now))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.connections)) {
		if !s.present[id] {
			list = append(list, s.presence(joined, id, now))
		}
	}
	return list
}

func (s *State) presence(event, id string, now time.Time) *parley.Envelope {
	payload := jsontext.Value(`{"event":"` + event + `","participant":`)
	payload = append(s.appendParticipant(payload, id), '}')
	return s.system(parley.KindPresence, now, payload)
}

func (s *State) applyPresence(e *parley.Envelope) {
	event, _ := parley.MemberString(e.Payload, "event")
	id, _ := parley.MemberString(parley.Member(e.Payload, "participant"), "id")
	if event == joined {
		s.present[id] = true
	} else {
		delete(s.present, id)
	}
}
