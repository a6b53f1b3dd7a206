package conformance

import (
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/parleyhq/parley/client"
)

// cell is one of the approval matrix. The call of a client is decided on at
// once, after it was held for as long as the space says, or after a restart of
// the gateway.
type cell struct {
	client, server string // eras
	when           string
	decision       string
	collect        string // what fetches the outcome: "call", the same once more, or "await"
}

// answers are what the decisions lead to.
var outcomes = map[string]string{"approve": "did", "reject": "rejected", "expire": "expired"}

func (c *cell) id() string {
	return strings.Join([]string{c.client, c.server, c.when, c.decision, c.collect}, "/")
}

// space is where the moment of the decision is certain.
func (c *cell) space() string {
	switch {
	case c.when == "at once" && c.decision == "expire":
		return "brief"
	case c.when == "at once":
		return "patient"
	case c.decision == "expire":
		return "fleeting"
	}
	return "hasty"
}

func (c *cell) tool() string { return c.server + "__act" }

func (c *cell) arguments() map[string]any { return map[string]any{"id": c.id()} }

// cells are all of one moment.
func cells(when string) (list []*cell) {
	for _, clientEra := range []string{legacy, modern} {
		for _, server := range []string{"legacy", "modern"} {
			for decision := range outcomes {
				for _, collect := range []string{"call", "await"} {
					if when == "at once" && collect == "await" {
						continue // the call itself is answered
					}
					list = append(list, &cell{clientEra, server, when, decision, collect})
				}
			}
		}
	}
	return list
}

// inCell is a cell while it is tested.
type inCell struct {
	*cell
	t     *testing.T
	house *approvalHouse
}

// each runs a step of every cell and waits. They all run at the same time,
// however many processors there are: most of it is waiting.
func each(t *testing.T, name string, h *approvalHouse, list []*cell, step func(c inCell)) {
	t.Run(name, func(t *testing.T) {
		var all sync.WaitGroup
		for _, c := range list {
			all.Go(func() {
				t.Run(c.id(), func(t *testing.T) { step(inCell{cell: c, t: t, house: h}) })
			})
		}
		all.Wait()
	})
}

// Every decision, in every combination of eras, at every moment: the client gets
// what became of its call, and the tool runs once if the call was approved and
// else never.
func TestApprovals(t *testing.T) {
	t.Parallel()
	t.Run("in one life", func(t *testing.T) {
		t.Parallel()
		h := newApprovalHouse(t, "patient", "brief", "hasty", "fleeting")
		each(t, "at once", h, cells("at once"), inCell.atOnce)
		each(t, "late", h, cells("late"), func(c inCell) {
			c.late(c.waits())
		})
	})
	t.Run("across a restart", func(t *testing.T) {
		t.Parallel()
		h := newApprovalHouse(t, "hasty", "fleeting")
		list := cells("restart")
		var mu sync.Mutex
		waiting := map[*cell]string{}
		each(t, "before", h, list, func(c inCell) {
			id := c.waits()
			mu.Lock()
			defer mu.Unlock()
			waiting[c.cell] = id
		})
		if t.Failed() {
			return
		}
		h.restart(syscall.SIGTERM)
		each(t, "after", h, list, func(c inCell) { c.late(waiting[c.cell]) })
	})
}

// newClient is another process or session of the agent's.
func (c inCell) newClient() *mcpClient { return c.house.client(c.t, c.space(), c.client) }

// begin makes the call of the cell, which may be held.
func (c inCell) begin(from *mcpClient) *held {
	return begin(c.house.ctx, from, c.tool(), c.arguments())
}

// make makes the call of the cell, and waits for its answer.
func (c inCell) make(from *mcpClient) *reply {
	c.t.Helper()
	return c.begin(from).answer(c.t)
}

