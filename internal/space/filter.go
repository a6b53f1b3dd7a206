package space

import (
	"slices"

	"github.com/parleyhq/parley"
)

// Settings say what a connection wants to receive (section 6 of the contract).
// The zero value is everything.
type Settings struct {
	Directed    bool                // routing=directed: only broadcasts and what names me in to
	Kinds       parley.Capabilities // only kinds that match one of these; empty is all
	Contexts    ContextFilter
	PresenceOff bool // no system/presence
	EchoOff     bool // not what I sent myself
}

// Header is what a filter sees of an envelope.
type Header struct {
	Seq       uint64
	From      string
	To        []string // whom it counts as addressed to
	Kind      parley.Kind
	Effective parley.Kind
	Context   *Lineage // nil for the main one
}

// Filter decides what one connection receives.
type Filter struct {
	me  string
	set Settings
}

// NewFilter is the filter of a participant's connection.
func NewFilter(me string, set Settings) *Filter { return &Filter{me: me, set: set} }

// All reports whether the filter lets everything through.
func (f *Filter) All() bool {
	return !f.set.Directed && len(f.set.Kinds) == 0 && !f.set.PresenceOff && !f.set.EchoOff && f.set.Contexts.All()
}

// Match reports whether the connection receives the envelope.
func (f *Filter) Match(h *Header) bool {
	switch {
	case f.set.EchoOff && h.From == f.me:
		return false
	case f.set.PresenceOff && h.Kind.Type == parley.KindPresence:
		return false
	case slices.Contains(h.To, f.me):
		return true
	case f.set.Directed && len(h.To) > 0:
		return false
	}
	return f.set.Contexts.Match(h.Context) && f.kind(h)
}

func (f *Filter) kind(h *Header) bool {
	if len(f.set.Kinds) == 0 || h.From == parley.GatewayID {
		return true
	}
	for _, pattern := range f.set.Kinds {
		if pattern.Matches(&parley.Action{Kind: h.Kind}) || pattern.Matches(&parley.Action{Kind: h.Effective}) {
			return true
		}
	}
	return false
}
