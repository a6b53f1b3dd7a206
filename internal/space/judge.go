package space

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/parleyhq/parley"
)

// Judge passes an envelope through the checks of section 5, in their order
// after size and parse, and says what may be admitted. An error is a
// *parley.Error, and nothing changed but the sender's rate.
//
// The envelope is stamped in place. The caller first puts on record what
// [State.Expired] returns, where [State.NextExpiry] is not after now.
func (s *State) Judge(from string, e *parley.Envelope, now time.Time) (Verdict, error) {
	j := judgement{State: s, from: from, e: e, now: now}
	for _, check := range [...]func() error{
		j.identity, j.rate, j.duplicate, j.remember, j.reserved, j.readKind,
		j.capability, j.correlation, j.context, j.meaning,
	} {
		if err := check(); err != nil {
			return Verdict{}, j.refused(j.told(err))
		}
	}
	s.stamp(e, from, now)
	return Verdict{Envelope: e, Kind: j.kind, To: j.addressees()}, nil
}

// told is an error as the sender gets it: one that may not send something also reads
// what that was, and what it may.
func (j *judgement) told(err error) error {
	if e, ok := errors.AsType[*parley.Error](err); ok && e.Code == parley.CapabilityViolation {
		e.AttemptedKind, e.Capabilities = j.kind.String(), j.Capabilities(j.from)
	}
	return err
}

// addressees are those named in to, and the proposer where the envelope fulfils
// its proposal or answers a fulfilment.
func (j *judgement) addressees() []string {
	to, proposer := j.e.To, ""
	switch {
	case j.answered != nil:
		proposer = j.answered.proposer
	case j.fulfils != nil:
		proposer = j.fulfils.From
	}
	if proposer == "" || len(to) == 0 || slices.Contains(to, proposer) {
		return to
	}
	return append(slices.Clip(to), proposer)
}

// judgement is one envelope on its way through the checks.
type judgement struct {
	*State
	from string
	e    *parley.Envelope
	now  time.Time

	free     bool        // it may be an answer, and took nothing from the sender's rate
	kind     parley.Kind // effective, from readKind on
	call     parley.Call // of a request or proposal in a strict space
	answered *request    // the open request that a response answers
	object   string      // whom an order is about
	ended    *proposal   // the proposal that a reject or withdraw names
	fulfils  *proposal   // the open one that a request fulfils
	covered  bool        // an approval lets its proposer send it
}

func (j *judgement) strict() bool { return !j.rules.Lazy }

func (j *judgement) identity() error {
	if j.e.From != "" && j.e.From != j.from {
		return parley.Errorf(parley.IdentityMismatch, "you are %q, the envelope says %.80q", j.from, j.e.From).
			WithHint("leave from out; the gateway writes it")
	}
	return nil
}

func (j *judgement) duplicate() error { return j.checkDuplicate(j.from, j.e) }

func (j *judgement) reserved() error {
	typ := parley.SplitKind(j.e.Kind).Type
	if typ == "system" || strings.HasPrefix(typ, "system/") {
		return parley.Errorf(parley.ReservedKind, "%.80q is the gateway's alone", j.e.Kind)
	}
	return nil
}

// readKind finds the effective kind (section 3) and refuses a kind that lies
// about its payload.
func (j *judgement) readKind() error {
	if err := j.parseKind(); err != nil {
		return err
	}
	if err := j.readPayload(); err != nil {
		return err
	}
	return parley.CheckSubject(j.kind)
}

func (j *judgement) parseKind() error {
	if len(j.e.Kind) > parley.MaxKind {
		return parley.Errorf(parley.InvalidKind, "the kind is longer than %d bytes", parley.MaxKind)
	}
	kind, err := parley.ParseKind(j.e.Kind)
	j.kind = kind
	return err
}

func (j *judgement) readPayload() error {
	switch j.kind.Type {
	case parley.TypeRequest, parley.TypeProposal:
		return j.readCall()
	case parley.TypeResponse:
		return j.readResponse()
	case parley.TypeReject, parley.TypeWithdraw:
		return j.readEnding()
	case parley.KindGrant, parley.KindRevoke, parley.KindKick, parley.KindRedact, parley.KindRestartBridge, parley.KindAcceptTool:
		return j.readOrder()
	}
	return nil
}

func (j *judgement) readCall() error {
	if !j.strict() {
		return nil
	}
	call, err := parley.ReadCall(j.kind, j.e.Payload)
	if err != nil {
		return err
	}
	j.call, j.kind = call, call.Kind
	return nil
}

// capability holds the effective kind against what the sender may send.
func (j *judgement) capability() error {
	if j.kind.Type == parley.TypeWithdraw && j.strict() {
		return nil // its proposer needs none, and nobody else gets past the rules
	}
	action := j.action()
	caps := j.Capabilities(j.from)
	if err := caps.CheckParams(&action); err != nil {
		return err
	}
	if caps.Allow(&action) || j.mayWithdraw(caps, action) {
		return nil
	}
	if covered, err := j.coveredRound(); covered || err != nil {
		return err
	}
	err := parley.Errorf(parley.CapabilityViolation, "you may not send %.200s", j.kind)
	err.Hint = cmp.Or(j.contextHint(caps, action), j.proposalHint(caps, action))
	return err
}

// mayWithdraw is how a lazy space, which does not know whose proposal it is,
// lets proposers withdraw: whoever may propose something may take it back.
func (j *judgement) mayWithdraw(caps parley.Capabilities, a parley.Action) bool {
	a.Kind = a.Kind.As(parley.TypeProposal)
	return j.kind.Type == parley.TypeWithdraw && caps.Allow(&a)
}

func (j *judgement) action() parley.Action {
	a := parley.Action{Kind: j.kind, To: j.e.To, Params: j.call.Params}
	if j.e.Context != nil {
		a.ContextType = j.contextType(j.e.Context)
	}
	return a
}

// proposalHint tells a sender that may not ask for something that it could
// propose it.
func (j *judgement) proposalHint(caps parley.Capabilities, a parley.Action) string {
	if a.Kind.Type != parley.TypeRequest {
		return ""
	}
	a.Kind = a.Kind.As(parley.TypeProposal)
	if !caps.Allow(&a) {
		return ""
	}
	return "send it as " + a.Kind.String() + ", and somebody who may can fulfil it"
}

// meaning applies the rules of the kind itself.
func (j *judgement) meaning() error {
	switch j.kind.Type {
	case parley.TypeRequest:
		if err := j.judgeFulfilment(); err != nil {
			return err
		}
		return j.judgePin()
	case parley.TypeProposal:
		return j.judgeProposal()
	case parley.TypeReject:
		return j.judgeReject()
	case parley.TypeWithdraw:
		return j.judgeWithdraw()
	case parley.KindGrant, parley.KindRevoke, parley.KindKick, parley.KindRestartBridge, parley.KindAcceptTool:
		return j.judgeOrder()
	case parley.KindRedact:
		return j.judgeRedact()
	}
	return nil
}
