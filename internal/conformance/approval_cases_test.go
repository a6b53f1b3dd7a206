package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// pair is a client and a server, each of an era.
type pair struct{ client, server string }

var pairs = []pair{{legacy, "legacy"}, {legacy, "modern"}, {modern, "legacy"}, {modern, "modern"}}

// What clients do besides waiting, and what servers do meanwhile.
func TestApprovalCases(t *testing.T) {
	t.Parallel()
	h := newApprovalHouse(t, "patient", "hasty")
	for name, test := range map[string]func(t *testing.T, p pair, id string){
		"cancelled":        h.cancelled,
		"hung up":          h.hungUp,
		"at the same time": h.together,
	} {
		t.Run(name, func(t *testing.T) {
			var all sync.WaitGroup
			for _, p := range pairs {
				all.Go(func() { p.run(t, test) })
			}
			all.Wait()
		})
	}
	// One after the other: over stdio nothing says which of two calls a server
	// asks something for, and others would notice what is done to it.
	for name, test := range map[string]func(t *testing.T, p pair, id string){
		"asked back":      h.askedBack,
		"asked back late": h.askedBackLate,
		"ended meanwhile": h.endedMeanwhile,
		"left":            h.leftInTheLastRound,
		"redefined":       h.redefined,
		"killed server":   h.killedServer,
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range pairs {
				for _, space := range h.spaces {
					h.ready(space) // the case before may have killed a server
				}
				p.run(t, test)
			}
		})
	}
}

// run tests one combination of eras, with calls of its own.
func (p pair) run(t *testing.T, test func(t *testing.T, p pair, id string)) {
	t.Run(p.client+"/"+p.server, func(t *testing.T) { test(t, p, t.Name()) })
}

func arguments(id string) map[string]any { return map[string]any{"id": id} }

// A call that its client cancels takes its proposal back: with a notification
// in the first era, by hanging up in the second.
func (h *approvalHouse) cancelled(t *testing.T, p pair, id string) {
	c, boss := h.client(t, "patient", p.client), h.boss["patient"]
	ctx, hangUp := context.WithCancel(h.ctx)
	defer hangUp()
	call := begin(ctx, c, p.server+"__act", arguments(id))
	e := boss.proposed(t, id, 1)
	if p.client == modern {
		hangUp()
	} else if err := c.cancel(h.ctx, c.lastID.Load()); err != nil {
		t.Fatal(err)
	}
	<-call.done
	if call.err == nil {
		t.Errorf("answered %s", call.reply.what())
	}
	boss.becomes(t, e.ID, client.ProposalState(client.Withdrawn))
	if _, err := boss.tryApprove(e); !errors.Is(err, &parley.Error{Code: parley.ProposalClosed}) {
		t.Errorf("it was approved all the same: %v", err)
	}
	if n := h.tally.count(id); n != 0 {
		t.Errorf("the tool ran %d times", n)
	}
}

// A client of the first era that hangs up, or is killed, has cancelled nothing:
// the next one makes its call again and finds the proposal. In the second era
// to hang up is to cancel, and the next call is another.
func (h *approvalHouse) hungUp(t *testing.T, p pair, id string) {
	boss := h.boss["patient"]
	ctx, hangUp := context.WithCancel(h.ctx)
	first := begin(ctx, h.client(t, "patient", p.client), p.server+"__act", arguments(id))
	e := boss.proposed(t, id, 1)
	hangUp()
	<-first.done
	if p.client == modern {
		boss.becomes(t, e.ID, client.ProposalState(client.Withdrawn))
	}
	call := begin(h.ctx, h.client(t, "patient", p.client), p.server+"__act", arguments(id))
	if p.client == modern {
		e = boss.proposed(t, id, 2)
	}
	boss.approve(t, e)
	r := call.answer(t)
	if r.what() != "did "+id || r.proposal() != e.ID {
		t.Errorf("answered %q of %q, want that of %q", r.what(), r.proposal(), e.ID)
	}
	h.ranOnce(t, id)
}

