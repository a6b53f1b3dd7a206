package gateway

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// Uncollected is the newest proposal of a participant, with "collect": true in
// its payload, for this call of this target ("" for one that named nobody), that
// is open, or whose end was not collected yet; else one that may be, since what it
// said was redacted. A lazy space knows of none.
func (g *Gateway) Uncollected(ctx context.Context, name, participant string, call parley.Kind, to string, params jsontext.Value) (p space.Proposal, found bool, err error) {
	digest := parley.DigestParams(params, "_meta")
	err = g.View(ctx, name, func(s *space.State) {
		p, found = s.Uncollected(participant, call, to, digest, g.now())
	})
	return p, found && err == nil, err
}

// Collected puts on record that the proposer has got what became of its
// proposal, unless that was said before. The error is proposal_not_found where no
// such proposal is known, and invalid_argument while it is open.
func (g *Gateway) Collected(ctx context.Context, name, proposal string) error {
	r, err := g.room(name)
	if err != nil {
		return err
	}
	return r.put(ctx, func(s *space.State, now time.Time) (*parley.Envelope, error) { return s.Collected(proposal, now) })
}

// OpenRequest is a request that waits for its answer.
type OpenRequest = space.OpenRequest

// OpenRequests lists the requests to a participant that wait for its answer, by
// their place in the order: what somebody who comes back after a crash has left
// open. A lazy space knows of none.
func (g *Gateway) OpenRequests(ctx context.Context, name, participant string) (list []OpenRequest, err error) {
	err = g.View(ctx, name, func(s *space.State) { list = s.OpenRequests(participant) })
	return list, err
}
