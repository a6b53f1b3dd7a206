package client

import (
	"context"
	"iter"
	"slices"

	"github.com/parleyhq/parley"
)

// Envelopes is a sequence of envelopes that can be narrowed down: of what is on
// record, by [API.History], or of what happens, as
// Envelopes(room.Envelopes(ctx)).
//
//	for e, err := range api.History(ctx, nil).OfType("reasoning") {
//		…
//	}
//
// What is left out is read all the same; where the [Query] can say it, it says
// it cheaper. Nothing is kept but what [Envelopes.OfType] needs. Errors, and
// with them every [*Gap], pass all filters.
type Envelopes iter.Seq2[*parley.Envelope, error]

// History is [API.Envelopes] to be narrowed down.
func (a *API) History(ctx context.Context, q *Query) Envelopes { return Envelopes(a.Envelopes(ctx, q)) }

// MainOnly leaves out all sub-contexts.
func (all Envelopes) MainOnly() Envelopes {
	return all.Where(func(e *parley.Envelope) bool { return e.Context == nil })
}

// OfType leaves out the sub-contexts of other types; the main context stays.
//
// A context's type is what its first envelope says, here the first that comes
// by: in a sequence that starts in the middle, or that has the newest first, a
// sender who contradicts the first one is believed. It is remembered for the
// 4,096 contexts that came by last.
func (all Envelopes) OfType(types ...string) Envelopes {
	return func(yield func(*parley.Envelope, error) bool) {
		known := newWindow[string](keptContexts)
		all.Where(func(e *parley.Envelope) bool {
			if e.Context == nil {
				return true
			}
			known.add(e.Context.ID, e.Context.Type) // the first stays
			typ, _ := known.get(e.Context.ID)
			return slices.Contains(types, typ)
		})(yield)
	}
}

const keptContexts = 4_096

// Conclusions leaves only what concludes sub-contexts: envelopes of kind
// conclusion, which is a convention and no rule.
func (all Envelopes) Conclusions() Envelopes {
	return all.Where(func(e *parley.Envelope) bool { return e.Context != nil && e.Kind == kindConclusion })
}

// InContext leaves only what is in one of these contexts, without their
// descendants; [Query] can ask for those.
func (all Envelopes) InContext(ids ...string) Envelopes {
	return all.Where(func(e *parley.Envelope) bool { return e.Context != nil && slices.Contains(ids, e.Context.ID) })
}

// Where leaves only the envelopes that keep says.
func (all Envelopes) Where(keep func(*parley.Envelope) bool) Envelopes {
	return func(yield func(*parley.Envelope, error) bool) {
		for e, err := range all {
			if (err != nil || keep(e)) && !yield(e, err) {
				return
			}
		}
	}
}
