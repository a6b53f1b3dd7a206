package space

import "github.com/parleyhq/parley"

// Apply takes an admitted envelope, with its place in the order, into the
// state, and says what follows from it. It is the only door: what Judge let
// through, what the gateway says itself, and what a journal holds from earlier
// runs all come in here.
func (s *State) Apply(e *parley.Envelope, kind parley.Kind) []Effect {
	s.seq = e.Seq
	s.ids.add(e.ID, idEntry{seq: e.Seq, digest: s.contentDigest(e.From, e), fixed: !kind.Redactable(), proposal: kind.Type == parley.TypeProposal})
	s.applyContext(e)
	effects := s.follow(e, kind)
	for _, effect := range effects {
		if effect.Type == Rewelcome {
			s.enrol(effect.Participant)
		}
	}
	return effects
}

// follow does what the kind asks for.
func (s *State) follow(e *parley.Envelope, kind parley.Kind) []Effect {
	switch kind.Type {
	case parley.TypeRequest:
		s.applyRequest(e, kind)
	case parley.TypeResponse:
		s.applyResponse(e)
	case parley.TypeProposal:
		s.applyProposal(e, kind)
	case parley.TypeReject, parley.TypeWithdraw:
		s.applyEnding(e, kind)
	case parley.KindGrant:
		return s.applyGrant(e)
	case parley.KindRevoke:
		return s.applyRevoke(e)
	case parley.KindKick:
		return s.applyKick(e)
	case parley.KindRestartBridge:
		return s.applyRestart(e)
	case parley.KindAcceptTool:
		s.applyAccept(e)
	case parley.KindRedact:
		return s.applyRedact(e)
	case parley.KindPresence:
		s.applyPresence(e)
	case parley.KindNotice:
		return s.applyNotice(e)
	}
	return nil
}
