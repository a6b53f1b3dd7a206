package space

import (
	"github.com/parleyhq/parley"
)

// Orders are envelopes that change who may do what or who is here: their
// payload speaks to the gateway, so it is read in lazy spaces too.

// readOrder refuses an order that the gateway could not carry out.
func (j *judgement) readOrder() error {
	if j.e.Payload.Kind() != '{' {
		return parley.Errorf(parley.KindMismatch, "the payload of %s is not an object", j.kind.Type)
	}
	object := "participant"
	switch j.kind.Type {
	case parley.KindGrant, parley.KindRevoke:
		object = "recipient"
	case parley.KindRedact:
		object = "id"
	}
	id, ok := parley.MemberString(j.e.Payload, object)
	if !ok {
		return parley.Errorf(parley.KindMismatch, "the payload of %s has no %s that is a string", j.kind.Type, object)
	}
	j.object = id
	return nil
}

func (j *judgement) judgeOrder() error {
	if !j.Known(j.object) {
		return parley.Errorf(parley.NotFound, "no participant here is called %.80q", j.object)
	}
	switch j.kind.Type {
	case parley.KindGrant:
		return j.judgeGrant()
	case parley.KindRevoke:
		return j.judgeRevoke()
	case parley.KindAcceptTool:
		return j.judgeAccept()
	}
	return nil
}

// applyKick has the participant's connections closed. It may come back; to
// keep it out, revoke what it may send or take away its token.
func (s *State) applyKick(e *parley.Envelope) []Effect {
	id, _ := parley.MemberString(e.Payload, "participant")
	reason, _ := parley.MemberString(e.Payload, "reason")
	return []Effect{{Type: Remove, Participant: id, Reason: reason}}
}

func (s *State) applyRestart(e *parley.Envelope) []Effect {
	id, _ := parley.MemberString(e.Payload, "participant")
	return []Effect{{Type: Restart, Participant: id}}
}
