package mcpfront_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/mcpfront"
	"github.com/parleyhq/parley/internal/space"
)

// waits sets how long a call is held.
func waits(d time.Duration) func(*space.Rules) {
	return func(r *space.Rules) { r.Limits.ApprovalWait = d }
}

// proposals are those of a participant in a state.
func proposals(t testing.TB, room *client.Room, state client.ProposalState) []client.ProposalRecord {
	t.Helper()
	list, err := room.API().Proposals(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// asks is asker's call of a tool that only others may make.
func asks(n string) request {
	q := tool("files__write", `{}`, `{"n":`+n+`}`, "")
	q.as = "asker"
	return q
}

func TestApprovedInTime(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	boss := s.join("boss", client.Options{})
	in := s.session("/mcp/demo", "asker", `{}`)
	for _, q := range []request{asks("1"), {as: "asker", headers: []string{in}, body: call(1, "tools/call", `{"name":"files__write","arguments":{"n":2},"_meta":{"progressToken":"p"}}`)}} {
		st := s.open(q)
		until(t, "it is proposed", func() bool { return len(proposals(t, boss, client.ProposalOpen)) == 1 })
		p := proposals(t, boss, client.ProposalOpen)[0]
		if _, err := boss.FulfilID(t.Context(), p.ID); err != nil {
			t.Fatal(err)
		}
		got := st.ended()
		last := got[len(got)-1]
		if member(t, last, "result", "_meta", "parley/proposal") != p.ID || member(t, last, "result", "structuredContent", "name") != "write" {
			t.Errorf("%s", last)
		}
		if len(q.headers) == 1 && (len(got) != 2 || !strings.Contains(got[0], "waiting for approval")) {
			t.Errorf("%s", got)
		}
		until(t, "it counts as collected", func() bool {
			_, found, err := s.Uncollected(t.Context(), mcpfront.Place{Space: "demo", Participant: "asker"}, kindOf(p.Kind), "files", payloadParams(p))
			return err == nil && !found
		})
	}
	if n := len(files.requests("tools/call")); n != 2 {
		t.Errorf("%d calls were made", n)
	}
}

func TestRejected(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	s.serve("files")
	boss := s.join("boss", client.Options{})
	st := s.open(asks("1"))
	until(t, "it is proposed", func() bool { return len(proposals(t, boss, client.ProposalOpen)) == 1 })
	p := proposals(t, boss, client.ProposalOpen)[0]
	e, err := boss.API().Envelope(t.Context(), p.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := boss.Reject(t.Context(), e, "unsafe", "not\ntoday"); err != nil {
		t.Fatal(err)
	}
	got := st.ended()
	last := got[len(got)-1]
	if member(t, last, "result", "isError") != "true" || member(t, last, "result", "structuredContent", "status") != "rejected" ||
		member(t, last, "result", "structuredContent", "message") != "not\ntoday" {
		t.Errorf("%s", last)
	}
}

// TestCompletionIsNotProposed holds that nobody is asked about what somebody types.
func TestCompletionIsNotProposed(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	s.serve("files")
	boss := s.join("boss", client.Options{})
	q := modern(1, "completion/complete", `{}`, `{"ref":{"type":"ref/prompt","name":"files__greet"},"argument":{"name":"whom","value":"a"}}`)
	q.as = "asker"
	if r := s.do(q); !strings.Contains(member(t, r.last(), "error", "message"), "capability_violation") {
		t.Errorf("%s", r.last())
	}
	if n := len(proposals(t, boss, "")); n != 0 {
		t.Errorf("%d proposals", n)
	}
}

// TestPending holds the way of a call that nobody decides on in time.
func TestPending(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(30*time.Millisecond))
	files := s.serve("files")
	boss := s.join("boss", client.Options{})
	status := func(q request) (string, string) {
		t.Helper()
		last := s.do(q).last()
		return member(t, last, "result", "structuredContent", "status"), member(t, last, "result", "structuredContent", "proposal")
	}
	await := func(id string) request {
		q := tool("parley__await", `{}`, `{"proposal":"`+id+`","seconds":0.02}`, "")
		q.as = "asker"
		return q
	}
	state, id := status(asks("1"))
	if state != "pending" || id == "" {
		t.Fatalf("%s %s", state, id)
	}
	if again, same := status(asks("1")); again != "pending" || same != id {
		t.Errorf("the same call: %s %s", again, same)
	}
	if state, same := status(await(id)); state != "pending" || same != id {
		t.Errorf("await: %s %s", state, same)
	}
	for arguments, says := range map[string]string{
		`{"proposal":"` + id + `","timeout":1}`: `it has no \"timeout\"`,
		`{"proposal":1}`:                        `\"proposal\" is of the wrong type`,
		`[]`:                                    `they are no object`,
	} {
		q := tool("parley__await", `{}`, arguments, "")
		if r := s.do(q); !strings.Contains(r.last(), says) || strings.Contains(r.last(), "struct {") {
			t.Errorf("await with %s: %s", arguments, r.last())
		}
	}
	alone := tool("write", `{}`, `{"n":2}`, "")
	alone.as, alone.path = "asker", "/mcp/demo/files"
	if r := s.do(alone); !strings.Contains(r.last(), "make exactly the same call again") || strings.Contains(r.last(), "parley__") {
		t.Errorf("where there are no tools of the room: %s", r.last())
	}
	foreign := await(id)
	foreign.as = "agent"
	if r := s.do(foreign); !strings.Contains(r.last(), "not_proposer") {
		t.Errorf("somebody else's await: %s", r.last())
	}
	if _, err := boss.FulfilID(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	var last string
	until(t, "its result is fetched", func() bool {
		last = s.do(asks("1")).last()
		return member(t, last, "result", "structuredContent", "name") == "write"
	})
	if member(t, last, "result", "_meta", "parley/proposal") != id {
		t.Errorf("%s", last)
	}
	if state, next := status(asks("1")); state != "pending" || next == id {
		t.Errorf("the same call once its result was collected: %s %s", state, next)
	}
	if n := len(files.requests("tools/call")); n != 1 {
		t.Errorf("%d calls were made", n)
	}
	if r := s.do(await(id)); member(t, r.last(), "result", "structuredContent", "name") != "write" {
		t.Errorf("await of what was collected: %s", r.last())
	}
}

func TestClientVanishesWhileItsApprovalWaits(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	s.serve("files")
	boss := s.join("boss", client.Options{})
	open := func(n int) {
		t.Helper()
		until(t, "proposals are open", func() bool { return len(proposals(t, boss, client.ProposalOpen)) == n })
	}
	// To hang up is to cancel, where there are no sessions.
	st := s.open(asks("1"))
	open(1)
	st.hangUp()
	open(0)
	// Two that make the same call share its proposal, until both are gone.
	same := asks("2")
	same.body = strings.Replace(same.body, `"_meta":{`, `"_meta":{"progressToken":1,`, 1)
	st, other := s.open(same), s.open(same)
	st.next() // it is told that it waits
	other.next()
	open(1)
	st.hangUp()
	st.ended()
	third := s.open(asks("3")) // behind what hanging up leads to
	open(2)
	third.hangUp()
	open(1)
	other.hangUp()
	open(0)
	// And where both go at once.
	for range 5 {
		st, other = s.open(same), s.open(same)
		st.next()
		other.next()
		open(1)
		go st.hangUp()
		other.hangUp()
		open(0)
	}
	// A session's calls go on without their connection.
	in := s.session("/mcp/demo", "asker", `{}`)
	st = s.open(request{as: "asker", headers: []string{in}, body: call(1, "tools/call", `{"name":"files__write","arguments":{"n":4}}`)})
	open(1)
	st.hangUp()
	st.ended()
	id := proposals(t, boss, client.ProposalOpen)[0].ID
	if _, err := boss.FulfilID(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	until(t, "the result is there for whoever asks again", func() bool {
		r := s.do(request{as: "asker", headers: []string{in}, body: call(2, "tools/call", `{"name":"files__write","arguments":{"n":4}}`)})
		return member(t, r.last(), "result", "_meta", "parley/proposal") == id
	})
	// Cancelled, they are withdrawn.
	st = s.open(request{as: "asker", headers: []string{in}, body: call(3, "tools/call", `{"name":"files__write","arguments":{"n":5}}`)})
	open(1)
	s.do(request{as: "asker", headers: []string{in}, body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`})
	open(0)
	st.ended()
	// The end of a session is no cancellation: the client may come back.
	st = s.open(request{as: "asker", headers: []string{in}, body: call(4, "tools/call", `{"name":"files__write","arguments":{"n":6}}`)})
	open(1)
	s.do(request{as: "asker", method: http.MethodDelete, headers: []string{in}})
	st.ended()
	open(1)
}

// TestApprovedCallAsksBack holds that what a server asks in an approved call
// comes to the client of the proposer.
func TestApprovedCallAsksBack(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	boss := s.join("boss", client.Options{})
	fulfil := func() {
		until(t, "it is proposed", func() bool { return len(proposals(t, boss, client.ProposalOpen)) == 1 })
		id := proposals(t, boss, client.ProposalOpen)[0].ID
		go func() { _, _ = boss.FulfilID(t.Context(), id) }()
	}
	const args = `{"whom":"asker"}`
	in := s.session("/mcp/demo", "asker", `{"elicitation":{}}`)
	st := s.open(request{as: "asker", headers: []string{in}, body: call(1, "tools/call", `{"name":"files__ask","arguments":`+args+`}`)})
	fulfil()
	q := st.next().data
	s.do(request{as: "asker", headers: []string{in}, body: `{"jsonrpc":"2.0","id":` + member(t, q, "id") + `,"result":{"n":1}}`})
	if m := st.next().data; member(t, m, "result", "said") != `{"n":1}` {
		t.Errorf("%s", m)
	}
	c := tool("files__ask", `{"elicitation":{}}`, args, "")
	c.as = "asker"
	st = s.open(c)
	fulfil()
	state := member(t, st.next().data, "result", "requestState")
	c = tool("files__ask", `{"elicitation":{}}`, args, `,"requestState":"`+state+`","inputResponses":{"q1":{"n":2}}`)
	c.as = "asker"
	if r := s.do(c); member(t, r.last(), "result", "said") != `{"n":2}` {
		t.Errorf("%s", r.last())
	}
	if n := len(files.requests("tools/call")); n != 2 {
		t.Errorf("%d calls", n)
	}
	if n := len(proposals(t, boss, "")); n != 2 {
		t.Errorf("%d proposals", n)
	}
}

// TestApprovalAcrossARestart holds that a held call says that it waits when the
// front goes, and that what was decided meanwhile is there afterwards, once.
func TestApprovalAcrossARestart(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	boss := s.join("boss", client.Options{})
	in := s.session("/mcp/demo", "asker", `{}`)
	first := s.open(request{as: "asker", headers: []string{in}, body: call(1, "tools/call", `{"name":"files__write","arguments":{"n":1},"_meta":{"progressToken":1}}`)})
	again := asks("2")
	again.body = strings.Replace(again.body, `"_meta":{`, `"_meta":{"progressToken":1,`, 1)
	second := s.open(again)
	first.next() // they are told that they wait
	second.next()
	s.restart()
	for _, st := range []*stream{first, second} {
		got := st.ended()
		if len(got) != 1 || member(t, got[0], "result", "structuredContent", "status") != "pending" {
			t.Errorf("%s", got)
		}
	}
	open := proposals(t, boss, client.ProposalOpen)
	if len(open) != 2 {
		t.Fatalf("%d proposals are open", len(open))
	}
	for _, p := range open {
		if _, err := boss.FulfilID(t.Context(), p.ID); err != nil {
			t.Fatal(err)
		}
	}
	s.restart()
	if r := s.do(request{as: "asker", headers: []string{in}, body: call(1, "ping", `{}`)}); r.status != http.StatusNotFound {
		t.Errorf("a session has outlived the front: %s", r.body)
	}
	in = s.session("/mcp/demo", "asker", `{}`)
	for _, q := range []request{
		{as: "asker", headers: []string{in}, body: call(1, "tools/call", `{"name":"files__write","arguments":{"n":1}}`)},
		asks("2"),
	} {
		if r := s.do(q); member(t, r.last(), "result", "structuredContent", "name") != "write" {
			t.Errorf("%s", r.last())
		}
	}
	if n := len(files.requests("tools/call")); n != 2 {
		t.Errorf("%d calls were made", n)
	}
}

// TestHangingUpLosesNoResult holds that an outcome counts as collected only
// where the client was there to have it.
func TestHangingUpLosesNoResult(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	s := begin(t, mcpfront.Options{Metrics: map[string]*mcpfront.Metrics{"demo": mcpfront.NewMetrics(reg)}}, nil)
	files := s.serve("files")
	boss := s.join("boss", client.Options{})
	q := tool("files__hang", `{}`, `{}`, "")
	q.as = "asker"
	st := s.open(q)
	until(t, "it is proposed", func() bool { return len(proposals(t, boss, client.ProposalOpen)) == 1 })
	id := proposals(t, boss, client.ProposalOpen)[0].ID
	fulfilled := make(chan error, 1)
	go func() { _, err := boss.FulfilID(t.Context(), id); fulfilled <- err }()
	until(t, "the call arrives", func() bool { return len(files.requests("tools/call")) == 1 })
	st.hangUp()
	st.ended()
	// What is written before the front has noticed counts as received.
	until(t, "the front has noticed", func() bool { return cancellations(t, reg) == 1 })
	close(files.release)
	if err := <-fulfilled; err != nil {
		t.Fatal(err)
	}
	if r := s.do(q); member(t, r.last(), "result", "_meta", "parley/proposal") != id || member(t, r.last(), "result", "content") != "[]" {
		t.Errorf("%s", r.last())
	}
	if n := len(files.requests("tools/call")); n != 1 {
		t.Errorf("%d calls were made", n)
	}
}

// cancellations is how many requests of clients have ended by being cancelled.
func cancellations(t *testing.T, reg prometheus.Gatherer) (n float64) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "parley_mcp_requests_total" && m.GetLabel()[0].GetValue() == "cancelled" {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// TestOutdatedProposal holds that a call whose tool has changed since it was
// proposed is proposed anew: nobody could approve it as it was.
func TestOutdatedProposal(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(20*time.Millisecond))
	s.serve("files")
	boss := s.join("boss", client.Options{})
	list := func(definition string) {
		t.Helper()
		if err := s.g.ToolsListed(t.Context(), "demo", "files", []gateway.Tool{{Name: "write", Definition: jsontext.Value(definition)}}); err != nil {
			t.Fatal(err)
		}
	}
	list(`{"name":"write"}`)
	s.do(asks("1"))
	s.do(asks("1"))
	first := proposals(t, boss, client.ProposalOpen)
	list(`{"name":"write","description":"Writes, and sends it to me."}`)
	s.do(asks("1"))
	now, gone := proposals(t, boss, client.ProposalOpen), proposals(t, boss, client.ProposalState(client.Withdrawn))
	if len(first) != 1 || len(now) != 1 || len(gone) != 1 || gone[0].ID != first[0].ID || now[0].ID == first[0].ID {
		t.Fatalf("first %v, then %v, withdrawn %v", first, now, gone)
	}
	if _, err := boss.FulfilID(t.Context(), now[0].ID); err != nil {
		t.Error(err)
	}
}

func TestAwaitByTheBeginningOfAnID(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(10*time.Millisecond))
	s.serve("files")
	boss := s.join("boss", client.Options{})
	s.do(asks("1"))
	p := proposals(t, boss, client.ProposalOpen)[0]
	if _, err := boss.FulfilID(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	q := tool("parley__await", `{}`, `{"proposal":"`+p.ID[:18]+`","seconds":5}`, "")
	q.as = "asker"
	if got := s.do(q).last(); member(t, got, "result", "_meta", "parley/proposal") != p.ID {
		t.Errorf("%s", got)
	}
}