// Where a session ends, or a client hangs up, while the approved tool runs,
// nobody has got the result: the same call is given it.
func (h *approvalHouse) endedMeanwhile(t *testing.T, p pair, id string) {
	c, boss := h.client(t, "patient", p.client), h.boss["patient"]
	ctx, hangUp := context.WithCancel(h.ctx)
	defer hangUp()
	h.tally.hold(id)
	first := begin(ctx, c, p.server+"__act", arguments(id))
	e := boss.proposed(t, id, 1)
	boss.approve(t, e)
	h.tally.began(t, h.ctx, id)
	before := h.cancelledCalls(t)
	if p.client == modern {
		hangUp()
		until(t, h.ctx, "the gateway has noticed", func() bool { return h.cancelledCalls(t) > before })
	} else {
		h.endSession(t, c)
	}
	<-first.done
	if first.err == nil && first.reply.what() == "did "+id {
		t.Fatal("it was answered before it was done")
	}
	next := begin(h.ctx, h.client(t, "patient", p.client), p.server+"__act", arguments(id))
	h.tally.release(id)
	if r := next.answer(t); r.what() != "did "+id || r.proposal() != e.ID {
		t.Errorf("answered %q of %q, want the result of %q", r.what(), r.proposal(), e.ID)
	}
	h.ranOnce(t, id)
}

func (h *approvalHouse) endSession(t *testing.T, c *mcpClient) {
	t.Helper()
	req, err := http.NewRequestWithContext(h.ctx, http.MethodDelete, c.url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Mcp-Session-Id", c.session)
	resp, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatalf("the session did not end: %s, %v", resp.Status, err)
	}
}

// The same call of several clients at the same time is one proposal and one
// run, and all of them get the result.
func (h *approvalHouse) together(t *testing.T, p pair, id string) {
	boss := h.boss["patient"]
	var calls []*held
	for range 5 {
		calls = append(calls, begin(h.ctx, h.client(t, "patient", p.client), p.server+"__act", arguments(id)))
	}
	for _, call := range calls {
		<-call.begun
	}
	e := boss.proposed(t, id, 1)
	boss.approve(t, e)
	for _, call := range calls {
		r := call.answer(t)
		if r.what() != "did "+id || r.proposal() != e.ID {
			t.Errorf("answered %q of %q, want the result of %q", r.what(), r.proposal(), e.ID)
		}
	}
	h.ranOnce(t, id)
	if list, _ := boss.of(id); len(list) != 1 {
		t.Errorf("it was proposed %d times", len(list))
	}
}

// An approval is for the definition of the tool that was known when the call was
// proposed.
func (h *approvalHouse) redefined(t *testing.T, p pair, id string) {
	c, boss := h.client(t, "hasty", p.client), h.boss["hasty"]
	tool := p.server + "__shifty"
	r := begin(h.ctx, c, tool, arguments(id)).answer(t)
	if r.what() != "pending" {
		t.Fatalf("answered %q: %s", r.what(), r.text())
	}
	changes := boss.toolsChanged()
	if _, err := boss.room.Request(h.ctx, p.server, "tools/call", map[string]any{"name": "redefine", "arguments": arguments("deletes everything, says " + id)}); err != nil {
		t.Fatal(err)
	}
	boss.waitForChange(t, changes)
	e := boss.proposed(t, id, 1)
	_, err := boss.tryApprove(e)
	if !errors.Is(err, &parley.Error{Code: parley.ProposalMismatch}) || !strings.Contains(err.Error(), "deletes everything") {
		t.Fatalf("the approval for the tool as it was is answered %v", err)
	}
	// The same call means the tool as it is now: it is another proposal.
	r = begin(h.ctx, c, tool, arguments(id)).answer(t)
	old := e
	if e = boss.proposed(t, id, 2); r.what() != "pending" || r.proposal() != e.ID {
		t.Errorf("answered %q of %q, want pending of %q", r.what(), r.proposal(), e.ID)
	}
	if s := boss.state(t, old.ID); s != client.ProposalState(client.Withdrawn) {
		t.Errorf("the proposal for the tool as it was is %s", s)
	}
	boss.decide(t, e, "reject")
	if r := h.await(t, c, e.ID); r.what() != "rejected" {
		t.Errorf("answered %q", r.what())
	}
	if r := begin(h.ctx, c, tool, arguments(id)).answer(t); r.what() != "pending" {
		t.Errorf("answered %q", r.what())
	}
	again := boss.proposed(t, id, 3)
	boss.approve(t, again)
	if r := h.await(t, c, again.ID); r.what() != "did "+id {
		t.Errorf("answered %q", r.what())
	}
	h.ranOnce(t, id)
}

func (h *approvalHouse) await(t *testing.T, c *mcpClient, proposal string) *reply {
	t.Helper()
	return begin(h.ctx, c, "parley__await", map[string]any{"proposal": proposal, "seconds": 60}).answer(t)
}

