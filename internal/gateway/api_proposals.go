package gateway

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// Further values of the state parameter: all, and all but those that are open.
const (
	anyState   = "all"
	endedState = "ended"
)

// listProposals lists proposals by the place in which they were made. A lazy
// space follows none, and has none to list.
func listProposals(w http.ResponseWriter, r *http.Request, c caller) error {
	p := readParams(r)
	l := proposalList{
		caller: c,
		state: p.choice("state", string(space.Open), string(space.Fulfilled), string(space.Amended),
			string(space.Rejected), string(space.Withdrawn), string(space.Expired), endedState, anyState),
		kinds:  p.patterns("kind"),
		from:   p.text("from"),
		to:     p.text("to"),
		after:  p.position("after"),
		before: p.position("before"),
		newest: p.newest(),
		page:   newPage(p.limit()),
	}
	err := p.done()
	if err != nil {
		return err
	}
	if l.matcher, err = journal.NewMatcher(journal.Query{Kinds: l.kinds, From: l.from, To: l.to}); err != nil {
		return err
	}
	if err := l.collect(r.Context()); err != nil {
		return err
	}
	return l.page.write(w)
}

// proposalList is a page of proposals in the making.
type proposalList struct {
	caller
	state         string
	kinds         []string
	from, to      string
	matcher       *journal.Matcher // of the three above
	after, before uint64
	newest        bool
	page          *page
}

func (l *proposalList) collect(ctx context.Context) error {
	switch {
	case l.room.rules.Lazy:
		return nil
	case l.state == string(space.Open):
		return l.open(ctx)
	}
	return l.scan(ctx)
}

// open lists what the state holds anyway.
func (l *proposalList) open(ctx context.Context) error {
	var list []space.Proposal
	if err := l.view(ctx, func(s *space.State) { list = s.Proposals(space.Open) }); err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(p space.Proposal) bool {
		return p.Seq <= l.after || l.before > 0 && p.Seq >= l.before || !l.asks(&p)
	})
	if l.newest {
		slices.Reverse(list)
	}
	list = list[:min(len(list), l.page.most+1)] // one more says whether there is a next page
	return l.reading(ctx, func(ctx context.Context) error {
		for len(list) > 0 {
			n := neighbours(list)
			more, err := l.addOpen(ctx, list[:n])
			if err != nil || !more {
				return err
			}
			list = list[n:]
		}
		return nil
	})
}

// asks reports whether a proposal that the state knows is one that is asked for.
func (l *proposalList) asks(p *space.Proposal) bool {
	kind := p.Kind.String()
	return l.matcher.Header(&journal.Record{Type: journal.Admitted, From: p.From, To: p.To, Kind: kind, Effective: kind})
}

// neighbours is how many proposals, from the first on, stand so close to each
// other that to read what lies between them costs less than to look for each.
func neighbours(list []space.Proposal) int {
	for i := 1; i < len(list); i++ {
		if max(list[i].Seq, list[i-1].Seq)-min(list[i].Seq, list[i-1].Seq) > scanBetween {
			return i
		}
	}
	return len(list)
}

// addOpen adds neighbours to the page, in their order, or reports that it is
// full.
func (l *proposalList) addOpen(ctx context.Context, list []space.Proposal) (more bool, err error) {
	first, last := list[0].Seq, list[len(list)-1].Seq
	q := journal.Query{
		Kinds: []string{parley.TypeProposal}, After: min(first, last) - 1, Before: max(first, last) + 1, Newest: l.newest,
	}
	add := func(rec *journal.Record) bool {
		p := &list[0]
		list = list[1:]
		return l.page.add(appendProposal(nil, p, rec), p.Seq)
	}
	for rec, err := range l.room.record.Read(ctx, q) {
		if err != nil {
			return false, err
		}
		for list[0].Seq != rec.Seq && (list[0].Seq < rec.Seq) != l.newest { // it is no longer on record
			if !add(nil) {
				return false, nil
			}
		}
		if list[0].Seq == rec.Seq && !add(rec) {
			return false, nil
		}
		if len(list) == 0 {
			return true, nil
		}
	}
	for len(list) > 0 {
		if !add(nil) {
			return false, nil
		}
	}
	return true, nil
}

