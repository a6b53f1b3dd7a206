package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

const (
	besideMost  = 20      // envelopes of its context that are shown beside a proposal
	besideBytes = 1 << 20 // of them
	candidates  = 256     // participants that may be chosen among, where a proposal names none
	namesMost   = 1_000   // that look like others
	decideTime  = 30 * time.Second
)

// approvalRequest is the body of each call with a link.
type approvalRequest struct {
	Code string   `json:"code"`
	To   oneOrOne `json:"to"`
}

// showApproval says what a link is about, and uses nothing up.
func (a *api) showApproval(w http.ResponseWriter, r *http.Request) error {
	var body approvalRequest
	if err := decodeBody(w, r, &body); err != nil {
		return err
	}
	l, c, err := a.openApproval(r, body.Code)
	if err != nil {
		return err
	}
	note(w, c.id)
	b, err := c.describe(r.Context(), &l, string(body.To))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, b)
}

// approve sends what the link's proposal stands for, in the decider's name.
func (a *api) approve(w http.ResponseWriter, r *http.Request) error {
	var body approvalRequest
	if err := decodeBody(w, r, &body); err != nil {
		return err
	}
	return a.decide(w, r, body.Code, "fulfil", func(rec proposed) (*parley.Envelope, error) {
		return fulfilment(rec, fulfilRequest{To: body.To})
	})
}

