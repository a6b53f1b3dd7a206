package space

import (
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Granting and revoking (section 4). What a participant may send is made of
// what the configuration gives it, less what was revoked, and of grants, each
// of which lives only as long as its grantor could still make it.

// member is one participant's rights.
type member struct {
	id      string
	base    parley.Capabilities // the configuration's, less what was revoked whole
	revoked []revocation        // those that no later one covers, oldest first
	caps    parley.Capabilities // in force: computed from base, revoked and the grants
}

// revocation is one part that was taken from a participant. Where something
// wider remained it is a denial, until a later grant gives back at least as
// much. It is kept where it changed nothing as well: under another
// configuration it may.
type revocation struct {
	seq    uint64
	part   parley.Capability
	denial parley.Capability
	wider  bool
}

// grant is one capability/grant in force.
type grant struct {
	id      string
	seq     uint64
	from    string
	to      string
	caps    parley.Capabilities
	expires time.Time // zero is never
}

// Capabilities is what a participant may send now. It must not be changed.
func (s *State) Capabilities(id string) parley.Capabilities {
	if m := s.members[id]; m != nil {
		return m.caps
	}
	return nil
}

// judgeGrant lets a participant give others what it has itself.
func (j *judgement) judgeGrant() error {
	g, err := readGrant(j.e)
	if err != nil {
		return err
	}
	if g.to == j.from {
		return parley.Errorf(parley.CapabilityViolation, "nobody grants to themselves")
	}
	for _, c := range g.caps {
		if err := c.CheckGrant(); err != nil {
			return err
		}
		if c.NeedsStrict() && !j.strict() {
			return parley.Errorf(parley.CapabilityViolation, "%s looks at params, which a lazy space does not read", c)
		}
	}
	if err := j.mustCover(g.caps); err != nil {
		return err
	}
	return j.roomForGrant(g)
}

func (j *judgement) mustCover(caps parley.Capabilities) error {
	own := j.Capabilities(j.from)
	for _, c := range caps {
		if !own.Covers(c) {
			return parley.Errorf(parley.CapabilityViolation, "what you may send yourself does not cover %s", c)
		}
	}
	return nil
}

// judgeRevoke lets a participant take away what it could have given.
func (j *judgement) judgeRevoke() error {
	recipient, _ := parley.MemberString(j.e.Payload, "recipient")
	id, byGrant := parley.MemberString(j.e.Payload, "grant_id")
	if !byGrant {
		caps, err := readCapabilities(j.e.Payload)
		if err != nil {
			return err
		}
		if err := j.mustCover(caps); err != nil {
			return err
		}
		return j.roomForRevocation(recipient, caps)
	}
	g := j.grant(id)
	if g == nil || g.to != recipient {
		return parley.Errorf(parley.NotFound, "%q has no grant %q in force", recipient, id)
	}
	return j.mustCover(g.caps)
}

func (s *State) grant(id string) *grant {
	for _, g := range s.grants {
		if g.id == id {
			return g
		}
	}
	return nil
}

func readGrant(e *parley.Envelope) (*grant, error) {
	caps, err := readCapabilities(e.Payload)
	if err != nil {
		return nil, err
	}
	expires, err := expiresOf(e.Payload)
	if err != nil {
		return nil, err
	}
	to, _ := parley.MemberString(e.Payload, "recipient")
	return &grant{id: e.ID, seq: e.Seq, from: e.From, to: to, caps: caps, expires: expires}, nil
}

func readCapabilities(payload jsontext.Value) (parley.Capabilities, error) {
	raw := parley.Member(payload, "capabilities")
	if raw.Kind() != '[' {
		return nil, parley.Errorf(parley.KindMismatch, "the payload has no capabilities that are an array")
	}
	var caps parley.Capabilities
	for el := range parley.Elements(raw) {
		if len(caps) == maxCapabilities {
			return nil, parley.Errorf(parley.KindMismatch, "more than %d capabilities at once", maxCapabilities)
		}
		var c parley.Capability
		if err := c.UnmarshalJSON(el); err != nil {
			return nil, parley.Errorf(parley.KindMismatch, "capabilities[%d]: %v", len(caps), err)
		}
		caps = append(caps, c)
	}
	if len(caps) == 0 {
		return nil, parley.Errorf(parley.KindMismatch, "capabilities is empty")
	}
	return caps, nil
}

func (s *State) applyGrant(e *parley.Envelope) []Effect {
	g, err := readGrant(e)
	if err != nil {
		return nil
	}
	if !s.addGrant(g) {
		return nil
	}
	return []Effect{{Type: Rewelcome, Participant: g.to}}
}

// addGrant puts a grant in force. Judge found that its grantor may; under a
// configuration that was changed since, it may not, and then the grant ends.
func (s *State) addGrant(g *grant) bool {
	if !s.supported(g) {
		s.lapsed[g.id] = true
		return false
	}
	s.grants = append(s.grants, g)
	s.grantIDs[g.id] = true
	s.grantEnds = sooner(s.grantEnds, g.expires)
	s.members[g.to].give(g)
	return true
}

func (s *State) applyRevoke(e *parley.Envelope) []Effect {
	recipient, _ := parley.MemberString(e.Payload, "recipient")
	if id, ok := parley.MemberString(e.Payload, "grant_id"); ok {
		return s.endGrant(id)
	}
	caps, err := readCapabilities(e.Payload)
	if err != nil {
		return nil
	}
	return s.revoke(recipient, caps, e.Seq)
}

// revoke takes parts from a participant. One that the configuration no longer
// names may come back, and does not get back what was taken.
func (s *State) revoke(from string, parts parley.Capabilities, seq uint64) []Effect {
	m := s.members[from]
	if m == nil {
		for _, part := range parts {
			s.absent = append(s.absent, savedRevocation{seq, from, part, false})
		}
		return nil
	}
	for _, part := range parts {
		s.take(m, part, seq)
	}
	return s.recompute(from)
}

// take removes what part covers whole, earlier parts included, and denies part
// where something wider remains.
func (s *State) take(m *member, part parley.Capability, seq uint64) {
	wider := s.leavesMore(m, part)
	m.base, _ = without(m.base, part)
	for _, g := range s.grants {
		if g.to == m.id {
			g.caps, _ = without(g.caps, part)
		}
	}
	s.endGrants(func(g *grant) bool { return len(g.caps) == 0 })
	m.revoked = slices.DeleteFunc(m.revoked, func(r revocation) bool { return parley.Capabilities{part}.Covers(r.part) })
	m.revoked = append(m.revoked, revocation{seq: seq, part: part, denial: part.Denial(), wider: wider})
}

// endGrants forgets the grants for which ended holds, asked in their order.
func (s *State) endGrants(ended func(*grant) bool) {
	s.grants = slices.DeleteFunc(s.grants, func(g *grant) bool {
		if !ended(g) {
			return false
		}
		delete(s.grantIDs, g.id)
		return true
	})
}

// without is what is left of caps, and whether part has to be denied besides.
func without(caps parley.Capabilities, part parley.Capability) (left parley.Capabilities, wider bool) {
	denial := part.Denial()
	left = caps.Without(part)
	if n := len(left); n > 0 && left[n-1].Equal(denial) && !slices.ContainsFunc(caps, denial.Equal) {
		return left[:n-1], true
	}
	return left, false
}

func (s *State) endGrant(id string) []Effect {
	delete(s.lapsed, id)
	g := s.grant(id)
	if g == nil {
		return nil
	}
	s.endGrants(func(other *grant) bool { return other == g })
	return s.recompute(g.to)
}

// supported reports whether the grantor covers, now, what it gives.
func (s *State) supported(g *grant) bool {
	grantor := s.members[g.from]
	if grantor == nil || s.members[g.to] == nil {
		return false
	}
	for _, c := range g.caps {
		if !grantor.caps.Covers(c) {
			return false
		}
	}
	return true
}

// recompute makes the rights of a participant anew after something was taken
// from it, and of those whose rights hang on them: the grants are given again
// in their order, and those whose grantor no longer covers them end. Since a
// grant is supported by earlier ones alone, two participants cannot hold each
// other's rights up.
func (s *State) recompute(changed string) []Effect {
	before := s.dependents(changed)
	for id := range before {
		s.members[id].reset()
	}
	s.endGrants(func(g *grant) bool {
		if _, ok := before[g.to]; !ok {
			return false
		}
		if !s.supported(g) {
			return true
		}
		s.members[g.to].give(g)
		return false
	})
	s.grantEnds = time.Time{}
	for _, g := range s.grants {
		s.grantEnds = sooner(s.grantEnds, g.expires)
	}
	effects := []Effect{{Type: Rewelcome, Participant: changed}}
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if id != changed && !sameCapabilities(before[id], s.members[id].caps) {
			effects = append(effects, Effect{Type: Rewelcome, Participant: id})
		}
	}
	return effects
}