// scan lists ended ones, of which there may be very many: it goes through the
// record and asks the state piece by piece, so that nobody waits for it. After
// scanMost of them the page ends, with what was found.
func (l *proposalList) scan(ctx context.Context) error {
	atOnce := l.page.most // most often that is enough
	for scanned := 0; scanned < scanMost; {
		atOnce = min(2*atOnce, scanAtOnce)
		q := journal.Query{
			Kinds: l.kinds, From: l.from, To: l.to, Text: kindWords(l.kinds),
			After: l.after, Before: l.before, Newest: l.newest, Limit: atOnce,
		}
		if len(q.Kinds) == 0 {
			q.Kinds = []string{parley.TypeProposal}
		}
		records, _, err := l.some(ctx, q)
		if err != nil || len(records) == 0 {
			return err
		}
		more, err := l.take(ctx, records)
		if err != nil || !more {
			return err
		}
		scanned += len(records)
		l.passed(records[len(records)-1].Seq)
	}
	if l.page.next = l.after; l.newest {
		l.page.next = l.before
	}
	return nil
}

// kindWords are words that the kinds of all proposals hold which patterns ask
// for: the index finds envelopes by words, and not by patterns. Words that most
// envelopes hold, as mcp and tools, would only cost it time.
func kindWords(patterns []string) string {
	const all = "proposal"
	if len(patterns) != 1 || strings.Contains(patterns[0], "*") {
		return all
	}
	return all + " " + parley.SplitKind(patterns[0]).Subject
}

// passed moves the bounds beyond what was looked at.
func (l *proposalList) passed(seq uint64) {
	if l.newest {
		l.before = seq
	} else {
		l.after = seq
	}
}

// take adds those of the records that are in the state asked for, or reports
// that the page is full.
func (l *proposalList) take(ctx context.Context, records []*journal.Record) (more bool, err error) {
	known := make([]space.Proposal, len(records))
	err = l.view(ctx, func(s *space.State) {
		for i, rec := range records {
			known[i], _ = s.Proposal(rec.ID)
		}
	})
	if err != nil {
		return false, err
	}
	for i, rec := range records {
		p := &known[i]
		if p.Seq != rec.Seq || !l.inState(p.State) {
			continue // of another state, or forgotten
		}
		if !l.page.add(appendProposal(nil, p, rec), p.Seq) {
			return false, nil
		}
	}
	return true, nil
}

func (l *proposalList) inState(s space.ProposalState) bool {
	switch l.state {
	case anyState:
		return true
	case endedState:
		return s != space.Open
	}
	return string(s) == l.state
}

// at selects the envelope at a place.
func at(seq uint64) journal.Query { return journal.Query{After: seq - 1, Before: seq + 1} }

// getProposal reads one proposal.
func getProposal(w http.ResponseWriter, r *http.Request, c caller) error {
	if err := readParams(r).done(); err != nil {
		return err
	}
	id := r.PathValue("id")
	var p space.Proposal
	known := false
	if err := c.view(r.Context(), func(s *space.State) { p, known = s.Proposal(id) }); err != nil {
		return err
	}
	if !known {
		return noProposal(c, id)
	}
	rec, err := c.one(r.Context(), at(p.Seq))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, append(appendProposal(nil, &p, rec), '\n'))
}

func noProposal(c caller, id string) error {
	err := parley.Errorf(parley.ProposalNotFound, "no proposal here has the id %.130q", id)
	if c.room.rules.Lazy {
		err = err.WithHint("a lazy space does not follow proposals; read the envelope instead")
	}
	return err
}

