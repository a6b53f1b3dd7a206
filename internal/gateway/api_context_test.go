package gateway

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
	"github.com/parleyhq/parley/internal/tokens"
)

// inContext says something in a context, which is written as JSON.
func (h *house) inContext(who, id, context string, more ...string) {
	h.t.Helper()
	kind, payload := "note", fmt.Sprintf(`{"text":"this is %s"}`, id)
	if len(more) > 0 {
		kind, payload = more[0], more[1]
	}
	h.post(who, "envelopes", fmt.Sprintf(`{"id":%q,"kind":%q,"context":%s,"payload":%s}`, id, kind, context, payload))
}

const writeCall = `{"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a"}}}`

// newTree is a house with contexts in it:
//
//	plan        work, 1, 4, 7 (a proposal), 8
//	  plan/a    work, 2, 6
//	    deep    reasoning, 3
//	other       main type, 5
//	lost/child  9, whose parent nobody has opened
func newTree(t *testing.T) *house {
	h := newHouse(t, func(o *Options) {
		o.Spaces[0].Rules.Limits.ContextIdle = time.Minute
		o.Spaces[0].Rules.ContextTypes = map[string]space.ContextType{"work": {Idle: time.Hour}}
		o.Spaces[0].Rules.Participants["agent"] = capabilities(t, "mcp/proposal:*", "chat", "note", "conclusion", "reflection")
	})
	h.inContext("agent", "e1", `{"id":"plan","type":"work","metadata":{"n":1}}`)
	h.inContext("agent", "e2", `{"id":"plan/a","type":"work","parent":"plan"}`)
	h.inContext("agent", "e3", `{"id":"deep","type":"reasoning","parent":"plan/a"}`, "reflection", `{"thought":"a zebra, perhaps"}`)
	h.inContext("agent", "e4", `{"id":"plan","metadata":{"n":2}}`)
	h.inContext("human", "e5", `{"id":"other"}`, "chat", `{"text":"a zebra"}`)
	h.inContext("agent", "e6", `{"id":"plan/a"}`)
	h.inContext("agent", "e7", `{"id":"plan"}`, "mcp/proposal:tools/call:write_file", writeCall)
	h.inContext("agent", "e8", `{"id":"plan"}`, "conclusion", `{"decision":"cross the road"}`)
	h.inContext("agent", "e9", `{"id":"lost/child","parent":"lost"}`)
	return h
}

func TestListContexts(t *testing.T) {
	h := newTree(t)
	h.clock.add(2 * time.Minute) // longer than those of no named type wait
	for _, c := range []struct {
		query, want string
		next        uint64
	}{
		{"", "plan plan/a deep other lost/child", 0},
		{"limit=2", "plan plan/a", 2},
		{"limit=2&after=2", "deep other", 5},
		{"limit=2&after=5", "lost/child", 0},
		{"order=desc&limit=3", "lost/child other deep", 3},
		{"order=desc&limit=3&before=3", "plan/a plan", 0},
		{"state=open", "plan plan/a", 0},
		{"state=open&limit=1", "plan", 1},
		{"state=open&limit=1&after=1", "plan/a", 0},
		{"state=concluded", "deep other lost/child", 0},
		{"state=concluded&order=desc&limit=1", "lost/child", 9},
		{"state=concluded&type=work", "", 0},
		{"state=open&type=work", "plan plan/a", 0},
		{"state=all&type=reasoning", "deep", 0},
		{"parent=plan", "plan/a", 0},
		{"parent=lost", "lost/child", 0},
		{"tree=plan", "plan plan/a deep", 0},
		{"tree=plan%2Fa", "plan/a deep", 0},
		{"tree=nothing", "", 0},
		{"opener=human", "other", 0},
		{"opener=human&tree=plan", "", 0},
	} {
		ids, next := h.get("human", "contexts?"+c.query).items()
		if got := strings.Join(ids, " "); got != c.want || next != c.next {
			t.Errorf("%s: %q next %d, want %q next %d", c.query, got, next, c.want, c.next)
		}
	}
	for query, name := range map[string]string{
		"state=closed": "state", "limit=0": "limit", "after=x": "after", "colour=red": "colour", "type=": "type", "tree=a&tree=b": "tree",
	} {
		p := h.ask("human", "GET", "/v1/spaces/demo/contexts?"+query, "").refused(400, parley.InvalidArgument)
		if !strings.Contains(p["detail"].(string), name) {
			t.Errorf("%s: %q does not name %s", query, p["detail"], name)
		}
	}
	h.ask("reader", "GET", "/v1/spaces/demo/contexts", "").refused(401, parley.Unauthorized)
}

