package gateway

import (
	"context"
	"slices"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// headerOf is what filters see of an envelope on record, which belongs to a
// context that stands there in the tree.
func headerOf(rec *journal.Record, in *space.Lineage) space.Header {
	h := space.Header{Seq: rec.Seq, From: rec.From, To: rec.To, Context: in, Kind: parley.SplitKind(rec.Kind)}
	h.Effective = h.Kind
	if rec.Effective != rec.Kind {
		h.Effective = parley.SplitKind(rec.Effective)
	}
	return h
}

// headerNow is that of an envelope which has just been put on record.
func headerNow(rec *journal.Record) space.Header {
	return headerOf(rec, rec.Token.(*pending).lineage)
}

// ownWord is where an envelope says itself that its context stands; nil for the
// main one.
func ownWord(rec *journal.Record) *space.Lineage {
	if rec.Context == "" {
		return nil
	}
	l := &space.Lineage{Type: rec.ContextType(), Path: []string{rec.Context}}
	if rec.Parent != "" {
		l.Path = append(l.Path, rec.Parent)
	}
	return l
}

// tracer finds out of the record where contexts stand, for filters that look at
// what came before. It is for one reading: meanwhile the tree does not change for
// it.
type tracer struct {
	ctx   context.Context
	log   journal.Reader
	known map[string]*space.Lineage
}

// longestTrace bounds what is looked at of those above a context.
const longestTrace = 64

// lineage is where the context of a record stands.
func (t *tracer) lineage(rec *journal.Record) (*space.Lineage, error) {
	if rec.Context == "" {
		return nil, nil
	}
	if l := t.known[rec.Context]; l != nil {
		return l, nil
	}
	l := &space.Lineage{}
	for id := rec.Context; id != "" && !slices.Contains(l.Path, id) && len(l.Path) < longestTrace; {
		c, err := contextOf(t.ctx, t.log, journal.ContextQuery{ID: id})
		if err != nil {
			return nil, err
		}
		l.Path = append(l.Path, id)
		if c == nil {
			break
		}
		if len(l.Path) == 1 {
			l.Type = c.Type
		}
		id = c.Parent
	}
	if t.known == nil {
		t.known = make(map[string]*space.Lineage)
	}
	t.known[rec.Context] = l
	return l, nil
}

// contextOf is the first context that a query selects, nil for none.
func contextOf(ctx context.Context, log journal.Reader, q journal.ContextQuery) (*journal.Context, error) {
	q.Limit = 1
	for c, err := range log.Contexts(ctx, q) {
		return c, err
	}
	return nil, nil
}

// recallWithin is how long the space waits for what the record says of a context
// that it has forgotten.
const recallWithin = 100 * time.Millisecond

// forgotten asks the record for a context while an envelope is judged. Where that
// takes too long the envelope is refused.
func (r *room) forgotten(id string) (*space.KnownContext, error) {
	ctx, cancel := context.WithTimeout(r.g.ctx, recallWithin)
	defer cancel()
	c, err := contextOf(ctx, r.record, journal.ContextQuery{ID: id, Settled: true})
	if err != nil {
		r.log.Warn("a context could not be looked up", "error", err)
		return nil, parley.Errorf(parley.Unavailable, "what the context %q is could not be looked up in time", id).
			WithHint("send it again in a moment")
	}
	return known(c), nil
}

// recallAt tells a state that is rebuilt what it had been told when an envelope
// on record was judged: the record knows by now what came later.
func (r *room) recallAt(ctx context.Context, state *space.State, e *parley.Envelope) error {
	return state.RecallFor(e, func(id string) (*space.KnownContext, error) {
		c, err := contextOf(ctx, r.record, journal.ContextQuery{ID: id, Before: e.Seq})
		if c != nil && c.Touched.After(e.TS) {
			c.Touched = e.TS
		}
		return known(c), err
	})
}

func known(c *journal.Context) *space.KnownContext {
	if c == nil {
		return nil
	}
	return &space.KnownContext{ID: c.ID, Type: c.Type, Parent: c.Parent, Opener: c.Opener, Depth: c.Depth, Touched: c.Touched}
}
