package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal/sqlite"
)

// link has somebody make a link and returns its code.
func (h *house) link(who, proposal string, body ...string) string {
	h.t.Helper()
	url, code := h.made(h.ask(who, "POST", "/v1/spaces/demo/proposals/"+proposal+"/links", strings.Join(body, "")))
	if want := "http://localhost:7717/console/decide.html#code=" + code; url != want {
		h.t.Errorf("the link is %s, want %s", url, want)
	}
	return code
}

func (h *house) made(r reply) (url, code string) {
	h.t.Helper()
	var made struct{ URL, Expires string }
	if err := json.Unmarshal([]byte(r.ok(201).body), &made); err != nil {
		h.t.Fatal(err)
	}
	return made.URL, codeOf(h.t, made.URL)
}

func codeOf(t *testing.T, url string) string {
	t.Helper()
	_, code, ok := strings.Cut(url, "#code=")
	if !ok || len(code) != 32 {
		t.Fatalf("the link is %s", url)
	}
	return code
}

func (h *house) look(code string, more ...string) reply {
	return h.ask("", "POST", "/v1/approval", `{"code":"`+code+`"`+strings.Join(more, "")+`}`)
}

func (h *house) approve(code string, more ...string) reply {
	return h.ask("", "POST", "/v1/approval/fulfil", `{"code":"`+code+`"`+strings.Join(more, "")+`}`)
}

func (h *house) turnDown(code string, more ...string) reply {
	return h.ask("", "POST", "/v1/approval/reject", `{"code":"`+code+`","reason":"unsafe"`+strings.Join(more, "")+`}`)
}

// gone is a link that works no more, and says why.
func (r reply) gone(why approvalEnd) map[string]any {
	r.t.Helper()
	status, code := 410, parley.Unauthorized
	if why == approvalUnknown {
		status, code = 404, parley.NotFound
	}
	p := r.refused(status, code)
	if p["link"] != string(why) {
		r.t.Errorf("the link is %v, want %s: %s", p["link"], why, r.body)
	}
	return p
}

func (h *house) state(proposal string) string {
	h.t.Helper()
	var p struct {
		State  string
		Closed struct{ By string }
	}
	if err := json.Unmarshal([]byte(h.get("human", "proposals/"+proposal).body), &p); err != nil {
		h.t.Fatal(err)
	}
	return strings.TrimSpace(p.State + " " + p.Closed.By)
}

func (h *house) isState(proposal, want string) {
	h.t.Helper()
	if got := h.state(proposal); got != want {
		h.t.Errorf("%s is %q, want %q", proposal, got, want)
	}
}

func TestApprovalLink(t *testing.T) {
	h := newHouse(t)
	h.join("files")
	h.post("agent", "envelopes", `{"id":"r1","kind":"note","context":{"id":"why","type":"task"},"payload":{"text":"the build needs it"}}`)
	h.post("agent", "envelopes", fmt.Sprintf(`{"id":"p1","kind":"mcp/proposal:tools/call","to":["files"],"context":"why","payload":%s}`, odd))
	code := h.link("human", "p1")

	// Looking shows the call as it was written, and uses nothing up.
	for range 3 {
		got := h.look(code).ok(200).body
		for _, want := range []string{`{"space":"demo","decider":"human","expires":"2026-11-21T12:00:00.000Z","proposal":{"id":"p1",`, odd,
			`"context":{"id":"why","items":[{`, "the build needs it"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s", got, want)
			}
		}
	}
	h.isState("p1", "open")

	receipt := h.approve(code).ok(202).body
	h.isState("p1", "fulfilled human")
	sent := h.get("agent", "envelopes?kind=mcp/request").body
	if !strings.Contains(sent, `"from":"human","to":["files"],"kind":"mcp/request:tools/call:write_file","correlation_id":["p1"]`) &&
		!strings.Contains(sent, `"from":"human"`) || !strings.Contains(sent, `"params":{"name":"write_file","arguments":{"n":1.0,"big":9007199254740993,"s":"\u0061\/"}}`) {
		t.Errorf("%s was sent: %s", receipt, sent)
	}
	if log := h.log.String(); !strings.Contains(log, "decided by approval link") || !strings.Contains(log, "participant=human") || strings.Contains(log, code) {
		t.Errorf("the log says %s", log)
	}

	// It works once, and says what became of it.
	for _, again := range []reply{h.look(code), h.approve(code), h.turnDown(code)} {
		p := again.gone(approvalUsed)
		if closed, _ := p["closed"].(map[string]any); p["state"] != "fulfilled" || closed["by"] != "human" || p["verdict"] != "fulfil" || p["decider"] != "human" {
			t.Errorf("it says %v", p)
		}
	}
	if n := strings.Count(h.get("agent", "envelopes?kind=mcp/request").body, `"seq"`); n != 1 {
		t.Errorf("%d calls were made", n)
	}
}