// appendProposal writes a proposal as section 10 of the contract has it; its
// payload is what the record holds. One without a record has none, and says so.
func appendProposal(b []byte, p *space.Proposal, rec *journal.Record) []byte {
	b = appendQuote(append(b, `{"id":`...), p.ID)
	b = strconv.AppendUint(append(b, `,"seq":`...), p.Seq, 10)
	b = appendQuote(append(b, `,"kind":`...), p.Kind.String())
	b = appendQuote(append(b, `,"from":`...), p.From)
	addressees := p.To // of an ended proposal the state keeps known ones alone
	if rec != nil {
		addressees = rec.To
	}
	b = append(b, `,"to":[`...)
	for i, to := range addressees {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuote(b, to)
	}
	b = append(b, ']')
	if rec != nil {
		if payload := parley.Member(rec.Body, "payload"); payload != nil {
			b = append(append(b, `,"payload":`...), payload...)
		}
	} else {
		b = append(b, `,"dropped":true`...)
	}
	b = appendQuote(append(b, `,"state":`...), string(p.State))
	b = appendTime(append(b, `,"opened":`...), p.Opened)
	b = appendTime(append(b, `,"expires":`...), p.Expires)
	return append(appendClosed(b, p), '}')
}

// appendClosed writes how a proposal ended, as a further member.
func appendClosed(b []byte, p *space.Proposal) []byte {
	if p.State == space.Open {
		return b
	}
	b = appendQuote(append(b, `,"closed":{"by":`...), p.Closed.By)
	b = appendQuote(append(b, `,"id":`...), p.Closed.ID)
	b = appendTime(append(b, `,"at":`...), p.Closed.At)
	if p.Closed.Reason != "" {
		b = appendQuote(append(b, `,"reason":`...), p.Closed.Reason)
	}
	return append(b, '}')
}

// fulfilRequest is the body of a fulfilment.
type fulfilRequest struct {
	ID string   `json:"id"` // of the envelope to be sent
	To oneOrOne `json:"to"`
}

// oneOrOne is an id that may stand in an array, as in an envelope's to.
type oneOrOne string

// UnmarshalJSON implements the codec's interface.
func (o *oneOrOne) UnmarshalJSON(data []byte) error {
	v := jsontext.Value(data)
	if v.Kind() == '[' {
		n := 0
		for el := range parley.Elements(v) {
			v = el
			n++
		}
		if n != 1 {
			return parley.Errorf(parley.InvalidArgument, "to names %d participants, a fulfilment has one target", n)
		}
	}
	if v.Kind() != '"' {
		return parley.Errorf(parley.InvalidArgument, "to is not the id of a participant")
	}
	id, err := jsontext.AppendUnquote(nil, v)
	*o = oneOrOne(id)
	return err
}

// fulfil sends the request that a proposal stands for, in the caller's name:
// its method and params byte for byte, and nothing else of it.
func fulfil(w http.ResponseWriter, r *http.Request, c caller) error {
	var body fulfilRequest
	if err := decodeBody(w, r, &body); err != nil {
		return err
	}
	rec, err := c.proposal(r)
	if err != nil {
		return err
	}
	e, err := fulfilment(rec, body)
	if err != nil {
		return err
	}
	return c.decide(w, r, rec, e)
}

// fulfilment is the request that a proposal stands for.
func fulfilment(rec proposed, body fulfilRequest) (*parley.Envelope, error) {
	if rec.gone != nil {
		return nil, rec.gone
	}
	target, err := fulfilTarget(string(body.To), rec.Record)
	if err != nil {
		return nil, err
	}
	payload := parley.Member(rec.Body, "payload")
	if payload == nil || parley.IsRedacted(payload) {
		return nil, parley.Errorf(parley.ProposalMismatch, "what %s proposes was redacted: nobody can tell any more what it asks for", rec.ID)
	}
	return &parley.Envelope{
		ID:      body.ID,
		Kind:    parley.SplitKind(rec.Effective).As(parley.TypeRequest).String(),
		To:      []string{target},
		Payload: callOf(payload),
	}, nil
}

