package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parleyhq/parley"
)

// Decision is how a proposal ended (section 7 of the contract).
type Decision string

// The decisions.
const (
	Fulfilled Decision = "fulfilled"
	Amended   Decision = "amended" // fulfilled with a change
	Rejected  Decision = "rejected"
	Withdrawn Decision = "withdrawn"
	Expired   Decision = "expired"
)

// Outcome is what became of a proposal.
type Outcome struct {
	Decision Decision
	By       string           // who decided
	ID       string           // the envelope that ended it: the fulfilment, the rejection, …
	Envelope *parley.Envelope // the same; nil where it was only read of
	Reason   string           // of a rejection: disagree, unsafe, busy, …
	Message  string           // of a rejection, for people
	Reply    *Reply           // of a fulfilment: what came back
}

// Proposal is one of our own, from its admission to its outcome.
type Proposal struct {
	ID       string
	Envelope *parley.Envelope
	Receipt  Receipt // zero where it was taken up by [Room.Proposal]

	room *Room

	// Guarded by room.mu.
	outcome *Outcome
	target  []string         // whose answer counts, once it is fulfilled
	answer  *parley.Envelope // to the fulfilment
	dropped bool             // the fulfilment is no longer on record, and neither is an answer
	check   bool             // ask the gateway: something may have been missed
	changed chan struct{}    // closed with every change, and made anew
}

// Propose asks for what we may not do ourselves. to may be empty: whoever
// fulfils it then chooses the target. It returns once the proposal is admitted;
// [Proposal.Wait] tells what becomes of it. [Reason] and [Expires] belong here.
// Errors are those of [NewProposal] and [Room.Send].
func (r *Room) Propose(ctx context.Context, to, method string, params any, opts ...SendOption) (*Proposal, error) {
	e, err := NewProposal(to, method, params, opts...)
	if err != nil {
		return nil, err
	}
	p := r.offers.follow(r, e)
	receipt, err := r.Send(ctx, e)
	if err != nil {
		p.Forget()
		return nil, err
	}
	p.Receipt = receipt
	return p, nil
}

// Proposal takes up a proposal of ours that was made before, on another
// connection or by an earlier run of the program, also where what it said was
// redacted or dropped since. Errors are those of [API].
func (r *Room) Proposal(ctx context.Context, id string) (*Proposal, error) {
	r.mu.Lock()
	known := r.offers.ours[id]
	r.mu.Unlock()
	if known != nil {
		return known, nil
	}
	e, err := r.recordedProposal(ctx, id)
	if err != nil {
		return nil, err
	}
	p := r.offers.follow(r, e)
	return p, r.recheck(ctx, p)
}

// recordedProposal is a proposal as it is on record. Of one that retention has
// dropped it is what the gateway still knows, without what it said.
func (r *Room) recordedProposal(ctx context.Context, id string) (*parley.Envelope, error) {
	e, err := r.kept(ctx, id)
	if err != nil {
		return nil, err
	}
	if e == nil {
		known, err := r.api.Proposal(ctx, id)
		if err != nil {
			return nil, err
		}
		return &parley.Envelope{ID: known.ID, Kind: known.Kind, From: known.From, To: known.To}, nil
	}
	if _, err := readProposal(e); err != nil && !isRedactedProposal(e) {
		return nil, err
	}
	return e, nil
}

// kept is an envelope; nil where it is not on record, or no longer.
func (r *Room) kept(ctx context.Context, id string) (*parley.Envelope, error) {
	e, err := r.api.Envelope(ctx, id)
	if errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		return nil, nil
	}
	return e, err
}

func isRedactedProposal(e *parley.Envelope) bool {
	return parley.SplitKind(e.Kind).Type == parley.TypeProposal && parley.IsRedacted(e.Payload)
}

// Wait returns what became of the proposal; of one that was fulfilled, once the
// answer is there as well. If that answer is an error, it comes as an
// [*RPCError] beside the outcome; if it is no longer on record, a [*parley.Error]
// with not_found does.
//
// Any other error says that there is no outcome yet, and Wait may be called
// again: the cause of ctx, or why the room ended. Wait has no time-out of its
// own, since the gateway ends every proposal some day.
func (p *Proposal) Wait(ctx context.Context) (Outcome, error) {
	return p.wait(ctx, func() bool { return p.outcome != nil && (p.answer != nil || p.dropped || !p.outcome.executed()) })
}