func TestRejectByLink(t *testing.T) {
	h := newHouse(t)
	h.propose("p1", `["files"]`)
	code := h.link("human", "p1")
	h.ask("", "POST", "/v1/approval/reject", `{"code":"`+code+`"}`).refused(400, parley.InvalidArgument)
	h.turnDown(code, `,"message":"not there"`).ok(202)
	h.isState("p1", "rejected human")
	if got := h.get("agent", "envelopes?kind=mcp/reject").body; !strings.Contains(got, `"payload":{"reason":"unsafe","message":"not there"}`) {
		t.Errorf("it says %s", got)
	}
	if closed, _ := h.look(code).gone(approvalUsed)["closed"].(map[string]any); closed["reason"] != "unsafe" {
		t.Errorf("%v", closed)
	}
}

// Nothing is decided by opening a link, whoever opens it: a preview, a prefetch, a
// form of another page.
func TestOpeningDecidesNothing(t *testing.T) {
	h := newHouse(t)
	h.join("files")
	h.propose("p1", `["files"]`)
	code := h.link("human", "p1")
	for _, path := range []string{"/v1/approval", "/v1/approval/fulfil", "/v1/approval/reject"} {
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS"} {
			if got := h.ask("", method, path+"?code="+code, ""); got.status != 405 {
				t.Errorf("%s %s: %d", method, path, got.status)
			}
		}
	}
	for _, method := range []string{"GET", "HEAD"} {
		page := h.ask("", method, "/console/decide.html?code="+code, "", func(r *http.Request) { r.Header.Set("Sec-Purpose", "prefetch") }).ok(200)
		if strings.Contains(page.body, code) || page.header.Get("Set-Cookie") != "" || !strings.Contains(page.header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %v", method, page.header)
		}
	}
	foreign := func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }
	h.ask("", "POST", "/v1/approval/fulfil", `{"code":"`+code+`"}`, foreign).refused(403, parley.Unauthorized)
	h.ask("", "POST", "/v1/approval/fulfil", `{"code":"`+code+`"}`, func(r *http.Request) { r.Host = "evil.example" }).refused(403, parley.Unauthorized)
	h.isState("p1", "open")
	h.approve(code).ok(202)
}

// In time an id can come again. Whoever was shown one proposal does not decide on
// another that has its id.
func TestLinkIsBoundToItsProposal(t *testing.T) {
	_, start := linkHouses(t)
	h, end := start()
	h.join("files")
	h.propose("p1", `["files"]`)
	code := h.link("human", "p1")
	for _, l := range h.api.approvals.order { // as if it had been made for an earlier p1
		l.seq--
	}
	h.api.approvals.change++
	h.saveApprovals()
	for range 2 {
		for _, r := range []reply{h.look(code), h.approve(code), h.turnDown(code)} {
			r.refused(404, parley.ProposalNotFound)
		}
		h.isState("p1", "open")
		end()
		h, end = start()
	}
	h.clock.add(24 * time.Hour)
	if p := h.look(code).gone(approvalExpired); p["state"] != nil {
		t.Errorf("it tells of another: %v", p)
	}
	end()
}

