package main

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

func (g *gatewayRecord) contexts(ctx context.Context, q *client.ContextQuery) iter.Seq2[client.ContextRecord, error] {
	return func(yield func(client.ContextRecord, error) bool) {
		sdk, err := g.sdk()
		if err != nil {
			yield(client.ContextRecord{}, err)
			return
		}
		for c, err := range sdk.Contexts(ctx, q) {
			if !yield(c, g.problem(err)) {
				return
			}
		}
	}
}

func (g *gatewayRecord) context(ctx context.Context, id string) (client.ContextRecord, error) {
	sdk, err := g.sdk()
	if err != nil {
		return client.ContextRecord{}, err
	}
	c, err := sdk.Context(ctx, id)
	return c, g.problem(err)
}

func (f *fileRecord) contexts(ctx context.Context, q *client.ContextQuery) iter.Seq2[client.ContextRecord, error] {
	all := journal.ContextQuery{Tree: q.Tree, Type: q.Type, Newest: q.Descending}
	if q.State == "" {
		all.Limit = q.Limit
	}
	return func(yield func(client.ContextRecord, error) bool) {
		now, left := time.Now(), q.Limit
		for c, err := range f.above().Contexts(ctx, all) {
			if err != nil {
				yield(client.ContextRecord{}, err)
				return
			}
			if q.State != "" && q.State != stateAt(c, now) {
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

func (f *fileRecord) context(ctx context.Context, id string) (client.ContextRecord, error) {
	for c, err := range f.above().Contexts(ctx, journal.ContextQuery{ID: id, Limit: 1}) {
		if err != nil {
			return client.ContextRecord{}, err
		}
		return f.entry(ctx, c, time.Now())
	}
	return client.ContextRecord{}, noContext(id)
}

// above finds out how deep contexts lie.
func (f *fileRecord) above() *journal.Ancestry {
	return journal.NewAncestry(f.reader, space.LongestPath)
}

// stateAt is a context's state. A file does not know the configuration: what
// counts is how long contexts may rest where it says nothing.
func stateAt(c *journal.Context, now time.Time) client.ContextState {
	if new(space.Rules).Concluded(c.Type, c.Touched, now) {
		return client.ContextConcluded
	}
	return client.ContextOpen
}

// entry is a context as the gateway would show it.
func (f *fileRecord) entry(ctx context.Context, c *journal.Context, now time.Time) (client.ContextRecord, error) {
	e := client.ContextRecord{
		ID: c.ID, Type: c.Type, Parent: c.Parent, Depth: c.Depth, Opener: c.Opener,
		First: c.First, Last: c.Last, Count: c.Count,
		State: stateAt(c, now), Opened: c.Opened, Touched: c.Touched,
	}
	if c.Noted > 0 {
		for r, err := range f.reader.Read(ctx, journal.Query{After: c.Noted - 1, Before: c.Noted + 1, Limit: 1}) {
			if err != nil {
				return e, err
			}
			e.Metadata = r.ContextMetadata()
		}
	}
	return e, nil
}

func noContext(id string) *parley.Error {
	err := parley.Errorf(parley.NotFound, "no context here has the id %.130q", id)
	switch before, _, _ := strings.Cut(id, ":"); {
	case before == "" || before == id:
		return err.WithHint("parley log tree lists the contexts")
	case isFilter(id):
		return err.WithHint("filters are for parley tail; name one context by its id here")
	default:
		return err.WithHint("ID:TYPE is for sending; to read, the id is enough: %.130s", before)
	}
}
