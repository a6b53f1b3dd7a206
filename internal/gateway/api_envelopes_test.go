package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

func TestPostEnvelope(t *testing.T) {
	h := newHouse(t)
	got := h.post("agent", "envelopes", `{"id":"c1","kind":"chat","payload":{"text":"hello"}}`).body
	if want := `{"id":"c1","seq":1,"epoch":"e1","ts":"2026-11-20T12:00:00.000Z"}` + "\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	var made struct {
		ID  string `json:"id"`
		Seq uint64 `json:"seq"`
	}
	h.post("agent", "envelopes", `{"kind":"chat"}`).into(&made)
	if made.ID == "" || made.Seq != 2 {
		t.Errorf("without an id: %+v", made)
	}
	body := h.get("human", "envelopes/c1").body
	if want := `{"protocol":"mcpx/v0.1","id":"c1","ts":"2026-11-20T12:00:00.000Z","from":"agent","kind":"chat","seq":1,"payload":{"text":"hello"}}`; !sameJSON(body, want) {
		t.Errorf("it is read as %s", body)
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// The codes of section 5 as this call answers them.
func TestPostEnvelopeRefused(t *testing.T) {
	h := newHouse(t)
	call := `"payload":{"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a"}}}`
	h.chat("human", "used")
	h.post("agent", "envelopes", `{"id":"p1","kind":"mcp/proposal:tools/call:write_file","to":["files"],`+call+`}`)
	h.post("agent", "envelopes", `{"id":"p2","kind":"mcp/proposal:tools/call:write_file","to":["files"],`+call+`}`)
	h.post("agent", "proposals/p2/withdraw", ``)

	for _, c := range []struct {
		who, body string
		status    int
		code      parley.Code
	}{
		{"agent", ``, 400, parley.MalformedEnvelope},
		{"agent", `{"kind":"chat"} {}`, 400, parley.MalformedEnvelope},
		{"agent", `{"kind":"chat","KIND":"mcp/request:tools/list"}`, 400, parley.MalformedEnvelope},
		{"agent", `{"kind":"chat","protocol":"mcpx/v9"}`, 400, parley.UnsupportedProtocol},
		{"agent", `{"kind":"mcp/shout:x"}`, 400, parley.InvalidKind},
		{"human", `{"kind":"mcp/request:resources/read:file:///a/../b","payload":{"method":"resources/read","params":{"uri":"file:///a/../b"}}}`, 400, parley.InvalidSubject},
		{"human", `{"kind":"mcp/request:tools/call:read_file",` + call + `}`, 400, parley.KindMismatch},
		{"agent", `{"kind":"chat","context":{"id":"a","parent":"a"}}`, 400, parley.InvalidContext},
		{"human", `{"kind":"mcp/response:tools/list","payload":{"result":{}}}`, 400, parley.MissingCorrelation},
		{"human", `{"kind":"mcp/response:tools/list","correlation_id":"none","payload":{"result":{}}}`, 400, parley.InvalidCorrelation},
		{"agent", `{"kind":"chat","from":"human"}`, 403, parley.IdentityMismatch},
		{"agent", `{"kind":"system/notice"}`, 403, parley.ReservedKind},
		{"agent", `{"kind":"mcp/request:tools/call:write_file","to":["files"],` + call + `}`, 403, parley.CapabilityViolation},
		{"human", `{"kind":"mcp/withdraw:tools/call:write_file","correlation_id":"p1"}`, 403, parley.NotProposer},
		{"human", `{"kind":"mcp/reject:tools/call:write_file","correlation_id":"used"}`, 404, parley.ProposalNotFound},
		{"agent", `{"id":"used","kind":"chat"}`, 409, parley.DuplicateID},
		{"human", `{"kind":"mcp/request:tools/call:write_file","to":["files"],"correlation_id":"p2",` + call + `}`, 409, parley.ProposalClosed},
		{"human", `{"kind":"mcp/request:tools/call:write_file","to":["agent"],"correlation_id":"p1",` + call + `}`, 409, parley.ProposalMismatch},
		{"human", `{"kind":"mcp/request:tools/call:write_file","to":["files"],"correlation_id":"p1",` + call + `}`, 409, parley.TargetAbsent},
		{"agent", `{"kind":"chat","payload":"` + strings.Repeat("x", 5<<10) + `"}`, 413, parley.EnvelopeTooLarge},
		{"agent", `{"kind":"chat","payload":"` + strings.Repeat("x", 100<<10) + `"}`, 413, parley.EnvelopeTooLarge},
	} {
		t.Run(fmt.Sprint(c.status, " ", c.code), func(t *testing.T) {
			h.t = t
			h.ask(c.who, "POST", "/v1/spaces/demo/envelopes", c.body).refused(c.status, c.code)
		})
	}
	h.t = t

	p := h.ask("agent", "POST", "/v1/spaces/demo/envelopes", `{"kind":"mcp/request:tools/call:write_file",`+call+`}`).refused(403, parley.CapabilityViolation)
	if p["attempted_kind"] != "mcp/request:tools/call:write_file" || p["your_capabilities"] == nil || !strings.Contains(p["hint"].(string), "mcp/proposal") {
		t.Errorf("the refusal lacks something: %v", p)
	}
	p = h.ask("human", "POST", "/v1/spaces/demo/envelopes", `{"id":"used","kind":"chat","payload":{"text":"this is used"}}`).refused(409, parley.DuplicateID)
	if p["seq"] != 1.0 {
		t.Errorf("a retry is not told where the first one stands: %v", p)
	}
}

// Each refusal is on record as one, also of what was too large to be read.
func TestRefusalsOverHTTPAreOnRecord(t *testing.T) {
	h := newHouse(t)
	h.ask("agent", "POST", "/v1/spaces/demo/envelopes", `{"kind":"mcp/request:tools/list"}`).ok(400)
	h.ask("agent", "POST", "/v1/spaces/demo/envelopes", strings.Repeat("x", 5000)).ok(413)
	var sizes []int
	for rec, err := range h.rooms["demo"].record.Read(t.Context(), journal.Query{Chain: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Type == journal.Refused {
			sizes = append(sizes, rec.DecodeRefusal().Bytes)
		}
	}
	if want := []int{33, 5000}; !slices.Equal(sizes, want) {
		t.Errorf("on record are refusals of %v bytes, want %v", sizes, want)
	}
}

func TestRateLimit(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Spaces[0].Rules.Limits.Rate, o.Spaces[0].Rules.Limits.Burst = 0.4, 1 })
	h.chat("hasty", "first")
	r := h.ask("hasty", "POST", "/v1/spaces/demo/envelopes", `{"kind":"chat"}`)
	p := r.refused(429, parley.RateLimited)
	if p["retry_after_ms"] != 2500.0 || r.header.Get("Retry-After") != "3" {
		t.Errorf("retry_after_ms %v, Retry-After %q", p["retry_after_ms"], r.header.Get("Retry-After"))
	}
}

