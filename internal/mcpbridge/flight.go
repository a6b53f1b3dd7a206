package mcpbridge

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// flight is one request of the room that the server works on.
type flight struct {
	req      *client.Request
	peer     string         // whose call it is: who sent it, or whose proposal it fulfils
	meta     jsontext.Value // of its params; nil where absent
	declared jsontext.Value // what the peer can be asked for
	asked    atomic.Int32   // how often the server asked back

	// guarded by its turns
	flying, works bool
	waits         int // questions of the server that have no answer
	gathered      *time.Timer
}

type flightKey struct{}

// flightOf is the call that the server was busy with, or nil.
func flightOf(ctx context.Context) *flight {
	f, _ := ctx.Value(flightKey{}).(*flight)
	return f
}

// listeners are those who hear of the call while it goes on.
func (f *flight) listeners() []string {
	if f.peer == f.req.Envelope.From {
		return []string{f.peer}
	}
	return []string{f.req.Envelope.From, f.peer}
}

// about are the options of what is sent in the course of the call.
func (f *flight) about(to ...string) []client.SendOption {
	return []client.SendOption{client.To(to...), client.Correlate(f.req.Envelope.ID), client.InContext(f.req.Envelope.Context)}
}

const (
	// maxRounds bounds the rounds of one call.
	maxRounds = 64
	// maxNamed bounds the ids of a request that are looked up.
	maxNamed = 4
)

// origin is what a call and all of its rounds have in common.
type origin struct {
	peer   string
	rounds atomic.Int32
}

// originKey is a request, and who may go on with it.
type originKey struct{ id, who string }

var errRounds = &client.RPCError{Code: client.CodeInternal, Message: "the server asks for more input again and again; after 64 rounds nobody goes on"}

// originOf finds out whose call a request is. A request that fulfils a proposal
// is its proposer's; one that goes on with an earlier call is whose that was.
func (b *Bridge) originOf(ctx context.Context, req *client.Request) (*origin, error) {
	e := req.Envelope
	own := &origin{peer: e.From}
	if !mayAskBack(req.Kind.Method) {
		return own, nil
	}
	for _, id := range e.Correlation.IDs[:min(len(e.Correlation.IDs), maxNamed)] {
		if known := b.origins.get(originKey{id, e.From}); known != nil && isRound(req.Params) {
			if known.rounds.Add(1) > maxRounds {
				return nil, errRounds
			}
			own = known
			break
		}
		p, err := req.Room().API().Proposal(ctx, id)
		switch {
		case err == nil && p.Closed.ID == e.ID:
			own.peer = p.From
		case err != nil && !errors.Is(err, &parley.Error{Code: parley.ProposalNotFound}) && !errors.Is(err, &parley.Error{Code: parley.NotFound}):
			return nil, err
		}
	}
	// Both may send the next round, each under its own name.
	b.origins.add(originKey{e.ID, e.From}, own)
	if own.peer != e.From {
		b.origins.add(originKey{e.ID, own.peer}, own)
	}
	return own, nil
}

// isRound tells params that answer what a server asked for.
func isRound(params jsontext.Value) bool {
	return parley.Member(params, "inputResponses") != nil || parley.Member(params, "requestState") != nil
}
