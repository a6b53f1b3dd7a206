package space

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parleyhq/parley"
)

// Requests wait for one answer each (section 3, Answers). A lazy space does not
// follow them.

// request is one that has no answer yet.
type request struct {
	id   string
	seq  uint64
	kind parley.Kind // effective
	from string
	to   []string

	context    string // in which it was asked, or ""
	proposer   string // whose proposal it fulfils, or goes on with, or ""
	fulfilment string // its own id, or that of the fulfilment that it goes on with
}

// openPerSender is how many unanswered requests of one sender are remembered;
// beyond that its oldest can no longer be answered.
const openPerSender = 4_096

// Bounds of what they take, besides: the state has to fit into a checkpoint.
const (
	maxRequestBytes     = 8 << 20 // of all
	maxRequestBytesFrom = 1 << 20 // of one sender
)

// size is what a request takes, about, in bytes.
func (r *request) size() int {
	return 128 + len(r.id) + len(r.from) + len(r.context) + len(r.fulfilment) + sizeOf(r.kind, r.to)
}

// sizeOf is what a kind and its addressees take, about, in bytes.
func sizeOf(kind parley.Kind, to []string) int {
	n := len(kind.Type) + len(kind.Method) + len(kind.Subject)
	for _, id := range to {
		n += len(id) + 16
	}
	return n
}

// requestBook holds the open requests.
type requestBook struct {
	open   map[string]*request
	sender map[string]*senderRequests
	size   int // in bytes
}

// senderRequests are one sender's, oldest first. Answered ones stay in ids
// until they are as many as the rest, so that forgetting costs little.
type senderRequests struct {
	ids  []string
	open int
	size int // in bytes
}

func newRequestBook() *requestBook {
	return &requestBook{open: make(map[string]*request), sender: make(map[string]*senderRequests)}
}

func (b *requestBook) add(r *request) {
	of := b.sender[r.from]
	if of == nil {
		of = &senderRequests{}
		b.sender[r.from] = of
	}
	b.open[r.id] = r
	of.ids = append(of.ids, r.id)
	of.open++
	of.size += r.size()
	b.size += r.size()
	for len(of.ids) > 1 && (of.open > openPerSender || of.size > maxRequestBytesFrom || b.size > maxRequestBytes) {
		b.remove(of.ids[0])
		of.ids = of.ids[1:]
	}
	if len(of.ids) > 2*of.open+16 {
		of.ids = slices.DeleteFunc(of.ids, func(id string) bool { return b.open[id] == nil })
	}
}

func (b *requestBook) remove(id string) {
	if r := b.open[id]; r != nil {
		delete(b.open, id)
		of := b.sender[r.from]
		of.open--
		of.size -= r.size()
		b.size -= r.size()
	}
}

func isNotification(method string) bool { return strings.HasPrefix(method, "notifications/") }

func (s *State) applyRequest(e *parley.Envelope, kind parley.Kind) {
	p := s.applyRound(e, kind)
	if !s.rules.Lazy && len(e.To) > 0 && !isNotification(kind.Method) { // a request to nobody is answered by nobody
		r := &request{id: e.ID, seq: e.Seq, kind: kind, from: e.From, to: s.knownOf(e.To)}
		if e.Context != nil {
			r.context = strings.Clone(e.Context.ID)
		}
		if p != nil {
			r.proposer, r.fulfilment = p.From, p.Closed.ID
		}
		s.requests.add(r)
	}
	s.applyFulfilment(e, kind)
}

// knownOf are those of ids who take part in this space, each once: nobody else
// can answer, and what a sender makes up is not kept.
func (s *State) knownOf(ids []string) []string {
	var known []string
	for _, id := range ids {
		if m := s.members[id]; m != nil && !slices.Contains(known, m.id) {
			known = append(known, m.id)
		}
	}
	return known
}

func (s *State) applyResponse(e *parley.Envelope) {
	for _, id := range e.Correlation.IDs {
		if r := s.requests.open[id]; r != nil && slices.Contains(r.to, e.From) {
			s.requests.remove(id)
			if r.fulfilment != "" {
				s.applyRoundAnswer(r.fulfilment, e)
			}
		}
	}
}

// OpenRequest is a request that waits for its answer.
type OpenRequest struct {
	ID       string
	Seq      uint64
	From     string
	Kind     parley.Kind // effective
	Proposer string      // whose proposal it fulfils, or goes on with, or ""
}

// OpenRequests lists the requests to a participant that wait for its answer, by
// their place in the order.
func (s *State) OpenRequests(to string) []OpenRequest {
	var list []OpenRequest
	for _, r := range s.requests.open {
		if slices.Contains(r.to, to) {
			list = append(list, OpenRequest{ID: r.id, Seq: r.seq, From: r.from, Kind: r.kind, Proposer: r.proposer})
		}
	}
	slices.SortFunc(list, func(a, b OpenRequest) int { return cmp.Compare(a.Seq, b.Seq) })
	return list
}

// answers is the open request, addressed to the sender, that a response names,
// or nil.
func (s *State) answers(from string, e *parley.Envelope) *request {
	if parley.SplitKind(e.Kind).Type != parley.TypeResponse {
		return nil
	}
	for _, id := range e.Correlation.IDs {
		if r := s.requests.open[id]; r != nil && slices.Contains(r.to, from) {
			return r
		}
	}
	return nil
}

