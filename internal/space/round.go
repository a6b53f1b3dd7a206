package space

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Further rounds (section 7) of a fulfilled multi-round-trip call name the
// fulfilment, and add only inputResponses and requestState to what was approved.
//
// Whoever fulfilled sends them by their own rights. The proposer may as well,
// without any: the approval covers them. What keeps an approved call from being
// made twice is that each answer that asks for more can be gone on with once,
// with the requestState that it gave, and that nothing else is covered.

// openRound is an answer that asked for more, and that nobody went on with.
type openRound struct {
	answer string        // its envelope's id
	state  parley.Digest // of the requestState to be sent back; zero is none
}

func isRound(params jsontext.Value) bool {
	return parley.Member(params, "inputResponses") != nil || parley.Member(params, "requestState") != nil
}

func requestState(obj jsontext.Value) (d parley.Digest) {
	if state := parley.Member(obj, "requestState"); state != nil {
		d = parley.DigestParams(state)
	}
	return d
}

// isRoundOf reports whether a request asks again for what was approved, with
// nothing added but what a round adds.
func (p *proposal) isRoundOf(e *parley.Envelope, kind parley.Kind) bool {
	return kind.Method == p.Kind.Method && slices.Equal(e.To, []string{p.target}) &&
		paramsDigest(e.Payload, "inputResponses", "requestState") == p.digest
}

// judgeRound covers the further rounds of a fulfilled call: they add what the
// tool asked for, and change nothing else.
func (j *judgement) judgeRound() error {
	if j.covered || !isRound(j.call.Params) {
		return nil
	}
	for _, id := range j.e.Correlation.IDs {
		p, ok := j.proposals.rounds.get(id)
		if !ok {
			continue
		}
		if j.from != p.Closed.By && j.from != p.From || !p.isRoundOf(j.e, j.kind) {
			return mismatch(p, "a further round may add only inputResponses and requestState")
		}
		if j.from == p.Closed.By {
			continue
		}
		if err := j.goesOn(p); err != nil {
			return err
		}
	}
	return nil
}

// goesOn lets a proposer go on where it was asked for more, once for each time.
func (j *judgement) goesOn(p *proposal) error {
	switch {
	case p.round == nil:
		return mismatch(p, "no answer waits for a further round").
			WithHint("each answer with the resultType input_required can be gone on with once")
	case p.round.state != requestState(j.call.Params):
		return mismatch(p, "the requestState is not the one of the answer %s", p.round.answer).
			WithHint("send it back as it came, or leave it out where there was none")
	case j.connections[p.target] == 0:
		return parley.Errorf(parley.TargetAbsent, "%q is not here to serve the call; the round can be sent later", p.target)
	}
	return j.sameDefinition(p, p.target)
}

// coveredRound reports whether the request is a further round by the proposer,
// which needs no capability. It is one of one call, and nothing else: whatever
// else is said to be answered is judged by its sender's rights.
func (j *judgement) coveredRound() (bool, error) {
	if !j.strict() || j.kind.Type != parley.TypeRequest || !isRound(j.call.Params) {
		return false, nil
	}
	rounds := 0
	for _, id := range j.e.Correlation.IDs {
		p, ok := j.proposals.rounds.get(id)
		switch {
		case ok && p.From == j.from:
			rounds++
		case ok || j.proposals.get(id) != nil || j.wasProposal(id):
			return false, nil
		}
	}
	if rounds != 1 {
		return false, nil
	}
	err := j.judgeRound()
	j.covered = err == nil
	return j.covered, err
}

// applyRound returns the proposal of which a request on record is a further
// round, nil for every other request. The answer that it goes on with does not
// wait any more. In a lazy space, where nobody looked, any request that names the
// fulfilment may have been one.
func (s *State) applyRound(e *parley.Envelope, kind parley.Kind) *proposal {
	for _, id := range e.Correlation.IDs {
		p, ok := s.proposals.rounds.get(id)
		if !ok {
			continue
		}
		is := isRound(parley.Member(e.Payload, "params")) && (e.From == p.Closed.By || e.From == p.From) && p.isRoundOf(e, kind)
		if p.round != nil && (is || s.rules.Lazy) {
			s.proposals.change(p, func(p *proposal) { p.round = nil })
		}
		if is {
			return p
		}
	}
	return nil
}

// applyRoundAnswer notes whether an answer to a fulfilment, or to a round, asks
// for more.
func (s *State) applyRoundAnswer(fulfilment string, e *parley.Envelope) {
	p, ok := s.proposals.rounds.get(fulfilment)
	if !ok {
		return
	}
	var next *openRound
	result := parley.Member(e.Payload, "result")
	if typ, _ := parley.MemberString(result, "resultType"); typ == "input_required" {
		next = &openRound{answer: e.ID, state: requestState(result)}
	}
	if next != nil || p.round != nil {
		s.proposals.change(p, func(p *proposal) { p.round = next })
	}
}
