package gateway

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
)

// odd is a proposal's payload whose bytes a careless program would not keep.
const odd = `{"reason":"because", "params" : {"name":"write_file","arguments":{"n":1.0,"big":9007199254740993,"s":"\u0061\/"}}, "method":"tools\/call"}`

func (h *house) propose(id, to string) {
	h.t.Helper()
	h.post("agent", "envelopes", fmt.Sprintf(`{"id":%q,"kind":"mcp/proposal:tools/call","to":%s,"payload":%s}`, id, to, odd))
}

func TestProposal(t *testing.T) {
	h := newHouse(t)
	h.propose("p1", `["files"]`)
	open := `{"id":"p1","seq":1,"kind":"mcp/proposal:tools/call:write_file","from":"agent","to":["files"],"payload":` + odd +
		`,"state":"open","opened":"2026-11-20T12:00:00.000Z","expires":"2026-11-21T12:00:00.000Z"}`
	if got := h.get("human", "proposals/p1").body; got != open+"\n" {
		t.Errorf("got  %swant %s", got, open)
	}
	if got := h.get("human", "proposals").body; got != `{"items":[`+open+"]}\n" {
		t.Errorf("the list is %s", got)
	}
	h.clock.add(time.Second)
	h.post("human", "proposals/p1/reject", `{"reason":"unsafe","message":"not there","id":"r1"}`)
	want := strings.Replace(strings.TrimSuffix(open, "}"), `"state":"open"`, `"state":"rejected"`, 1) +
		`,"closed":{"by":"human","id":"r1","at":"2026-11-20T12:00:01.000Z","reason":"unsafe"}}`
	if got := h.get("human", "proposals/p1").body; got != want+"\n" {
		t.Errorf("got  %swant %s", got, want)
	}
	h.ask("human", "GET", "/v1/spaces/demo/proposals/none", "").refused(404, parley.ProposalNotFound)
	h.ask("both", "GET", "/v1/spaces/lazy/proposals/none", "").refused(404, parley.ProposalNotFound)
	if got := h.ask("both", "GET", "/v1/spaces/lazy/proposals", "").ok(200).body; got != "{\"items\":[]}\n" {
		t.Errorf("a lazy space lists %s", got)
	}
}

func TestListProposals(t *testing.T) {
	h := newHouse(t)
	for i := range 6 {
		h.propose(fmt.Sprint("p", i+1), `[]`) // seqs 1 to 6
	}
	h.post("human", "proposals/p2/reject", `{"reason":"busy"}`)
	h.post("agent", "proposals/p4/withdraw", ``)
	h.post("human", "proposals/p5/reject", `{"reason":"busy"}`)
	for _, c := range []struct {
		query, want string
		next        uint64
	}{
		{"", "p1 p3 p6", 0},
		{"state=open&limit=2", "p1 p3", 3},
		{"after=3", "p6", 0},
		{"order=desc&limit=1", "p6", 6},
		{"order=desc&before=6", "p3 p1", 0},
		{"state=rejected", "p2 p5", 0},
		{"state=rejected&limit=1", "p2", 2},
		{"state=rejected&after=2", "p5", 0},
		{"state=rejected&order=desc&limit=1", "p5", 5},
		{"state=withdrawn", "p4", 0},
		{"state=expired", "", 0},
		{"state=all", "p1 p2 p3 p4 p5 p6", 0},
		{"state=ended", "p2 p4 p5", 0},
		{"state=all&order=desc&limit=4", "p6 p5 p4 p3", 3},
		{"state=all&order=desc&limit=4&before=3", "p2 p1", 0},
	} {
		ids, next := h.get("files", "proposals?"+c.query).items()
		if got := strings.Join(ids, " "); got != c.want || next != c.next {
			t.Errorf("%s: %q next %d, want %q next %d", c.query, got, next, c.want, c.next)
		}
	}
	h.ask("human", "GET", "/v1/spaces/demo/proposals?state=closed", "").refused(400, parley.InvalidArgument)
}