// What a server asks in the course of an approved call reaches the client that
// proposed it, whichever way both do that; no round needs another approval, and
// each can be gone on with once.
func (h *approvalHouse) askedBack(t *testing.T, p pair, id string) {
	boss := h.boss["patient"]
	c := newClient(t, h.ctx, h.url+"/mcp/patient", p.client, true)
	call := begin(h.ctx, c, p.server+"__ask", arguments(id))
	e := boss.proposedBy(t, call, id, 1)
	boss.approve(t, e)
	r := call.answer(t)
	round := map[string]any{}
	if p.client == modern {
		round = roundOf(t, r)
		r = h.again(t, c, p.server+"__ask", id, round)
	}
	if r.what() != "did "+id+" for Ada" || r.proposal() != e.ID {
		t.Fatalf("answered %q of %q: %s", r.what(), r.proposal(), r.text())
	}
	h.ranOnce(t, id)
	if p.client == modern {
		if r := h.again(t, c, p.server+"__ask", id, round); !strings.Contains("outcome_unknown proposal_mismatch", r.what()) {
			t.Errorf("the same round once more is answered %q: %s", r.what(), r.text())
		}
		round["requestState"] = "asked for something else"
		if r := h.again(t, c, p.server+"__ask", id, round); r.what() != "proposal_mismatch" {
			t.Errorf("a round that nobody asked for is answered %q: %s", r.what(), r.text())
		}
	}
	h.ranOnce(t, id)
	if list, _ := boss.of(id); len(list) != 1 {
		t.Errorf("it was proposed %d times", len(list))
	}
}

// The client may come back late for what it is asked.
func (h *approvalHouse) askedBackLate(t *testing.T, p pair, id string) {
	boss := h.boss["hasty"]
	c := newClient(t, h.ctx, h.url+"/mcp/hasty", p.client, true)
	c.thinks = 150 * time.Millisecond // which is longer than calls are held
	r := begin(h.ctx, c, p.server+"__ask", arguments(id)).answer(t)
	if r.what() != "pending" {
		t.Fatalf("answered %q: %s", r.what(), r.text())
	}
	e := boss.proposed(t, id, 1)
	boss.approve(t, e)
	for r.what() == "pending" || r.what() == "running" {
		r = begin(h.ctx, c, p.server+"__ask", arguments(id)).answer(t)
	}
	if p.client == modern {
		c.think(h.ctx)
		r = h.again(t, c, p.server+"__ask", id, roundOf(t, r))
	}
	if r.what() == "running" { // it did not end while it was held
		r = h.await(t, c, e.ID)
	}
	if r.what() != "did "+id+" for Ada" || r.proposal() != e.ID {
		t.Fatalf("answered %q of %q: %s", r.what(), r.proposal(), r.text())
	}
	h.ranOnce(t, id)
}

// roundOf is what a client of the second era adds to a call that it is asked
// something about.
func roundOf(t *testing.T, r *reply) map[string]any {
	t.Helper()
	if r.what() != "input_required" {
		t.Fatalf("answered %q, want input_required: %s", r.what(), r.text())
	}
	if len(r.Result.InputRequests) != 1 {
		t.Fatalf("asked for %d things", len(r.Result.InputRequests))
	}
	responses := map[string]any{}
	for key := range r.Result.InputRequests {
		responses[key] = map[string]any{"action": "accept", "content": map[string]any{"name": "Ada"}}
	}
	round := map[string]any{"inputResponses": responses}
	if r.Result.RequestState != "" {
		round["requestState"] = r.Result.RequestState
	}
	return round
}