// fulfilTarget is who is asked: whom the caller names, or the only one to whom
// it was proposed.
func fulfilTarget(to string, proposal *journal.Record) (string, error) {
	switch {
	case to != "":
		return to, nil
	case len(proposal.To) == 1:
		return proposal.To[0], nil
	case len(proposal.To) == 0:
		return "", parley.Errorf(parley.InvalidArgument, "to is missing: %s was proposed to nobody in particular", proposal.ID).
			WithHint(`say who is to be asked: {"to": "files"}`)
	}
	return "", parley.Errorf(parley.InvalidArgument, "to is missing: %s was proposed to %d participants", proposal.ID, len(proposal.To)).
		WithHint(`say which of them is to be asked: {"to": %q}`, proposal.To[0])
}

// callOf is the request in a proposal's payload.
func callOf(payload jsontext.Value) jsontext.Value {
	b := []byte{'{'}
	for name, value := range parley.Members(payload) {
		if name != "method" && name != "params" {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(appendQuote(b, name), ':'), value...)
	}
	return append(b, '}')
}

// rejectRequest is the body of a rejection.
type rejectRequest struct {
	ID      string `json:"id"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// reject ends a proposal.
func reject(w http.ResponseWriter, r *http.Request, c caller) error {
	var body rejectRequest
	if err := decodeBody(w, r, &body); err != nil {
		return err
	}
	return c.end(w, r, func(rec proposed) (*parley.Envelope, error) { return rejection(rec, body) })
}

// rejection is what ends a proposal with a no.
func rejection(rec proposed, body rejectRequest) (*parley.Envelope, error) {
	if body.Reason == "" {
		return nil, parley.Errorf(parley.InvalidArgument, "reason is missing").
			WithHint("one of disagree, unsafe, busy, incapable, policy, duplicate, invalid, timeout, other")
	}
	payload := appendQuote([]byte(`{"reason":`), body.Reason)
	if body.Message != "" {
		payload = appendQuote(append(payload, `,"message":`...), body.Message)
	}
	return &parley.Envelope{
		ID:      body.ID,
		Kind:    parley.SplitKind(rec.Effective).As(parley.TypeReject).String(),
		To:      []string{rec.From},
		Payload: append(payload, '}'),
	}, nil
}

// withdrawRequest is the body of a withdrawal.
type withdrawRequest struct {
	ID string `json:"id"`
}

// withdraw ends a proposal of the caller's own.
func withdraw(w http.ResponseWriter, r *http.Request, c caller) error {
	var body withdrawRequest
	if err := decodeBody(w, r, &body); err != nil {
		return err
	}
	return c.end(w, r, func(rec proposed) (*parley.Envelope, error) {
		return &parley.Envelope{
			ID:   body.ID,
			Kind: parley.SplitKind(rec.Effective).As(parley.TypeWithdraw).String(),
			To:   rec.To,
		}, nil
	})
}

// end sends what ends a proposal without a call.
func (c caller) end(w http.ResponseWriter, r *http.Request, ending func(proposed) (*parley.Envelope, error)) error {
	rec, err := c.proposal(r)
	if err != nil {
		return err
	}
	e, err := ending(rec)
	if err != nil {
		return err
	}
	return c.decide(w, r, rec, e)
}

// decide sends an envelope about a proposal and answers with its receipt.
func (c caller) decide(w http.ResponseWriter, r *http.Request, proposal proposed, e *parley.Envelope) error {
	e.Correlation = parley.CorrelateWith(proposal.ID)
	if e.ID != "" && !parley.ValidID(e.ID) {
		return parley.Errorf(parley.InvalidArgument, "id is not 1 to %d visible ASCII characters", parley.MaxID)
	}
	got, err := c.send(r.Context(), e)
	if err != nil {
		return err
	}
	return writeReceipt(w, got)
}
