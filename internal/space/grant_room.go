package space

import (
	"slices"

	"github.com/parleyhq/parley"
)

// Bounds of what granting and revoking can make of everybody's rights: they are
// held against each envelope, and told in each welcome.
const (
	maxGrants       = 4_096    // in force in one space
	maxGrantsFrom   = 1_024    // of one grantor, so that nobody uses up all
	maxGranted      = 512      // capabilities, to one participant
	maxTaken        = 256      // parts taken of something wider, from one participant
	maxText         = 64 << 10 // bytes of either
	maxRevoked      = 4_096    // parts taken from one participant, whole ones included
	maxRevokedText  = 512 << 10
	maxCapabilities = 256 // in one grant or revocation
)

// roomForGrant refuses a grant beyond the bounds.
func (j *judgement) roomForGrant(g *grant) error {
	from, granted := 0, slices.Clone(g.caps)
	for _, other := range j.grants {
		if other.from == j.from {
			from++
		}
		if other.to == g.to {
			granted = append(granted, other.caps...)
		}
	}
	switch {
	case len(j.grants) >= maxGrants:
		return parley.Errorf(parley.LimitReached, "grants: %d are in force, the limit", maxGrants)
	case from >= maxGrantsFrom:
		return parley.Errorf(parley.LimitReached, "grants: %d of yours are in force, the limit", maxGrantsFrom)
	case len(granted) > maxGranted || textOf(granted) > maxText:
		return parley.Errorf(parley.LimitReached, "grants: %q has as many as it can, %d capabilities or %d bytes", g.to, maxGranted, maxText).
			WithHint("grant something wider, and revoke what it covers")
	}
	return nil
}

func textOf(caps parley.Capabilities) (bytes int) {
	for _, c := range caps {
		bytes += len(c.String())
	}
	return bytes
}

// roomForRevocation refuses parts beyond the bounds. What is taken whole needs
// less room, and a part makes room for itself where it covers earlier ones, so
// that nobody is shielded by what was taken from them already.
func (j *judgement) roomForRevocation(recipient string, caps parley.Capabilities) error {
	var all, parts parley.Capabilities // parts are those taken of something wider
	m := j.members[recipient]
	for _, r := range m.revoked {
		if caps.Covers(r.part) {
			continue
		}
		all = append(all, r.part)
		if r.wider {
			parts = append(parts, r.part)
		}
	}
	for _, part := range caps {
		all = append(all, part)
		if j.leavesMore(m, part) {
			parts = append(parts, part)
		}
	}
	if len(all) > maxRevoked || textOf(all) > maxRevokedText {
		return parley.Errorf(parley.LimitReached, "revocations: as many as are kept were made of %q, %d or %d bytes", recipient, maxRevoked, maxRevokedText).
			WithHint("revoke something wider that covers them")
	}
	if len(parts) > maxTaken || textOf(parts) > maxText {
		return parley.Errorf(parley.LimitReached, "revocations: as many parts as can be are taken from %q, %d or %d bytes", recipient, maxTaken, maxText).
			WithHint("revoke something wider that covers them")
	}
	return nil
}

// leavesMore reports whether part would be taken of something wider.
func (s *State) leavesMore(m *member, part parley.Capability) bool {
	if _, wider := without(m.base, part); wider {
		return true
	}
	return slices.ContainsFunc(s.grants, func(g *grant) bool {
		if g.to != m.id {
			return false
		}
		_, wider := without(g.caps, part)
		return wider
	})
}