// turnDown rejects the link's proposal.
func (a *api) turnDown(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Code    string `json:"code"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
	}
	if err := decodeBody(w, r, &body); err != nil {
		return err
	}
	return a.decide(w, r, body.Code, "reject", func(rec proposed) (*parley.Envelope, error) {
		return rejection(rec, rejectRequest{Reason: body.Reason, Message: body.Message})
	})
}

// decide sends a decision. Of several who come with one link, one is told at a
// time, and the link is used up by the first decision that is on record: what is
// refused can be tried again.
func (a *api) decide(w http.ResponseWriter, r *http.Request, code, verdict string, make func(proposed) (*parley.Envelope, error)) error {
	first, _, err := a.openApproval(r, code)
	if err != nil {
		return err
	}
	select {
	case first.turn <- struct{}{}:
		defer func() { <-first.turn }()
	case <-r.Context().Done():
		return r.Context().Err()
	}
	l, c, err := a.openApproval(r, code) // which somebody may have used meanwhile
	if err != nil {
		return err
	}
	note(w, c.id)
	rec, err := c.linked(r.Context(), &l)
	if err != nil {
		return err
	}
	e, err := make(rec)
	if err != nil {
		return err
	}
	got, err := a.decideBy(r, &l, c, verdict, rec, e)
	if err != nil {
		return err
	}
	return writeReceipt(w, got)
}

// linked is a link's proposal. Its id may be another's meanwhile, of which nobody was
// shown anything.
func (c caller) linked(ctx context.Context, l *approval) (proposed, error) {
	return c.known(ctx, l.proposal, l.of)
}

// of is what the state knows of the link's proposal.
func (l *approval) of(s *space.State) (space.Proposal, bool) {
	p, known := s.Proposal(l.proposal)
	return p, known && p.Seq == l.seq
}

// decideBy sends it, whether the browser waits for that or not: else the link could
// be used up without anybody knowing.
func (a *api) decideBy(r *http.Request, l *approval, c caller, verdict string, proposal proposed, e *parley.Envelope) (Receipt, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), decideTime)
	defer cancel()
	e.Correlation = parley.CorrelateWith(proposal.ID)
	got, err := c.send(ctx, e)
	if err != nil {
		a.g.log.Warn("a decision by approval link was refused", "space", l.space, "proposal", l.proposal,
			"participant", l.decider, "decision", verdict, "from", r.RemoteAddr, "error", err)
		return got, err
	}
	a.approvals.use(l.code, verdict, a.g.now())
	a.g.saveApprovals()
	a.g.log.Info("decided by approval link", "space", l.space, "proposal", l.proposal, "participant", l.decider,
		"decision", verdict, "envelope", got.ID, "seq", got.Seq, "from", r.RemoteAddr, "link_made", l.made)
	return got, nil
}

// openApproval is the link of a code, and who acts by it. Whoever brings codes that
// do not exist has to wait, as who brings wrong tokens does.
func (a *api) openApproval(r *http.Request, code string) (approval, caller, error) {
	if code == "" {
		return approval{}, caller{}, parley.Errorf(parley.InvalidArgument, "code is missing").
			WithHint("it is what follows #code= in the link")
	}
	now, from := a.g.now(), addressOf(r)
	l, known := a.approvals.find(code)
	if !known {
		if wait := a.attempts.wait(from, now); wait > 0 {
			return approval{}, caller{}, a.tooManySignIns(wait)
		}
		a.attempts.failed(from, now)
		return approval{}, caller{}, a.ended(r, &approval{ended: approvalUnknown})
	}
	c, holds := a.byLink(&l)
	if !holds && l.state(now) == approvalOpen {
		l.ended, l.endedAt = approvalWithdrawn, now
	}
	if l.state(now) != approvalOpen {
		return approval{}, caller{}, a.ended(r, &l)
	}
	return l, c, nil
}

// byLink is the decider, as whoever has the link acts for them; false where the
// decider has none of its tokens any more. What they read does not count as the
// decider's own: a link may have come to others. All links of a token have one share,
// else whoever made many of them would have as many.
func (a *api) byLink(l *approval) (caller, bool) {
	who, holds := a.g.deciderOf(l)
	who.token = sha256.Sum256(append([]byte("links of "), who.token[:]...))
	return caller{identity: who, reads: a.reads}, holds
}

// deciderOf is who acts by a link; false where the decider has none of its tokens
// any more.
func (g *Gateway) deciderOf(l *approval) (identity, bool) {
	for _, token := range l.tokens {
		if who, ok := in(g.tokens[token], l.space); ok && who.id == l.decider {
			return who, true
		}
	}
	return identity{}, false
}

// ended says why a link works no more, and what became of its proposal.
func (a *api) ended(r *http.Request, l *approval) error {
	state := l.state(a.g.now())
	err := withLink(state, parley.Errorf(parley.Unauthorized, "%s", a.whyEnded(l, state)))
	if state == approvalUnknown {
		err.refusal.Code, err.status = parley.NotFound, http.StatusNotFound
		return err
	}
	room := a.g.rooms[l.space]
	if room == nil {
		return err
	}
	b := appendQuote([]byte(`"decider":`), l.decider)
	if l.verdict != "" {
		b = appendQuote(append(b, `,"verdict":`...), l.verdict)
	}
	var p space.Proposal
	known := false
	if a.g.View(r.Context(), l.space, func(s *space.State) { p, known = l.of(s) }) == nil && known {
		b = appendQuote(append(b, `,"state":`...), string(p.State))
		b = appendClosed(b, &p)
	}
	if came := a.outcome(r.Context(), l, &p); came != "" {
		b = appendQuote(append(b, `,"outcome":`...), came)
	}
	err.members = append(append(err.members, ','), b...)
	return err
}

func withLink(state approvalEnd, err *parley.Error) *problem {
	return &problem{refusal: err, status: http.StatusGone, members: appendQuote([]byte(`"link":`), string(state))}
}

func (a *api) whyEnded(l *approval, state approvalEnd) string {
	switch state {
	case approvalUsed:
		return fmt.Sprintf("this link was used already, by %s at %s", l.decider, l.endedAt.UTC().Format(time.RFC3339))
	case approvalExpired:
		return fmt.Sprintf("this link expired at %s", l.expires.UTC().Format(time.RFC3339))
	case approvalSignedOut:
		return fmt.Sprintf("%s has signed out everywhere since this link was made", l.decider)
	case approvalWithdrawn:
		if a.g.rooms[l.space] == nil {
			return fmt.Sprintf("the space %s is no longer here", l.space)
		}
		return fmt.Sprintf("the token of %s that this link stood for is no longer valid", l.decider)
	case approvalCrowded:
		return fmt.Sprintf("newer links of %s have taken the place of this one", l.decider)
	}
	return "this link is not known here: it is not whole, or it ended long ago"
}

// describe is all that somebody needs who decides on a link's proposal. to is whom
// the call would ask, where the proposal leaves that open.
func (c caller) describe(ctx context.Context, l *approval, to string) ([]byte, error) {
	var p space.Proposal
	known := false
	err := c.view(ctx, func(s *space.State) { p, known = l.of(s) })
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, noProposal(c, l.proposal)
	}
	rec, err := c.one(ctx, at(l.seq))
	if err != nil {
		return nil, err
	}
	b := appendQuote([]byte(`{"space":`), l.space)
	b = appendQuote(append(b, `,"decider":`...), l.decider)
	b = appendTime(append(b, `,"expires":`...), l.expires)
	b = appendProposal(append(b, `,"proposal":`...), &p, rec)
	people := slices.Sorted(maps.Keys(c.room.rules.Participants))
	shown := append([]string{p.From, p.Closed.By}, p.To...)
	if len(p.To) == 0 {
		b = appendStrings(append(b, `,"candidates":`...), people, candidates)
		shown = append(shown, people[:min(candidates, len(people))]...)
	}
	if rec != nil {
		if b, err = c.appendTool(ctx, b, rec, cmpTarget(to, rec.To)); err != nil {
			return nil, err
		}
		said, err := c.beside(ctx, rec)
		if err != nil {
			return nil, err
		}
		b = appendBeside(b, rec.Context, said)
		shown = append(shown, rec.To...)
		for _, one := range said {
			shown = append(shown, one.From)
		}
	}
	b = appendStrings(append(b, `,"participants":`...), couldBe(people, shown), namesMost)
	return append(b, '}', '\n'), nil
}

// cmpTarget is whom a call would ask: to, where that is left open, or the only one to
// whom it was proposed; "" where nobody is chosen so far who may be.
func cmpTarget(to string, proposed []string) string {
	switch {
	case len(proposed) == 1:
		return proposed[0]
	case len(proposed) > 0 && !slices.Contains(proposed, to):
		return ""
	}
	return to
}

// appendStrings writes a list, and no more of it than that.
func appendStrings(b []byte, list []string, most int) []byte {
	b = append(b, '[')
	for i, one := range list[:min(most, len(list))] {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuote(b, one)
	}
	return append(b, ']')
}

// appendTool writes what is known of the tool that the proposal calls, and which others
// whoever is asked has whose name could be taken for its.
func (c caller) appendTool(ctx context.Context, b []byte, proposal *journal.Record, target string) ([]byte, error) {
	payload := parley.Member(proposal.Body, "payload")
	if method, _ := parley.MemberString(payload, "method"); method != "tools/call" || target == "" {
		return b, nil
	}
	name, _ := parley.MemberString(parley.Member(payload, "params"), "name")
	var tool *space.Tool
	var names []string
	err := c.view(ctx, func(s *space.State) {
		for _, t := range s.Tools(target) {
			names = append(names, t.Name)
			if t.Name == name {
				tool = t
			}
		}
	})
	if err != nil {
		return b, err
	}
	slices.Sort(names)
	b = appendStrings(append(b, `,"tools":`...), couldBe(names, []string{name}), namesMost)
	if tool == nil {
		return b, nil
	}
	definition, err := c.definition(ctx, tool)
	if err != nil {
		return b, err
	}
	b = appendQuote(append(b, `,"tool":{"participant":`...), target)
	b = appendQuote(append(b, `,"tool":`...), tool.Name)
	b = appendQuote(append(b, `,"digest":`...), hex.EncodeToString(tool.Digest[:]))
	b = strconv.AppendBool(append(b, `,"accepted":`...), tool.IsAccepted())
	if !tool.IsAccepted() {
		b = appendQuote(append(b, `,"changed":`...), tool.Change)
	}
	if definition != nil {
		b = append(append(b, `,"definition":`...), definition...)
	}
	return append(b, '}'), nil
}

// definition is what the record holds of a tool; nil where it holds nothing.
func (c caller) definition(ctx context.Context, tool *space.Tool) (jsontext.Value, error) {
	notice, err := c.one(ctx, at(tool.Notice))
	if err != nil || notice == nil {
		return nil, err
	}
	for el := range parley.Elements(parley.Member(noticeOf(notice), "tools")) {
		if name, _ := parley.MemberString(el, "name"); name == tool.Name {
			return parley.Member(el, "definition"), nil
		}
	}
	return nil, nil
}

// beside is what was said in the proposal's context before it, oldest first.
func (c caller) beside(ctx context.Context, proposal *journal.Record) (said []*journal.Record, err error) {
	if proposal.Context == "" {
		return nil, nil
	}
	size := 0
	q := journal.Query{Contexts: []string{proposal.Context}, Before: proposal.Seq, Newest: true, Limit: besideMost}
	err = c.read(ctx, q, func(rec *journal.Record) bool {
		if size += len(rec.Body); size > besideBytes {
			return false
		}
		said = append(said, rec)
		return true
	})
	slices.Reverse(said)
	return said, err
}

// appendBeside writes what was said in a context, if there is one.
func appendBeside(b []byte, id string, said []*journal.Record) []byte {
	if id == "" {
		return b
	}
	b = appendQuote(append(b, `,"context":{"id":`...), id)
	b = append(b, `,"items":[`...)
	for i, rec := range said {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, rec.Wire()...)
	}
	return append(b, "]}"...)
}