// A state is found among very many of the other one, and at the very moment at
// which it changes.
func TestListContextsByState(t *testing.T) {
	h := newHouse(t, func(o *Options) {
		o.Spaces[0].Rules.Limits = space.Limits{ContextIdle: time.Minute, OpenContexts: 1000, Rate: 1e6, Burst: 1e6, EnvelopeBytes: 4 << 10}
		o.Spaces[0].Rules.ContextTypes = map[string]space.ContextType{"long": {Idle: time.Hour}}
	})
	h.inContext("agent", "first", `{"id":"first","type":"long"}`)
	for i := range 600 {
		h.inContext("agent", fmt.Sprint("e", i), fmt.Sprintf(`{"id":"c%d"}`, i))
	}
	h.inContext("agent", "last", `{"id":"last","type":"long"}`)
	h.clock.add(time.Minute - time.Millisecond)
	if ids, _ := h.get("human", "contexts?state=concluded").items(); len(ids) != 0 {
		t.Errorf("concluded too early: %q", ids)
	}
	h.clock.add(time.Millisecond)
	if ids, next := h.get("human", "contexts?state=open").items(); strings.Join(ids, " ") != "first last" || next != 0 {
		t.Errorf("open are %q, next %d", ids, next)
	}
	if ids, _ := h.get("human", "contexts?state=concluded&limit=1000").items(); len(ids) != 600 {
		t.Errorf("%d are concluded", len(ids))
	}
}

// What is opened from its end up lies as deep as it would otherwise, however it is
// asked for.
func TestDepthIsWhatItIsNow(t *testing.T) {
	h := newHouse(t)
	for i, c := range []string{`{"id":"c","parent":"b"}`, `{"id":"b","parent":"a"}`, `{"id":"a"}`, `{"id":"x","parent":"nobody"}`} {
		h.inContext("agent", fmt.Sprint("e", i), c)
	}
	want := map[string]int{"a": 1, "b": 2, "c": 3, "x": 2}
	type entry struct {
		ID    string
		Depth int
	}
	var page struct{ Items []entry }
	h.get("human", "contexts").into(&page)
	if len(page.Items) != len(want) {
		t.Fatalf("got %+v", page.Items)
	}
	for _, c := range page.Items {
		var one entry
		var short struct{ Context entry }
		h.get("human", "contexts/"+c.ID).into(&one)
		h.get("human", "contexts/"+c.ID+"/digest").into(&short)
		if c.Depth != want[c.ID] || one.Depth != c.Depth || short.Context.Depth != c.Depth {
			t.Errorf("%s is %d deep, alone %d, in short %d; want %d", c.ID, c.Depth, one.Depth, short.Context.Depth, want[c.ID])
		}
	}
	page.Items = nil
	h.get("human", "contexts?limit=1&state=open").into(&page)
	if len(page.Items) != 1 || page.Items[0] != (entry{"c", 3}) {
		t.Errorf("a page of one: %+v", page.Items)
	}
}

