package space

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Collecting (section 11). A proposal whose payload says "collect": true is one
// whose proposer may not be there when it ends, and comes back for what became
// of it. Until a notice says that it was collected, the same call made again
// means that proposal.

// maxCollecting is how many proposals of one proposer are found again, the
// newest: those that are open, and those that have ended and wait.
const maxCollecting = 1_024

func asksToCollect(payload jsontext.Value) bool {
	return parley.Member(payload, "collect").Kind() == 't'
}

// waits reports whether a proposal is open, or what became of it was not
// collected. What its proposer withdrew is of no interest any more.
func (p *proposal) waits() bool {
	return p.Collect && !p.Collected && p.State != Withdrawn
}

// collectable adds a proposal to those that are found again.
func (b *proposalBook) collectable(p *proposal) {
	list := b.collecting[p.From]
	if len(list) >= maxCollecting {
		list = slices.DeleteFunc(list, func(id string) bool {
			p := b.get(id)
			return p == nil || !p.waits()
		})
	}
	if len(list) >= maxCollecting {
		list = slices.Delete(list, 0, 1)
	}
	b.collecting[p.From] = append(list, p.ID)
}

// Uncollected is the newest proposal of a participant that asked, with collect,
// for this call of this target ("" for one that named nobody) and is open, or
// whose end was not collected for less than the space's proposal TTL. The digest
// is that of the params without _meta. Where there is none, it is the newest
// approved one that may have asked for it: its params were redacted.
func (s *State) Uncollected(from string, call parley.Kind, to string, params parley.Digest, now time.Time) (Proposal, bool) {
	var target []string
	if to != "" {
		target = []string{to}
	}
	var mayBe *proposal
	for _, id := range slices.Backward(s.proposals.collecting[from]) {
		p := s.proposals.get(id)
		if p == nil || !p.waits() || p.State != Open && !now.Before(p.Closed.At.Add(s.rules.Limits.ProposalTTL)) {
			continue
		}
		if p.Kind != call.As(parley.TypeProposal) || !slices.Equal(p.To, target) || p.addressed != (to != "") {
			continue
		}
		if p.proposed == params {
			found := p.Proposal
			found.Outdated = p.State == Open && p.tool != (parley.Digest{}) && p.tool != s.definition(p.Kind, to)
			return found, true
		}
		if p.proposed == (parley.Digest{}) && mayBe == nil && (p.State == Fulfilled || p.State == Amended) {
			mayBe = p
		}
	}
	if mayBe == nil {
		return Proposal{}, false
	}
	found := mayBe.Proposal
	found.Unsure = true
	return found, true
}

// Collected makes the notice that a proposer has got what became of its
// proposal; nil where there was nothing to collect, or it was done already.
func (s *State) Collected(id string, now time.Time) (*parley.Envelope, error) {
	p := s.proposals.get(id)
	switch {
	case p == nil:
		return nil, parley.Errorf(parley.ProposalNotFound, "no proposal here has the id %.130q", id)
	case p.State == Open:
		return nil, parley.Errorf(parley.InvalidArgument, "the proposal %s is open: there is nothing to collect yet", p.ID)
	case !p.waits():
		return nil, nil
	}
	b := appendString([]byte(`{"event":"`+noticeResultCollected+`","proposal":`), id)
	return s.system(parley.KindNotice, now, append(b, '}'), id), nil
}

func (s *State) applyCollected(id string) {
	if p, ok := s.proposals.ended.get(id); ok && p.waits() {
		s.proposals.change(p, func(p *proposal) { p.Collected = true })
	}
}
