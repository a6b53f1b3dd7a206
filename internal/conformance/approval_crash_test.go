package conformance

import (
	"sync"
	"syscall"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// crashes are what a kill of the gateway can interrupt: each has what comes
// before it, which returns the proposal, and what is found afterwards.
var crashes = map[string]struct {
	before func(h *approvalHouse, t *testing.T, p pair, id string) (proposal *parley.Envelope)
	after  func(h *approvalHouse, t *testing.T, p pair, id string, proposal *parley.Envelope)
}{
	"undecided":   {(*approvalHouse).leaveUndecided, (*approvalHouse).decideLater},
	"running":     {(*approvalHouse).leaveRunning, (*approvalHouse).toldOnce},
	"uncollected": {(*approvalHouse).leaveUncollected, (*approvalHouse).collectLater},
	"asked":       {(*approvalHouse).leaveAsked, (*approvalHouse).answerLater},
	"last round":  {(*approvalHouse).leaveLastRound, (*approvalHouse).roundToldOnce},
}

// A gateway that is killed loses no approval and no result, and runs nothing a
// second time. What it cannot know it says once.
func TestApprovalCrashes(t *testing.T) {
	t.Parallel()
	h := newApprovalHouse(t, "patient", "hasty")
	var mu sync.Mutex
	left := map[string]*parley.Envelope{} // proposals, by the call's id
	inCrashes := func(phase string, step func(t *testing.T, name string, p pair, id string)) {
		t.Run(phase, func(t *testing.T) {
			var all sync.WaitGroup
			defer all.Wait()
			for name := range crashes {
				for _, p := range pairs {
					if rounds := name == "asked" || name == "last round"; rounds && p.server == "legacy" {
						continue // asks in mid-call: that is running
					}
					id := name + "/" + p.client + "/" + p.server
					all.Go(func() { t.Run(id, func(t *testing.T) { step(t, name, p, id) }) })
				}
			}
		})
	}
	inCrashes("before", func(t *testing.T, name string, p pair, id string) {
		e := crashes[name].before(h, t, p, id)
		mu.Lock()
		defer mu.Unlock()
		left[id] = e
	})
	if t.Failed() {
		return
	}
	h.restart(syscall.SIGKILL)
	inCrashes("after", func(t *testing.T, name string, p pair, id string) { crashes[name].after(h, t, p, id, left[id]) })
}

// leaveUndecided leaves a call that is held.
func (h *approvalHouse) leaveUndecided(t *testing.T, p pair, id string) *parley.Envelope {
	call := begin(h.ctx, h.client(t, "patient", p.client), p.server+"__act", arguments(id))
	<-call.begun
	return h.boss["patient"].proposed(t, id, 1)
}

// decideLater: the same call finds its proposal, which is approved now.
func (h *approvalHouse) decideLater(t *testing.T, p pair, id string, e *parley.Envelope) {
	call := begin(h.ctx, h.client(t, "patient", p.client), p.server+"__act", arguments(id))
	<-call.begun
	h.boss["patient"].approve(t, e)
	h.is(t, call.answer(t), "did "+id, e)
	h.ranOnce(t, id)
	h.another(t, "patient", p, id)
}

// leaveRunning leaves an approved call whose tool does not end.
func (h *approvalHouse) leaveRunning(t *testing.T, p pair, id string) *parley.Envelope {
	h.tally.hold(id)
	begin(h.ctx, h.client(t, "patient", p.client), p.server+"__act", arguments(id))
	e := h.boss["patient"].proposed(t, id, 1)
	h.boss["patient"].approve(t, e)
	h.tally.began(t, h.ctx, id)
	return e
}

// toldOnce: the same call is told that its outcome is unknown, and when it is
// made once more it is another one.
func (h *approvalHouse) toldOnce(t *testing.T, p pair, id string, e *parley.Envelope) {
	c := h.client(t, "patient", p.client)
	if r := begin(h.ctx, c, p.server+"__act", arguments(id)).answer(t); r.what() != "outcome_unknown" {
		t.Errorf("answered %q", r.what())
	}
	if r := h.await(t, c, e.ID); r.what() != "outcome_unknown" {
		t.Errorf("parley__await is answered %q", r.what())
	}
	h.ranOnce(t, id)
	h.another(t, "patient", p, id)
}

// leaveUncollected leaves an approved call whose result is on record, and that
// nobody waits for.
func (h *approvalHouse) leaveUncollected(t *testing.T, p pair, id string) *parley.Envelope {
	boss := h.boss["hasty"]
	r := begin(h.ctx, h.client(t, "hasty", p.client), p.server+"__act", arguments(id)).answer(t)
	e := boss.proposed(t, id, 1)
	h.is(t, r, "pending", e)
	boss.answered(t, boss.approve(t, e))
	return e
}

// collectLater: the same call is given the result.
func (h *approvalHouse) collectLater(t *testing.T, p pair, id string, e *parley.Envelope) {
	h.is(t, begin(h.ctx, h.client(t, "hasty", p.client), p.server+"__act", arguments(id)).answer(t), "did "+id, e)
	h.is(t, h.await(t, h.client(t, "hasty", p.client), e.ID), "did "+id, e)
	h.ranOnce(t, id)
	r := begin(h.ctx, h.client(t, "hasty", p.client), p.server+"__act", arguments(id)).answer(t)
	h.is(t, r, "pending", h.boss["hasty"].proposed(t, id, 2))
}

// leaveAsked leaves an approved call whose server waits for a round.
func (h *approvalHouse) leaveAsked(t *testing.T, _ pair, id string) *parley.Envelope {
	e, _ := h.asked(t, id)
	return e
}

// asked makes a call, which is approved and asks for something.
func (h *approvalHouse) asked(t *testing.T, id string) (proposal *parley.Envelope, round map[string]any) {
	call := begin(h.ctx, newClient(t, h.ctx, h.url+"/mcp/patient", modern, true), "modern__ask", arguments(id))
	e := h.boss["patient"].proposed(t, id, 1)
	h.boss["patient"].approve(t, e)
	return e, roundOf(t, call.answer(t))
}

// answerLater: the same call asks again, and goes on under its approval.
func (h *approvalHouse) answerLater(t *testing.T, p pair, id string, e *parley.Envelope) {
	c := newClient(t, h.ctx, h.url+"/mcp/patient", p.client, true)
	r := begin(h.ctx, c, "modern__ask", arguments(id)).answer(t)
	if p.client == modern {
		r = h.again(t, c, "modern__ask", id, roundOf(t, r))
	}
	h.is(t, r, "did "+id+" for Ada", e)
	h.ranOnce(t, id)
}

// leaveLastRound leaves the last round of an approved call, whose tool does not
// end.
func (h *approvalHouse) leaveLastRound(t *testing.T, _ pair, id string) *parley.Envelope {
	h.tally.hold(id)
	e, round := h.asked(t, id)
	c := newClient(t, h.ctx, h.url+"/mcp/patient", modern, true)
	go c.call(h.ctx, "modern__ask", arguments(id), round) // ends with the gateway
	h.tally.began(t, h.ctx, id)
	return e
}

// roundToldOnce: the same call is told that the outcome is unknown, not asked
// again; then it is another one.
func (h *approvalHouse) roundToldOnce(t *testing.T, p pair, id string, _ *parley.Envelope) {
	c, boss := newClient(t, h.ctx, h.url+"/mcp/patient", p.client, true), h.boss["patient"]
	if r := begin(h.ctx, c, "modern__ask", arguments(id)).answer(t); r.what() != "outcome_unknown" {
		t.Errorf("answered %q", r.what())
	}
	anew := begin(h.ctx, c, "modern__ask", arguments(id))
	e := boss.proposed(t, id, 2)
	boss.decide(t, e, "reject")
	h.is(t, anew.answer(t), "rejected", e)
	h.ranOnce(t, id)
}

// is checks what a reply says, and of which proposal.
func (h *approvalHouse) is(t *testing.T, r *reply, what string, proposal *parley.Envelope) {
	t.Helper()
	if r.what() != what || r.proposal() != proposal.ID {
		t.Errorf("answered %q of %q, want %q of %q: %s", r.what(), r.proposal(), what, proposal.ID, r.text())
	}
}

// answered waits until the answer to a request is on record.
func (b *boss) answered(t *testing.T, request *parley.Envelope) {
	t.Helper()
	until(t, b.ctx, request.ID+" is answered", func() bool {
		for e, err := range b.room.API().Envelopes(b.ctx, &client.Query{Correlation: request.ID}) {
			if err != nil {
				t.Fatal(err)
			}
			if parley.SplitKind(e.Kind).Type == parley.TypeResponse {
				return true
			}
		}
		return false
	})
}
