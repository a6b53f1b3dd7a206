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
// where it has none of its own.
func (r *Rules) ContextType(name string) ContextType {
	t, l := r.ContextTypes[name], r.Limits.WithDefaults()
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
