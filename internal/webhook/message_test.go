package webhook

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

var update = flag.Bool("update", false, "rewrite testdata/events.txt")

// What is sent of each event stands in testdata/events.txt: with ids alone, and in
// full.
func TestMessages(t *testing.T) {
	room := newRoom(t)
	ids := hook("ids", "https://example.org")
	ids.ProposalTTL, ids.Approvers = 24*time.Hour, []string{"boss"}
	full := ids
	full.Full = true
	made := 0
	var b strings.Builder
	write := func(title string, r *journal.Record) {
		all, err := find(t.Context(), room.log, r)
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %+v, %v", title, all, err)
		}
		fmt.Fprintf(&b, "# %s\n\n", title)
		for _, h := range []*Hook{&ids, &full} {
			if !h.wants(&all[0]) {
				t.Errorf("%s is not sent", title)
			}
			c := &courier{desk: &Desk{o: Options{ApprovalLink: linkMaker(&made)}}, hook: h, reader: room.log}
			m, err := c.message(t.Context(), &item{ID: idOf(all[0].typ, r), Type: all[0].typ, Index: r.Index, Proposal: all[0].id, Suppressed: 3}, &result{})
			if err != nil {
				t.Fatal(err)
			}
			if data, ok := m.Data.(*proposalData); ok {
				for who, l := range data.Links {
					l.Expires = began.Add(24 * time.Hour)
					data.Links[who] = l
				}
			}
			body, err := m.body()
			if err != nil {
				t.Fatal(err)
			}
			var v any
			if err := json.Unmarshal(body, &v); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s\n\n", body)
		}
	}
	write("proposed", room.propose("p1"))
	write("fulfilled", room.fulfil("f1", "p1"))
	write("proposed with an end of its own", room.send("agent", "mcp/proposal:resources/read:file:///w/a", "p2", "",
		`{"method":"resources/read","params":{"uri":"file:///w/a"},"reason":"to know","expires":"2026-01-02T05:00:00+01:00"}`))
	write("rejected", room.reject("r2", "p2"))
	room.propose("p3")
	write("rejected for a reason of somebody's own", room.send("boss", "mcp/reject:tools/call:write_file", "r3", "p3", `{"reason":"my reason"}`))
	room.propose("p4")
	write("withdrawn", room.send("agent", "mcp/withdraw:tools/call:write_file", "w4", "p4", `{}`))
	room.propose("p5")
	write("amended", room.send("boss", "mcp/request:tools/call:write_file+", "f5", "p5", `{"method":"tools/call","params":{"name":"write_file","arguments":{"path":"/w/b"}}}`, "files"))
	room.propose("p6")
	write("expired", room.send("system:gateway", "system/notice", "x6", "p6", `{"event":"proposal_expired","proposal":"p6"}`))
	write("large", room.send("agent", "mcp/proposal:tools/call:x", "p7", "", `{"method":"tools/call","params":{"name":"x","arguments":{"text":"`+strings.Repeat("x", mostPayload)+`"}}}`))
	redacted := room.propose("p8")
	if _, err := room.log.Redact(t.Context(), "p8", 0); err != nil {
		t.Fatal(err)
	}
	write("redacted", redacted)
	write("refused", room.refuse("agent", "e1", 0))
	write("refused many times", room.refuse("agent", "", 400))
	path := "testdata/events.txt"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v; got\n%s", err, b.String())
	}
}