// again makes a call once more, with what a round adds.
func (h *approvalHouse) again(t *testing.T, c *mcpClient, tool, id string, round map[string]any) *reply {
	t.Helper()
	r, err := c.call(h.ctx, tool, arguments(id), round)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Where the server dies under a call, its outcome is unknown: that is said once,
// and the call is never made again unasked.
func (h *approvalHouse) killedServer(t *testing.T, p pair, id string) {
	h.tally.hold(id)
	call, e := h.propose(t, "patient", p, id, 1)
	h.boss["patient"].approve(t, e)
	if err := syscall.Kill(h.tally.began(t, h.ctx, id), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if r := call.answer(t); r.what() != "outcome_unknown" {
		t.Errorf("answered %q: %s", r.what(), r.text())
	}
	h.another(t, "patient", p, id)
}

// another checks that the same call, once somebody was told what became of it,
// is another proposal.
func (h *approvalHouse) another(t *testing.T, space string, p pair, id string) {
	t.Helper()
	call, e := h.propose(t, space, p, id, 2)
	h.boss[space].decide(t, e, "reject")
	if r := call.answer(t); r.proposal() != e.ID {
		t.Errorf("answered %q of %q, want that of %q", r.what(), r.proposal(), e.ID)
	}
	h.ranOnce(t, id)
}

// propose makes a call that is the nth proposal for it. The server may be on its
// way back.
func (h *approvalHouse) propose(t *testing.T, space string, p pair, id string, n int) (call *held, proposal *parley.Envelope) {
	t.Helper()
	boss, c := h.boss[space], h.client(t, space, p.client)
	until(t, h.ctx, "the server is back", func() bool {
		call = begin(h.ctx, c, p.server+"__act", arguments(id))
		for {
			list, changed := boss.of(id)
			if len(list) == n {
				proposal = list[n-1]
				return true
			}
			select {
			case <-changed:
			case <-call.done:
				if what := call.answer(t).what(); what != "target_absent" && what != "unavailable" {
					t.Fatalf("answered %q", what)
				}
				return false
			}
		}
	})
	return call, proposal
}

func (h *approvalHouse) ranOnce(t *testing.T, id string) {
	t.Helper()
	if n := h.tally.count(id); n != 1 {
		t.Errorf("the tool ran %d times, want once", n)
	}
}

// becomes waits until a proposal is in a state.
func (b *boss) becomes(t *testing.T, id string, want client.ProposalState) {
	t.Helper()
	until(t, b.ctx, id+" is "+string(want), func() bool { return b.state(t, id) == want })
}

// A client that leaves in the last round of an approved call finds the result
// of that round, and is not asked again for what it has said.
func (h *approvalHouse) leftInTheLastRound(t *testing.T, p pair, id string) {
	boss, tool := h.boss["patient"], "modern__ask"
	c := newClient(t, h.ctx, h.url+"/mcp/patient", modern, true)
	call := begin(h.ctx, c, tool, arguments(id))
	e := boss.proposedBy(t, call, id, 1)
	boss.approve(t, e)
	round := roundOf(t, call.answer(t))
	if r := h.await(t, c, e.ID); r.what() != "input_required" || r.Result.ResultType == "input_required" {
		t.Errorf("parley__await is answered %q: %s", r.what(), r.text())
	}
	if again := roundOf(t, begin(h.ctx, c, tool, arguments(id)).answer(t)); fmt.Sprint(again) != fmt.Sprint(round) {
		t.Errorf("asked again it asks %v, before that %v", again, round)
	}
	h.tally.hold(id)
	ctx, hangUp := context.WithCancel(h.ctx)
	defer hangUp()
	left := make(chan error, 1)
	go func() {
		_, err := c.call(ctx, tool, arguments(id), round)
		left <- err
	}()
	h.tally.began(t, h.ctx, id)
	before := h.cancellations(t)
	hangUp()
	if err := <-left; err == nil {
		t.Error("it was answered")
	}
	// What is written before the gateway has noticed counts as received.
	until(t, h.ctx, "the gateway has noticed", func() bool { return h.cancellations(t) > before })
	next := begin(h.ctx, newClient(t, h.ctx, h.url+"/mcp/patient", p.client, true), tool, arguments(id))
	h.tally.release(id)
	if r := next.answer(t); r.what() != "did "+id+" for Ada" || r.proposal() != e.ID {
		t.Errorf("answered %q of %q: %s", r.what(), r.proposal(), r.text())
	}
	anew := begin(h.ctx, c, tool, arguments(id))
	boss.decide(t, boss.proposed(t, id, 2), "reject")
	if r := anew.answer(t); r.what() != "rejected" {
		t.Errorf("answered %q: %s", r.what(), r.text())
	}
	h.ranOnce(t, id)
}

// cancellations is how many requests of clients in the space patient have ended by
// being cancelled.
func (h *approvalHouse) cancellations(t *testing.T) (n int) {
	t.Helper()
	once := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := once.Get(h.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), `parley_mcp_requests_total{outcome="cancelled",space="patient"} `); ok {
			if n, err = strconv.Atoi(rest); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}
