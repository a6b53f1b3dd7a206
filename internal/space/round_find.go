package space

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Round is what a further round asks for, and the answer that it goes on with.
type Round struct{ params, state parley.Digest }

// ReadRound reads it from the params of a request; false where they are of no
// further round. It takes the longer the more there is, and no [State].
func ReadRound(params jsontext.Value) (r Round, ok bool) {
	if !isRound(params) {
		return r, false
	}
	return Round{parley.DigestParams(params, "inputResponses", "requestState", "_meta"), requestState(params)}, true
}

// OpenRound is the fulfilment, and the proposal, of an approved call of a
// participant that a round goes on with: nothing is asked for but what was
// approved, and its newest answer asked for more, with this requestState.
func (s *State) OpenRound(from string, call parley.Kind, to string, r Round) (fulfilment string, p Proposal, ok bool) {
	for _, e := range slices.Backward(s.proposals.rounds.entries()) {
		p := e.value
		if p.From == from && p.round != nil && p.round.state == r.state && p.digest == r.params &&
			p.target == to && p.Kind.Method == call.Method {
			return e.id, p.Proposal, true
		}
	}
	return "", Proposal{}, false
}
