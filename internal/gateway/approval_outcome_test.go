package gateway

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// A link that was used says in a word what came of the call, and nothing of what the
// answer says.
func TestLinkTellsWhatCameOfIt(t *testing.T) {
	for want, answer := range map[string]string{
		cameResult:  `"result":{"content":[{"type":"text","text":"secret"}]}`,
		cameError:   `"result":{"isError":true,"content":[{"type":"text","text":"secret"}]}`,
		"failed ":   `"error":{"code":-32000,"message":"secret"}`,
		cameUnknown: `"error":{"code":-32000,"message":"secret","data":{"code":"outcome_unknown"}}`,
		cameAsking:  `"result":{"resultType":"input_required","requestState":"secret"}`,
	} {
		t.Run(want, func(t *testing.T) {
			h := newHouse(t)
			h.join("files")
			h.propose("p1", `["files"]`)
			code := h.link("human", "p1")
			var call struct{ ID string }
			h.approve(code).ok(202).into(&call)
			if p := h.look(code).gone(approvalUsed); p["outcome"] != cameNothing {
				t.Errorf("it says %v", p)
			}
			h.post("files", "envelopes", fmt.Sprintf(`{"kind":"mcp/response:tools/call:write_file","to":["human"],"correlation_id":[%q],"payload":{"jsonrpc":"2.0","id":1,%s}}`, call.ID, answer))
			for _, again := range []reply{h.look(code), h.approve(code), h.turnDown(code)} {
				if p := again.gone(approvalUsed); p["outcome"] != strings.TrimSpace(want) || strings.Contains(again.body, "secret") {
					t.Errorf("it says %s", again.body)
				}
			}
		})
	}
}

// Nothing comes of what was rejected, and a link that did not make the call tells
// nothing of it.
func TestLinkTellsNoOtherOutcome(t *testing.T) {
	h := newHouse(t)
	h.join("files")
	h.propose("p1", `["files"]`)
	h.propose("p2", `["files"]`)
	rejected, expired := h.link("human", "p1"), h.link("both", "p2", `{"ttl":"1m"}`)
	h.turnDown(rejected).ok(202)
	h.post("human", "proposals/p2/fulfil", `{}`)
	h.clock.add(approvalLeast)
	for code, why := range map[string]approvalEnd{rejected: approvalUsed, expired: approvalExpired} {
		if p := h.look(code).gone(why); p["outcome"] != nil {
			t.Errorf("it says %v", p)
		}
	}
}

// Of an answer that was redacted nobody is told how it was.
func TestOutcomeThatWasRedacted(t *testing.T) {
	h := newHouse(t)
	h.join("files")
	h.propose("p1", `["files"]`)
	code := h.link("human", "p1")
	var call struct{ ID string }
	h.approve(code).ok(202).into(&call)
	h.post("files", "envelopes", fmt.Sprintf(`{"id":"a1","kind":"mcp/response:tools/call:write_file","to":["human"],"correlation_id":[%q],"payload":{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}}`, call.ID))
	h.post("human", "envelopes", `{"kind":"space/redact","payload":{"id":"a1"}}`)
	eventually(t, "it is redacted", func() bool { return strings.Contains(h.get("human", "envelopes/a1").body, `{"redacted":true}`) })
	if p := h.look(code).gone(approvalUsed); p["state"] != "fulfilled" || p["outcome"] != nil {
		t.Errorf("it says %v", p)
	}
}

// Once the decider's token is gone nobody is told more than that the link was used.
func TestOutcomeThatNobodyIsTold(t *testing.T) {
	h := newHouse(t)
	h.join("files")
	h.propose("p1", `["files"]`)
	code := h.link("human", "p1")
	h.approve(code).ok(202)
	h.api.approvals.order[0].tokens = nil // which the configuration has no more
	if p := h.look(code).gone(approvalUsed); p["state"] != "fulfilled" || p["outcome"] != nil {
		t.Errorf("it says %v", p)
	}
}

// Who has a link reads by a share of its own: the decider's stays the decider's. All
// links of a decider have the same, so that nobody has more by making more links.
func TestLinksReadForThemselves(t *testing.T) {
	h := newHouse(t)
	h.propose("p1", `["files"]`)
	by := func(decider string) TokenHash {
		t.Helper()
		l, _ := h.api.approvals.find(h.link(decider, "p1"))
		c, holds := h.api.byLink(&l)
		if !holds || c.id != decider || c.token == tokenOf(decider) {
			t.Errorf("it reads as %s, %v, %x", c.id, holds, c.token)
		}
		return c.token
	}
	if one, other := by("human"), by("human"); one != other {
		t.Errorf("two links read by the shares %x and %x", one, other)
	}
	if by("human") == by("hasty") {
		t.Error("links of two deciders read by one share")
	}
}

// Of what is no longer on record nothing is told: that it runs would be a guess.
func TestOutcomeThatIsNotOnRecord(t *testing.T) {
	h := newHouse(t)
	h.propose("p1", `["files"]`)
	code := h.link("human", "p1")
	l, _ := h.api.approvals.find(code)
	l.ended = approvalUsed
	call := &space.Proposal{State: space.Fulfilled, Closed: space.Closing{By: "human", ID: "dropped"}}
	if got := h.api.outcome(t.Context(), &l, call); got != "" {
		t.Errorf("of a call that was dropped it says %s", got)
	}
	if got := came(&journal.Record{Body: []byte(`{"kind":"mcp/response:tools/call:x"}`)}); got != "" {
		t.Errorf("of an answer that was redacted it says %s", got)
	}
}