// The decision is judged as if the decider had sent it now.
func TestLinksGiveNoRights(t *testing.T) {
	h := newHouse(t)
	h.propose("p1", `["files"]`)
	code, hasty := h.link("human", "p1"), h.link("hasty", "p1")
	h.approve(hasty).refused(403, parley.CapabilityViolation)
	h.approve(code).refused(409, parley.TargetAbsent) // and it can be tried again
	h.join("files")
	h.post("human", "envelopes", `{"kind":"capability/grant","payload":{"recipient":"hasty","capabilities":["mcp/request:tools/call:*"]}}`)
	h.look(hasty).ok(200)
	h.post("human", "envelopes", `{"kind":"capability/revoke","payload":{"recipient":"hasty","capabilities":["mcp/request:tools/call:*"]}}`)
	h.approve(hasty).refused(403, parley.CapabilityViolation)
	h.isState("p1", "open")
	h.post("human", "envelopes", `{"kind":"capability/grant","payload":{"recipient":"hasty","capabilities":["mcp/request:tools/call:*"]}}`)
	h.approve(hasty).ok(202)
	h.isState("p1", "fulfilled hasty")

	// The other link tells who was first.
	got := h.look(code).ok(200).body
	if !strings.Contains(got, `"state":"fulfilled"`) || !strings.Contains(got, `"closed":{"by":"hasty"`) {
		t.Errorf("it says %s", got)
	}
	h.approve(code).refused(409, parley.ProposalClosed)
	h.turnDown(code).refused(409, parley.ProposalClosed)
	if log := h.log.String(); !strings.Contains(log, "a decision by approval link was refused") {
		t.Error("refusals are not in the log")
	}
}

func TestWhoMakesLinks(t *testing.T) {
	h := newHouse(t)
	h.propose("p1", `["files"]`)
	const path = "/v1/spaces/demo/proposals/p1/links"
	h.ask("", "POST", path, "").refused(401, parley.Unauthorized)
	h.ask("", "POST", path, "", h.login("human")).refused(401, parley.Unauthorized) // a session would outlive itself
	h.ask("both", "POST", "/v1/spaces/lazy/proposals/p1/links", "").refused(404, parley.ProposalNotFound)
	h.ask("human", "POST", "/v1/spaces/lazy/proposals/p1/links", "").refused(404, parley.NotFound)
	h.ask("human", "POST", "/v1/spaces/demo/proposals/none/links", "").refused(404, parley.ProposalNotFound)
	h.ask("agent", "POST", path, "").refused(403, parley.SelfFulfilment)
	for _, ttl := range []string{"59s", "169h", "-1h", "day", "1"} {
		h.ask("human", "POST", path, `{"ttl":"`+ttl+`"}`).refused(400, parley.InvalidArgument)
	}
	h.turnDown(h.link("human", "p1")).ok(202)
	h.ask("human", "POST", path, "").refused(409, parley.ProposalClosed)
}

// Links are not made faster than envelopes are sent.
func TestMakingLinksIsLimited(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Spaces[0].Rules.Limits.Burst = 2 })
	h.propose("p1", `["files"]`)
	h.link("human", "p1")
	h.link("human", "p1")
	h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/links", "").refused(429, parley.RateLimited)
}

// The configuration makes links for whomever it names.
func TestConfiguredApprovalLink(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.URL, o.PublicURL = "http://127.0.0.1:1", "https://room.example" })
	h.propose("p1", `["files"]`)
	url, expires, err := h.ApprovalLink(t.Context(), "demo", "p1", "human")
	if err != nil || !strings.HasPrefix(url, "https://room.example/console/decide.html#code=") || !expires.Equal(h.clock.now().Add(24*time.Hour)) {
		t.Fatalf("%s, %v, %v", url, expires, err)
	}
	for _, c := range []struct {
		space, proposal, decider string
		code                     parley.Code
	}{
		{"none", "p1", "human", parley.NotFound}, {"demo", "p1", "nobody", parley.NotFound},
		{"demo", "p2", "human", parley.ProposalNotFound}, {"demo", "p1", "agent", parley.SelfFulfilment},
	} {
		if _, _, err := h.ApprovalLink(t.Context(), c.space, c.proposal, c.decider); asError(err).Code != c.code {
			t.Errorf("%v: %v", c, err)
		}
	}
	// Its name is one of the gateway's.
	h.ask("", "POST", "/v1/approval", `{"code":"`+codeOf(t, url)+`"}`, func(r *http.Request) {
		r.Host = "room.example"
		r.Header.Set("Origin", "https://room.example")
	}).ok(200)
	if made, _ := h.made(h.ask("human", "POST", "/v1/spaces/demo/proposals/p1/links", "")); !strings.HasPrefix(made, "https://room.example/") {
		t.Errorf("the link is %s", made)
	}

	nowhere := newHouse(t)
	nowhere.propose("p1", `["files"]`)
	if _, _, err := nowhere.ApprovalLink(t.Context(), "demo", "p1", "human"); asError(err).Code != parley.Unavailable {
		t.Errorf("without an address: %v", err)
	}
}

