package tool

import (
	"slices"

	"github.com/parleyhq/parley/internal/response"
)

// Tier is what somebody is entitled to: Community, Pro or Enterprise, each of
// which covers those before it.
type Tier = response.Tier

// The tiers, from the lowest.
const (
	Community  = response.Community
	Pro        = response.Pro
	Enterprise = response.Enterprise
)

// tiers are all tiers, from the lowest.
var tiers = [...]Tier{Community, Pro, Enterprise}

// Hint tells that a higher tier would do more: which feature or limit it is
// about, the tier that it takes, and why.
type Hint = response.Hint

// withHints adds more to hints, of which it keeps one for each feature: that with
// the highest tier, and of two such the first.
func withHints(hints []Hint, more ...Hint) []Hint {
	for _, h := range more {
		i := slices.IndexFunc(hints, func(told Hint) bool { return told.Feature == h.Feature })
		if i < 0 {
			hints = append(hints, h)
		} else if !hints[i].Tier.Covers(h.Tier) {
			hints[i] = h
		}
	}
	return hints
}

// A Feature is something that a tool does from a tier on.
type Feature struct {
	Name   string // as the tool asks for it, such as "cross_file"
	Tier   Tier   // the lowest that has it
	Reason string // what somebody gets for it; empty: "NAME needs the TIER tier"
}

// hint is what is told to whom the feature is missing.
func (f *Feature) hint() Hint {
	h := Hint{Feature: f.Name, Tier: f.Tier, Reason: f.Reason}
	if h.Reason == "" {
		h.Reason = f.Name + " needs the " + string(f.Tier) + " tier"
	}
	return h
}

// A Limit is a number that grows with the tier. 0 is no limit.
type Limit struct {
	Name                       string // as the tool asks for it, such as "max_files"
	Community, Pro, Enterprise int
}

// at is the limit at a tier.
func (l *Limit) at(t Tier) int {
	switch t {
	case Enterprise:
		return l.Enterprise
	case Pro:
		return l.Pro
	default:
		return l.Community
	}
}

// enough is the lowest tier above t that allows n, or else the lowest above t
// that allows more than t does, or else t.
func (l *Limit) enough(t Tier, n int) Tier {
	more := t
	for _, higher := range tiers {
		if t.Covers(higher) || !exceeds(l.at(higher), l.at(t)) {
			continue
		}
		if !exceeds(n, l.at(higher)) {
			return higher
		}
		if more == t {
			more = higher
		}
	}
	return more
}

// exceeds says whether a, as a limit or as a wish, is more than the limit b.
func exceeds(a, b int) bool { return b != 0 && (a == 0 || a > b) }