// What was decided on alike calls is found by kind and addressee, however much
// else was said, and before the search index knows of it.
func TestListAlikeProposals(t *testing.T) {
	h := newHouse(t)
	propose := func(id, kind, to, name string) {
		h.post("agent", "envelopes", fmt.Sprintf(`{"id":%q,"kind":%q,"to":[%q],"payload":{"method":"tools/call","params":{"name":%q}}}`, id, kind, to, name))
	}
	propose("p1", "mcp/proposal:tools/call:write_file", "files", "write_file")
	propose("p2", "mcp/proposal:tools/call", "files", "write_file")
	propose("p3", "mcp/proposal:tools/call:write_file", "human", "write_file")
	propose("p4", "mcp/proposal:tools/call:write_*", "files", "write_*")
	propose("p5", "mcp/proposal:tools/call:write_file_now", "files", "write_file_now")
	for _, id := range []string{"p1", "p2", "p3", "p4"} {
		h.post("human", "proposals/"+id+"/reject", `{"reason":"busy"}`)
	}
	propose("p6", "mcp/proposal:tools/call:write_file", "files", "write_file")
	for _, c := range []struct{ query, want string }{
		{"state=ended&to=files&kind=mcp/proposal:tools/call:write_file", "p1 p2"}, // written short as well
		{"state=ended&to=files&kind=mcp/proposal:tools/call:write_file&order=desc&limit=1", "p2"},
		{"state=all&to=files&kind=mcp/proposal:tools/call:write_file", "p1 p2 p6"},
		{"to=files&kind=mcp/proposal:tools/call:write_file", "p6"},
		{`state=all&kind=mcp/proposal:tools/call:write_\*`, "p4"},
		{"state=all&kind=mcp/proposal:tools/call:wri*", "p1 p2 p3 p4 p5 p6"},
		{"state=all&kind=mcp/*&to=human", "p3"},
		{"state=all&kind=*", "p1 p2 p3 p4 p5 p6"},
		{"kind=mcp/proposal:tools/call:write_file&kind=mcp/proposal:tools/call:write_file_now", "p5 p6"},
		{"kind=mcp/request:tools/call", ""},
		{"state=ended&from=human", ""},
		{"from=agent", "p5 p6"},
	} {
		ids, _ := h.get("human", "proposals?"+c.query).items()
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
	h.ask("human", "GET", "/v1/spaces/demo/proposals?kind=!x", "").refused(400, parley.InvalidArgument)
}

func TestFulfil(t *testing.T) {
	h := newHouse(t)
	h.propose("p1", `["files"]`)
	h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/fulfil", ``).refused(409, parley.TargetAbsent)
	h.join("files")
	h.ask("agent", "POST", "/v1/spaces/demo/proposals/p1/fulfil", ``).refused(403, parley.CapabilityViolation)
	h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/fulfil", `{"to":"agent"}`).refused(409, parley.ProposalMismatch)
	h.ask("human", "POST", "/v1/spaces/demo/proposals/none/fulfil", ``).refused(404, parley.ProposalNotFound)

	var receipt struct{ ID, Epoch string }
	h.post("human", "proposals/p1/fulfil", `{"id":"f1"}`).into(&receipt)
	if receipt.ID != "f1" || receipt.Epoch != "e1" {
		t.Errorf("receipt %+v", receipt)
	}
	body := h.get("human", "envelopes/f1").body
	for _, want := range []string{
		`"kind":"mcp/request:tools/call:write_file"`, `"from":"human"`, `"to":["files"]`, `"correlation_id":"p1"`,
		`"payload":{"params":{"name":"write_file","arguments":{"n":1.0,"big":9007199254740993,"s":"\u0061\/"}},"method":"tools\/call"}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if got := h.get("human", "proposals/p1").body; !strings.Contains(got, `"state":"fulfilled"`) || !strings.Contains(got, `"by":"human","id":"f1"`) {
		t.Errorf("it is %s", got)
	}
	p := h.ask("both", "POST", "/v1/spaces/demo/proposals/p1/fulfil", ``).refused(409, parley.ProposalClosed)
	if !strings.Contains(p["detail"].(string), "human") {
		t.Errorf("who was first? %v", p["detail"])
	}
	h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/reject", `{"reason":"busy"}`).refused(409, parley.ProposalClosed)
	// The same call again, with the same id, is a retry and told where the first stands.
	p = h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/fulfil", `{"id":"f1"}`).refused(409, parley.DuplicateID)
	if p["seq"] == nil {
		t.Errorf("a retry is told nothing: %v", p)
	}
	// An envelope that is none of a proposal cannot be fulfilled.
	h.ask("human", "POST", "/v1/spaces/demo/proposals/f1/fulfil", ``).refused(404, parley.ProposalNotFound)
}

func TestFulfilWhom(t *testing.T) {
	h := newHouse(t)
	h.join("files")
	h.propose("nobody", `[]`)
	h.propose("several", `["files","human"]`)
	h.propose("array", `[]`)
	h.ask("human", "POST", "/v1/spaces/demo/proposals/nobody/fulfil", `{}`).refused(400, parley.InvalidArgument)
	p := h.ask("human", "POST", "/v1/spaces/demo/proposals/several/fulfil", ``).refused(400, parley.InvalidArgument)
	if !strings.Contains(p["hint"].(string), `{"to": "files"}`) {
		t.Errorf("hint %v", p["hint"])
	}
	for _, body := range []string{`{"to":["files","human"]}`, `{"to":[]}`, `{"to":1}`, `{"id":"a b"}`} {
		h.ask("human", "POST", "/v1/spaces/demo/proposals/several/fulfil", body).ok(400)
	}
	h.post("human", "proposals/nobody/fulfil", `{"to":"files"}`)
	h.post("human", "proposals/several/fulfil", `{"to":"files"}`)
	h.post("human", "proposals/array/fulfil", `{"to":["files"]}`)
}

func TestWhoEndsAProposal(t *testing.T) {
	h := newHouse(t)
	h.propose("p1", `["files"]`)
	h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/reject", `{}`).refused(400, parley.InvalidArgument)
	h.ask("agent", "POST", "/v1/spaces/demo/proposals/p1/reject", `{"reason":"other"}`).refused(403, parley.CapabilityViolation)
	h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/withdraw", ``).refused(403, parley.NotProposer)
	h.post("agent", "proposals/p1/withdraw", `{"id":"w1"}`)
	if got := h.get("human", "envelopes/w1").body; !strings.Contains(got, `"kind":"mcp/withdraw:tools/call:write_file"`) || !strings.Contains(got, `"to":["files"]`) {
		t.Errorf("withdrawn with %s", got)
	}
	h.post("human", "envelopes", `{"id":"mine","kind":"mcp/proposal:tools/list","to":["human"],"payload":{"method":"tools/list"}}`)
	h.join("human")
	h.ask("human", "POST", "/v1/spaces/demo/proposals/mine/fulfil", ``).refused(403, parley.SelfFulfilment)
}

func TestOpenProposalsLimit(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Spaces[0].Rules.Limits.OpenProposals = 1 })
	h.propose("p1", `[]`)
	h.ask("agent", "POST", "/v1/spaces/demo/envelopes", `{"kind":"mcp/proposal:tools/list","payload":{"method":"tools/list"}}`).refused(409, parley.LimitReached)
}

// In a lazy space nobody follows proposals; they can be fulfilled all the same.
func TestFulfilInALazySpace(t *testing.T) {
	h := newHouse(t)
	path := "/v1/spaces/lazy/"
	h.ask("both", "POST", path+"envelopes", `{"id":"p1","kind":"mcp/proposal:tools/list","to":["x"],"payload":{"method":"tools/list"}}`).ok(202)
	h.ask("both", "POST", path+"proposals/p1/fulfil", `{"id":"f1"}`).ok(202)
	if got := h.ask("both", "GET", path+"envelopes/f1", "").ok(200).body; !strings.Contains(got, `"kind":"mcp/request:tools/list"`) {
		t.Errorf("fulfilled with %s", got)
	}
}

// Nor does a lazy space keep anybody from redacting what waits for a decision.
func TestFulfilWhatWasRedacted(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Spaces[1].Rules.Participants["reader"] = capabilities(t, "mcp/*", "space/*") })
	path := "/v1/spaces/lazy/"
	h.ask("both", "POST", path+"envelopes", `{"id":"p1","kind":"mcp/proposal:tools/list","to":["x"],"payload":{"method":"tools/list"}}`).ok(202)
	h.ask("both", "POST", path+"envelopes", `{"kind":"space/redact","payload":{"id":"p1"}}`).ok(202)
	eventually(t, "it is redacted", func() bool {
		return strings.Contains(h.ask("both", "GET", path+"envelopes/p1", "").body, `{"redacted":true}`)
	})
	h.ask("both", "POST", path+"proposals/p1/fulfil", `{}`).refused(409, parley.ProposalMismatch)
}

func TestChangeCapabilities(t *testing.T) {
	h := newHouse(t)
	const path = "participants/agent/capabilities"
	var done struct {
		Items []struct {
			ID  string
			Seq uint64
		}
	}
	h.post("human", path, `{"add":["mcp/request:tools/call:read_*",{"kind":"mcp/request:tools/call:write_file","params":{"arguments":{"path":"/w/*"}}}],"remove":["chat"],"reason":"it has learnt"}`).into(&done)
	if len(done.Items) != 2 || done.Items[0].Seq != 1 || done.Items[1].Seq != 2 {
		t.Fatalf("receipts %+v", done)
	}
	revoke, grant := h.get("human", "envelopes/"+done.Items[0].ID).body, h.get("human", "envelopes/"+done.Items[1].ID).body
	if !strings.Contains(revoke, `"kind":"capability/revoke"`) || !strings.Contains(revoke, `"payload":{"recipient":"agent","capabilities":["chat"],"reason":"it has learnt"}`) {
		t.Errorf("revoked with %s", revoke)
	}
	if !strings.Contains(grant, `"kind":"capability/grant"`) || !strings.Contains(grant, `"from":"human"`) {
		t.Errorf("granted with %s", grant)
	}
	if got := h.get("human", "participants").body; !strings.Contains(got, `{"id":"agent","present":false,"connections":0,"capabilities":["mcp/proposal:*","note","mcp/request:tools/call:read_*",{`) {
		t.Errorf("they are now %s", got)
	}
	for body, code := range map[string]parley.Code{
		``:                            parley.InvalidArgument,
		`[]`:                          parley.InvalidArgument,
		`{"add":"chat"}`:              parley.InvalidArgument,
		`{"plus":["chat"]}`:           parley.InvalidArgument,
		`{"add":["chat"]`:             parley.InvalidArgument,
		`{"add":["chat"],"add":[]}`:   parley.InvalidArgument,
		`{"add":[1]}`:                 parley.KindMismatch,
		`{"add":["a","x y"]}`:         parley.KindMismatch,
		`{"add":[],"remove":["!a"]}`:  parley.CapabilityViolation,
		`{"add":["unheard/of"]}`:      parley.CapabilityViolation,
		`{"add":["!chat"]}`:           parley.CapabilityViolation,
		strings.Repeat(" ", bodyMost): "",
	} {
		r := h.ask("human", "POST", "/v1/spaces/demo/"+path, body)
		if code != "" {
			r.refused(statusOf(code), code)
		}
	}
	h.ask("human", "POST", "/v1/spaces/demo/"+path, strings.Repeat(" ", bodyMost+1)).refused(413, parley.EnvelopeTooLarge)
	h.ask("human", "POST", "/v1/spaces/demo/participants/nobody/capabilities", `{"add":["chat"]}`).refused(404, parley.NotFound)
	h.ask("agent", "POST", "/v1/spaces/demo/participants/hasty/capabilities", `{"add":["note"]}`).refused(403, parley.CapabilityViolation)
	h.ask("human", "POST", "/v1/spaces/demo/participants/human/capabilities", `{"add":["chat"]}`).refused(403, parley.CapabilityViolation)

	// What was done before the refusal is told.
	p := h.ask("human", "POST", "/v1/spaces/demo/"+path, `{"add":["unheard/of"],"remove":["mcp/request:tools/call:read_*"]}`).refused(403, parley.CapabilityViolation)
	if items, _ := p["items"].([]any); len(items) != 1 {
		t.Errorf("done were %v", p["items"])
	}
}