func TestLinksExpire(t *testing.T) {
	h := newHouse(t)
	h.propose("p1", `["files"]`)
	short, day := h.link("human", "p1", `{"ttl":"1h"}`), h.link("human", "p1", `{"ttl":"168h"}`)
	h.clock.add(time.Hour - time.Millisecond)
	h.look(short).ok(200)
	h.clock.add(time.Millisecond)
	for _, r := range []reply{h.look(short), h.approve(short), h.turnDown(short)} {
		if p := r.gone(approvalExpired); p["state"] != "open" {
			t.Errorf("it says %v", p)
		}
	}
	// None outlives its proposal.
	h.look(day).ok(200)
	h.clock.add(23 * time.Hour)
	h.look(day).gone(approvalExpired)
	// In the end it is forgotten.
	h.clock.add(approvalAfter)
	h.propose("p2", `["files"]`)
	h.link("human", "p2")
	h.look(day).gone(approvalUnknown)
}

// Of two browsers with one link one decides, and the other is told. So it is with
// somebody who decides in the room.
func TestDecidersByLinkRace(t *testing.T) {
	h := newHouse(t)
	h.join("files")
	for i := range 30 {
		id := fmt.Sprint("p", i)
		h.propose(id, `["files"]`)
		code := h.link("human", id)
		replies := make([]reply, 4)
		var all sync.WaitGroup
		for n := range replies {
			all.Go(func() {
				switch n {
				case 0:
					replies[n] = h.turnDown(code)
				case 1:
					replies[n] = h.ask("both", "POST", "/v1/spaces/demo/proposals/"+id+"/fulfil", "{}")
				default:
					replies[n] = h.approve(code)
				}
			})
		}
		all.Wait()
		won := 0
		for n, r := range replies {
			switch r.status {
			case 202:
				won++
			case 410:
				r.gone(approvalUsed)
			default:
				if p := r.refused(409, parley.ProposalClosed); n != 1 && h.look(code).status != 200 && h.look(code).status != 410 {
					t.Errorf("%v", p)
				}
			}
		}
		if won != 1 {
			t.Fatalf("%d of them decided on %s", won, id)
		}
	}
}

// Codes cannot be guessed, and who tries has to wait.
func TestGuessedCodes(t *testing.T) {
	h := newHouse(t)
	h.propose("p1", `["files"]`)
	code := h.link("human", "p1")
	h.look("").refused(400, parley.InvalidArgument)
	for range guessBurst {
		h.look(strings.Repeat("x", 32)).gone(approvalUnknown)
	}
	h.look(strings.Repeat("x", 32)).refused(429, parley.RateLimited)
	h.look("short").refused(429, parley.RateLimited)
	h.look(code).ok(200) // who has the right one is not kept out
}