// askedIn reports whether there is a request, and a context is the one in which it
// was asked.
func (r *request) askedIn(context string) bool { return r != nil && r.context == context }

// readResponse holds a response against the request that it answers, whose
// METHOD and SUBJECT are its own.
func (j *judgement) readResponse() error {
	if !j.strict() {
		return nil
	}
	if err := parley.CheckResponse(j.e.Payload); err != nil {
		return err
	}
	j.answered = j.answers(j.from, j.e)
	if j.answered == nil {
		return nil // judged by correlation
	}
	return j.sameCall(j.answered.kind)
}

// sameCall takes over METHOD and SUBJECT of what the envelope answers or ends,
// and refuses others.
func (j *judgement) sameCall(of parley.Kind) error {
	short := j.kind.Subject == ""
	label := !parley.HasSubject(of.Method)
	if j.kind.Method != of.Method || (!short && !label && j.kind.Subject != of.Subject) {
		return parley.Errorf(parley.KindMismatch, "%.200s speaks of something else than %.200s", j.kind, of)
	}
	j.kind = of.As(j.kind.Type)
	return nil
}

// correlation checks what must be named, and that it may be (sections 3 and 7).
func (j *judgement) correlation() error {
	ids := j.e.Correlation.IDs
	if len(ids) > parley.MaxCorrelations {
		return parley.Errorf(parley.InvalidCorrelation, "correlation_id has %d ids, the limit is %d", len(ids), parley.MaxCorrelations)
	}
	switch j.kind.Type {
	case parley.TypeResponse, parley.TypeReject, parley.TypeWithdraw:
		if len(ids) == 0 {
			return parley.Errorf(parley.MissingCorrelation, "%s needs a correlation_id that names what it answers", j.kind.Type)
		}
	}
	if !j.strict() {
		return nil
	}
	switch {
	case j.kind.Type == parley.TypeResponse:
		return j.correlateResponse()
	case j.kind.Type == parley.TypeProposal:
		return j.correlateProposal()
	case j.kind.Type == parley.TypeRequest && j.kind.Method == "notifications/progress":
		return j.correlateProgress()
	case j.kind.Type == parley.TypeRequest && j.kind.Method == "notifications/cancelled":
		return j.correlateCancellation()
	}
	return nil
}

func (j *judgement) correlateResponse() error {
	answers := 0
	for _, id := range j.e.Correlation.IDs {
		if err := j.answerable(id); err != nil {
			return err
		}
		if j.requests.open[id] != nil {
			answers++
		}
	}
	if answers > 1 {
		return parley.Errorf(parley.InvalidCorrelation, "a response answers one request, this one names %d", answers)
	}
	return nil
}

// answerable refuses an id that a response of this sender cannot name: one of
// a context is a statement, one of an envelope must be an open request to it.
func (j *judgement) answerable(id string) error {
	if r := j.requests.open[id]; r != nil {
		if slices.Contains(r.to, j.from) {
			return nil
		}
		return parley.Errorf(parley.InvalidCorrelation, "the request %q is not addressed to you", id)
	}
	if _, ok := j.ids.get(id); ok {
		return parley.Errorf(parley.InvalidCorrelation, "%q is not a request that waits for an answer", id).
			WithHint("the first answer wins; a request without to is answered by nobody")
	}
	if j.contexts.get(id) != nil {
		return nil
	}
	return parley.Errorf(parley.InvalidCorrelation, "nothing here has the id %q", id)
}

// correlateProgress lets only the addressee of an open request report on it.
// The progress token may also name the request that this one was made for:
// whoever passes a call on may pass its token on.
func (j *judgement) correlateProgress() error {
	toMe := func(r *request) bool { return slices.Contains(r.to, j.from) }
	named := j.openRequests(j.e.Correlation.IDs...)
	foreign := slices.DeleteFunc(slices.Clone(named), toMe)
	token, _ := parley.MemberString(j.call.Params, "progressToken")
	for _, r := range j.openRequests(token) {
		passedOn := func(on *request) bool { return slices.Contains(r.to, on.from) }
		if toMe(r) {
			named = append(named, r)
		} else if !slices.ContainsFunc(named, passedOn) {
			foreign = append(foreign, r)
		}
	}
	if len(named) > 0 && len(foreign) == 0 {
		return nil
	}
	return parley.Errorf(parley.InvalidCorrelation, "progress names no open request that is addressed to you").
		WithHint("put the request's envelope id into correlation_id")
}

// correlateCancellation lets only the sender of an open request cancel it.
func (j *judgement) correlateCancellation() error {
	id, _ := parley.MemberString(j.call.Params, "requestId")
	named := j.openRequests(append(slices.Clip(j.e.Correlation.IDs), id)...)
	foreign := func(r *request) bool { return r.from != j.from }
	if len(named) > 0 && !slices.ContainsFunc(named, foreign) {
		return nil
	}
	return parley.Errorf(parley.InvalidCorrelation, "the cancellation names no open request of yours").
		WithHint("put the request's envelope id into correlation_id")
}

// openRequests are those that ids name.
func (s *State) openRequests(ids ...string) []*request {
	var named []*request
	for _, id := range ids {
		if r := s.requests.open[id]; r != nil {
			named = append(named, r)
		}
	}
	return named
}