func TestJournalThatCannotBeWritten(t *testing.T) {
	h := newHouse(t)
	h.journal.Fail(parley.Errorf(parley.Unavailable, "the disk is full"))
	r := h.ask("human", "POST", "/v1/spaces/demo/envelopes", `{"kind":"chat"}`)
	r.refused(503, parley.Unavailable)
	if r.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	p := h.ask("", "GET", "/readyz", "").refused(503, parley.Unavailable)
	if detail := p["detail"].(string); !strings.Contains(detail, `"demo"`) {
		t.Errorf("readyz does not name the space: %s", detail)
	}
	h.ask("", "GET", "/healthz", "").ok(200)
}

func TestListEnvelopes(t *testing.T) {
	h := newHouse(t)
	for i := range 5 {
		h.chat("human", fmt.Sprint("c", i+1))
		h.clock.add(time.Minute)
	}
	h.post("agent", "envelopes", `{"id":"n1","kind":"note","to":["human"],"correlation_id":"c2","context":{"id":"ctx"},"payload":{"text":"A zebra crossed"}}`)
	h.post("agent", "envelopes", `{"id":"p1","kind":"mcp/proposal:tools/list","context":{"id":"other"},"payload":{"method":"tools/list"}}`)

	for _, c := range []struct {
		query, want string
		next        uint64
	}{
		{"", "c1 c2 c3 c4 c5 n1 p1", 0},
		{"limit=3", "c1 c2 c3", 3},
		{"limit=3&after=3", "c4 c5 n1", 6},
		{"limit=3&after=6", "p1", 0},
		{"limit=7", "c1 c2 c3 c4 c5 n1 p1", 0},
		{"order=desc&limit=2", "p1 n1", 6},
		{"order=desc&limit=2&before=6", "c5 c4", 4},
		{"after=2&before=5", "c3 c4", 0},
		{"kind=note", "n1", 0},
		{"kind=note&kind=mcp/*", "n1 p1", 0},
		{"kind=chat&limit=1", "c1", 1},
		{"from=agent", "n1 p1", 0},
		{"to=human", "n1", 0},
		{"context=ctx", "n1", 0},
		{"context=ctx&context=other", "n1 p1", 0},
		{"correlation=c2", "n1", 0},
		{"q=ZEBRA", "n1", 0},
		{"q=nothing+like+it", "", 0},
		{"since=2026-11-20T12:03:00Z&until=2026-11-20T13:05:00%2B01:00", "c4 c5", 0},
		{"after=100", "", 0},
	} {
		ids, next := h.get("agent", "envelopes?"+c.query).items()
		if got := strings.Join(ids, " "); got != c.want || next != c.next {
			t.Errorf("%s: %q next %d, want %q next %d", c.query, got, next, c.want, c.next)
		}
	}
}

