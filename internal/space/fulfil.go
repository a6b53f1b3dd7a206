package space

import (
	"slices"

	"github.com/parleyhq/parley"
)

// judgeFulfilment applies section 7 to a request that names a proposal: it is
// a fulfilment, and asks for exactly what was proposed, or says that it amends.
func (j *judgement) judgeFulfilment() error {
	if !j.strict() {
		return nil
	}
	p, err := j.namedProposal()
	if err != nil {
		return err
	}
	switch {
	case p == nil:
		return j.judgeRound()
	case !canFulfil(j.kind, p):
		return nil
	case p.State != Open:
		return closedError(p)
	case p.From == j.from:
		return parley.Errorf(parley.SelfFulfilment, "nobody fulfils their own proposal").
			WithHint("somebody else has to send the request with correlation_id %q", p.ID)
	}
	if err := j.sameAsProposed(p); err != nil {
		return err
	}
	target := j.e.To[0]
	if err := j.sameDefinition(p, target); err != nil {
		return err
	}
	if j.connections[target] == 0 {
		return parley.Errorf(parley.TargetAbsent, "%q is not here to serve the call; the proposal stays open", target)
	}
	j.fulfils = p
	return nil
}

// canFulfil reports whether a request that names a proposal means to fulfil it.
// A notification does where it was proposed; another one speaks of the proposal.
func canFulfil(kind parley.Kind, p *proposal) bool {
	return !isNotification(kind.Method) || kind.Method == p.Kind.Method
}

// namedProposal is the one proposal that a request names. A request that names
// something, but nothing that is known here, most likely means a proposal.
func (j *judgement) namedProposal() (*proposal, error) {
	ids := j.e.Correlation.IDs
	p, err := j.oneProposal("a request fulfils")
	switch {
	case err != nil || p != nil:
		return p, err
	case slices.ContainsFunc(ids, j.wasProposal) && !isNotification(j.kind.Method):
		return nil, parley.Errorf(parley.ProposalNotFound, "the proposal ended too long ago to be followed")
	case j.e.Amends:
		return nil, parley.Errorf(parley.ProposalNotFound, "the request amends, but its correlation_id names no proposal")
	case len(ids) > 0 && !slices.ContainsFunc(ids, j.isKnown) && !isNotification(j.kind.Method):
		return nil, parley.Errorf(parley.ProposalNotFound, "nothing here has the id %q", ids[0])
	}
	return nil, nil
}

// oneProposal is the proposal that the envelope names, nil for none; what says
// that there can be only one.
func (j *judgement) oneProposal(what string) (*proposal, error) {
	var named *proposal
	for _, id := range j.e.Correlation.IDs {
		p := j.proposals.get(id)
		if p == nil || p == named {
			continue
		}
		if named != nil {
			return nil, parley.Errorf(parley.InvalidCorrelation, "%s one proposal, this one names %q and %q", what, named.ID, id)
		}
		named = p
	}
	return named, nil
}

// wasProposal reports whether an id is that of a proposal which is not followed
// any more: a request that names it is not one like any other.
func (s *State) wasProposal(id string) bool {
	e, known := s.ids.get(id)
	return known && e.proposal && s.proposals.get(id) == nil
}

func (s *State) isKnown(id string) bool {
	_, envelope := s.ids.get(id)
	return envelope || s.contexts.get(id) != nil
}

func (j *judgement) sameAsProposed(p *proposal) error {
	if j.kind.Method != p.Kind.Method || j.kind.Subject != p.Kind.Subject {
		return mismatch(p, "it proposes %.200s, not %.200s", p.Kind.As(parley.TypeRequest), j.kind)
	}
	if len(j.e.To) != 1 {
		return mismatch(p, "a fulfilment has one target in to, this one has %d", len(j.e.To))
	}
	if p.addressed && !slices.Contains(p.To, j.e.To[0]) {
		return mismatch(p, "it was not proposed to %q", j.e.To[0])
	}
	if !j.e.Amends && paramsDigest(j.e.Payload) != p.digest {
		return mismatch(p, "the params differ").
			WithHint(`send the params as proposed, or say "amends": true to stand for the change yourself`)
	}
	return nil
}

func mismatch(p *proposal, format string, args ...any) *parley.Error {
	err := parley.Errorf(parley.ProposalMismatch, format, args...)
	err.Message = "this is not what " + p.ID + " proposes: " + err.Message
	return err
}

func closedError(p *proposal) *parley.Error {
	return parley.Errorf(parley.ProposalClosed, "the proposal %s was %s by %s at %s, with %s",
		p.ID, p.State, p.Closed.By, p.Closed.At.Format("15:04:05.000Z"), p.Closed.ID)
}

func (s *State) applyFulfilment(e *parley.Envelope, kind parley.Kind) {
	for _, id := range e.Correlation.IDs {
		p := s.proposals.open[id]
		if p == nil || !canFulfil(kind, p) {
			continue
		}
		state := Fulfilled
		if e.Amends {
			state = Amended
		}
		p.digest = paramsDigest(e.Payload)
		if len(e.To) > 0 { // a space that was lazy then let others through
			p.target = e.To[0]
			p.tool = s.definition(p.Kind, p.target)
		}
		s.proposals.close(p, state, Closing{By: e.From, ID: e.ID, At: e.TS})
		if r := s.requests.open[e.ID]; r != nil {
			r.proposer, r.fulfilment = p.From, e.ID
		}
	}
}
