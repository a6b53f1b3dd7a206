package space

import (
	"github.com/parleyhq/parley"
)

// Restore makes a state of a snapshot, under rules that may have changed since.
func Restore(rules Rules, n *Snapshot) *State {
	s := New(rules)
	s.seq = n.Seq
	s.restoreRights(n)
	for _, id := range n.Lapsed {
		s.lapsed[id] = true
	}
	for _, id := range n.Present {
		s.present[id] = true
	}
	s.redacting = n.Redacting
	for _, e := range n.IDs {
		s.ids.add(e.ID, idEntry{seq: e.Seq, digest: e.Digest, fixed: e.Fixed, proposal: e.Asked})
	}
	s.restoreContexts(n)
	for _, r := range n.Requests {
		s.requests.add(&request{id: r.ID, kind: parley.SplitKind(r.Kind), from: r.From, to: r.To, context: r.Context, proposer: r.Proposer, seq: r.Seq, fulfilment: r.Fulfils})
	}
	s.restoreProposals(n)
	s.restoreTools(n)
	return s
}

// restoreRights gives the orders again, in their order.
func (s *State) restoreRights(n *Snapshot) {
	grants := n.Grants
	grantBefore := func(seq uint64) {
		for len(grants) > 0 && grants[0].Seq < seq {
			g := grants[0]
			grants = grants[1:]
			s.addGrant(&grant{id: g.ID, seq: g.Seq, from: g.From, to: g.To, caps: g.Capabilities, expires: g.Expires})
		}
	}
	for rest := n.Revocations; len(rest) > 0; {
		first, parts := rest[0], 1
		for parts < len(rest) && rest[parts].Seq == first.Seq {
			parts++
		}
		grantBefore(first.Seq)
		s.revokeAgain(rest[:parts], n.Given == s.given)
		rest = rest[parts:]
	}
	grantBefore(n.Seq + 1)
}

// revokeAgain repeats one order. Whether anything wider remained cannot be told
// from the orders that are left: the grant that it was part of may have ended.
// Under the same configuration it is as it was; under another one, denied is what
// either says.
func (s *State) revokeAgain(order []savedRevocation, same bool) {
	m := s.members[order[0].Of]
	if m == nil {
		s.absent = append(s.absent, order...)
		return
	}
	for _, saved := range order {
		s.take(m, saved.Capability, saved.Seq)
		last := &m.revoked[len(m.revoked)-1]
		last.wider = saved.Wider || last.wider && !same
	}
	s.recompute(m.id)
}

func (s *State) restoreProposals(n *Snapshot) {
	b := s.proposals
	for _, saved := range n.Open {
		b.add(saved.proposal())
	}
	for _, saved := range n.Rounds {
		b.rounds.add(saved.Closed.ID, saved.proposal())
	}
	for _, saved := range n.Ended {
		p := saved.proposal()
		b.ended.add(p.ID, p)
		if p.State == Fulfilled || p.State == Amended {
			b.rounds.add(p.Closed.ID, p)
		}
	}
	for _, p := range s.Proposals("") {
		if p.Collect {
			b.collectable(b.get(p.ID))
		}
	}
}

func (s *State) restoreTools(n *Snapshot) {
	for _, of := range n.Tools {
		for _, t := range of.List {
			if t.Accepted == (parley.Digest{}) {
				t.Accepted = t.Digest
			}
			s.tools.put(&Tool{Participant: of.Of, Name: t.Name, Digest: t.Digest, Accepted: t.Accepted, Notice: t.Notice, Change: t.Change})
		}
	}
}

func (saved savedProposal) proposal() *proposal {
	p := &proposal{
		Proposal: Proposal{
			ID: saved.ID, Seq: saved.Seq, Kind: parley.SplitKind(saved.Kind), From: saved.From, To: saved.To,
			State: saved.State, Opened: saved.Opened, Expires: saved.Expires,
			Collect: saved.Collect, Collected: saved.Collected,
		},
		digest: saved.Digest, target: saved.Target, known: saved.Known, addressed: saved.Named, tool: saved.Tool,
	}
	if p.Collect {
		p.proposed = saved.Proposed
		if p.proposed == (parley.Digest{}) {
			p.proposed = p.digest
		}
	}
	if r := saved.Round; r != nil {
		p.round = &openRound{r.Answer, r.State}
	}
	if c := saved.Closed; c != nil {
		p.Closed = Closing{By: c.By, ID: c.ID, At: c.At, Reason: c.Reason}
	}
	return p
}
