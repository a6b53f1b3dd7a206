package store

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
)

var noon = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

// told is a store that was told these envelopes, in order.
func told(t *testing.T, envelopes ...string) *Store {
	t.Helper()
	s := New(0)
	s.Begin("you", "demo", []string{"you", "agent"}, 0)
	tell(t, s, envelopes...)
	return s
}

func tell(t *testing.T, s *Store, envelopes ...string) {
	t.Helper()
	for _, text := range envelopes {
		e, err := parley.Decode([]byte(text), 100)
		if err != nil {
			t.Fatal(err, text)
		}
		if e.Seq == 0 {
			e.Seq = s.Last() + 1
		}
		e.TS = noon.Add(time.Duration(e.Seq) * time.Second)
		s.Add(e)
	}
}

const (
	proposal = `{"id":"p","from":"agent","to":["files"],"kind":"mcp/proposal:tools/call:write_file","payload":{"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a b","n":1.50}},"reason":"because"}}`
	fulfils  = `{"id":"f","from":"you","to":["files"],"kind":"mcp/request:tools/call:write_file","correlation_id":"p","payload":{"id":"f","method":"tools/call","params":{"name":"write_file","arguments":{"path":"a b","n":1.50}}}}`
	answers  = `{"id":"r","from":"files","to":["you","agent"],"kind":"mcp/response:tools/call:write_file","correlation_id":"f","payload":{"id":"f","result":{"content":[{"type":"text","text":"done it"},{"type":"image","mimeType":"image/png"}]}}}`
)

// A proposal, its decision, the call and its result are one row.
func TestOneRow(t *testing.T) {
	s := told(t, proposal)
	r := s.Find("p")
	if r.State != Open || r.Title != "write_file" || r.Text != `path="a b" n:=1.50` || r.Reason != "because" || len(s.Queue()) != 1 {
		t.Fatalf("a proposal is %+v", r)
	}
	tell(t, s, fulfils)
	if r.State != Running || r.By != "you" || len(s.Queue()) != 0 {
		t.Errorf("once it is fulfilled it is %+v", r)
	}
	tell(t, s, `{"id":"g","from":"files","kind":"mcp/request:notifications/progress","payload":{"method":"notifications/progress","params":{"progressToken":"f","progress":3,"total":4,"message":"nearly"}}}`)
	if r.Report != "3 of 4 nearly" {
		t.Errorf("its report is %q", r.Report)
	}
	tell(t, s, answers)
	if r.State != Done || r.Answer != "done it\n(image image/png)" || r.Report != "" || r.Took != 3*time.Second {
		t.Errorf("in the end it is %+v", r)
	}
	if len(s.Rows()) != 1 || len(r.IDs()) != 3 {
		t.Errorf("there are %d rows, and the first has %v", len(s.Rows()), r.IDs())
	}
	version := r.Version
	if s.Add(&parley.Envelope{ID: "r", Seq: s.Last(), Kind: "chat"}); r.Version != version {
		t.Error("what came before changes something")
	}
}

func TestEnds(t *testing.T) {
	for kind, want := range map[string]string{
		`"from":"boss","kind":"mcp/reject:tools/call:write_file","payload":{"reason":"unsafe","message":"no"}`:               "rejected boss unsafe: no",
		`"from":"agent","kind":"mcp/withdraw:tools/call:write_file","payload":{}`:                                            "withdrawn agent ",
		`"from":"system:gateway","kind":"system/notice","payload":{"event":"proposal_expired"}`:                              "expired  ",
		`"from":"boss","kind":"mcp/request:tools/call:write_file","amends":true,"payload":{"method":"tools/call","id":"x"}`:  "running boss ",
		`"from":"agent","kind":"mcp/request:tools/call:write_file","payload":{"method":"tools/call","params":{"name":"x"}}`:  "open  ", // nobody approves their own
		`"from":"boss","kind":"mcp/request:elicitation/create","payload":{"method":"elicitation/create","id":"x"}`:           "open  ", // another method fulfils nothing
		`"from":"boss","kind":"chat","payload":{"text":"on it"}`:                                                             "open  ",
		`"from":"files","kind":"mcp/response:tools/call:write_file","payload":{"id":"p","result":{"content":[]}}`:            "open  ", // nobody was asked
		`"from":"boss","kind":"mcp/request:notifications/cancelled","payload":{"method":"notifications/cancelled","id":"x"}`: "open  ",
	} {
		s := told(t, proposal, `{"id":"e","correlation_id":"p",`+kind+`}`)
		r := s.Find("p")
		if got := fmt.Sprintf("%s %s %s", r.State, r.By, r.Why); got != want {
			t.Errorf("%s makes it %q, want %q", kind, got, want)
		}
		if waits := len(s.Queue()) == 1; waits != (r.State == Open) && !strings.Contains(kind, `"from":"agent"`) {
			t.Errorf("%s: it waits: %t, and is %s", kind, waits, r.State)
		}
	}
}

