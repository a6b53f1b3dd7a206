package gateway

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
)

// keepsLittle is a house that keeps little of its record.
func keepsLittle(t *testing.T) *house {
	return newHouse(t, func(o *Options) {
		o.RetainEvery = time.Hour
		o.Spaces[0].Retention = Retention{Bytes: 20_000}
	})
}

// drop has retention drop all that was said so far.
func (h *house) drop() {
	h.t.Helper()
	for i := range 20 {
		h.post("human", "envelopes", fmt.Sprintf(`{"kind":"chat","payload":{"text":"%d%s"}}`, i, strings.Repeat("x", 2_000)))
	}
	if err := h.rooms["demo"].retain(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// isDropped is an answer that says why nobody can tell what is proposed.
func (r reply) isDropped() {
	r.t.Helper()
	p := r.refused(404, parley.NotFound)
	detail, _ := p["detail"].(string)
	hint, _ := p["hint"].(string)
	if !strings.Contains(detail, "no longer on record: retention has dropped it") || !strings.Contains(hint, "reject it") {
		r.t.Errorf("it says %s", r.body)
	}
}

// An open proposal whose envelope retention has dropped is listed, and can be ended
// still: that takes no more than the rules remember.
func TestEndWhatWasDropped(t *testing.T) {
	h := keepsLittle(t)
	h.propose("p1", `["files"]`)
	h.propose("p2", `["files"]`)
	h.drop()
	h.ask("human", "GET", "/v1/spaces/demo/envelopes/p1", "").refused(404, parley.NotFound)
	want := `{"id":"p1","seq":1,"kind":"mcp/proposal:tools/call:write_file","from":"agent","to":["files"],"dropped":true,` +
		`"state":"open","opened":"2026-11-20T12:00:00.000Z","expires":"2026-11-21T12:00:00.000Z"}`
	if got := h.get("human", "proposals/p1").body; got != want+"\n" {
		t.Errorf("got  %swant %s", got, want)
	}
	if got := h.get("human", "proposals").body; !strings.HasPrefix(got, `{"items":[`+want+`,{"id":"p2"`) {
		t.Errorf("the list is %s", got)
	}

	// The rules stand: who may not end it does not.
	h.ask("agent", "POST", "/v1/spaces/demo/proposals/p1/reject", `{"reason":"other"}`).refused(403, parley.CapabilityViolation)
	h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/withdraw", ``).refused(403, parley.NotProposer)
	h.post("human", "proposals/p1/reject", `{"id":"r1","reason":"unsafe"}`)
	h.isState("p1", "rejected human")
	if got := h.get("human", "envelopes/r1").body; !strings.Contains(got, `"kind":"mcp/reject:tools/call:write_file"`) || !strings.Contains(got, `"to":["agent"]`) {
		t.Errorf("rejected with %s", got)
	}
	h.post("agent", "proposals/p2/withdraw", `{"id":"w2"}`)
	h.isState("p2", "withdrawn agent")
	if got := h.get("human", "envelopes/w2").body; !strings.Contains(got, `"kind":"mcp/withdraw:tools/call:write_file"`) || !strings.Contains(got, `"to":["files"]`) {
		t.Errorf("withdrawn with %s", got)
	}

	// A retry is told where the first stands, and anything else that it is over.
	p := h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/reject", `{"id":"r1","reason":"unsafe"}`).refused(409, parley.DuplicateID)
	if p["seq"] == nil {
		t.Errorf("a retry is told nothing: %v", p)
	}
	h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/fulfil", ``).refused(409, parley.ProposalClosed)
	h.ask("human", "POST", "/v1/spaces/demo/proposals/none/reject", `{"reason":"busy"}`).refused(404, parley.ProposalNotFound)
}

// Nobody can tell any more what it asks for, so that it is not fulfilled by its id
// alone. Whoever kept the call can send it: it is compared with what was proposed.
func TestFulfilWhatWasDropped(t *testing.T) {
	h := keepsLittle(t)
	h.propose("p1", `["files"]`)
	h.propose("p2", `[]`)
	h.join("files")
	h.drop()
	h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/fulfil", ``).isDropped()
	h.ask("human", "POST", "/v1/spaces/demo/proposals/p2/fulfil", `{"to":"files"}`).isDropped()
	h.isState("p1", "open")
	request := `{"kind":"mcp/request:tools/call","to":["files"],"correlation_id":"p1","payload":` + odd + `}`
	h.ask("human", "POST", "/v1/spaces/demo/envelopes", strings.Replace(request, "1.0", "2.0", 1)).refused(409, parley.ProposalMismatch)
	h.post("human", "envelopes", request)
	h.isState("p1", "fulfilled human")
}

// A link is for who sees what it is about: none is made for what was dropped. One that
// was made before says so, and can be used for a no.
func TestLinkToWhatWasDropped(t *testing.T) {
	h := keepsLittle(t)
	h.propose("p1", `["files"]`)
	h.join("files")
	code := h.link("human", "p1")
	h.drop()
	h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/links", `{}`).isDropped()
	if got := h.look(code).ok(200).body; !strings.Contains(got, `"dropped":true`) {
		t.Errorf("the link shows %s", got)
	}
	h.approve(code).isDropped()
	h.turnDown(code).ok(202)
	h.isState("p1", "rejected human")
	h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/links", `{}`).refused(409, parley.ProposalClosed)
}