func TestGetContext(t *testing.T) {
	h := newTree(t)
	want := `{"id":"plan","type":"work","depth":1,"opener":"agent","first":1,"last":8,"count":4,"state":"open",` +
		`"opened":"2026-11-20T12:00:00.000Z","touched":"2026-11-20T12:00:00.000Z","metadata":{"n":2},` +
		`"kinds":{"conclusion":1,"mcp/proposal:tools/call":1,"note":2}}`
	if got := h.get("human", "contexts/plan").body; !sameJSON(got, want) {
		t.Errorf("got  %swant %s", got, want)
	}
	want = `{"id":"deep","type":"reasoning","parent":"plan/a","depth":3,"opener":"agent","first":3,"last":3,"count":1,"state":"concluded",` +
		`"opened":"2026-11-20T12:00:00.000Z","touched":"2026-11-20T12:00:00.000Z","kinds":{"reflection":1}}`
	h.clock.add(time.Minute)
	if got := h.get("human", "contexts/deep").body; !sameJSON(got, want) {
		t.Errorf("got  %swant %s", got, want)
	}
	if got := h.get("human", "contexts/plan%2Fa").body; !strings.Contains(got, `"id":"plan/a"`) {
		t.Errorf("with a slash: %s", got)
	}
	h.ask("human", "GET", "/v1/spaces/demo/contexts/lost", "").refused(404, parley.NotFound)
	h.ask("human", "GET", "/v1/spaces/demo/contexts/plan?x=1", "").refused(400, parley.InvalidArgument)
}