// What the gateway lists joins the queue, in the order of the room, unless it was
// decided meanwhile; what it no longer lists was decided out of sight. Nobody takes
// another's proposal out of the queue by naming it.
func TestSeed(t *testing.T) {
	s := told(t, `{"id":"x","from":"evil","kind":"mcp/request:ping","correlation_id":["old","p"],"payload":{"method":"ping","id":"x"}}`, proposal)
	s.Seed([]*Waiting{{ID: "old", Seq: 0, Method: "tools/call", From: "agent"}, {ID: "p", Seq: 2, Method: "tools/call", From: "agent"}, {ID: "mine", Seq: 1, From: "you"}})
	ids := func() (list []string) {
		for _, w := range s.Queue() {
			list = append(list, w.ID)
		}
		return list
	}
	if got := fmt.Sprint(ids()); got != "[old p]" {
		t.Errorf("%s wait", got)
	}
	tell(t, s, strings.ReplaceAll(fulfils, `"p"`, `"gone"`))
	s.Seed([]*Waiting{{ID: "gone", Seq: 9, Method: "tools/call", From: "agent"}, {ID: "p", Seq: 2, Method: "tools/call", From: "agent"}})
	if got := fmt.Sprint(ids()); got != "[p]" {
		t.Errorf("%s wait after a gap", got)
	}
	s.Decided("p")
	if got := fmt.Sprint(ids()); got != "[]" {
		t.Errorf("%s wait at last", got)
	}
}

func TestContexts(t *testing.T) {
	s := told(t,
		`{"id":"1","from":"agent","kind":"reflection","context":{"id":"a","type":"reasoning"},"payload":{"thought":"hm"}}`,
		`{"id":"2","from":"agent","kind":"chat","context":"b","payload":{"text":"x"}}`,
		`{"id":"3","from":"agent","kind":"conclusion","context":"a","payload":{"decision":"yes"}}`)
	list := s.Contexts()
	if len(list) != 2 || *list[0] != (Context{ID: "a", Type: "reasoning", Count: 2, Last: 3, Concluded: true}) || list[1].ID != "b" {
		t.Errorf("the contexts are %+v %+v", list[0], list[1])
	}
}

// A summary neither concludes a thread nor opens it again, as on record.
func TestSummaryConcludesNothing(t *testing.T) {
	summary := `{"from":"summarizer","kind":"conclusion","context":{"id":"a","metadata":{"summary_of":"a","through":1}},"payload":{"summary":"x"}}`
	s := told(t, `{"from":"agent","kind":"reflection","context":"a","payload":{"thought":"hm"}}`, summary)
	if s.Context("a").Concluded {
		t.Error("a summary concludes it")
	}
	tell(t, s, `{"from":"agent","kind":"conclusion","context":"a","payload":{"decision":"yes"}}`, summary)
	if !s.Context("a").Concluded {
		t.Error("a summary opens it again")
	}
	tell(t, s, `{"from":"agent","kind":"chat","context":{"id":"a","metadata":{"summary_of":"a"}},"payload":{"text":"on"}}`)
	if s.Context("a").Concluded {
		t.Error("what is no conclusion leaves it concluded")
	}
	tell(t, s, strings.ReplaceAll(summary, `"summary_of":"a"`, `"summary_of":"b"`))
	if !s.Context("a").Concluded {
		t.Error("a conclusion that sums up another thread is none")
	}
}

func TestPeople(t *testing.T) {
	s := told(t, `{"from":"system:gateway","kind":"system/presence","payload":{"event":"join","participant":{"id":"agent-1"}}}`,
		`{"from":"system:gateway","kind":"system/presence","payload":{"event":"leave","participant":{"id":"agent"}}}`,
		`{"id":"1","from":"agent-l","kind":"chat","payload":{"text":"x"}}`)
	s.told = s.Last() + 1
	tell(t, s, `{"from":"system:gateway","kind":"system/presence","payload":{"event":"leave","participant":{"id":"agent-1"}}}`)
	if got := fmt.Sprint(s.People()); got != "[agent-1 you]" || len(s.Rows()) != 1 {
		t.Errorf("%s are here, and there are %d rows", got, len(s.Rows()))
	}
	if s.LooksLike("agent-l") != "agent-1" || s.LooksLike("agent-1") != "agent-l" || s.LooksLike("you") != "" {
		t.Errorf("agent-l looks like %q, agent-1 like %q", s.LooksLike("agent-l"), s.LooksLike("agent-1"))
	}
}