// dependents are those whose rights may change with one participant's, it
// included, with what they may send so far. A right that came late supports no
// earlier grant, so that one look at the grants in their order finds all.
func (s *State) dependents(changed string) map[string]parley.Capabilities {
	set := map[string]parley.Capabilities{changed: s.members[changed].caps}
	for _, g := range s.grants {
		if _, ok := set[g.from]; ok {
			set[g.to] = s.members[g.to].caps
		}
	}
	return set
}

func sameCapabilities(a, b parley.Capabilities) bool {
	return slices.EqualFunc(a, b, parley.Capability.Equal)
}

// reset puts the rights back to what is there without grants.
func (m *member) reset() {
	m.caps = slices.Clone(m.base)
	for _, r := range m.revoked {
		if r.wider {
			m.caps = append(m.caps, r.denial)
		}
	}
}

// give adds a grant, which lifts the denials that earlier revocations left
// behind, where it gives back at least what they took. What the configuration
// denies stays denied.
func (m *member) give(g *grant) {
	lifted := func(c parley.Capability) bool {
		return c.Deny() && !slices.ContainsFunc(m.base, c.Equal) &&
			slices.ContainsFunc(m.revoked, func(r revocation) bool {
				return r.wider && r.seq < g.seq && r.denial.Equal(c) && g.caps.Covers(r.part)
			})
	}
	m.caps = slices.DeleteFunc(slices.Clone(m.caps), lifted)
	m.caps = append(m.caps, g.caps...)
}
