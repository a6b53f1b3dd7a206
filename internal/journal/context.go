package journal

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Context is what a log says of one context (section 8 of the contract). What
// its first envelope says of type and parent holds, until that one is redacted,
// which takes the type with it.
//
// What retention dropped counts no more, and a context of which nothing is left
// is gone. Type, Parent, Opener and Depth stay what the first envelope said, for
// as long as a backend remembers; one that reads all of its log has the oldest
// that is kept to go by.
type Context struct {
	ID, Type string
	Parent   string
	Opener   string // who sent the first envelope
	Depth    int    // when it was opened: 1 without a parent; under one that nobody had opened, 2. [Ancestry] knows better

	First, Last     uint64    // positions of its oldest and newest envelope
	Opened, Touched time.Time // their times
	Count           uint64    // envelopes on record

	Noted     uint64 // the newest envelope that brought metadata of it; 0 is none
	Concluded uint64 // the newest conclusion that is no summary; 0 is none
	Summed    uint64 // the newest summary since; 0 is none

	// Kinds counts envelopes by TYPE, or TYPE:METHOD, of the effective kind.
	// It is there where a query asks for it, and must not be changed.
	Kinds map[string]uint64
}

// ContextQuery selects contexts. Its zero value selects all, the oldest first.
// All conditions must hold.
type ContextQuery struct {
	After  uint64 // only those opened after this Seq
	Before uint64 // only those opened before this Seq; 0 is no bound
	Limit  int    // at most so many; 0 is no bound
	Newest bool   // newest first

	ID     string   // this one
	IDs    []string // these; without any it is no condition
	Parent string   // children of this one
	Tree   string   // this one and all that descend from it
	Type   string
	Opener string

	Since time.Time // touched since
	Until time.Time // touched last before

	Kinds bool // fill in Kinds

	// Settled is for who must not wait: where there is no index of contexts the
	// answer is unavailable, and what the search index of a backend has not
	// read yet may be missing.
	Settled bool
}

// MostKinds bounds the kinds that are counted for a context; the others count
// as OtherKinds.
const (
	MostKinds  = 64
	OtherKinds = "*"
)

// Tree puts contexts together from envelopes, taken in their order.
type Tree struct {
	byID map[string]*Context
}

// NewTree is an empty one.
func NewTree() *Tree { return &Tree{byID: make(map[string]*Context)} }

// Add takes in an envelope; what belongs to no context is left alone.
func (t *Tree) Add(r *Record) {
	if r.Type != Admitted || r.Context == "" {
		return
	}
	c := t.byID[r.Context]
	if c == nil {
		c = &Context{ID: r.Context, Type: r.ContextType(), Parent: r.Parent, Opener: r.From, First: r.Seq, Opened: r.TS}
		c.Depth = t.depth(c.Parent)
		t.Put(c)
	}
	c.Add(r)
}

// Put takes in a context as it is known from elsewhere.
func (t *Tree) Put(c *Context) { t.byID[c.ID] = c }

// Remove forgets a context.
func (t *Tree) Remove(id string) { delete(t.byID, id) }

// Get returns a context, nil for none.
func (t *Tree) Get(id string) *Context { return t.byID[id] }

// depth is that of a context with a parent.
func (t *Tree) depth(parent string) int {
	switch p := t.byID[parent]; {
	case parent == "":
		return 1
	case p == nil:
		return 2
	default:
		return p.Depth + 1
	}
}

// Add counts one more envelope of the context.
func (c *Context) Add(r *Record) {
	c.Last, c.Touched = r.Seq, r.TS
	c.Count++
	if r.HasContextMetadata() {
		c.Noted = r.Seq
	}
	c.conclude(r)
	if c.Kinds == nil {
		c.Kinds = make(map[string]uint64)
	}
	kind := r.KindCounted()
	if _, known := c.Kinds[kind]; !known && len(c.Kinds) >= MostKinds {
		kind = OtherKinds
	}
	c.Kinds[kind]++
}

// Drop takes back what Add counted of an envelope that retention drops, the
// oldest first. First and Opened are for its caller to move: to what is the
// oldest now.
func (c *Context) Drop(r *Record) {
	c.Count -= min(c.Count, 1)
	if c.Noted <= r.Seq {
		c.Noted = 0
	}
	if c.Concluded <= r.Seq {
		c.Concluded = 0
	}
	if c.Summed <= r.Seq {
		c.Summed = 0
	}
	kind := r.KindCounted()
	if c.Kinds[kind] == 0 {
		kind = OtherKinds
	}
	if c.Kinds[kind] > 1 {
		c.Kinds[kind]--
	} else {
		delete(c.Kinds, kind)
	}
}