func TestFilter(t *testing.T) {
	s := told(t, proposal, fulfils, `{"id":"abcdefgh-1","from":"agent","kind":"chat","context":"c","payload":{"text":"Hello there"}}`)
	for line, want := range map[string]int{
		"": 2, "from:you": 1, "from:agent": 2, "from:files": 1, "kind:chat": 1, "kind:mcp/proposal:tools/call": 1, "kind:mcp": 0,
		"in:c": 1, "state:running": 1, "state:open": 0, "hello": 1, "HELLO there": 1, "hello nobody": 0, "abcdefgh": 1, "abc": 0, "http://x": 0,
	} {
		f, err := ReadFilter(line)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, r := range s.Rows() {
			if f.Match(r) {
				n++
			}
		}
		if n != want || f.String() != line {
			t.Errorf("%q, read as %q, matches %d, want %d", line, f, n, want)
		}
	}
	if f, err := ReadFilter("state:waiting"); err != nil || f.State != Open {
		t.Errorf("state:waiting is read as %+v (%v)", f, err)
	}
	if _, err := ReadFilter("state:none"); err == nil {
		t.Error("any state is taken")
	}
}

// However much comes, the newest rows are kept, and little of each.
func TestBounded(t *testing.T) {
	s := New(100)
	huge := strings.Repeat("x", 256<<10)
	for i := range 300 {
		s.Add(&parley.Envelope{ID: fmt.Sprint("e", i), Seq: uint64(i + 1), From: fmt.Sprint("p", i), Kind: "chat",
			Context: &parley.Context{ID: fmt.Sprint("c", i)}, Payload: []byte(`{"text":"` + huge + `"}`)})
	}
	rows := s.Rows()
	if len(rows) > 100 || len(rows) < 90 || rows[len(rows)-1].N != 299 || s.Row(299) != rows[len(rows)-1] || s.Row(0) != nil || s.Find("e0") != nil {
		t.Fatalf("%d rows are kept, the last is %d", len(rows), rows[len(rows)-1].N)
	}
	if r := rows[0]; len(r.Text) > mostText || r.Cut != 256<<10-len(r.Text) {
		t.Errorf("%d bytes are kept, and %d said to be missing", len(r.Text), r.Cut)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 12<<20 {
		t.Errorf("%d MiB are kept", m.HeapAlloc>>20)
	}
	runtime.KeepAlive(s)
}

// Payloads that are no objects, or lie, or are deep, do no harm.
func TestOddPayloads(t *testing.T) {
	s := told(t)
	for i, kind := range []string{"chat", "mcp/request:tools/call", "mcp/proposal:tools/call:x", "mcp/response:tools/call", "mcp/reject:tools/call", "system/notice",
		"system/presence", "system/error", "capability/grant", "capability/revoke", "space/kick", "acme/odd:x:y"} {
		for j, payload := range []string{"", "null", "1", `"text"`, `[]`, `{}`, `{"text":1,"method":2,"params":[],"tools":{},"participant":3}`, strings.Repeat("[", 900) + strings.Repeat("]", 900)} {
			s.Add(&parley.Envelope{ID: fmt.Sprint(i, "-", j), Seq: s.Last() + 1, From: "agent", Kind: kind, Payload: []byte(payload)})
		}
	}
	if len(s.Rows()) == 0 {
		t.Error("nothing is shown")
	}
}

// A kind that is written in short is what rights are asked about in full.
func TestWaitingInShort(t *testing.T) {
	s := told(t, `{"id":"p","from":"agent","to":["files"],"kind":"mcp/proposal:tools/call","payload":{"method":"tools/call","params":{"name":"write_file"}}}`)
	if q := s.Queue(); len(q) != 1 || q[0].Kind != "mcp/proposal:tools/call:write_file" {
		t.Errorf("it waits as %+v", q)
	}
}

// The queue says that nobody can tell any more what a proposal asks for, and blames
// nobody for it.
func TestWaitingThatWasDropped(t *testing.T) {
	w := ReadWaiting([]byte(`{"id":"p","seq":7,"kind":"mcp/proposal:tools/call:write_file","from":"agent","to":["files"],"dropped":true,"state":"open"}`))
	if w.Title != "write_file" || w.Sample != "[no longer on record]" || w.Seq != 7 {
		t.Errorf("it is listed as %+v", w)
	}
}
