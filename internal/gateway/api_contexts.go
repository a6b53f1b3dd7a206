package gateway

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// subtreeMost bounds the descendants of a context that are read together with
// it.
const subtreeMost = 10_000

const (
	contextOpen      = "open"
	contextConcluded = "concluded"
)

// listContexts lists contexts by the place in which they were opened.
func listContexts(w http.ResponseWriter, r *http.Request, c caller) error {
	p := readParams(r)
	state := p.choice("state", anyState, contextOpen, contextConcluded)
	q := journal.ContextQuery{
		After:  p.position("after"),
		Before: p.position("before"),
		Newest: p.newest(),
		Parent: p.text("parent"),
		Tree:   p.text("tree"),
		Type:   p.text("type"),
		Opener: p.text("opener"),
	}
	limit := p.limit()
	if err := p.done(); err != nil {
		return err
	}
	l := contextList{caller: c, q: q, state: state, now: c.room.now(), page: newPage(limit)}
	if err := l.collect(r.Context()); err != nil {
		return err
	}
	return l.page.write(w)
}

// contextList is a page of contexts in the making.
type contextList struct {
	caller
	q     journal.ContextQuery
	state string
	now   time.Time
	page  *page
}

// collect asks for more until the page is full: what is in a state depends on
// types, whose idle times differ. After scanMost the page ends, with what was
// found.
func (l *contextList) collect(ctx context.Context) error {
	l.q.Limit = l.page.most + 1 // one more says whether there is a next page
	if l.state != anyState {
		l.narrow()
		l.q.Limit = max(l.q.Limit, scanAtOnce)
	}
	for scanned := 0; scanned < scanMost; scanned += l.q.Limit {
		n, more, err := l.piece(ctx)
		if err != nil || !more || n < l.q.Limit {
			return err
		}
	}
	if l.page.next = l.q.After; l.q.Newest {
		l.page.next = l.q.Before
	}
	return nil
}

// narrow leaves out what is in another state whatever its type.
func (l *contextList) narrow() {
	shortest := l.room.rules.ContextType("").Idle
	longest := shortest
	for name := range l.room.rules.ContextTypes {
		idle := l.room.rules.ContextType(name).Idle
		shortest, longest = min(shortest, idle), max(longest, idle)
	}
	if l.q.Type != "" {
		shortest = l.room.rules.ContextType(l.q.Type).Idle
		longest = shortest
	}
	if l.state == contextOpen {
		l.q.Since = justAfter(l.now.Add(-longest))
	} else {
		l.q.Until = justAfter(l.now.Add(-shortest))
	}
}

// justAfter is the first time on record, which has whole milliseconds, that is
// after t.
func justAfter(t time.Time) time.Time { return t.Truncate(time.Millisecond).Add(time.Millisecond) }

// piece adds what comes next, or reports that the page is full.
func (l *contextList) piece(ctx context.Context) (n int, more bool, err error) {
	err = l.reading(ctx, func(ctx context.Context) error {
		list, err := l.contexts(ctx, l.q)
		if err == nil {
			err = l.deepen(ctx, list...)
		}
		if err != nil {
			return err
		}
		n, more = len(list), true
		for _, found := range list {
			if more, err = l.take(ctx, found); err != nil || !more {
				return err
			}
		}
		return nil
	})
	return n, more, err
}

// take adds a context if it is in the state asked for, or reports that the page
// is full.
func (l *contextList) take(ctx context.Context, found *journal.Context) (more bool, err error) {
	state := l.stateOf(found, l.now)
	if l.state == anyState || l.state == state {
		item := []byte(nil)
		if l.page.items < l.page.most { // of one more, nothing is told but that there is one
			metadata, err := l.metadata(ctx, found)
			if err != nil {
				return false, err
			}
			item = appendContext(nil, found, state, metadata)
		}
		if !l.page.add(item, found.First) {
			return false, nil
		}
	}
	if l.q.Newest {
		l.q.Before = found.First
	} else {
		l.q.After = found.First
	}
	return true, nil
}

