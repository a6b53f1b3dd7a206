package mcpfront

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// propose asks for a call that the caller may not make itself, and waits a while
// for somebody to decide.
func (x *exchange) propose(ctx context.Context, fl *flight, kind parley.Kind, params jsontext.Value) (jsontext.Value, error) {
	p, err := x.proposal(ctx, fl, kind, params)
	if unsure, ok := errors.AsType[*unsureError](err); ok {
		return x.unsure(fl, kind, unsure.proposal)
	}
	if err != nil {
		return nil, err
	}
	return x.hold(ctx, fl, p, x.approvalWait())
}

// proposal is the one that waits for the same call already, or a new one.
func (x *exchange) proposal(ctx context.Context, fl *flight, kind parley.Kind, params jsontext.Value) (*client.Proposal, error) {
	for {
		p, handing, err := x.findOrPropose(ctx, fl, kind, params)
		if handing == nil {
			return p, err
		}
		select {
		case <-handing:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// findOrPropose finds the proposal, or makes one, unless a client is just being
// given what became of it: only when that is on record, and handing closed, can
// be told whether this call is another one.
func (x *exchange) findOrPropose(ctx context.Context, fl *flight, kind parley.Kind, params jsontext.Value) (p *client.Proposal, handing <-chan struct{}, err error) {
	x.seat.proposing.Lock()
	defer x.seat.proposing.Unlock()
	known, found, err := x.front.house.Uncollected(ctx, x.place, kind, fl.server, params)
	if err != nil {
		return nil, nil, err
	}
	if found && known.Outdated {
		x.replace(known.ID)
		found = false
	}
	if !found {
		// Who hangs up meanwhile would leave a proposal that nobody takes back.
		ctx, cancel := context.WithTimeout(x.front.ctx, farewell)
		defer cancel()
		p, err = x.seat.room.Propose(ctx, fl.server, fl.method, params, client.Collect())
		return p, nil, err
	}
	if handing := x.seat.handing(known.ID); handing != nil {
		return nil, handing, nil
	}
	if known.Unsure {
		return nil, nil, &unsureError{known.ID}
	}
	p, err = x.seat.room.Proposal(ctx, known.ID)
	return p, nil, err
}

// unsureError is a call that may be the one that a proposal asked for, which was
// approved: what it said was redacted.
type unsureError struct{ proposal string }

func (e *unsureError) Error() string { return "this may be the call of " + e.proposal }

// unsure is the answer for a call that may have been made: to propose it anew
// could make it twice. Where nothing can fetch the result of the other one, it
// counts as collected once the client knows of it.
func (x *exchange) unsure(fl *flight, kind parley.Kind, proposal string) (jsontext.Value, error) {
	text := "A call of " + clip(kind.As(parley.TypeRequest).String()) + " was approved and made, as proposal " + proposal + ". What it asked for has been redacted since, " +
		"so nobody can tell whether it was this very call. Yours was neither made nor proposed."
	if x.target != "" { // where the room's own tools are not
		fl.proposal, fl.settled = proposal, true
		text += "\nIf it was this one, do not repeat it. Made again, it is a new proposal."
	} else {
		text += "\nparley__await with {\"proposal\": \"" + proposal + "\"} gives the result of that one. After that this call, made again, is a new proposal."
	}
	return notMade(fl, proposal, text, append(standing("redacted", proposal), '}'), true)
}

// replace takes back a proposal that nobody can approve any more, since what is
// proposed anew is the same call.
func (x *exchange) replace(id string) {
	ctx, cancel := context.WithTimeout(x.front.ctx, farewell)
	defer cancel()
	if p, err := x.seat.room.Proposal(ctx, id); err == nil {
		x.withdraw(p)
	}
}

const defaultApprovalWait = 50 * time.Second

func (x *exchange) approvalWait() time.Duration {
	return cmp.Or(x.seat.room.Welcome().Space.Limits.ApprovalWait, defaultApprovalWait)
}

// hold waits for a proposal's outcome, for a time under what clients wait for.
func (x *exchange) hold(ctx context.Context, fl *flight, p *client.Proposal, wait time.Duration) (jsontext.Value, error) {
	fl.proposal = p.ID
	leave := x.seat.await(p.ID, fl)
	defer leave()
	holding, stop := context.WithTimeout(ctx, wait)
	defer stop()
	outcome, err := x.decision(holding, fl, p)
	if err == nil {
		x.seat.take(outcome.ID, fl) // what it was fulfilled by; other ends have no followers
		outcome, err = x.answerTo(ctx, holding, fl, p, wait)
	}
	if err == nil && outcome.Reply != nil && asksForInput(outcome.Reply.Result) || isGone(outcome, err) {
		outcome, err = x.lastRound(holding, fl, outcome, err)
	}
	switch {
	case outcome.Decision != "" && !errors.Is(err, errRoundRuns):
		return x.outcome(ctx, fl, p, outcome, err)
	case ctx.Err() != nil && !x.withdraws(ctx):
		return pending(fl, p, outcome) // we go away, the proposal does not
	case ctx.Err() != nil:
		if leave() {
			x.withdraw(p) // nobody else made the same call
		}
		return nil, context.Cause(ctx)
	case errors.Is(err, errRoundRuns), errors.Is(err, context.DeadlineExceeded):
		decided, _ := p.Decided(holding) // its time is up: this only looks
		if decided.Decision != "" && decided.Decision != client.Fulfilled && decided.Decision != client.Amended {
			return x.outcome(ctx, fl, p, decided, nil) // it came in this moment
		}
		return pending(fl, p, decided)
	}
	return nil, err
}

// answerTo waits for the answer to what was approved. It waits on as long as the
// client itself is asked something.
func (x *exchange) answerTo(ctx, holding context.Context, fl *flight, p *client.Proposal, wait time.Duration) (client.Outcome, error) {
	outcome, err := p.Wait(holding)
	for errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && fl.asking.Load() > 0 {
		more, stop := context.WithTimeout(ctx, max(wait, time.Second))
		outcome, err = p.Wait(more)
		stop()
	}
	return outcome, err
}

// withdraws reports whether the end of ctx is the client's cancellation, and
// not ours.
func (x *exchange) withdraws(ctx context.Context) bool {
	return x.front.ctx.Err() == nil && !errors.Is(context.Cause(ctx), errSessionEnded)
}

// farewell bounds what is done for a client that is gone.
const farewell = 5 * time.Second

func (x *exchange) withdraw(p *client.Proposal) {
	ctx, cancel := context.WithTimeout(x.front.ctx, farewell)
	defer cancel()
	if err := p.Withdraw(ctx); err != nil && !errors.Is(err, &parley.Error{Code: parley.ProposalClosed}) {
		x.front.log.Warn("a cancelled call's proposal was not withdrawn", "id", p.ID, "error", err)
	}
}

// reportEvery is how often a client that asked for progress hears that its call
// still waits.
const reportEvery = 5 * time.Second

// decision waits for one, and meanwhile tells the client so.
func (x *exchange) decision(ctx context.Context, fl *flight, p *client.Proposal) (client.Outcome, error) {
	x.seat.count.hold(1)
	defer x.seat.count.hold(-1)
	telling, hush := context.WithCancel(ctx)
	told := x.tellThatWeWait(telling, fl, p)
	outcome, err := p.Decided(ctx)
	hush()
	<-told
	return outcome, err
}

// tellThatWeWait keeps the response alive, and reports where the client asked
// for that. What it starts has ended when the channel is closed.
func (x *exchange) tellThatWeWait(ctx context.Context, fl *flight, p *client.Proposal) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		x := x.seat.of(fl)
		x.begin()
		token := x.progressToken()
		if token == nil {
			return
		}
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for n := 1; ; n++ {
			x.say("notifications/progress", waiting(token, n, p.ID))
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ended
}

// waiting is a report that nothing has happened. It grows by next to nothing,
// so that the server's own reports, which follow, are larger.
func waiting(token jsontext.Value, n int, proposal string) jsontext.Value {
	b := append(jsontext.Value(`{"progressToken":`), token...)
	b = strconv.AppendFloat(append(b, `,"progress":`...), float64(n)*1e-6, 'f', -1, 64)
	b = append(append(b, `,"message":`...), mcp.Quote("waiting for approval of "+proposal)...)
	return append(b, '}')
}

// outcome is what a decided proposal's client is answered.
func (x *exchange) outcome(ctx context.Context, fl *flight, p *client.Proposal, o client.Outcome, err error) (jsontext.Value, error) {
	switch o.Decision {
	case client.Fulfilled, client.Amended:
		fl.fulfilment, fl.settled = o.ID, isAnswer(err) || isGone(o, err)
		if o.Decision == client.Amended {
			fl.amended = x.amendment(ctx, fl, o.By, o.ID)
		}
		if isGone(o, err) {
			result, err := gone(fl, p, o, err)
			return fl.amended.tell(result, fl.tool != ""), err
		}
		if err != nil {
			return nil, fl.amended.fail(x.errorWithin(fl, o.ID, err))
		}
		return x.mark(fl.amended.tell(x.within(fl, o.ID, o.Reply), fl.tool != ""), o.ID, p.ID)
	}
	fl.settled = true
	switch o.Decision {
	case client.Rejected:
		text := strconv.Quote(o.By) + " rejected this call (" + cmp.Or(o.Reason, "other") + ")"
		if o.Message != "" {
			text += ": " + o.Message
		}
		return declined(fl, p, o, text+". It was not made.")
	case client.Expired:
		return declined(fl, p, o, "Nobody decided on this call in time. It was not made.")
	}
	return declined(fl, p, o, "This call was "+string(o.Decision)+" before anybody decided. It was not made.")
}

// isGone reports whether an error says that a call was made whose answer is no
// longer on record.
func isGone(o client.Outcome, err error) bool {
	return o.Decision != "" && errors.Is(err, &parley.Error{Code: parley.NotFound})
}

// gone is the answer for a call that was made, and of which nobody can read any
// more what came of it. It must not read like a failure, after which one tries
// again.
func gone(fl *flight, p *client.Proposal, o client.Outcome, why error) (jsontext.Value, error) {
	text := "This call was approved by " + strconv.Quote(o.By) + " and made, as proposal " + p.ID + ". Its result is no longer on record (" + why.Error() + ")." +
		"\nDo not simply repeat it: it may have done what it should. See first what it did, or ask. Made again, it is a new proposal."
	b := append(append(standing(string(o.Decision), p.ID), `,"by":`...), mcp.Quote(o.By)...)
	refused, _ := errors.AsType[*parley.Error](why)
	return notMade(fl, p.ID, text, append(refused.AppendMembers(append(b, ',')), '}'), true)
}

// collect notes that the client has what became of its proposal, once it has.
func (x *exchange) collect(fl *flight) {
	if fl.proposal == "" || !fl.settled || fl.waits {
		return
	}
	x.hands = fl.proposal
	x.delivered = append(x.delivered, func() {
		ctx, cancel := context.WithTimeout(x.front.ctx, farewell)
		defer cancel()
		if err := x.front.house.Collected(ctx, x.place, fl.proposal); err != nil {
			x.front.log.Warn("that an outcome was collected is not on record", "proposal", fl.proposal, "error", err)
		}
	})
}

// declined is the answer for a call that is not made.
func declined(fl *flight, p *client.Proposal, o client.Outcome, text string) (jsontext.Value, error) {
	b := standing(string(o.Decision), p.ID)
	b = append(append(b, `,"by":`...), mcp.Quote(o.By)...)
	if o.Reason != "" {
		b = append(append(b, `,"reason":`...), mcp.Quote(o.Reason)...)
	}
	if o.Message != "" {
		b = append(append(b, `,"message":`...), mcp.Quote(o.Message)...)
	}
	return notMade(fl, p.ID, text, append(b, '}'), true)
}

// pending is the answer while nobody has decided, or while the call runs.
func pending(fl *flight, p *client.Proposal, decided client.Outcome) (jsontext.Value, error) {
	fl.waits = true
	status, text := "pending", "This call waits for approval, as proposal "+p.ID+"."
	if decided.Decision != "" {
		by := "This call was approved by "
		if decided.Decision == client.Amended {
			by = "This call was changed and approved by "
		}
		status, text = "running", by+strconv.Quote(decided.By)+" and is being made, as proposal "+p.ID+"."
	}
	if fl.x.target != "" { // where the room's own tools are not
		text += "\nTo wait on, make exactly the same call again. It is not made twice. You may do other things meanwhile."
	} else {
		text += "\nTo wait on, make exactly the same call again, or call parley__await with {\"proposal\": \"" + p.ID + "\"}. It is not made twice." +
			"\nTo take it back, call parley__withdraw. You may do other things meanwhile."
	}
	return notMade(fl, p.ID, text, append(standing(status, p.ID), '}'), fl.strict)
}

// asks is the answer of parley__await where the server wants to know something:
// the client is asked in the course of the call itself.
func asks(fl *flight, p *client.Proposal) (jsontext.Value, error) {
	fl.waits = true
	text := "This call was approved, and its server asks for something first, as proposal " + p.ID + "." +
		"\nTo be asked, make exactly the same call again. It is not made twice."
	return notMade(fl, p.ID, text, append(standing(mcp.InputRequired, p.ID), '}'), false)
}

func standing(status, proposal string) jsontext.Value {
	b := append(jsontext.Value(`{"status":`), mcp.Quote(status)...)
	return append(append(b, `,"proposal":`...), mcp.Quote(proposal)...)
}

// notMade says, in the form that the method's answers have, why there is no
// result of the server's.
func notMade(fl *flight, proposal, text string, structured jsontext.Value, failed bool) (jsontext.Value, error) {
	if fl.method != "tools/call" {
		return nil, &jsonrpc.Error{Code: codeRefused, Message: text, Data: structured}
	}
	return mcp.SetMeta(toolResult(text, structured, failed), mcp.MetaProposal, mcp.Quote(proposal)), nil
}