// Decided returns as soon as the proposal is decided, without the answer to a
// fulfilment. Errors are those of [Proposal.Wait].
func (p *Proposal) Decided(ctx context.Context) (Outcome, error) {
	return p.wait(ctx, func() bool { return p.outcome != nil })
}

func (o *Outcome) executed() bool { return o.Decision == Fulfilled || o.Decision == Amended }

func (p *Proposal) wait(ctx context.Context, enough func() bool) (Outcome, error) {
	r := p.room
	for {
		r.mu.Lock()
		over, check, changed := enough(), p.check, p.changed
		if over {
			defer r.mu.Unlock()
			return p.result()
		}
		p.check = false
		r.mu.Unlock()
		if check {
			p.recheck(ctx)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Outcome{}, fmt.Errorf("client: the proposal %s is not decided and answered: %w", p.ID, context.Cause(ctx))
		case <-r.over:
			return Outcome{}, r.Err()
		}
	}
}

// recheck asks the gateway. Where it does not tell, whoever waits next asks
// again.
func (p *Proposal) recheck(ctx context.Context) {
	r := p.room
	err := r.recheck(ctx, p)
	if err == nil {
		return
	}
	r.log.Warn("what became of a proposal could not be read", "id", p.ID, "error", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	p.check = true
}

func (p *Proposal) result() (Outcome, error) {
	o := *p.outcome
	if p.answer == nil && p.dropped {
		return o, parley.Errorf(parley.NotFound, "neither what fulfilled %s nor an answer is on record any more", p.ID)
	}
	if p.answer == nil {
		return o, nil
	}
	reply, err := readReply(p.answer)
	o.Reply = reply
	return o, err
}

// Withdraw takes the proposal back. Errors are those of [Room.Send]:
// proposal_closed where it was decided before.
func (p *Proposal) Withdraw(ctx context.Context) error {
	_, err := p.room.Withdraw(ctx, p.Envelope)
	return err
}

// Forget stops following the proposal, which goes on without us: for whoever
// does not wait for the end. A room follows its proposals until they ended.
func (p *Proposal) Forget() {
	p.room.mu.Lock()
	defer p.room.mu.Unlock()
	p.room.offers.drop(p)
}

// change wakes those who wait.
func (p *Proposal) change() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// offers follow proposals: ours to their outcomes, and those of others as far
// as it takes to answer their proposers. Guarded by the room's mu.
type offers struct {
	ours     map[string]*Proposal
	calls    map[string]*Proposal // by the id of what fulfilled them
	proposed window[string]       // who proposed, by the proposal's id
	overhear bool                 // we see what is not addressed to us
}

const keptProposals = 4_096

func (o *offers) init() {
	o.ours = make(map[string]*Proposal)
	o.calls = make(map[string]*Proposal)
	o.proposed = newWindow[string](keptProposals)
}

func (o *offers) follow(r *Room, e *parley.Envelope) *Proposal {
	p := &Proposal{ID: e.ID, Envelope: e, room: r, changed: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := o.ours[e.ID]; known != nil {
		return known
	}
	o.ours[e.ID] = p
	return p
}

func (o *offers) drop(p *Proposal) {
	delete(o.ours, p.ID)
	if p.outcome != nil {
		delete(o.calls, p.outcome.ID)
	}
}

func (o *offers) proposer(id string) (string, bool) { return o.proposed.get(id) }

// arrive looks at what participants send for what concerns proposals.
func (o *offers) arrive(e *parley.Envelope, kind parley.Kind, me string) {
	switch kind.Type {
	case parley.TypeProposal:
		o.proposed.add(e.ID, e.From)
	case parley.TypeRequest:
		o.overhear = o.overhear || len(e.To) > 0 && e.From != me && !e.Addressed(me)
		o.fulfilled(e, kind)
	case parley.TypeReject:
		o.ended(e, Rejected)
	case parley.TypeWithdraw:
		if e.From == me {
			o.ended(e, Withdrawn)
		}
	case parley.TypeResponse:
		o.answered(e, kind)
	}
}

// fulfilled takes a request that names a proposal of ours as its fulfilment,
// unless it lies about what it asks for.
func (o *offers) fulfilled(e *parley.Envelope, kind parley.Kind) {
	if isNotification(kind.Method) {
		return
	}
	for _, id := range e.Correlation.IDs {
		p := o.ours[id]
		if p == nil || p.outcome != nil || kind.Method != parley.SplitKind(p.Envelope.Kind).Method {
			continue
		}
		if _, err := parley.ReadCall(kind, e.Payload); err != nil {
			continue
		}
		decision := Fulfilled
		if e.Amends {
			decision = Amended
		}
		p.outcome = &Outcome{Decision: decision, By: e.From, ID: e.ID, Envelope: e}
		p.target = e.To
		o.calls[e.ID] = p
		p.change()
	}
}

func (o *offers) ended(e *parley.Envelope, decision Decision) {
	for _, id := range e.Correlation.IDs {
		if p := o.ours[id]; p != nil && p.outcome == nil {
			p.outcome = &Outcome{Decision: decision, By: e.From, ID: e.ID, Envelope: e,
				Reason: text(e.Payload, "reason"), Message: text(e.Payload, "message")}
			o.drop(p)
			p.change()
		}
	}
}

// notice takes what the gateway tells everybody: that a proposal has expired.
func (o *offers) notice(e *parley.Envelope) {
	if e.Kind == parley.KindNotice && text(e.Payload, "event") == "proposal_expired" {
		o.ended(e, Expired)
	}
}

func (o *offers) answered(e *parley.Envelope, kind parley.Kind) {
	for _, id := range e.Correlation.IDs {
		p := o.calls[id]
		if p == nil {
			o.suspect(e, kind)
			continue
		}
		if p.answer == nil && slices.Contains(p.target, e.From) {
			p.answer = e
			o.drop(p)
			p.change()
		}
	}
}

// suspect is for rooms that receive only what is addressed to them: there the
// answer to a fulfilment arrives, the fulfilment itself does not. So an answer
// to something unknown, of the kind that was proposed, makes those who wait ask
// the gateway.
func (o *offers) suspect(e *parley.Envelope, kind parley.Kind) {
	if o.overhear {
		return
	}
	for _, p := range o.ours {
		asked := p.Envelope
		if p.outcome != nil || parley.SplitKind(asked.Kind).Method != kind.Method {
			continue
		}
		if len(asked.To) == 0 || asked.Addressed(e.From) {
			p.check = true
			p.change()
		}
	}
}

// recheckProposals makes those who wait for proposals ask the gateway, since
// envelopes are missing.
func (r *Room) recheckProposals() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.offers.ours {
		p.check = true
		p.change()
	}
}

// recheck reads from the record what became of a proposal.
func (r *Room) recheck(ctx context.Context, p *Proposal) error {
	record, err := r.api.Proposal(ctx, p.ID)
	if err != nil || record.State == ProposalOpen {
		return err
	}
	decision := Decision(record.State)
	o := &Outcome{Decision: decision, By: record.Closed.By, ID: record.Closed.ID, Reason: record.Closed.Reason}
	var answer *parley.Envelope
	target := record.To
	if o.executed() {
		if o.Envelope, err = r.kept(ctx, o.ID); err != nil {
			return err
		}
		if o.Envelope != nil {
			target = o.Envelope.To
		}
		r.expectAnswer(p, o, target) // first, so that none falls between the record and what arrives
		if answer, err = r.recordedAnswer(ctx, o.ID, target); err != nil {
			return err
		}
	}
	if decision == Rejected {
		if err := r.readRejection(ctx, o); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.outcome == nil {
		p.outcome, p.target = o, target
	}
	if p.answer == nil {
		p.answer = answer
	}
	p.dropped = p.outcome.executed() && p.outcome.Envelope == nil && p.answer == nil
	if p.outcome.executed() && p.answer == nil && !p.dropped {
		r.offers.calls[p.outcome.ID] = p
	} else {
		r.offers.drop(p)
	}
	p.change()
	return nil
}

// expectAnswer lets the answer to what fulfilled a proposal reach it.
func (r *Room) expectAnswer(p *Proposal, o *Outcome, target []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.outcome == nil {
		p.outcome, p.target = o, target
	}
	if p.answer == nil {
		r.offers.calls[p.outcome.ID] = p
	}
}

// readRejection reads what a rejection says, if that is still on record.
func (r *Room) readRejection(ctx context.Context, o *Outcome) error {
	e, err := r.kept(ctx, o.ID)
	if e == nil || err != nil {
		return err
	}
	o.Envelope, o.Reason, o.Message = e, text(e.Payload, "reason"), text(e.Payload, "message")
	return nil
}

// recordedAnswer finds the answer to a request, or nil where there is none yet.
// Where it is not known who was asked, whoever could answer was.
func (r *Room) recordedAnswer(ctx context.Context, request string, asked []string) (*parley.Envelope, error) {
	q := &Query{Correlation: request, Kind: parley.TypeResponse}
	for e, err := range r.api.Envelopes(ctx, q) {
		if err != nil {
			return nil, err
		}
		if slices.Contains(e.Correlation.IDs, request) && (len(asked) == 0 || slices.Contains(asked, e.From)) &&
			parley.SplitKind(e.Kind).Type == parley.TypeResponse {
			return e, nil
		}
	}
	return nil, nil
}

// Fulfil makes the request that somebody proposed, as one's own, and waits for
// the answer as [Room.Request] does; the answer reaches the proposer as well.
// [To] chooses the target where the proposal leaves it open.
//
// Errors are those of [NewFulfilment] and [Room.Request]. proposal_closed says
// who was first.
func (r *Room) Fulfil(ctx context.Context, proposal *parley.Envelope, opts ...SendOption) (*Reply, error) {
	e, err := NewFulfilment(proposal, opts...)
	if err != nil {
		return nil, err
	}
	return r.Call(ctx, e, opts...)
}

// FulfilID fulfils the proposal with that id, which it reads from the record.
// Errors are those of [Room.Fulfil] and [API]. Who approves by id alone should
// have seen what it stands for.
func (r *Room) FulfilID(ctx context.Context, id string, opts ...SendOption) (*Reply, error) {
	proposal, err := r.api.Envelope(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.Fulfil(ctx, proposal, opts...)
}

// Amend fulfils a proposal with other params, and says so: the change is one's
// own. Method, SUBJECT and target stay. Errors are those of [Room.Fulfil].
func (r *Room) Amend(ctx context.Context, proposal *parley.Envelope, params any, opts ...SendOption) (*Reply, error) {
	call, err := readProposal(proposal)
	if err != nil {
		return nil, err
	}
	raw, err := encodeParams("params", params)
	if err != nil {
		return nil, err
	}
	e, err := fulfilment(proposal, call.Kind, raw, append(slices.Clip(opts), Amends()))
	if err != nil {
		return nil, err
	}
	return r.Call(ctx, e, opts...)
}

// Reject ends a proposal without doing it. The reason is one of disagree,
// unsafe, busy, incapable, policy, duplicate, invalid, timeout and other; the
// message is for people and may be empty. Errors are those of [Room.Send].
func (r *Room) Reject(ctx context.Context, proposal *parley.Envelope, reason, message string, opts ...SendOption) (Receipt, error) {
	if reason == "" {
		reason = "other"
	}
	b := appendString([]byte(`{"reason":`), reason)
	if message != "" {
		b = appendString(append(b, `,"message":`...), message)
	}
	e, err := ending(parley.TypeReject, proposal, append(b, '}'), opts)
	if err != nil {
		return Receipt{}, err
	}
	return r.Send(ctx, e)
}

// Withdraw takes back a proposal of ours. Errors are those of [Room.Send].
func (r *Room) Withdraw(ctx context.Context, proposal *parley.Envelope, opts ...SendOption) (Receipt, error) {
	e, err := ending(parley.TypeWithdraw, proposal, []byte(`{}`), opts)
	if err != nil {
		return Receipt{}, err
	}
	receipt, err := r.Send(ctx, e)
	if err == nil {
		r.withdrew(e, receipt)
	}
	return receipt, err
}

// withdrew tells those who wait what its echo may not: not everybody receives
// their own envelopes.
func (r *Room) withdrew(e *parley.Envelope, receipt Receipt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := *e
	seen.From, seen.Seq = r.welcome.You.ID, receipt.Seq
	r.offers.ended(&seen, Withdrawn)
}

// ending composes what ends a proposal without a call.
func ending(typ string, proposal *parley.Envelope, payload []byte, opts []SendOption) (*parley.Envelope, error) {
	kind := parley.SplitKind(proposal.Kind)
	if kind.Type != parley.TypeProposal {
		return nil, parley.Errorf(parley.ProposalNotFound, "%s is no proposal, but %s", proposal.ID, kind.Type)
	}
	to := slices.Clone(proposal.To)
	if typ == parley.TypeReject && proposal.From != "" {
		to = []string{proposal.From}
	}
	return collect(opts).apply(&parley.Envelope{
		Kind:        kind.As(typ).String(),
		To:          to,
		Correlation: parley.CorrelateWith(proposal.ID),
		Context:     sameContext(proposal),
		Payload:     payload,
	}), nil
}
