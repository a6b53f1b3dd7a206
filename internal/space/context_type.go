package space

import (
	"cmp"
	"time"
)

// ContextType is what the configuration says of the contexts of one type. A
// limit of 0 is that of the space.
type ContextType struct {
	Description   string
	Kinds         []string // patterns of what is expected in one; a hint, never enforced
	Summarize     bool     // one that is concluded gets a summary
	Rate          float64  // as Limits.ContextRate
	Depth         int      // as Limits.ContextDepth
	Open          int      // as Limits.OpenContexts, of this type alone
	MetadataBytes int      // as Limits.ContextMetadataBytes
	Idle          time.Duration
}

// ContextType is what holds for contexts of a type, with the limits of the space
// where it has none of its own. Of rules that [Rules.WithDefaults] made it is
// looked up.
func (r *Rules) ContextType(name string) ContextType {
	if r.types == nil {
		return r.ContextTypes[name].within(r.Limits.WithDefaults())
	}
	if t, named := r.types[name]; named {
		return t
	}
	return r.otherType
}

// resolve finds out what holds for every type, so that no envelope has to.
func (r *Rules) resolve() {
	r.otherType = ContextType{}.within(r.Limits)
	r.types = make(map[string]ContextType, len(r.ContextTypes))
	for name, t := range r.ContextTypes {
		r.types[name] = t.within(r.Limits)
	}
}

// within fills in the limits of the space.
func (t ContextType) within(l Limits) ContextType {
	t.Rate = cmp.Or(t.Rate, l.ContextRate)
	t.Depth = cmp.Or(t.Depth, l.ContextDepth)
	t.Open = cmp.Or(t.Open, l.OpenContexts)
	t.MetadataBytes = cmp.Or(t.MetadataBytes, l.ContextMetadataBytes)
	t.Idle = cmp.Or(t.Idle, l.ContextIdle)
	return t
}

// Concluded reports whether a context of a type that was touched last at a time
// is concluded now (section 8 of the contract).
func (r *Rules) Concluded(typ string, touched, now time.Time) bool {
	return now.Sub(touched) >= r.ContextType(typ).Idle
}
