package crash

import (
	"slices"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// View is what one participant asked to receive. It is written from section 6
// of the contract, apart from the gateway's own filter.
type View struct {
	Me          string
	Directed    bool
	Types       []string // only kinds that begin so; empty is all
	PresenceOff bool
	EchoOff     bool
}

// Shows reports whether a record of an envelope comes into view.
func (v *View) Shows(r *journal.Record) bool {
	typ, _, _ := strings.Cut(r.Kind, ":")
	switch named := slices.Contains(r.To, v.Me); {
	case v.EchoOff && r.From == v.Me:
		return false
	case v.PresenceOff && typ == parley.KindPresence:
		return false
	case named:
		return true
	case v.Directed && len(r.To) > 0:
		return false
	case len(v.Types) == 0 || strings.HasPrefix(typ, "system/"):
		return true
	}
	return slices.ContainsFunc(v.Types, func(begin string) bool { return strings.HasPrefix(typ, begin) })
}

// kinds is what a participant asks the gateway for, to see just that.
func (v *View) kinds() []string {
	var patterns []string
	for _, begin := range v.Types {
		patterns = append(patterns, begin+"*")
	}
	return patterns
}

// shown follows what one participant has to receive, and has received.
type shown struct {
	View
	ahead  []place // on record and not received yet
	floor  uint64  // what is not above was received, or is from before
	joined bool
}

// place is where an envelope stands.
type place struct {
	id     string
	seq    uint64
	digest uint64
}
