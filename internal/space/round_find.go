package space

import (
	"slices"

	"github.com/parleyhq/parley"
)

// OpenRound is the fulfilment, and the proposal, of an approved call of a
// participant that these params go on with: nothing is asked for but what was
// approved, and its newest answer asked for more, with this requestState.
func (s *State) OpenRound(from string, call parley.Kind, to string, payload []byte) (fulfilment string, p Proposal, ok bool) {
	params := parley.Member(payload, "params")
	if !isRound(params) {
		return "", Proposal{}, false
	}
	digest, state := paramsDigest(payload, "inputResponses", "requestState"), requestState(params)
	for _, e := range slices.Backward(s.proposals.rounds.entries()) {
		p := e.value
		if p.From == from && p.round != nil && p.round.state == state && p.digest == digest &&
			p.target == to && p.Kind.Method == call.Method {
			return e.id, p.Proposal, true
		}
	}
	return "", Proposal{}, false
}