func TestSubtree(t *testing.T) {
	h := newTree(t)
	for query, want := range map[string]string{
		"context=plan":                                       "e1 e4 e7 e8",
		"context=plan&subtree=false":                         "e1 e4 e7 e8",
		"context=plan&subtree=true":                          "e1 e2 e3 e4 e6 e7 e8",
		"context=plan/a&subtree=true":                        "e2 e3 e6",
		"context=plan&subtree=true&q=zebra":                  "e3",
		"context=plan&context=plan&subtree=true":             "e1 e2 e3 e4 e6 e7 e8",
		"context=deep&context=other&subtree=true&order=desc": "e5 e3",
		"context=lost&subtree=true":                          "e9",
		"context=nobody&subtree=true":                        "",
	} {
		ids, _ := h.get("human", "envelopes?"+query).items()
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	h.ask("human", "GET", "/v1/spaces/demo/envelopes?context=plan&subtree=yes", "").refused(400, parley.InvalidArgument)
}

// Parents that form a circle are gone round once.
func TestSubtreeWithACircle(t *testing.T) {
	h := newHouse(t)
	h.inContext("agent", "e1", `{"id":"a","parent":"b"}`)
	h.inContext("agent", "e2", `{"id":"b","parent":"a"}`)
	for path, want := range map[string]string{
		"envelopes?context=a&subtree=true": "e1 e2", "envelopes?context=b&subtree=true": "e1 e2", "contexts?tree=b": "a b",
	} {
		if ids, _ := h.get("human", path).items(); strings.Join(ids, " ") != want {
			t.Errorf("%s: %q, want %q", path, ids, want)
		}
	}
	if got := lines(h.get("human", "contexts/b/replay?subtree=true")); got != "e1 e2" {
		t.Errorf("replayed %q", got)
	}
	h.get("human", "contexts/a/digest")
}

// What is read together with a context has a bound.
func TestSubtreeOfTooMany(t *testing.T) {
	h := newHouse(t, func(o *Options) {
		o.Spaces[0].Rules.Limits = space.Limits{Rate: 1e7, Burst: 1e7, OpenContexts: 2 * subtreeMost}
	})
	for i := range subtreeMost + 1 {
		h.inContext("agent", fmt.Sprint("e", i), fmt.Sprintf(`{"id":"c%d","parent":"c0"}`, i+1))
	}
	h.inContext("agent", "last", `{"id":"c0"}`)
	for _, path := range []string{"envelopes?context=c0&subtree=true", "contexts/c0/replay?subtree=true", "contexts/c0/digest"} {
		h.ask("human", "GET", "/v1/spaces/demo/"+path, "").refused(409, parley.LimitReached)
	}
	if got := lines(h.get("human", "contexts/c0/replay")); got != "last" {
		t.Errorf("alone it is replayed as %q", got)
	}
}

// A line break between values makes no line.
func TestReplayOnOneLine(t *testing.T) {
	h := newHouse(t)
	h.inContext("agent", "e1", "{\"id\":\r\n\"a\"}")
	h.inContext("agent", "e2", `{"id":"a","metadata":{"x":"\n"}}`)
	r := h.get("human", "contexts/a/replay")
	if got := lines(r); got != "e1 e2" || !strings.Contains(r.body, `"id":  "a"`) || !strings.Contains(r.body, `"\n"`) {
		t.Errorf("%q: %s", got, r.body)
	}
}

// lines are the ids of a stream of envelopes.
func lines(r reply) string {
	var ids []string
	for line := range strings.Lines(r.body) {
		var e struct{ ID string }
		reply{r.t, r.status, r.header, line}.into(&e)
		ids = append(ids, e.ID)
	}
	return strings.Join(ids, " ")
}

func TestReplay(t *testing.T) {
	h := newTree(t)
	for path, want := range map[string]string{
		"plan/replay":                      "e1 e4 e7 e8",
		"plan/replay?after=4":              "e7 e8",
		"plan/replay?after=400":            "",
		"plan/replay?subtree=true":         "e1 e2 e3 e4 e6 e7 e8",
		"plan/replay?subtree=true&after=3": "e4 e6 e7 e8",
		"plan%2Fa/replay?subtree=true":     "e2 e3 e6",
		"lost/replay?subtree=true":         "e9",
	} {
		r := h.get("human", "contexts/"+path)
		if got := lines(r); got != want || r.header.Get("Content-Type") != "application/jsonl" {
			t.Errorf("%s: %q as %s, want %q", path, got, r.header.Get("Content-Type"), want)
		}
	}
	if first, _, _ := strings.Cut(h.get("human", "contexts/plan/replay").body, "\n"); !sameJSON(first, h.get("human", "envelopes/e1").body) {
		t.Errorf("it is replayed as %s", first)
	}
	h.ask("human", "GET", "/v1/spaces/demo/contexts/lost/replay", "").refused(404, parley.NotFound)
	h.ask("human", "GET", "/v1/spaces/demo/contexts/nobody/replay?subtree=true", "").refused(404, parley.NotFound)
	h.ask("human", "GET", "/v1/spaces/demo/contexts/plan/replay?subtree=1", "").refused(400, parley.InvalidArgument)
}

// A replay comes in pieces, and is whole.
func TestReplayOfMany(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Spaces[0].Rules.Limits = space.Limits{Rate: 1e6, Burst: 1e6, ContextRate: 1e6} })
	for i := range 2*chunkOfLog + 9 {
		h.inContext("agent", fmt.Sprint("e", i), fmt.Sprintf(`{"id":"c%d"}`, i%2))
	}
	if n := strings.Count(h.get("human", "contexts/c0/replay").body, "\n"); n != chunkOfLog+5 {
		t.Errorf("%d lines", n)
	}
}

// What was told of a context and was redacted is not told any more.
func TestRedactedMetadata(t *testing.T) {
	h := newTree(t)
	h.post("human", "envelopes", `{"kind":"space/redact","payload":{"id":"e4"}}`)
	h.post("human", "envelopes", `{"kind":"space/redact","payload":{"id":"e8"}}`)
	gone := func(path, words string) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); ; {
			body := h.get("human", path).body
			if !strings.Contains(body, words) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %s", path, body)
			}
		}
	}
	for _, path := range []string{"contexts", "contexts/plan", "contexts/plan/replay", "contexts/plan/digest"} {
		gone(path, `{"n":2}`)
		gone(path, `cross the road`)
	}
}

