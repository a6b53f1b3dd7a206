package main

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// contextEntry is a context as HTTP shows it (section 10 of the contract).
type contextEntry struct {
	ID       string         `json:"id"`
	Type     string         `json:"type,omitzero"`
	Parent   string         `json:"parent,omitzero"`
	Depth    int            `json:"depth"`
	Opener   string         `json:"opener"`
	First    uint64         `json:"first"`
	Last     uint64         `json:"last"`
	Count    uint64         `json:"count"`
	State    string         `json:"state"`
	Opened   instant        `json:"opened"`
	Touched  instant        `json:"touched"`
	Metadata jsontext.Value `json:"metadata,omitzero"`

	wire jsontext.Value // all of it, as it came
}

// instant is a time as the contract writes it, in whole milliseconds.
type instant time.Time

// MarshalText implements [encoding.TextMarshaler].
func (i instant) MarshalText() ([]byte, error) {
	return time.Time(i).UTC().AppendFormat(nil, "2006-01-02T15:04:05.000Z"), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (i *instant) UnmarshalText(text []byte) error { return (*time.Time)(i).UnmarshalText(text) }

// age is how long ago it was.
func (i instant) age(now time.Time) string { return age(now.Sub(time.Time(i))) }

// The states of a context.
const (
	stateOpen      = "open"
	stateConcluded = "concluded"
)

// contextQuery is which contexts to list, in the order in which they were opened.
type contextQuery struct {
	limit  int
	newest bool // newest first
	state  string
	typ    string
	tree   string // this one and all that descend from it
}

func (q *contextQuery) values() url.Values {
	v := url.Values{"order": {"asc"}}
	if q.newest {
		v.Set("order", "desc")
	}
	for name, value := range map[string]string{"state": q.state, "type": q.typ, "tree": q.tree} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return v
}

func (g *gatewayRecord) contexts(ctx context.Context, q contextQuery) iter.Seq2[*contextEntry, error] {
	values, cursor := q.values(), "after"
	if q.newest {
		cursor = "before"
	}
	return func(yield func(*contextEntry, error) bool) {
		for left := q.limit; ; {
			values.Set("limit", strconv.Itoa(maxPage))
			if left > 0 {
				values.Set("limit", strconv.Itoa(min(maxPage, left)))
			}
			page, err := g.get(ctx, "/contexts", values)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, wire := range items(page) {
				if !yield(readContextEntry(wire)) {
					return
				}
				if left--; left == 0 {
					return
				}
			}
			next := string(parley.Member(page, "next"))
			if next == "" || next == values.Get(cursor) {
				return
			}
			values.Set(cursor, next)
		}
	}
}

func (g *gatewayRecord) context(ctx context.Context, id string) (*contextEntry, error) {
	wire, err := g.get(ctx, pathOf("/contexts/%s", id), nil)
	if err != nil {
		return nil, err
	}
	return readContextEntry(wire)
}

func readContextEntry(wire jsontext.Value) (*contextEntry, error) {
	c := contextEntry{wire: wire}
	if err := json.Unmarshal(wire, &c); err != nil {
		return nil, parley.Errorf(parley.Internal, "the gateway describes a context in a way that is not understood: %v", err)
	}
	return &c, nil
}

func (f *fileRecord) contexts(ctx context.Context, q contextQuery) iter.Seq2[*contextEntry, error] {
	all := journal.ContextQuery{Tree: q.tree, Type: q.typ, Newest: q.newest}
	if q.state == "" {
		all.Limit = q.limit
	}
	return func(yield func(*contextEntry, error) bool) {
		now, left := time.Now(), q.limit
		for c, err := range f.reader.Contexts(ctx, all) {
			if err != nil {
				yield(nil, err)
				return
			}
			if q.state != "" && q.state != stateAt(c, now) {
				continue
			}
			if !yield(f.entry(ctx, c, now)) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

func (f *fileRecord) context(ctx context.Context, id string) (*contextEntry, error) {
	for c, err := range f.reader.Contexts(ctx, journal.ContextQuery{ID: id, Limit: 1}) {
		if err != nil {
			return nil, err
		}
		return f.entry(ctx, c, time.Now())
	}
	return nil, noContext(id)
}

// stateAt is a context's state. A file does not know the configuration: what
// counts is how long contexts may rest where it says nothing.
func stateAt(c *journal.Context, now time.Time) string {
	if new(space.Rules).Concluded(c.Type, c.Touched, now) {
		return stateConcluded
	}
	return stateOpen
}

// entry is a context as the gateway would show it.
func (f *fileRecord) entry(ctx context.Context, c *journal.Context, now time.Time) (*contextEntry, error) {
	e := &contextEntry{
		ID: c.ID, Type: c.Type, Parent: c.Parent, Depth: c.Depth, Opener: c.Opener,
		First: c.First, Last: c.Last, Count: c.Count,
		State: stateAt(c, now), Opened: instant(c.Opened), Touched: instant(c.Touched),
	}
	if c.Noted > 0 {
		for r, err := range f.reader.Read(ctx, journal.Query{After: c.Noted - 1, Before: c.Noted + 1, Limit: 1}) {
			if err != nil {
				return nil, err
			}
			e.Metadata = parley.Member(parley.Member(r.Body, "context"), "metadata")
		}
	}
	var err error
	e.wire, err = json.Marshal(e)
	return e, err
}

func noContext(id string) *parley.Error {
	return parley.Errorf(parley.NotFound, "no context here has the id %.130q", id).
		WithHint("parley log tree lists the contexts")
}