// KindCounted is what an envelope counts as among the kinds of its context.
func (r *Record) KindCounted() string {
	k := parley.SplitKind(r.Effective)
	if k.Method == "" {
		return k.Type
	}
	return k.Type + ":" + k.Method
}

// ContextType is the type that an envelope gives its context; "" where it says
// none, or was redacted.
func (r *Record) ContextType() string {
	text, _ := parley.MemberString(parley.Member(r.Body, "context"), "type")
	return text
}

// ContextMetadata is what an envelope tells of its context beside its place, as
// it was written; nil where it tells nothing, or was redacted.
func (r *Record) ContextMetadata() jsontext.Value {
	return parley.Member(parley.Member(r.Body, "context"), "metadata")
}

// HasContextMetadata reports whether an envelope brings metadata of its context:
// those of a summary are of the summary.
func (r *Record) HasContextMetadata() bool { return r.ContextMetadata() != nil && !r.IsSummary() }

// candidates are all that a query may select.
func (t *Tree) candidates(q *ContextQuery) []*Context {
	ids := q.IDs
	if q.ID != "" {
		ids = []string{q.ID}
	}
	if len(ids) == 0 {
		return slices.Collect(maps.Values(t.byID))
	}
	var list []*Context
	for _, id := range ids {
		if c := t.byID[id]; c != nil && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// Select returns copies of the contexts that a query asks for.
func (t *Tree) Select(q ContextQuery) []*Context {
	list := t.candidates(&q)
	SortContexts(list, q.Newest)
	var tree map[string]bool
	if q.Tree != "" {
		tree = t.under(q.Tree)
	}
	var found []*Context
	for _, c := range list {
		if !q.Match(c) || tree != nil && !tree[c.ID] {
			continue
		}
		one := *c
		if !q.Kinds {
			one.Kinds = nil
		}
		found = append(found, &one)
		if q.Limit > 0 && len(found) == q.Limit {
			break
		}
	}
	return found
}

// SortContexts puts contexts in the order in which they were opened, or the
// newest first.
func SortContexts(list []*Context, newest bool) {
	slices.SortFunc(list, func(a, b *Context) int { return cmp.Compare(a.First, b.First) })
	if newest {
		slices.Reverse(list)
	}
}

// Match reports whether a context is as the query asks, its place in a Tree
// aside.
func (q *ContextQuery) Match(c *Context) bool {
	return c.First > q.After && (q.Before == 0 || c.First < q.Before) &&
		(q.ID == "" || q.ID == c.ID) &&
		(len(q.IDs) == 0 || slices.Contains(q.IDs, c.ID)) &&
		(q.Parent == "" || q.Parent == c.Parent) &&
		(q.Type == "" || q.Type == c.Type) &&
		(q.Opener == "" || q.Opener == c.Opener) &&
		(q.Since.IsZero() || !c.Touched.Before(q.Since)) &&
		(q.Until.IsZero() || c.Touched.Before(q.Until))
}

// under are the ids of a context and of all that descend from it. Parents may
// form a circle, which is gone round once.
func (t *Tree) under(root string) map[string]bool {
	children := make(map[string][]string)
	for _, c := range t.byID {
		children[c.Parent] = append(children[c.Parent], c.ID)
	}
	found := map[string]bool{root: true}
	for next := []string{root}; len(next) > 0; next = next[1:] {
		for _, id := range children[next[0]] {
			if !found[id] {
				found[id] = true
				next = append(next, id)
			}
		}
	}
	return found
}

// ScanContexts answers a query by reading all of a log: for backends that keep
// no index of contexts.
func ScanContexts(ctx context.Context, log Reader, q ContextQuery) iter.Seq2[*Context, error] {
	return func(yield func(*Context, error) bool) {
		t := NewTree()
		for r, err := range log.Read(ctx, Query{}) {
			if err != nil {
				yield(nil, err)
				return
			}
			t.Add(r)
		}
		for _, c := range t.Select(q) {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// Descendants are the ids of a context and of all that descend from it, the
// oldest first, at most so many; more says that there are others. A context that
// nobody has opened may have descendants. It is not_found where there is nothing.
func Descendants(ctx context.Context, log Reader, id string, most int) (ids []string, more bool, err error) {
	for c, err := range log.Contexts(ctx, ContextQuery{Tree: id, Limit: most + 1}) {
		if err != nil {
			return nil, false, err
		}
		if len(ids) == most {
			return ids, true, nil
		}
		ids = append(ids, c.ID)
	}
	if len(ids) == 0 {
		return nil, false, parley.Errorf(parley.NotFound, "no context here has the id %.130q", id)
	}
	return ids, false, nil
}