// digested is what a digest reads as.
type digested struct {
	Context struct{ ID string }
	Tokens  struct {
		Budget, Used int
		Tokenizer    string
	}
	Proposals  []json.RawMessage
	Conclusion *struct {
		Seq  uint64
		Text string
	}
	Kinds    map[string]int
	Messages []struct {
		Seq      uint64
		ID, Text string
	}
	Omitted int
}

func TestGetDigest(t *testing.T) {
	h := newTree(t)
	var d digested
	h.get("human", "contexts/plan/digest").into(&d)
	var ids []string
	for _, m := range d.Messages {
		ids = append(ids, m.ID)
	}
	if d.Context.ID != "plan" || d.Tokens.Budget != 2000 || d.Tokens.Tokenizer != tokens.Name || d.Tokens.Used == 0 ||
		len(d.Proposals) != 1 || d.Conclusion == nil || d.Conclusion.Text != "cross the road" || d.Kinds["note"] != 4 ||
		strings.Join(ids, " ") != "e6 e4 e3 e2 e1" || d.Omitted != 0 {
		t.Errorf("got %+v", d)
	}
	d = digested{}
	h.get("human", "contexts/plan/digest?subtree=false&tokens=400").into(&d)
	if d.Kinds["note"] != 2 || len(d.Messages) != 2 || d.Tokens.Budget != 400 {
		t.Errorf("alone: %+v", d)
	}
	d = digested{}
	h.post("agent", "proposals/e7/withdraw", "")
	h.get("human", "contexts/plan%2Fa/digest?tokens=100").into(&d)
	if d.Conclusion != nil || len(d.Proposals) != 0 || len(d.Messages) == 0 || d.Tokens.Used > 100 || d.Omitted != 3-len(d.Messages) {
		t.Errorf("of a child: %+v", d)
	}
	d = digested{}
	h.get("human", "contexts/plan/digest").into(&d)
	if len(d.Proposals) != 0 {
		t.Errorf("a proposal that was withdrawn counts as open: %s", d.Proposals)
	}
	h.ask("human", "GET", "/v1/spaces/demo/contexts/nobody/digest", "").refused(404, parley.NotFound)
	for _, query := range []string{"tokens=99", "tokens=100001", "tokens=many", "subtree=x", "limit=3"} {
		h.ask("human", "GET", "/v1/spaces/demo/contexts/plan/digest?"+query, "").refused(400, parley.InvalidArgument)
	}
}

// A summary is a message where somebody decided something, in the context or below
// it, and stands in for a conclusion where nobody did. Its metadata are its own.
func TestSummaryIsNoDecision(t *testing.T) {
	h := newTree(t)
	sumUp := func(id, of string) {
		t.Helper()
		h.inContext("agent", id, fmt.Sprintf(`{"id":%q,"metadata":{"summary_of":%[1]q,"through":8}}`, of), "conclusion", fmt.Sprintf(`{"summary":"sum of %s"}`, of))
	}
	concluded := func(of, want string) {
		t.Helper()
		for _, budget := range []int{100, 2000} {
			var d digested
			h.get("human", fmt.Sprintf("contexts/%s/digest?tokens=%d", url.PathEscape(of), budget)).into(&d)
			if d.Conclusion == nil || d.Conclusion.Text != want {
				t.Errorf("of %d tokens, %s concludes %+v, want %q", budget, of, d.Conclusion, want)
			}
		}
	}
	sumUp("s1", "deep")
	concluded("deep", "sum of deep")
	concluded("plan/a", "sum of deep")
	sumUp("s2", "plan/a")
	concluded("plan/a", "sum of plan/a")
	h.inContext("agent", "e10", `{"id":"deep"}`, "conclusion", `{"decision":"stay"}`)
	concluded("plan/a", "stay")
	sumUp("s3", "deep")
	concluded("deep", "stay")
	sumUp("s4", "plan")
	concluded("plan", "cross the road")

	var d digested
	h.get("human", "contexts/plan/digest?subtree=false").into(&d)
	if len(d.Messages) == 0 || d.Messages[0].Text != "sum of plan" {
		t.Errorf("the summary is not among the messages: %+v", d.Messages)
	}
	for _, path := range []string{"contexts/plan", "contexts/plan/digest", "contexts?tree=plan"} {
		if body := h.get("human", path).body; !strings.Contains(body, `"metadata":{"n":2}`) || strings.Contains(body, "summary_of") {
			t.Errorf("%s: %s", path, body)
		}
	}
}

