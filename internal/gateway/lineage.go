package gateway

import (
	"context"
	"iter"
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

// tracer finds out where contexts stand of which envelopes are read from the
// record, as far as a filter looks. It is for one reading: meanwhile the tree
// does not change for it.
type tracer struct {
	above  *journal.Ancestry // nil where what an envelope says itself is enough
	wanted bool              // anything at all
	known  map[string]*space.Lineage
}

func newTracer(log journal.Reader, filter space.ContextFilter) *tracer {
	t := &tracer{wanted: !filter.All(), known: make(map[string]*space.Lineage)}
	if most := filter.Reach(); most > 0 {
		t.above = journal.NewAncestry(log, most)
	}
	return t
}

// pieces gathers records until they have pieceBytes, and learns of a piece before
// it passes it on: what has to be asked for each of them is asked for all at once.
func (t *tracer) pieces(ctx context.Context, records iter.Seq2[*journal.Record, error]) iter.Seq2[[]*journal.Record, error] {
	return func(yield func([]*journal.Record, error) bool) {
		var piece []*journal.Record
		size := 0
		pass := func() (more bool) {
			err := t.learn(ctx, piece)
			return yield(piece, err) && err == nil
		}
		for rec, err := range records {
			if err != nil {
				yield(nil, err)
				return
			}
			piece = append(piece, rec)
			if size += len(rec.Body); size < pieceBytes {
				continue
			}
			if !pass() {
				return
			}
			piece, size = nil, 0
		}
		if len(piece) > 0 {
			pass()
		}
	}
}

// learn asks the record about the contexts of some envelopes, all at once.
func (t *tracer) learn(ctx context.Context, records []*journal.Record) error {
	if t.above == nil {
		return nil
	}
	var ids []string
	for _, rec := range records {
		if rec.Context != "" && t.known[rec.Context] == nil {
			ids = append(ids, rec.Context)
		}
	}
	return t.above.Learn(ctx, ids...)
}

// lineage is where the context of an envelope stands that was learnt of.
func (t *tracer) lineage(rec *journal.Record) *space.Lineage {
	if !t.wanted || rec.Context == "" {
		return nil
	}
	if t.above == nil {
		return ownWord(rec)
	}
	l := t.known[rec.Context]
	if l == nil {
		l = &space.Lineage{Path: t.above.Path(rec.Context)}
		if c := t.above.Get(rec.Context); c != nil {
			l.Type = c.Type
		}
		t.known[rec.Context] = l
	}
	return l
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
