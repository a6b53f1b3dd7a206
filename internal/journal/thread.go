package journal

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/parleyhq/parley"
)

// Thread is everything that the correlation chain of an envelope reaches, both
// ways: what it answers, what answers it, and so on from there, by place. It
// leads from the reasoning to the proposal, the decision, the call and its
// result.
//
// The id may be a context's, and an id in a correlation_id as well: then the
// context's envelopes count as named by it. An envelope of that id comes first.
// What a context concluded leads on to what names the context: the action that
// followed.
//
// At most so many records are returned, and 32 MiB of them; more says that
// there are others. Where nothing has the id, the error is not_found.
func Thread(ctx context.Context, log Reader, id string, most int) (records []*Record, more bool, err error) {
	t := thread{log: log, most: most, found: map[uint64]*Record{}, asked: map[string]bool{}, ended: map[string]bool{}}
	if err := t.follow(ctx, id); err != nil {
		return nil, false, err
	}
	if len(t.found) == 0 {
		return nil, false, parley.Errorf(parley.NotFound, "nothing here has the id %.130q", id)
	}
	for _, r := range t.found {
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b *Record) int { return cmp.Compare(a.Seq, b.Seq) })
	return records, t.full, nil
}

type thread struct {
	log   Reader
	most  int
	found map[uint64]*Record // by Seq
	asked map[string]bool    // ids that were followed or are going to be
	next  []string
	ended map[string]bool // contexts of which a conclusion was found
	bytes int             // of their bodies
	full  bool            // there was no room for one more
}

// threadBytes is how much of a thread is held in memory.
const threadBytes = 32 << 20

func (t *thread) follow(ctx context.Context, id string) error {
	t.ask(id)
	for !t.full {
		switch {
		case len(t.next) > 0:
			id, t.next = t.next[0], t.next[1:]
			if err := t.visit(ctx, id); err != nil {
				return err
			}
		case len(t.ended) > 0:
			if err := t.cross(ctx); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// visit follows an id that was asked for.
func (t *thread) visit(ctx context.Context, id string) error {
	named, err := t.take(ctx, Query{ID: id, Limit: 1})
	if err != nil {
		return err
	}
	if named == 0 {
		if _, err := t.take(ctx, Query{Contexts: []string{id}}); err != nil {
			return err
		}
	}
	_, err = t.take(ctx, Query{Correlation: id})
	return err
}

// cross goes from what contexts concluded to what names the contexts. Whoever
// names an id that an envelope has as well means the envelope.
func (t *thread) cross(ctx context.Context) error {
	ended := slices.Sorted(maps.Keys(t.ended))
	clear(t.ended)
	for _, id := range ended {
		if t.asked[id] {
			continue
		}
		envelope, err := t.exists(ctx, Query{ID: id, Limit: 1})
		if err != nil {
			return err
		}
		if envelope {
			continue
		}
		if _, err := t.take(ctx, Query{Correlation: id}); err != nil {
			return err
		}
	}
	return nil
}

func (t *thread) exists(ctx context.Context, q Query) (bool, error) {
	for _, err := range t.log.Read(ctx, q) {
		return err == nil, err
	}
	return false, nil
}

// take adds what a query finds, and says how many records that were.
func (t *thread) take(ctx context.Context, q Query) (n int, err error) {
	for r, err := range t.log.Read(ctx, q) {
		if err != nil {
			return n, err
		}
		n++
		if t.found[r.Seq] != nil {
			continue
		}
		if len(t.found) == t.most || t.bytes+len(r.Body) > threadBytes && t.bytes > 0 {
			t.full = true
			return n, nil
		}
		t.found[r.Seq] = r
		t.bytes += len(r.Body)
		t.ask(r.ID)
		if r.Kind == KindConclusion && r.Context != "" {
			t.ended[r.Context] = true
		}
		for _, id := range r.Correlations {
			t.ask(id)
		}
	}
	return n, nil
}

func (t *thread) ask(id string) {
	if !t.asked[id] {
		t.asked[id] = true
		t.next = append(t.next, id)
	}
}