func TestParametersThatAreWrong(t *testing.T) {
	h := newHouse(t)
	for query, name := range map[string]string{
		"after=x":            "after",
		"after=-1":           "after",
		"before=1.5":         "before",
		"limit=0":            "limit",
		"limit=1001":         "limit",
		"limit=":             "limit",
		"order=up":           "order",
		"since=yesterday":    "since",
		"until=2026-11-20":   "until",
		"kind=!chat":         "kind",
		"kind=:x":            "kind",
		"from=a&from=b":      "from",
		"subtree=true":       "subtree",
		"colour=red":         "colour",
		"q=%zz":              "query string",
		"context=a&context=": "context",
		"kind=chat" + strings.Repeat("&kind=chat", 64): "kind",
	} {
		p := h.ask("human", "GET", "/v1/spaces/demo/envelopes?"+query, "").refused(400, parley.InvalidArgument)
		if !strings.Contains(p["detail"].(string), name) {
			t.Errorf("%s: %q does not name %s", query, p["detail"], name)
		}
	}
}

// A page ends where it would grow too large for memory, and says where to go on.
func TestPagesAreBounded(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Spaces[0].Rules.Limits.EnvelopeBytes = 2 << 20 })
	big := strings.Repeat("x", 1<<20)
	for i := range 6 {
		h.post("human", "envelopes", fmt.Sprintf(`{"id":"b%d","kind":"chat","payload":%q}`, i, big))
	}
	ids, next := h.get("human", "envelopes").items()
	if len(ids) != 3 || next != 3 {
		t.Errorf("%d items, next %d", len(ids), next)
	}
	ids, next = h.get("human", "envelopes?after=3").items()
	if len(ids) != 3 || next != 0 {
		t.Errorf("then %d items, next %d", len(ids), next)
	}
	h.post("human", "envelopes", `{"id":"r","kind":"chat","correlation_id":["b0","b1","b2","b3","b4","b5"]}`)
	r := h.get("human", "envelopes/r/chain")
	ids, _ = r.items()
	if got := strings.Join(ids, " "); got != "b0 b1 b2 r" || !strings.Contains(r.body, `"truncated":true`) {
		t.Errorf("a chain of %s that does not say that it is cut, or lacks what was asked for", got)
	}
}