// Newer links take the place of older ones, each decider's for themselves.
func TestManyApprovalLinks(t *testing.T) {
	h := newHouse(t)
	h.propose("p1", `["files"]`)
	others, first := h.link("hasty", "p1"), h.link("human", "p1")
	var last string
	for range mostPerDecider - 1 {
		last = h.link("human", "p1")
	}
	h.look(first).ok(200)
	h.link("human", "p1")
	h.look(first).gone(approvalCrowded)
	for _, code := range []string{others, last} {
		h.look(code).ok(200)
	}

	// Those that nobody needs any more go first.
	h.propose("p2", `["files"]`)
	older := h.link("hasty", "p1")
	decided := h.link("hasty", "p2")
	for range mostPerDecider - 3 {
		h.link("hasty", "p1")
	}
	h.post("human", "proposals/p2/reject", `{"reason":"busy"}`)
	h.look(decided).ok(200) // and says who decided
	h.link("hasty", "p1")
	h.look(decided).gone(approvalCrowded)
	for _, code := range []string{others, older} {
		h.look(code).ok(200)
	}
}

// Links in one space take no place of those in another.
func TestLinksOfEachSpace(t *testing.T) {
	a := newApprovals()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	add := func(space string) {
		_, code := secret(approvalBytes)
		a.add(approval{code: code, space: space, decider: "you", made: now, expires: now.Add(time.Hour)}, now, nil)
	}
	for range mostPerDecider {
		add("demo")
	}
	add("other")
	if first := a.order[0]; first.ended != approvalOpen {
		t.Errorf("the first is %s", first.ended)
	}
	if add("demo"); a.order[0].ended != approvalCrowded || a.order[1].ended != approvalOpen {
		t.Errorf("the first are %s and %s", a.order[0].ended, a.order[1].ended)
	}
}

// Who proposes a great deal pushes out the links to their own proposals alone.
func TestLinksOfEachProposer(t *testing.T) {
	a := newApprovals()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	open := map[string]bool{}
	add := func(proposer string) *approval {
		_, code := secret(approvalBytes)
		proposal := fmt.Sprint(proposer, len(a.order))
		open[proposal] = true
		a.add(approval{code: code, space: "demo", proposal: proposal, proposer: proposer, decider: "you", made: now, expires: now.Add(time.Hour)}, now, open)
		return a.order[len(a.order)-1]
	}
	working := func(list ...*approval) (n int) {
		for _, l := range list {
			if l.ended == approvalOpen {
				n++
			}
		}
		return n
	}
	var quiet, loud []*approval
	for range 3 {
		quiet = append(quiet, add("quiet"))
	}
	for range 2 * mostPerDecider {
		loud = append(loud, add("loud"))
	}
	if working(quiet...) != 3 || working(loud...) != mostPerDecider-3 || loud[mostPerDecider-4].ended != approvalCrowded {
		t.Errorf("of the quiet one's links %d work, of the loud one's %d", working(quiet...), working(loud...))
	}

	// Of two who do, each has half, however they begin.
	var other []*approval
	for range 2 * mostPerDecider {
		other = append(other, add("other"))
	}
	for range mostPerDecider {
		loud = append(loud, add("loud"))
	}
	half := (mostPerDecider - 3) / 2
	if q, l, o := working(quiet...), working(loud...), working(other...); q != 3 || l < half || o < half || q+l+o != mostPerDecider {
		t.Errorf("%d, %d and %d of their links work", q, l, o)
	}

	// A link that nobody needs any more goes first, whoever proposed.
	open[quiet[0].proposal] = false
	add("loud")
	if quiet[0].ended != approvalCrowded {
		t.Error("it stays")
	}
}

// Of all links, too, those of others are not pushed out.
func TestAllLinksOfEachProposer(t *testing.T) {
	a := newApprovals()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	add := func(proposer, decider string) *approval {
		_, code := secret(approvalBytes)
		a.add(approval{code: code, space: "demo", proposer: proposer, decider: decider, made: now, expires: now.Add(time.Hour)}, now, nil)
		return a.order[len(a.order)-1]
	}
	quiet := add("quiet", "you")
	used := add("quiet", "you")
	a.use(used.code, "fulfil", now)
	for i := range mostApprovals + 64 {
		add("loud", fmt.Sprint(i/64))
	}
	for _, l := range []*approval{quiet, a.order[len(a.order)-1]} {
		if a.byCode[l.code] == nil || l.ended != approvalOpen {
			t.Errorf("a link of %s is gone", l.proposer)
		}
	}
	if a.byCode[used.code] != nil {
		t.Error("one that was used stays, and one that works went")
	}
}