// What one participant says at length hides nothing that others say in short.
func TestDigestOfLongHeaders(t *testing.T) {
	h := newHouse(t)
	for i := range 3 {
		h.inContext("agent", fmt.Sprint("p", i), `{"id":"c"}`, "mcp/proposal:tools/call", writeCall)
		h.inContext("agent", fmt.Sprint("e", i), `{"id":"c"}`)
	}
	uri := "file:///" + strings.Repeat("qx7zkj0wv", 190)
	for i := range 20 {
		h.inContext("human", fmt.Sprintf("%0110d", i), `{"id":"c"}`, "mcp/proposal:resources/read:"+uri, fmt.Sprintf(`{"method":"resources/read","params":{"uri":%q}}`, uri))
	}
	for _, n := range []int{200, 500} {
		var d digested
		h.get("human", fmt.Sprint("contexts/c/digest?tokens=", n)).into(&d)
		if len(d.Proposals) == 0 || len(d.Messages) == 0 || d.Omitted != 26-len(d.Proposals)-len(d.Messages) {
			t.Errorf("of %d tokens: %s, %v, %d", n, d.Proposals, d.Messages, d.Omitted)
		}
	}
}

// Metadata are within the budget, or said to be left out.
func TestDigestOfMuchMetadata(t *testing.T) {
	h := newHouse(t)
	metadata := fmt.Sprintf(`{"words":%q}`, strings.Repeat("war and peace ", 100))
	h.inContext("agent", "e1", fmt.Sprintf(`{"id":"c","metadata":%s}`, metadata))
	for _, c := range []struct {
		tokens, omitted int
	}{{4000, 0}, {100, len(metadata)}} {
		var d struct {
			Context struct {
				Metadata struct{ Words string }
				Omitted  int `json:"metadata_omitted"`
			}
			Tokens struct{ Used int }
		}
		h.get("human", fmt.Sprint("contexts/c/digest?tokens=", c.tokens)).into(&d)
		if d.Context.Omitted != c.omitted || (d.Context.Metadata.Words == "") != (c.omitted > 0) || d.Tokens.Used > c.tokens {
			t.Errorf("%d tokens: %d bytes are left out, %d tokens used", c.tokens, d.Context.Omitted, d.Tokens.Used)
		}
		if c.omitted == 0 && d.Tokens.Used < 300 {
			t.Errorf("the metadata are not counted: %d", d.Tokens.Used)
		}
	}
}

// Ids may hold whatever is visible.
func TestContextIDs(t *testing.T) {
	h := newHouse(t)
	for i, id := range []string{"a/b//c", "%2F", "..", ".", "?x=#y", `"quoted"`, "urn:x:1", "a+b", "contexts"} {
		h.inContext("human", fmt.Sprint("e", i), fmt.Sprintf(`{"id":%q}`, id), "chat", `{}`)
		path := "contexts/" + strings.ReplaceAll(url.PathEscape(id), ".", "%2E")
		var c struct{ ID string }
		h.get("human", path).into(&c)
		if c.ID != id {
			t.Errorf("%s is %q, want %q", path, c.ID, id)
		}
		h.get("human", path+"/digest")
		if got := lines(h.get("human", path+"/replay")); got != fmt.Sprint("e", i) {
			t.Errorf("%s replays %q", path, got)
		}
	}
}