func TestGetEnvelope(t *testing.T) {
	h := newHouse(t)
	for i, id := range []string{"plain", "/", "a/b//c", "%2F", "..", ".", "?x=#y", `"quoted"`, "urn:x:1", "a+b"} {
		h.post("human", "envelopes", fmt.Sprintf(`{"id":%q,"kind":"chat"}`, id))
		path := strings.ReplaceAll(url.PathEscape(id), ".", "%2E")
		var e struct {
			ID  string
			Seq int
		}
		h.get("human", "envelopes/"+path).into(&e)
		if e.ID != id || e.Seq != i+1 {
			t.Errorf("%q is answered with %+v", id, e)
		}
	}
	h.ask("human", "GET", "/v1/spaces/demo/envelopes/none", "").refused(404, parley.NotFound)
}

// A parameter that a call does not have is refused wherever something is read, and
// not left aside.
func TestUnknownParameters(t *testing.T) {
	h := newHouse(t)
	h.inContext("agent", "e1", `{"id":"c"}`, "chat", `{}`)
	h.propose("p1", `["human"]`)
	for _, path := range []string{
		"", "demo/head", "demo/envelopes", "demo/envelopes/e1", "demo/envelopes/e1/chain", "demo/contexts", "demo/contexts/c",
		"demo/contexts/c/digest", "demo/contexts/c/replay", "demo/participants", "demo/participants/agent", "demo/proposals", "demo/proposals/p1", "demo/tools", "demo/journal",
	} {
		path = strings.TrimSuffix("/v1/spaces/"+path, "/")
		h.ask("human", "GET", path, "").ok(200)
		p := h.ask("human", "GET", path+"?limits=3", "").refused(400, parley.InvalidArgument)
		if !strings.Contains(fmt.Sprint(p["detail"]), `"limits"`) || !strings.HasPrefix(fmt.Sprint(p["hint"]), "it has ") {
			t.Errorf("%s: %v", path, p)
		}
	}
}

func TestChain(t *testing.T) {
	h := newHouse(t)
	h.join("files") // seq 1
	call := `"payload":{"method":"tools/call","params":{"name":"write_file"}}`
	h.post("agent", "envelopes", `{"id":"think","kind":"note","context":{"id":"reasoning"}}`)
	h.post("agent", "envelopes", `{"id":"prop","kind":"mcp/proposal:tools/call:write_file","to":["files"],"correlation_id":"reasoning",`+call+`}`)
	h.chat("human", "unrelated")
	h.post("human", "proposals/prop/fulfil", `{"id":"ful"}`)
	h.post("files", "envelopes", `{"id":"resp","kind":"mcp/response:tools/call","to":["human"],"correlation_id":"ful","payload":{"result":{}}}`)
	for _, from := range []string{"think", "prop", "ful", "resp", "reasoning"} {
		r := h.get("agent", "envelopes/"+from+"/chain")
		ids, _ := r.items()
		want := "think prop ful resp"
		if from == "think" {
			want = "think" // nothing names it but by its context
		}
		if got := strings.Join(ids, " "); got != want || strings.Contains(r.body, "truncated") {
			t.Errorf("from %s: %s", from, r.body)
		}
	}
	h.ask("human", "GET", "/v1/spaces/demo/envelopes/none/chain", "").refused(404, parley.NotFound)
}