// The proposer is kept over a restart, and a file that names none is read as well.
func TestProposersOfLinksAreKept(t *testing.T) {
	path, start := linkHouses(t)
	h, end := start()
	h.propose("p1", `["files"]`)
	code := h.link("human", "p1")
	for _, want := range []string{"agent", ""} {
		end()
		if want == "" {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text = []byte(strings.Replace(string(text), `"proposer":"agent",`, "", 1))
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		h, end = start()
		h.look(code).ok(200)
		if list, _ := h.api.approvals.all(); len(list) != 1 || list[0].proposer != want {
			t.Errorf("%+v", list)
		}
	}
	end()
}

func TestLinksAreBounded(t *testing.T) {
	a := newApprovals()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for i := range 2 * mostApprovals {
		_, code := secret(approvalBytes)
		a.add(approval{code: code, space: "demo", decider: fmt.Sprint(i / 8), made: now, expires: now.Add(time.Hour)}, now, nil)
	}
	if len(a.order) != mostApprovals || len(a.byCode) != mostApprovals {
		t.Errorf("%d and %d are kept", len(a.order), len(a.byCode))
	}
}

func TestSignOutEverywhereEndsLinks(t *testing.T) {
	h := newHouse(t)
	h.propose("p1", `["files"]`)
	one, other, hasty := h.link("human", "p1"), h.link("both", "p1"), h.link("hasty", "p1")
	session := h.login("human")
	h.ask("", "DELETE", "/v1/session", "", session).ok(204)
	h.look(one).ok(200) // this was one browser
	h.ask("human", "DELETE", "/v1/session?everywhere=true", "").ok(204)
	h.approve(one).gone(approvalSignedOut)
	h.look(other).gone(approvalSignedOut)
	h.look(hasty).ok(200)
	h.isState("p1", "open")
}

// A call that is proposed to nobody in particular, or to several, needs a target.
func TestLinkWithChoice(t *testing.T) {
	h := newHouse(t)
	h.join("files")
	h.propose("p1", `[]`)
	h.propose("p2", `["files","hasty"]`)
	code := h.link("human", "p1")
	if got := h.look(code).ok(200).body; !strings.Contains(got, `"candidates":["agent","files","hasty","human"]`) {
		t.Errorf("it says %s", got)
	}
	h.approve(code).refused(400, parley.InvalidArgument)
	h.approve(code, `,"to":"files"`).ok(202)
	code = h.link("human", "p2")
	if got := h.look(code).ok(200).body; strings.Contains(got, "candidates") {
		t.Errorf("it says %s", got)
	}
	h.approve(code, `,"to":"agent"`).refused(409, parley.ProposalMismatch)
	h.approve(code, `,"to":"files"`).ok(202)
}

// Of very many who could be asked a list is told that can be shown.
func TestLinkWithManyCandidates(t *testing.T) {
	h := newHouse(t, func(o *Options) {
		for i := range 2 * candidates {
			o.Spaces[0].Rules.Participants[fmt.Sprint("x", i)] = nil
		}
	})
	h.propose("p1", `[]`)
	var shown struct{ Candidates []string }
	if h.look(h.link("human", "p1")).into(&shown); len(shown.Candidates) != candidates {
		t.Errorf("%d are told", len(shown.Candidates))
	}
}

// Beside a proposal stands what was said before it, as much as somebody reads.
func TestLinkShowsTheContext(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Spaces[0].Rules.Limits.EnvelopeBytes = 1 << 20 })
	say := func(context, id, text string) {
		h.post("agent", "envelopes", fmt.Sprintf(`{"id":%q,"kind":"chat","context":{"id":%q},"payload":{"text":%q}}`, id, context, text))
	}
	propose := func(context, id string) {
		h.post("agent", "envelopes", fmt.Sprintf(`{"id":%q,"kind":"mcp/proposal:tools/call:w","to":["files"],"context":{"id":%q},"payload":{"method":"tools/call","params":{"name":"w"}}}`, id, context))
	}
	for i := range besideMost + 5 {
		say("many", fmt.Sprint("m", i), "…")
	}
	propose("many", "p1")
	say("many", "later", "…")
	for i := range 4 {
		say("large", fmt.Sprint("l", i), strings.Repeat("x", besideBytes/3))
	}
	propose("large", "p2")
	for proposal, want := range map[string]struct {
		n           int
		first, last string
	}{"p1": {besideMost, "m5", fmt.Sprint("m", besideMost+4)}, "p2": {2, "l2", "l3"}} {
		var shown struct {
			Context struct{ Items []struct{ ID string } }
		}
		h.look(h.link("human", proposal)).into(&shown)
		items := shown.Context.Items
		if len(items) != want.n || items[0].ID != want.first || items[len(items)-1].ID != want.last {
			t.Errorf("%s: %+v", proposal, items)
		}
	}
}

