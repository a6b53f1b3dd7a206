package space

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// How proposals end other than by fulfilment: rejected, withdrawn, expired.

// readEnding finds the proposal that a reject or withdraw names, whose METHOD
// and SUBJECT are its own.
func (j *judgement) readEnding() error {
	if !j.strict() {
		return nil
	}
	for _, id := range j.e.Correlation.IDs {
		if p := j.proposals.get(id); p != nil {
			j.ended = p
			return j.sameCall(p.Kind)
		}
	}
	return nil // judged by correlation and by the rules of proposals
}

func (j *judgement) judgeReject() error {
	if !j.strict() {
		return nil
	}
	return j.judgeEnding()
}

func (j *judgement) judgeWithdraw() error {
	if !j.strict() {
		return nil
	}
	if j.ended != nil && j.ended.From != j.from {
		return parley.Errorf(parley.NotProposer, "%q proposed it, and only its proposer withdraws a proposal", j.ended.From).
			WithHint("reject it instead, where you may")
	}
	return j.judgeEnding()
}

func (j *judgement) judgeEnding() error {
	p, err := j.oneProposal(j.kind.Type + " ends")
	switch {
	case err != nil:
		return err
	case p == nil:
		return parley.Errorf(parley.ProposalNotFound, "no proposal here has the id %q", j.e.Correlation.IDs[0])
	case p.State != Open:
		return closedError(p)
	}
	return nil
}

func (s *State) applyEnding(e *parley.Envelope, kind parley.Kind) {
	for _, id := range e.Correlation.IDs {
		p := s.proposals.open[id]
		if p == nil {
			continue
		}
		state, c := Rejected, Closing{By: e.From, ID: e.ID, At: e.TS}
		if kind.Type == parley.TypeWithdraw {
			state = Withdrawn
		}
		c.Reason, _ = parley.MemberString(e.Payload, "reason")
		c.Reason = strings.Clone(strings.ToValidUTF8(c.Reason[:min(len(c.Reason), mostReason)], ""))
		s.proposals.close(p, state, c)
	}
}

// mostReason is how much of a reason is kept, in bytes; section 7's are words.
const mostReason = 128

// The events that system/notice tells of.
const (
	noticeProposalExpired = "proposal_expired"
	noticeGrantExpired    = "grant_expired"
	noticeGrantLapsed     = "grant_lapsed" // its grantor may no longer give it, by the configuration
	noticeRedactionFailed = "redaction_failed"
	noticeResultCollected = "result_collected"

	NoticeToolsSeen    = "tools_seen"    // tools that were not known, each with its definition
	NoticeToolsChanged = "tools_changed" // tools whose definitions are others than before
)

// NextExpiry is when [State.Expired] next has something to say; zero is never.
func (s *State) NextExpiry() time.Time {
	var next time.Time
	if len(s.proposals.expiry) > 0 {
		next = s.proposals.expiry[0].Expires
	}
	return sooner(next, s.grantEnds)
}

// sooner is the earlier of two times, of which a zero one is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// Expired makes the notices of what has run out by now. A proposal or grant
// ends when its notice is applied: expiry has its place in the order.
func (s *State) Expired(now time.Time) []*parley.Envelope {
	var notices []*parley.Envelope
	for _, p := range s.proposals.expiry {
		if p.Expires.After(now) {
			break
		}
		payload := noticePayload(noticeProposalExpired, "proposal", p.ID, p.Expires)
		notice := s.system(parley.KindNotice, now, payload, p.ID)
		notices = append(notices, notice)
	}
	for _, g := range s.grants {
		if !g.expires.IsZero() && !g.expires.After(now) {
			payload := noticePayload(noticeGrantExpired, "grant_id", g.id, g.expires)
			notices = append(notices, s.system(parley.KindNotice, now, payload, g.id))
		}
	}
	return notices
}

func noticePayload(event, what, id string, at time.Time) jsontext.Value {
	b := []byte(`{"event":` + strconv.Quote(event) + `,"` + what + `":`)
	b, _ = jsontext.AppendQuote(b, id)
	b = append(b, `,"expired":"`...)
	b = at.UTC().AppendFormat(b, time.RFC3339)
	return append(b, `"}`...)
}

func lapsedPayload(id string) jsontext.Value {
	return append(appendString([]byte(`{"event":"`+noticeGrantLapsed+`","grant_id":`), id), '}')
}

func (s *State) applyNotice(e *parley.Envelope) []Effect {
	event, _ := parley.MemberString(e.Payload, "event")
	if event == NoticeToolsSeen || event == NoticeToolsChanged {
		s.applyTools(e)
		return nil
	}
	for _, id := range e.Correlation.IDs {
		switch event {
		case noticeProposalExpired:
			if p := s.proposals.open[id]; p != nil {
				s.proposals.close(p, Expired, Closing{By: e.From, ID: e.ID, At: e.TS})
			}
		case noticeGrantExpired, noticeGrantLapsed:
			return s.endGrant(id)
		case noticeRedactionFailed:
			s.redactionsEnded(id, e.Seq)
		case noticeResultCollected:
			s.applyCollected(id)
		}
	}
	return nil
}
