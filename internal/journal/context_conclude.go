package journal

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// KindConclusion is, by convention, what ends a line of reasoning.
const KindConclusion = "conclusion"

// IsSummary reports whether metadata say of what carries them that it sums up the
// context in which it stands. Anybody may write that: it only makes what one says
// count for less.
func IsSummary(metadata jsontext.Value, context string) bool {
	of, ok := parley.MemberString(metadata, "summary_of")
	return ok && of == context
}

// IsSummary reports whether an envelope sums up its context. Of one that was
// redacted nobody knows.
func (r *Record) IsSummary() bool {
	return r.Context != "" && IsSummary(r.ContextMetadata(), r.Context)
}

// conclude notes what ends a line of reasoning. A summary is what somebody made of
// it: it takes the place of no decision.
func (c *Context) conclude(r *Record) {
	switch {
	case r.Kind != KindConclusion:
	case r.IsSummary():
		c.Summed = r.Seq
	default:
		c.Concluded, c.Summed = r.Seq, 0
	}
}

// Redact takes back what an envelope said of the context before it was redacted,
// as far as nobody has to look for what was said before it. What was a summary may
// have been a decision from now on, and a decision that is not known any more must
// not make an older one look like the last.
func (c *Context) Redact(old *Record) {
	if c.First == old.Seq && c.Type == old.ContextType() {
		c.Type = ""
	}
	if old.Kind == KindConclusion && old.Seq > c.Concluded {
		c.Concluded = old.Seq
		if c.Summed == old.Seq {
			c.Summed = 0
		}
	}
}
