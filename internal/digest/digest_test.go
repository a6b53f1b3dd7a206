package digest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/tokens"
)

func record(seq uint64, kind, payload string) *journal.Record {
	e := &parley.Envelope{
		ID: fmt.Sprint("m", seq), TS: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), From: "agent", Kind: kind,
		To: []string{"files"},
	}
	if payload != "" {
		e.Payload = []byte(payload)
	}
	rec := journal.Envelope(e, parley.SplitKind(kind), [16]byte{})
	rec.Seq = seq
	return rec
}

func TestText(t *testing.T) {
	for _, c := range []struct{ kind, payload, want string }{
		{"chat", `{"text":"Good\n\tmorning,  all \u001b[31m"}`, "Good morning, all [31m"},
		{"reflection", `{"thought":"Deeper analysis needed"}`, "Deeper analysis needed"},
		{"conclusion", `{"decision":"Deny the operation"}`, "Deny the operation"},
		{"conclusion", `{"verdict": [1, 2]}`, `{"verdict":[1,2]}`},
		{"note", `"words alone"`, `"words alone"`},
		{"note", `{"text":{"not":"text"}}`, `{"text":{"not":"text"}}`},
		{"mcp/proposal:tools/call:write_file", `{"method":"tools/call","params":{"name":"write_file","arguments":{ "path": "a.txt" }}}`, `write_file {"path":"a.txt"}`},
		{"mcp/request:tools/call:now", `{"method":"tools/call","params":{"name":"now"}}`, "now"},
		{"mcp/request:resources/read:a", `{"method":"resources/read","params":{"uri":"file:///a"}}`, `resources/read {"uri":"file:///a"}`},
		{"mcp/request:tools/list", `{"method":"tools/list"}`, "tools/list"},
		{"mcp/response:tools/call", `{"result":{"content":[{"type":"text","text":"written"},{"type":"image","data":"AA=="},{"type":"text","text":"twice"}]}}`, "written twice"},
		{"mcp/response:tools/call", `{"result":{"isError":true,"content":[{"type":"text","text":"no such file"}]}}`, "error: no such file"},
		{"mcp/response:tools/list", `{"result":{"tools":[]}}`, `{"tools":[]}`},
		{"mcp/response:tools/call", `{"error":{"code":-1,"message":"denied"}}`, "error: denied"},
		{"mcp/response:tools/call", `{"error":"Operation denied"}`, `error: "Operation denied"`},
		{"mcp/reject:tools/call", `{"reason":"unsafe","message":"not on Fridays"}`, "unsafe: not on Fridays"},
		{"mcp/reject:tools/call", `{"reason":"busy"}`, "busy"},
	} {
		if got := Text(record(1, c.kind, c.payload)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.payload, got, c.want)
		}
	}
	if got := Text(record(1, "mcp/withdraw:tools/call", "")); got != "" {
		t.Errorf("without a payload: %q", got)
	}
	gone := record(1, "chat", `{"redacted":true}`)
	gone.Redacted = true
	if got := Text(gone); got != "(redacted)" {
		t.Errorf("redacted: %q", got)
	}
}

// shape is what a digest reads as.
type shape struct {
	Tokens struct {
		Budget, Used int
		Tokenizer    string
	}
	Proposals, Messages []json.RawMessage
	Conclusion          json.RawMessage
	Kinds               json.RawMessage
	Omitted             int
}

// of builds a digest of messages, newest first, the conclusion and proposals
// among them.
func of(t *testing.T, budget int, records []*journal.Record) (shape, string) {
	t.Helper()
	d := New(budget)
	kinds := map[string]uint64{}
	for _, rec := range records {
		kinds[rec.KindCounted()]++
		if rec.Kind == journal.KindConclusion && d.conclusion == nil {
			d.Conclude(rec)
		}
	}
	each := func(f func(*journal.Record) bool, typ string) {
		for _, rec := range records {
			if strings.HasPrefix(rec.Kind, typ) && !f(rec) {
				return
			}
		}
	}
	each(d.Propose, parley.TypeProposal)
	d.Count(kinds)
	each(d.Say, "")
	text := d.Append(nil, []byte(`{"id":"c"}`), uint64(len(records)))
	var s shape
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return s, string(text)
}

