package gateway

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// anyState is the state parameter that asks for all.
const anyState = "all"

// listProposals lists proposals by the place in which they were made. A lazy
// space follows none, and has none to list.
func listProposals(w http.ResponseWriter, r *http.Request, c caller) error {
	p := readParams(r)
	l := proposalList{
		caller: c,
		state: p.choice("state", string(space.Open), string(space.Fulfilled), string(space.Amended),
			string(space.Rejected), string(space.Withdrawn), string(space.Expired), anyState),
		after:  p.position("after"),
		before: p.position("before"),
		newest: p.newest(),
		page:   newPage(p.limit()),
	}
	if err := p.done(); err != nil {
		return err
	}
	err := l.collect(r.Context())
	if err != nil {
		return err
	}
	return l.page.write(w)
}

// proposalList is a page of proposals in the making.
type proposalList struct {
	caller
	state         string
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
		return p.Seq <= l.after || l.before > 0 && p.Seq >= l.before
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
	for scanned := 0; scanned < scanMost; {
		var records []*journal.Record
		size := 0
		q := journal.Query{
			Kinds: []string{parley.TypeProposal}, After: l.after, Before: l.before,
			Newest: l.newest, Limit: scanAtOnce,
		}
		err := l.read(ctx, q, func(rec *journal.Record) bool {
			records = append(records, rec)
			size += len(rec.Body)
			return size < pageBytes
		})
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
		if p.Seq != rec.Seq || l.state != anyState && string(p.State) != l.state {
			continue // of another state, or forgotten
		}
		if !l.page.add(appendProposal(nil, p, rec), p.Seq) {
			return false, nil
		}
	}
	return true, nil
}

// at selects the envelope at a place.
func at(seq uint64) journal.Query { return journal.Query{After: seq - 1, Before: seq + 1} }

// getProposal reads one proposal.
func getProposal(w http.ResponseWriter, r *http.Request, c caller) error {
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
// payload is what the record holds, if it does.
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
	}
	b = appendQuote(append(b, `,"state":`...), string(p.State))
	b = appendTime(append(b, `,"opened":`...), p.Opened)
	b = appendTime(append(b, `,"expires":`...), p.Expires)
	if p.State != space.Open {
		b = appendQuote(append(b, `,"closed":{"by":`...), p.Closed.By)
		b = appendQuote(append(b, `,"id":`...), p.Closed.ID)
		b = appendTime(append(b, `,"at":`...), p.Closed.At)
		if p.Closed.Reason != "" {
			b = appendQuote(append(b, `,"reason":`...), p.Closed.Reason)
		}
		b = append(b, '}')
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
	target, err := fulfilTarget(string(body.To), rec)
	if err != nil {
		return err
	}
	payload := parley.Member(rec.Body, "payload")
	if payload == nil {
		return parley.Errorf(parley.ProposalMismatch, "what %s proposes was redacted: nobody can tell any more what it asks for", rec.ID)
	}
	return c.decide(w, r, rec, &parley.Envelope{
		ID:      body.ID,
		Kind:    parley.SplitKind(rec.Effective).As(parley.TypeRequest).String(),
		To:      []string{target},
		Payload: callOf(payload),
	})
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
	if body.Reason == "" {
		return parley.Errorf(parley.InvalidArgument, "reason is missing").
			WithHint("one of disagree, unsafe, busy, incapable, policy, duplicate, invalid, timeout, other")
	}
	payload := appendQuote([]byte(`{"reason":`), body.Reason)
	if body.Message != "" {
		payload = appendQuote(append(payload, `,"message":`...), body.Message)
	}
	return c.end(w, r, func(rec *journal.Record) *parley.Envelope {
		return &parley.Envelope{
			ID:      body.ID,
			Kind:    parley.SplitKind(rec.Effective).As(parley.TypeReject).String(),
			To:      []string{rec.From},
			Payload: append(payload, '}'),
		}
	})
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
	return c.end(w, r, func(rec *journal.Record) *parley.Envelope {
		return &parley.Envelope{
			ID:   body.ID,
			Kind: parley.SplitKind(rec.Effective).As(parley.TypeWithdraw).String(),
			To:   rec.To,
		}
	})
}

// end sends what ends a proposal without a call.
func (c caller) end(w http.ResponseWriter, r *http.Request, ending func(*journal.Record) *parley.Envelope) error {
	rec, err := c.proposal(r)
	if err != nil {
		return err
	}
	return c.decide(w, r, rec, ending(rec))
}

// decide sends an envelope about a proposal and answers with its receipt.
func (c caller) decide(w http.ResponseWriter, r *http.Request, proposal *journal.Record, e *parley.Envelope) error {
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

// proposal is the record of the proposal that the path names. Whether it is
// open is for the rules to say.
func (c caller) proposal(r *http.Request) (*journal.Record, error) {
	id := r.PathValue("id")
	rec, err := c.one(r.Context(), journal.Query{ID: id})
	if err != nil {
		return nil, err
	}
	if rec == nil || parley.SplitKind(rec.Kind).Type != parley.TypeProposal {
		return nil, noProposal(c, id)
	}
	return rec, nil
}
