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
