package main

import (
	"context"
	"errors"
	"slices"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/space"
)

// past is what was said in contexts before somebody listens.
type past struct {
	query                 // the newest first
	among map[string]bool // contexts of the types that are asked for; nil is all
}

// What is not asked for by name is looked for within bounds.
const (
	mostSearched = 10_000 // envelopes
	mostOfType   = 10_000 // contexts of one type, the newest
)

// newPast narrows a query down to what a filter of contexts lets through.
func newPast(ctx context.Context, rec record, filter string, q query) (*past, error) {
	wanted, err := space.ParseContexts(filter)
	if err != nil {
		return nil, err
	}
	p := &past{query: q}
	switch wanted.How() {
	case "id", "tree":
		p.contexts, p.subtree = wanted.Names(), wanted.How() == "tree"
		return p, nil
	case "type":
		p.among = make(map[string]bool)
		for _, typ := range wanted.Names() {
			for c, err := range rec.contexts(ctx, &client.ContextQuery{Type: typ, Descending: true, Limit: mostOfType}) {
				if err != nil {
					return nil, err
				}
				p.among[c.ID] = true
			}
		}
	}
	p.limit = mostSearched
	return p, nil
}

// tell prints the newest of it that are to be shown, the oldest first.
func (p *past) tell(ctx context.Context, rec record, to *printer, most int, shows func(*parley.Envelope) bool) error {
	var newest []*parley.Envelope
	for wire, err := range rec.list(ctx, p.query) {
		if errors.Is(err, &parley.Error{Code: parley.NotFound}) { // nobody has opened it yet
			break
		}
		if errors.Is(err, &parley.Error{Code: parley.LimitReached}) { // what happens can be followed all the same
			to.t.say("%s", to.t.errPalette().dim("what was said before is not shown: "+clean(asError(err).Message)))
			break
		}
		if err != nil {
			return err
		}
		e, err := decodeAny(wire)
		if err != nil {
			return err
		}
		if e.Context != nil && (p.among == nil || p.among[e.Context.ID]) && shows(e) {
			newest = append(newest, e)
		}
		if len(newest) == most {
			break
		}
	}
	for _, e := range slices.Backward(newest) {
		if err := to.envelope(e); err != nil {
			return err
		}
	}
	return nil
}