// What is known of the tool is shown, and that it has changed.
func TestLinkShowsTheTool(t *testing.T) {
	h := newHouse(t)
	list := func(description string) {
		t.Helper()
		definition := fmt.Sprintf(`{"name":"write_file","description":%q}`, description)
		if err := h.ToolsListed(t.Context(), "demo", "files", []Tool{{"write_file", []byte(definition)}}); err != nil {
			t.Fatal(err)
		}
	}
	list("Writes a file")
	h.propose("p1", `[]`)
	code := h.link("human", "p1")
	if got := h.look(code).ok(200).body; strings.Contains(got, `"tool":`) {
		t.Errorf("nobody is to be asked yet: %s", got)
	}
	if got := h.look(code, `,"to":"files"`).ok(200).body; !strings.Contains(got, `"accepted":true`) || !strings.Contains(got, `"definition":{"name":"write_file","description":"Writes a file"}`) {
		t.Errorf("it says %s", got)
	}
	list("Writes a file, and mails it")
	if got := h.look(code, `,"to":"files"`).ok(200).body; !strings.Contains(got, `"accepted":false,"changed":"`) || !strings.Contains(got, "mails it") {
		t.Errorf("it says %s", got)
	}
}

// linkHouses start one after the other on one journal, as a gateway that is
// restarted.
func linkHouses(t *testing.T) (path string, start func(change ...func(*Options)) (*house, func())) {
	folder := t.TempDir()
	path = filepath.Join(folder, "links")
	return path, func(change ...func(*Options)) (*house, func()) {
		t.Helper()
		record, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(folder, "parley.db"), Sync: sqlite.Off})
		if err != nil {
			t.Fatal(err)
		}
		h := newHouse(t, append(change, func(o *Options) { o.ApprovalLinks, o.Journal = path, record })...)
		return h, func() {
			t.Helper()
			if err := errors.Join(h.Shutdown(t.Context()), record.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestLinksSurviveARestart(t *testing.T) {
	path, start := linkHouses(t)
	h, end := start()
	for _, id := range []string{"p1", "p2", "p3"} {
		h.propose(id, `["files"]`)
	}
	code, used, expired := h.link("human", "p1"), h.link("human", "p2"), h.link("human", "p3", `{"ttl":"1m"}`)
	h.turnDown(used).ok(202)
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), code) || strings.Contains(string(text), "human-token") {
		t.Errorf("the file: %v, %s", err, text)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	end()

	h, end = start()
	h.clock.add(time.Minute)
	h.join("files")
	h.look(expired).gone(approvalExpired)
	h.approve(used).gone(approvalUsed)
	h.approve(code).ok(202)
	h.isState("p1", "fulfilled human")
	end()

	h, end = start()
	if p := h.look(code).gone(approvalUsed); p["state"] != "fulfilled" {
		t.Errorf("it says %v", p)
	}
	end()
}

// A token that leaves the configuration takes its links along, for good.
func TestLinksOfAWithdrawnToken(t *testing.T) {
	_, start := linkHouses(t)
	configured := func(o *Options) { o.URL = "http://127.0.0.1:1" }
	h, end := start(configured)
	h.propose("p1", `["files"]`)
	mine, other := h.link("human", "p1"), h.link("both", "p1")
	url, _, err := h.ApprovalLink(t.Context(), "demo", "p1", "human")
	if err != nil {
		t.Fatal(err)
	}
	end()
	without := func(o *Options) { // human's first token
		p := o.Spaces[0].Participants["human"]
		p.Tokens = p.Tokens[1:]
		o.Spaces[0].Participants["human"] = p
	}
	h, end = start(configured, without)
	h.approve(mine).gone(approvalWithdrawn)
	h.look(other).ok(200)
	h.look(codeOf(t, url)).ok(200) // made for human, who has a token still
	end()
	h, end = start(configured)
	h.look(mine).gone(approvalWithdrawn)
	end()
	h, end = start(configured, func(o *Options) { o.Spaces = o.Spaces[1:] })
	p := h.look(other).gone(approvalWithdrawn)
	if p["detail"] != "the space demo is no longer here" || p["state"] != nil {
		t.Errorf("it says %v", p)
	}
	end()
}

// A token that becomes another's takes no link along: nobody decides in the name of
// whoever has it now.
func TestLinksOfATokenOfAnother(t *testing.T) {
	_, start := linkHouses(t)
	h, end := start()
	h.propose("p1", `["files"]`)
	code := h.link("human", "p1")
	end()
	h, end = start(func(o *Options) {
		all := o.Spaces[0].Participants
		human, hasty := all["human"], all["hasty"]
		hasty.Tokens = append(hasty.Tokens, human.Tokens[0])
		human.Tokens = human.Tokens[1:]
		all["human"], all["hasty"] = human, hasty
	})
	h.turnDown(code).gone(approvalWithdrawn)
	h.isState("p1", "open")
	end()
}

// A decision that is on its way is made, whether its browser waits or not.
func TestDeciderLeaves(t *testing.T) {
	h := newHouse(t)
	h.propose("p1", `["files"]`)
	code := h.link("human", "p1")
	r := httptest.NewRequest("POST", "/v1/approval/reject", nil)
	l, c, err := h.api.openApproval(r, code)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := c.linked(t.Context(), &l)
	if err != nil {
		t.Fatal(err)
	}
	e, err := rejection(rec, rejectRequest{Reason: "busy"})
	if err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := h.api.decideBy(r.WithContext(gone), &l, c, "reject", rec, e); err != nil {
		t.Error(err)
	}
	h.isState("p1", "rejected human")
	h.look(code).gone(approvalUsed)
}

// A file that is not as it was written opens nothing, and stops nothing.
func TestLinksThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "cut off": `{"links":[`, "more": `{"links":[],"admin":true}`, "too long": `{"links":[` + strings.Repeat(" ", mostKeptApprovals) + `]}`,
		"for ever":      `{"links":[{"code":"` + strings.Repeat("00", 32) + `","space":"demo","proposal":"p1","decider":"human","tokens":[],"made":"2026-11-20T11:00:00Z","expires":"2036-11-20T11:00:00Z"}]}`,
		"of the future": `{"links":[{"code":"` + strings.Repeat("00", 32) + `","space":"demo","proposal":"p1","decider":"human","tokens":[],"made":"2036-11-20T10:00:00Z","expires":"2036-11-20T11:00:00Z"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			path, start := linkHouses(t)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			h, end := start()
			if list, _ := h.api.approvals.all(); len(list) != 0 {
				t.Errorf("%d links come out of it", len(list))
			}
			h.propose("p1", `["files"]`)
			code := h.link("human", "p1")
			end()
			h, end = start()
			h.look(code).ok(200)
			end()
		})
	}
}

// Nor is what came of a used link forgotten before those that made room for others.
func TestUsedLinksStay(t *testing.T) {
	a := newApprovals()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	add := func(decider string) *approval {
		_, code := secret(approvalBytes)
		a.add(approval{code: code, space: "demo", proposer: "agent", decider: decider, made: now, expires: now.Add(time.Hour)}, now, nil)
		return a.order[len(a.order)-1]
	}
	used := add("boss")
	a.use(used.code, "fulfil", now)
	for range mostApprovals + 64 {
		add("you")
	}
	if a.byCode[used.code] == nil {
		t.Error("it is forgotten")
	}
}
