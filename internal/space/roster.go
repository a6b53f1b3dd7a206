package space

import (
	"slices"
	"strings"
)

// roster is who is here, by id, as a welcome tells it. What a welcome was given
// of it never changes, so that it can be written elsewhere, later, and a
// thousand newcomers at once cost the space next to nothing.
type roster struct {
	present []*presentOne // sorted
	shared  bool          // somebody else holds it: it is copied before it changes
}

// presentOne does not change.
type presentOne struct {
	id   string
	json string // {"id":…,"capabilities":[…]}
}

func (r *roster) find(id string) (int, bool) {
	return slices.BinarySearchFunc(r.present, id, func(p *presentOne, id string) int { return strings.Compare(p.id, id) })
}

// set adds somebody, or says anew what they may do.
func (r *roster) set(one *presentOne) {
	r.own()
	if i, ok := r.find(one.id); ok {
		r.present[i] = one
	} else {
		r.present = slices.Insert(r.present, i, one)
	}
}

func (r *roster) remove(id string) {
	if i, ok := r.find(id); ok {
		r.own()
		r.present = slices.Delete(r.present, i, i+1)
	}
}

// share is the roster as it is now.
func (r *roster) share() []*presentOne {
	r.shared = true
	return r.present
}

func (r *roster) own() {
	if r.shared {
		r.present, r.shared = slices.Clone(r.present), false
	}
}

// enrol has the roster say what a participant may do, where it is here.
func (s *State) enrol(id string) {
	if s.connections[id] > 0 {
		s.roster.set(&presentOne{id: id, json: string(s.appendParticipant(nil, id))})
	}
}