// Whatever somebody proposes, refuses or is refused, what is sent is JSON, no
// larger than a message may be, and with ids alone holds nothing of the payload.
func FuzzMessage(f *testing.F) {
	f.Add("p", "mcp/proposal:tools/call:x", `{"method":"tools/call","expires":"2026-01-02T05:00:00Z"}`, "")
	f.Add("p", "mcp/reject", `{"reason":"unsafe","message":"no"}`, "p0")
	f.Add("p", "mcp/request:tools/call", `[1,2]`, "p0 p1")
	f.Add("p", "system/notice", `{"event":"proposal_expired"}`, "p0")
	f.Add("p", "mcp/proposal", `{"expires":"9999-12-31T23:59:59-12:00"}`, "")
	f.Add("p", "mcp/withdraw:\u202e", "null", "p0")
	f.Add("0", "\x9d", "0", "") // a kind that was cut within a character
	f.Fuzz(func(t *testing.T, id, kind, payload, answers string) {
		e := &parley.Envelope{Protocol: "mcpx/v0.1", ID: id, TS: began, From: "agent", Kind: kind, Payload: []byte(payload)}
		if answers != "" {
			e.Correlation = parley.CorrelateWith(strings.Fields(answers)...)
		}
		data, err := e.MarshalJSON()
		if err != nil {
			t.Skip()
		}
		if e, err = parley.Decode(data, 128); err != nil {
			t.Skip() // it would not have been let in
		}
		j := journal.NewMemory(journal.MemoryOptions{Epoch: "e1"})
		defer j.Close()
		r := &room{t: t, journal: j, settled: make(chan struct{}, 8), now: began}
		if r.log, err = j.Open(context.Background(), demo, r); err != nil {
			t.Fatal(err)
		}
		r.propose("p0")
		rec := r.append(journal.Envelope(e, parley.SplitKind(e.Kind), [16]byte{}))
		refused := r.append(journal.NewRefusal(began, "agent", id, kind, journal.Refusal{Code: parley.InvalidKind, Bytes: 1}, [16]byte{}))
		for _, one := range []*journal.Record{rec, refused} {
			all, err := find(context.Background(), r.log, one)
			if err != nil {
				t.Fatal(err)
			}
			if len(all) > 0 && !mayBeEvent(one) {
				t.Errorf("%+v would not have been looked at", one)
			}
			for _, h := range []Hook{{Space: demo}, {Space: demo, Full: true}} {
				for _, f := range all {
					m, err := h.describe(context.Background(), r.log, &item{ID: idOf(f.typ, one), Type: f.typ, Index: one.Index, Proposal: f.id})
					if err != nil {
						t.Fatal(err)
					}
					body, err := m.body()
					if err != nil || !json.Valid(body) || !utf8.Valid(body) || len(body) > 4*mostPayload+len(data)*8 {
						t.Errorf("%s: %v", body, err)
					}
					if !h.Full && strings.Contains(string(body), `"payload":`) {
						t.Errorf("a payload leaves: %s", body)
					}
				}
			}
		}
	})
}

// Whatever is in the file, it is refused or can be written again as it is.
func FuzzState(f *testing.F) {
	h := hook("all", "https://example.org")
	s := &state{url: urlHash(h.URL), pending: []*item{{ID: "msg_1", Type: ProposalOpened, At: began, Index: 7, Proposal: "p1", Attempts: 2, Next: began}}}
	s.dead = []*item{{ID: "msg_2", Type: BridgeFailed, At: began, Data: []byte(`{"a":1}`), Error: "no"}}
	s.disabled = &disabling{At: began, Reason: "gone"}
	data, err := s.encode(&h)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(strings.Replace(string(data), `"index":7`, `"index":0`, 1)))
	f.Add([]byte(`{"version":1,"space":"demo","webhook":"all","url_sha256":"","index":3,"hash":"` + strings.Repeat("a", 64) + `"}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"version":1,"space":"demo","webhook":"all","dead":[{"id":"msg_1","data":""}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decode(data, &h)
		if err != nil {
			return
		}
		again, err := s.encode(&h)
		if err != nil {
			t.Fatal(err)
		}
		same, err := decode(again, &h)
		if err != nil || len(same.pending) != len(s.pending) || len(same.dead) != len(s.dead) || same.at != s.at {
			t.Errorf("%s became %s: %v", data, again, err)
		}
	})
}

func TestMatchEvents(t *testing.T) {
	for name, want := range map[string]int{
		"proposal.opened": 1, "proposal.*": 6, "bridge.*": 2, "envelope.*": 1, "*": 9,
		"": 0, "proposal": 0, "proposal.": 0, "*.opened": 0, "webhook.test": 0, "Proposal.opened": 0,
	} {
		if got := MatchEvents(name); len(got) != want {
			t.Errorf("%q is %q", name, got)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"éé", 3, "é…"}, {"é", 1, "…"}, {"", 0, ""}} {
		if got := clip(c.text, c.most); got != c.want {
			t.Errorf("%q to %d: %q", c.text, c.most, got)
		}
	}
}

// What the documentation shows is JSON of events that there are, and it leaves none
// out.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for i, block := range strings.Split(string(text), "```") {
		body, ok := strings.CutPrefix(block, "json\n")
		if i%2 == 0 || !ok {
			continue
		}
		shown++
		var m struct {
			Type      EventType
			Timestamp time.Time
			Data      struct{ Space string }
		}
		if err := json.Unmarshal([]byte(body), &m); err != nil || len(MatchEvents(string(m.Type))) != 1 || m.Timestamp.IsZero() || m.Data.Space == "" {
			t.Errorf("%s: %v", body, err)
		}
	}
	if shown < 4 {
		t.Errorf("only %d events are shown", shown)
	}
	for _, typ := range append(EventTypes(), testEvent) {
		if !strings.Contains(string(text), "`"+string(typ)+"`") {
			t.Errorf("nothing is said of %s", typ)
		}
	}
}