// contexts are those that a query selects. It is called within a reading.
func (c caller) contexts(ctx context.Context, q journal.ContextQuery) (list []*journal.Context, err error) {
	for one, err := range c.room.record.Contexts(ctx, q) {
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// theContext is the one with an id. It is called within a reading.
func (c caller) theContext(ctx context.Context, id string) (*journal.Context, error) {
	one, err := contextOf(ctx, c.room.record, journal.ContextQuery{ID: id, Kinds: true})
	if err != nil {
		return nil, err
	}
	if one == nil {
		return nil, parley.Errorf(parley.NotFound, "no context here has the id %.130q", id)
	}
	return one, c.deepen(ctx, one)
}

// deepen sets how deep contexts lie now. It is called within a reading.
func (c caller) deepen(ctx context.Context, list ...*journal.Context) error {
	return journal.NewAncestry(c.room.record, space.LongestPath).Deepen(ctx, list...)
}

// stateOf says whether a context is in use.
func (c caller) stateOf(one *journal.Context, now time.Time) string {
	if c.room.rules.Concluded(one.Type, one.Touched, now) {
		return contextConcluded
	}
	return contextOpen
}

// metadata is what was last told of a context, unless it was redacted since. It
// is called within a reading.
func (c caller) metadata(ctx context.Context, one *journal.Context) (jsontext.Value, error) {
	if one.Noted == 0 {
		return nil, nil
	}
	rec, err := recordOf(ctx, c.room.record, at(one.Noted))
	if rec == nil {
		return nil, err
	}
	return rec.ContextMetadata(), err
}

// getContext reads one context, with what it holds of each kind.
func getContext(w http.ResponseWriter, r *http.Request, c caller) error {
	if err := readParams(r).done(); err != nil {
		return err
	}
	var body []byte
	err := c.reading(r.Context(), func(ctx context.Context) error {
		one, err := c.theContext(ctx, r.PathValue("id"))
		if err != nil {
			return err
		}
		metadata, err := c.metadata(ctx, one)
		body = appendContext(nil, one, c.stateOf(one, c.room.now()), metadata)
		body = append(appendKinds(append(body[:len(body)-1], `,"kinds":`...), one.Kinds), '}', '\n')
		return err
	})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, body)
}

// appendContext writes a context as section 10 of the contract has it.
func appendContext(b []byte, one *journal.Context, state string, metadata jsontext.Value) []byte {
	b = appendQuote(append(b, `{"id":`...), one.ID)
	if one.Type != "" {
		b = appendQuote(append(b, `,"type":`...), one.Type)
	}
	if one.Parent != "" {
		b = appendQuote(append(b, `,"parent":`...), one.Parent)
	}
	b = strconv.AppendInt(append(b, `,"depth":`...), int64(one.Depth), 10)
	b = appendQuote(append(b, `,"opener":`...), one.Opener)
	b = strconv.AppendUint(append(b, `,"first":`...), one.First, 10)
	b = strconv.AppendUint(append(b, `,"last":`...), one.Last, 10)
	b = strconv.AppendUint(append(b, `,"count":`...), one.Count, 10)
	b = appendQuote(append(b, `,"state":`...), state)
	b = appendTime(append(b, `,"opened":`...), one.Opened)
	b = appendTime(append(b, `,"touched":`...), one.Touched)
	if metadata != nil {
		b = append(append(b, `,"metadata":`...), metadata...)
	}
	return append(b, '}')
}

func appendKinds(b []byte, kinds map[string]uint64) []byte {
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(kinds)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(append(appendQuote(b, name), ':'), kinds[name], 10)
	}
	return append(b, '}')
}

// family is a context with all that descend from it, the oldest first; nothing
// where nobody knows it. It is called within a reading.
func (c caller) family(ctx context.Context, id string, kinds bool) ([]*journal.Context, error) {
	list, err := c.contexts(ctx, journal.ContextQuery{Tree: id, Limit: subtreeMost + 1, Kinds: kinds})
	if err == nil && len(list) > subtreeMost {
		err = tooManyBelow(id)
	}
	return list, err
}

func tooManyBelow(id string) error {
	return parley.Errorf(parley.LimitReached, "%.130q has more than %d contexts below it", id, subtreeMost).
		WithHint("GET contexts?parent=ID lists them one level at a time; ask for one of those")
}

// within makes a query one for what stands in some contexts. Where they begin
// and end, it begins and ends.
func within(q journal.Query, list []*journal.Context) journal.Query {
	first, last := list[0].First, uint64(0)
	q.Contexts = nil
	for _, one := range list {
		first, last = min(first, one.First), max(last, one.Last)
		q.Contexts = append(q.Contexts, one.ID)
	}
	if q.After = max(q.After, first-1); q.Before == 0 || q.Before > last+1 {
		q.Before = last + 1
	}
	return q
}

// withDescendants makes a query one for its contexts and all that descend from
// them.
func (c caller) withDescendants(ctx context.Context, q journal.Query) (journal.Query, error) {
	seen := make(map[string]bool)
	var all []*journal.Context
	err := c.reading(ctx, func(ctx context.Context) error {
		for _, root := range q.Contexts {
			list, err := c.family(ctx, root, false)
			if err != nil {
				return err
			}
			for _, one := range list {
				if !seen[one.ID] {
					seen[one.ID] = true
					all = append(all, one)
				}
			}
			if len(all) > subtreeMost {
				return tooManyBelow(root)
			}
		}
		return nil
	})
	if err == nil && len(all) > 0 { // else there is nothing to be found
		q = within(q, all)
	}
	return q, err
}
