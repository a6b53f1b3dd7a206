package gateway

import (
	"context"
	"net/http"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// proposed is a proposal that somebody decides on: its record, or what stands for
// that where retention has dropped it.
type proposed struct {
	*journal.Record
	gone error // why nobody can tell what it asks for
}

// remembered is a proposal as the rules remember it, who need no more to end it
// without a call. The record that stands for it has no body.
func remembered(p *space.Proposal) proposed {
	kind := p.Kind.String()
	rec := &journal.Record{
		Type: journal.Admitted, Seq: p.Seq, ID: p.ID, TS: p.Opened, From: p.From, To: p.To, Kind: kind, Effective: kind,
	}
	return proposed{rec, dropped(p)}
}

// dropped says that retention has dropped a proposal's envelope or, where that
// matters more, that it has ended.
func dropped(p *space.Proposal) error {
	if p.State != space.Open {
		return closed(p)
	}
	return parley.Errorf(parley.NotFound, "what %s proposes is no longer on record: retention has dropped it", p.ID).
		WithHint("reject it and have it proposed again, or send the whole request with correlation_id %.130q, where you kept it", p.ID)
}

func closed(p *space.Proposal) error {
	return parley.Errorf(parley.ProposalClosed, "the proposal is %s already", p.State)
}

// proposal is the proposal that the path names, the newest where an id came again.
// Whether it is open is for the rules to say.
func (c caller) proposal(r *http.Request) (proposed, error) {
	id := r.PathValue("id")
	rec, err := c.one(r.Context(), journal.Query{ID: id, Newest: true})
	switch {
	case err != nil:
		return proposed{}, err
	case rec != nil && parley.SplitKind(rec.Kind).Type == parley.TypeProposal:
		return proposed{Record: rec}, nil
	}
	return c.known(r.Context(), id, func(s *space.State) (space.Proposal, bool) { return s.Proposal(id) })
}

// known is a proposal of which the rules know, as find finds it there.
func (c caller) known(ctx context.Context, id string, find func(*space.State) (space.Proposal, bool)) (proposed, error) {
	var p space.Proposal
	known := false
	if err := c.view(ctx, func(s *space.State) { p, known = find(s) }); err != nil {
		return proposed{}, err
	}
	if !known {
		return proposed{}, noProposal(c, id)
	}
	rec, err := c.one(ctx, at(p.Seq))
	switch {
	case err != nil:
		return proposed{}, err
	case rec == nil:
		return remembered(&p), nil
	}
	return proposed{Record: rec}, nil
}