func TestDigest(t *testing.T) {
	records := []*journal.Record{
		record(9, "conclusion", `{"decision":"deny"}`),
		record(8, "chat", `{"text":"second"}`),
		record(7, "mcp/proposal:tools/call:write_file", `{"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a"}}}`),
		record(6, "chat", `{"text":"first"}`),
	}
	_, got := of(t, 400, records)
	want := `{"context":{"id":"c"},"tokens":{"budget":400,"used":188,"tokenizer":"o200k_base"},` +
		`"proposals":[{"seq":7,"id":"m7","kind":"mcp/proposal:tools/call:write_file","from":"agent","to":["files"],"text":"write_file {\"path\":\"a\"}"}],` +
		`"conclusion":{"seq":9,"id":"m9","from":"agent","ts":"2026-01-02T03:04:05.000Z","text":"deny"},` +
		`"kinds":{"chat":2,"conclusion":1,"mcp/proposal:tools/call":1},` +
		`"messages":[{"seq":8,"id":"m8","from":"agent","kind":"chat","ts":"2026-01-02T03:04:05.000Z","text":"second"},` +
		`{"seq":6,"id":"m6","from":"agent","kind":"chat","ts":"2026-01-02T03:04:05.000Z","text":"first"}],"omitted":0}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, again := of(t, 400, records); again != got {
		t.Errorf("another time it is %s", again)
	}
}

// One huge message is cut, and leaves room to the others.
func TestHugeMessage(t *testing.T) {
	records := []*journal.Record{
		record(3, "chat", `{"text":"`+strings.Repeat("war and peace, ", 20_000)+`"}`),
		record(2, "chat", `{"text":"short"}`),
		record(1, "chat", `{"text":"shorter"}`),
	}
	s, text := of(t, 500, records)
	if len(s.Messages) != 3 || !strings.Contains(text, " more bytes)") {
		t.Errorf("got %s", text)
	}
}

// Whatever is in a context, its digest keeps to the budget, and counts as it
// says.
func TestBudget(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"word ", "日本", "👩‍👩‍👧‍👦", `\"`, `\\`, "=", "e\u0301", "9", `\n `, "aaaaaaaa", "\u2028", "{"}
	for range 100 {
		var records []*journal.Record
		for i := range rnd.IntN(60) {
			payload := `{"text":"` + strings.Repeat(pieces[rnd.IntN(len(pieces))], rnd.IntN(1+rnd.IntN(4000))) + `"}`
			kind := "chat"
			switch rnd.IntN(6) {
			case 0:
				kind = "conclusion"
			case 1:
				kind, payload = "mcp/proposal:tools/call:x", `{"method":"tools/call","params":{"name":"x","arguments":`+payload+`}}`
			case 2:
				kind = "note/" + strings.Repeat("k", rnd.IntN(300))
			}
			records = append(records, record(uint64(1000-i), kind, payload))
		}
		budget := Least + rnd.IntN(3000)
		s, text := of(t, budget, records)
		if !utf8.ValidString(text) {
			t.Fatalf("not UTF-8: %q", text)
		}
		used := tokens.Count(string(s.Conclusion)) + tokens.Count(string(s.Kinds))
		for _, e := range append(s.Proposals, s.Messages...) {
			used += tokens.Count(string(e))
		}
		if s.Tokens.Used > budget || used > s.Tokens.Used+4 { // the braces of kinds
			t.Fatalf("a budget of %d, used %d, counted %d: %s", budget, s.Tokens.Used, used, text)
		}
		listed := len(s.Proposals) + len(s.Messages)
		if s.Conclusion != nil {
			listed++
		}
		if listed+s.Omitted != len(records) {
			t.Fatalf("%d listed and %d omitted of %d", listed, s.Omitted, len(records))
		}
	}
}

// What has no room is left out alone: smaller ones behind it are listed, unless
// too many of the same sender's had none.
func TestNoRoomForOne(t *testing.T) {
	const kind, payload = "mcp/proposal:tools/call:write_file", `{"method":"tools/call","params":{"name":"write_file"}}`
	large := func(seq int, from string) *journal.Record {
		rec := record(uint64(seq), kind, payload)
		rec.ID, rec.From, rec.To = strings.Repeat("q7", 18), from, []string{strings.Repeat("z9", 20)}
		return rec
	}
	for _, n := range []int{1, mostPassedOf, 10 * mostPassedOf} {
		d, more := New(200), true
		for i := range n {
			more = d.Propose(large(1000-i, "evil"))
		}
		if d.proposals != nil || !more {
			t.Fatalf("%d that are too large: %v, %s", n, more, d.proposals)
		}
		d.Propose(record(2, kind, payload))
		own := record(1, kind, payload)
		own.From = "evil"
		d.Propose(own)
		if text := string(d.proposals); !strings.Contains(text, `"seq":2`) || strings.Contains(text, `"seq":1`) != (n < mostPassedOf) {
			t.Errorf("behind %d of them: %s", n, text)
		}
	}
}

// The same goes for messages, of which only so many are tried; what one sender has
// beyond its own number keeps nobody out.
func TestNoRoomForMessages(t *testing.T) {
	for _, c := range []struct {
		n, each int // messages, of each sender
		more    bool
	}{
		{1, mostPassedOf, true}, {mostPassed - 1, mostPassedOf, true}, {mostPassed, mostPassedOf, false}, {10 * mostPassed, 10 * mostPassed, true},
	} {
		d, more := New(100), true
		d.used = 35
		for i := range c.n {
			rec := record(uint64(1000-i), "chat", `{"text":"x"}`)
			rec.From = fmt.Sprint("s", i/c.each)
			rec.ID = strings.Repeat("q7", 18)
			more = d.Say(rec)
		}
		short := record(1, "chat", `{"text":"short"}`)
		short.From = "other"
		d.Say(short)
		if more != c.more || strings.Contains(string(d.messages), "q7") || !strings.Contains(string(d.messages), `"seq":1`) {
			t.Errorf("after %+v it goes on: %v; %s", c, more, d.messages)
		}
	}
}

// Once the smallest entry has no room, nothing more is looked at.
func TestFull(t *testing.T) {
	if cost := min(cost(record(1, "a", ""), messageHeader), cost(record(1, "mcp/proposal:a", ""), proposalHeader)); cost < leastEntry {
		t.Errorf("an entry can have %d tokens", cost)
	}
	d := New(200)
	d.used = 200 - leastEntry + 1
	if d.Say(record(1, "chat", `{"text":"x"}`)) || d.Propose(record(1, "mcp/proposal:a", "")) {
		t.Error("it goes on where nothing has room any more")
	}
}

// cost is what an entry takes that says nothing.
func cost(rec *journal.Record, head header) int {
	rec.ID, rec.From, rec.To = "a", "a", nil
	_, n := fit(rec, head, leastText, 1000)
	return n
}

// What senders choose takes no more than its share: neither a kind nor an id nor
// names, nor what counts as a kind of its own.
func TestLongHeaders(t *testing.T) {
	odd := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "qx7ZkJ0wV"[(i*i+i/3)%9]
		}
		return string(b)
	}
	long := record(9, "mcp/proposal:resources/read:file:///"+odd(1_950), `{"method":"resources/read","params":{"uri":"file:///a"}}`)
	long.ID, long.To = odd(parley.MaxID), nil
	for i := range 200 {
		long.To = append(long.To, fmt.Sprintf("n%d-%s", i, strings.ToLower(odd(40))))
	}
	records := []*journal.Record{long, record(8, "mcp/proposal:tools/call:now", `{"method":"tools/call","params":{"name":"now"}}`)}
	s, text := of(t, 600, records)
	if len(s.Proposals) != 2 || s.Omitted != 0 {
		t.Fatalf("got %s", text)
	}
	var e struct {
		ID, Kind  string
		To        []string
		ToOmitted int `json:"to_omitted"`
	}
	if err := json.Unmarshal(s.Proposals[0], &e); err != nil {
		t.Fatal(err)
	}
	if n := tokens.Count(string(s.Proposals[0])); n > 280 || len(e.To) == 0 || len(e.To)+e.ToOmitted != 200 ||
		!strings.HasPrefix(e.Kind, "mcp/proposal:resources/read:file:///q") || !strings.HasSuffix(e.Kind, " more bytes)") || !strings.HasSuffix(e.ID, " more bytes)") {
		t.Errorf("%d tokens: %s", n, s.Proposals[0])
	}
	d := New(4000)
	d.Count(map[string]uint64{odd(1_000): 5, "chat": 1})
	if string(d.kinds) != `"chat":1,"*":5` {
		t.Errorf("the kinds are %.200s", d.kinds)
	}
	kinds := map[string]uint64{"chat": 1}
	for i := range 2 * mostPassed { // more frequent than chat, and too long
		kinds[fmt.Sprint(odd(200), i)] = 2
	}
	d = New(4000)
	if d.Count(kinds); string(d.kinds) != `"*":201` {
		t.Errorf("after so many that are too long, %.200s is told", d.kinds)
	}
}