func (c inCell) await(from *mcpClient, proposal string, seconds float64) *reply {
	c.t.Helper()
	r, err := from.call(c.house.ctx, "parley__await", map[string]any{"proposal": proposal, "seconds": seconds})
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// atOnce: the call is held, and answered when it is decided on.
func (c inCell) atOnce() {
	boss := c.house.boss[c.space()]
	call := c.begin(c.newClient())
	e := boss.proposed(c.t, c.id(), 1)
	boss.decide(c.t, e, c.decision)
	r, proposal := call.answer(c.t), e.ID
	c.ended(r, proposal)
	c.repeats(proposal)
	c.anew(2)
}

// waits: the call is held as long as it may be, and the same call means the same
// proposal.
func (c inCell) waits() (proposal string) {
	first := c.newClient()
	r := c.make(first)
	proposal = r.proposal()
	c.is(r, "pending", proposal)
	c.is(c.make(first), "pending", proposal)
	c.is(c.make(c.newClient()), "pending", proposal)
	c.is(c.await(c.newClient(), proposal, 0), "pending", proposal)
	return proposal
}

// late: what was decided while nobody waited is fetched.
func (c inCell) late(proposal string) {
	boss, from := c.house.boss[c.space()], c.newClient()
	e := boss.proposed(c.t, c.id(), 1)
	if e.ID != proposal {
		c.t.Fatalf("proposed was %s, the client was told of %s", e.ID, proposal)
	}
	boss.decide(c.t, e, c.decision)
	var r *reply
	if c.collect == "await" {
		r = c.await(from, proposal, 60)
	} else {
		for r = c.make(from); r.what() == "pending" || r.what() == "running"; r = c.make(from) {
			c.is(r, r.what(), proposal)
		}
	}
	c.ended(r, proposal)
	c.repeats(proposal)
	c.anew(2)
}

// ended checks the answer of a call that was decided on.
func (c inCell) ended(r *reply, proposal string) {
	c.t.Helper()
	want := outcomes[c.decision]
	if c.decision == "approve" {
		want += " " + c.id()
	}
	c.is(r, want, proposal)
	if failed := r.Result != nil && r.Result.IsError; failed != (c.decision != "approve") {
		c.t.Errorf("isError is %v of %s", failed, r.what())
	}
	if c.decision == "reject" && !strings.Contains(r.text(), "\"boss\" rejected this call (unsafe): not on a Sunday. It was not made.") {
		c.t.Errorf("the rejection says: %s", r.text())
	}
	c.ran()
}

// repeats checks that what was collected is still there to be read.
func (c inCell) repeats(proposal string) {
	c.t.Helper()
	c.ended(c.await(c.newClient(), proposal, 60), proposal)
}

// anew checks that the same call, once its outcome was collected, is the nth
// proposal; it is taken back.
func (c inCell) anew(n int) {
	c.t.Helper()
	boss, from := c.house.boss[c.space()], c.newClient()
	call := c.begin(from)
	e := boss.proposed(c.t, c.id(), n)
	if _, err := from.call(c.house.ctx, "parley__withdraw", map[string]any{"proposal": e.ID}); err != nil {
		c.t.Error(err)
	}
	r := call.answer(c.t)
	if what := r.what(); r.proposal() != e.ID || what != "withdrawn" && what != "pending" && what != "expired" {
		c.t.Errorf("the call was not made anew, as %s: %s", e.ID, what)
	}
	if s := boss.state(c.t, e.ID); s != client.ProposalState(client.Withdrawn) && s != client.ProposalState(client.Expired) {
		c.t.Errorf("%s is %s", e.ID, s)
	}
	c.ran()
}

func (c inCell) ran() {
	c.t.Helper()
	want := 0
	if c.decision == "approve" {
		want = 1
	}
	if n := c.house.tally.count(c.id()); n != want {
		c.t.Errorf("the tool ran %d times, want %d", n, want)
	}
}

// is checks what a reply says, and of which proposal.
func (c inCell) is(r *reply, what, proposal string) {
	c.t.Helper()
	if r.what() != what || proposal == "" || r.proposal() != proposal {
		c.t.Fatalf("answered %q of proposal %q, want %q of %q: %s", r.what(), r.proposal(), what, proposal, r.text())
	}
}
