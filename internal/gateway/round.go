package gateway

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// OpenRound finds the approved call of a participant that params go on with: the
// id of its fulfilment, and its proposal. A lazy space knows of none.
func (g *Gateway) OpenRound(ctx context.Context, name, participant string, call parley.Kind, to string, params jsontext.Value) (fulfilment string, p space.Proposal, found bool, err error) {
	round, is := space.ReadRound(params)
	if !is {
		return "", p, false, nil
	}
	err = g.View(ctx, name, func(s *space.State) { fulfilment, p, found = s.OpenRound(participant, call, to, round) })
	return fulfilment, p, found && err == nil, err
}