// Nobody pushes an act out of a chain: with talk, little of it or much, nor with
// proposals and requests that name it.
func TestChainUnderAFlood(t *testing.T) {
	const acts = "prop ful resp"
	call := `"payload":{"method":"tools/call","params":{"name":"write_file"}}`
	fat := fmt.Sprintf(`,"payload":%q`, strings.Repeat("x", 1_000_000))
	for _, c := range []struct {
		name   string
		n      int
		before string // what is sent before the decision
		after  string // and after it, before the answer
	}{
		{"five fat chats", 5, `"kind":"chat","correlation_id":"prop"` + fat, ""},
		{"many small chats", 1_010, `"kind":"chat","correlation_id":"prop"`, `"kind":"chat","correlation_id":["ful","prop"]`},
		{"a kind of somebody's own", 1_010, `"kind":"note","correlation_id":"prop"`, ""},
		{"fat notifications", 5, `"kind":"mcp/request:notifications/x","correlation_id":"prop","payload":{"method":"notifications/x","params":"` + strings.Repeat("x", 1_000_000) + `"}`, ""},
		{"fat proposals", 5, "", `"kind":"mcp/proposal:tools/call:write_file","correlation_id":"ful","payload":{"method":"tools/call","params":{"name":"write_file","arguments":"` + strings.Repeat("x", 1_000_000) + `"}}`},
		{"proposals", 1_010, "", `"kind":"mcp/proposal:tools/call:write_file","correlation_id":"ful",` + call},
		{"requests", 1_010, "", `"kind":"mcp/request:tools/call:write_file","correlation_id":["ful"],` + call},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, func(o *Options) {
				l := &o.Spaces[0].Rules.Limits
				l.EnvelopeBytes, l.Rate, l.Burst, l.OpenProposals = 2<<20, 10_000, 10_000, 10_000
				o.Spaces[0].Rules.Participants["hasty"] = capabilities(t, "*")
			})
			h.join("files")
			flood := func(body string) {
				for i := 0; i < c.n && body != ""; i++ {
					h.post("hasty", "envelopes", "{"+body+"}")
				}
			}
			h.post("agent", "envelopes", `{"id":"prop","kind":"mcp/proposal:tools/call:write_file","to":["files"],`+call+`}`)
			flood(c.before)
			h.post("human", "proposals/prop/fulfil", `{"id":"ful"}`)
			flood(c.after)
			h.post("files", "envelopes", `{"id":"resp","kind":"mcp/response:tools/call","to":["human"],"correlation_id":"ful","payload":{"result":{}}}`)
			for from := range strings.FieldsSeq(acts) {
				r := h.get("agent", "envelopes/"+from+"/chain")
				ids, _ := r.items()
				ours := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !slices.Contains(strings.Fields(acts), id) })
				if got := strings.Join(ours, " "); got != acts || len(ids) > chainMost || len(r.body) > pageBytes || !strings.Contains(r.body, `"truncated":true`) {
					t.Errorf("from %s: %s of %d envelopes, %d bytes", from, got, len(ids), len(r.body))
				}
			}
		})
	}
}

func TestBodiesThatNobodyFinishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{})
		for _, path := range []string{"/v1/spaces/demo/envelopes", "/v1/session", "/v1/spaces/demo/proposals/x/fulfil"} {
			began := time.Now()
			body, w := io.Pipe()
			req, err := http.NewRequestWithContext(t.Context(), "POST", h.url+path, body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer token-ann")
			go io.WriteString(w, `{"kind":`)
			resp, err := h.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			w.CloseWithError(io.ErrUnexpectedEOF)
			resp.Body.Close()
			if took := time.Since(began); resp.StatusCode != http.StatusRequestTimeout || took != bodyTime {
				t.Errorf("%s: %s after %v", path, resp.Status, took)
			}
		}
	})
}

func TestJournalStream(t *testing.T) {
	h := newHouse(t)
	for i := range 3 * chunkOfLog / 2 {
		h.chat("human", strconv.Itoa(i))
	}
	h.ask("agent", "POST", "/v1/spaces/demo/envelopes", `{"kind":"system/notice"}`).ok(403)
	var head struct {
		Head  string
		Index uint64
		Seq   uint64
		Last  uint64
		Epoch string
	}
	h.get("agent", "head").into(&head)
	if head.Index != 769 || head.Seq != 768 || head.Last != 768 || head.Epoch != "e1" {
		t.Errorf("head %+v", head)
	}
	kept, err := journal.ParseHead(head.Head)
	if err != nil {
		t.Fatal(err)
	}
	r := h.get("agent", "journal")
	audit, err := journal.VerifyExport(strings.NewReader(r.body), kept)
	if err != nil || audit.Envelopes != 768 || audit.Refusals != 1 || audit.Space != "demo" {
		t.Errorf("%+v, %v", audit, err)
	}
	if got := r.header.Get("Content-Type"); got != "application/jsonl" {
		t.Errorf("Content-Type is %s", got)
	}
	lines := strings.Split(strings.TrimSpace(h.get("agent", "journal?after=768").body), "\n")
	if len(lines) != 3 || !strings.Contains(lines[1], `"index":769`) {
		t.Errorf("after 768 come %q", lines)
	}
	h.ask("agent", "GET", "/v1/spaces/demo/journal?after=x", "").refused(400, parley.InvalidArgument)
}