func TestManyKinds(t *testing.T) {
	kinds := map[string]uint64{"chat": 100, journal.OtherKinds: 3}
	for i := range 60 {
		kinds[fmt.Sprintf("note/number-%d", i)] = 1
	}
	d := New(200)
	d.Count(kinds)
	var got map[string]uint64
	if err := json.Unmarshal([]byte("{"+string(d.kinds)+"}"), &got); err != nil {
		t.Fatal(err)
	}
	total := uint64(0)
	for _, n := range got {
		total += n
	}
	if total != 163 || got["chat"] != 100 || got[journal.OtherKinds] < 30 || d.used > 50 {
		t.Errorf("got %v with %d tokens", got, d.used)
	}
}

// Metadata count, and where they are large they take nothing from what was said.
func TestDescribe(t *testing.T) {
	small, large := `{"confidence":0.95}`, `{"words":"`+strings.Repeat("war and peace ", 20)+`"}`
	for _, c := range []struct {
		budget   int
		metadata string
		fits     bool
	}{
		{100, "", true}, {100, small, true}, {100, large, false}, {1000, large, true}, {100, strings.Repeat(" ", 1<<20), false},
	} {
		d := New(c.budget)
		if d.Describe([]byte(c.metadata)) != c.fits {
			t.Errorf("%d tokens, %.30s: that it fits is %v", c.budget, c.metadata, !c.fits)
		}
		want := 0
		if c.fits {
			want = tokens.Count(c.metadata)
		}
		if d.used != want {
			t.Errorf("%d tokens, %.30s: takes %d, want %d", c.budget, c.metadata, d.used, want)
		}
	}
	full := New(100)
	full.used = 100
	if full.Describe([]byte(small)) {
		t.Error("it fits where there is no room left")
	}
}
