package main

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

var began = time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)

// entry is an envelope on record, so many milliseconds after the first.
func entry(ms int, id, from, to, kind, payload string, answers ...string) *journal.Record {
	r := &journal.Record{
		Type: journal.Admitted, TS: began.Add(time.Duration(ms) * time.Millisecond), ID: id, From: from,
		Kind: kind, Effective: kind, Correlations: answers, Body: []byte(`{"payload":` + payload + `}`),
	}
	if to != "" {
		r.To = strings.Split(to, " ")
	}
	return r
}

func statsOf(records ...*journal.Record) *stats {
	s := newStats(statsFlags{})
	for _, r := range records {
		s.count(r)
	}
	return s
}

// TestStatsOfCalls holds which answer belongs to which call, and whose it is.
func TestStatsOfCalls(t *testing.T) {
	const call, reply = "mcp/request:tools/call:read", "mcp/response:tools/call:read"
	usage := func(tokens string) string {
		return `{"result":{"_meta":{"parley/response":{"profile":"minimal","tokens":` + tokens + `,"saved":` + tokens + `}}}}`
	}
	for _, c := range []struct {
		name    string
		records []*journal.Record
		want    callRow
		tokens  string // PARTICIPANT TOKENS SAVED
	}{
		{"answered", []*journal.Record{entry(0, "1", "you", "files", call, `{}`), entry(40, "2", "files", "you", reply, `{"result":{}}`, "1")},
			callRow{Calls: 1, Answered: 1, P50: new(int64(40))}, ""},
		{"failed", []*journal.Record{entry(0, "1", "you", "files", call, `{}`), entry(3, "2", "files", "you", reply, `{"result":{"isError":true}}`, "1")},
			callRow{Calls: 1, Answered: 1, Failed: 1, P50: new(int64(3))}, ""},
		{"refused by the server", []*journal.Record{entry(0, "1", "you", "files", call, `{}`), entry(3, "2", "files", "you", reply, `{"error":{"code":-1}}`, "1")},
			callRow{Calls: 1, Answered: 1, Failed: 1, P50: new(int64(3))}, ""},
		{"not answered", []*journal.Record{entry(0, "1", "you", "files", call, `{}`)}, callRow{Calls: 1}, ""},
		{"answered by somebody else", []*journal.Record{entry(0, "1", "you", "files", call, `{}`), entry(1, "2", "mallory", "you", reply, usage("9"), "1")}, callRow{Calls: 1}, ""},
		{"answered twice", []*journal.Record{entry(0, "1", "you", "files", call, `{}`), entry(1, "2", "files", "you", reply, usage("9"), "1"), entry(1, "3", "files", "you", reply, usage("9"), "1")},
			callRow{Calls: 1, Answered: 1, P50: new(int64(1))}, "you 9 9"},
		{"of a proposal", []*journal.Record{
			entry(0, "p", "agent", "files", "mcp/proposal:tools/call:read", `{}`),
			entry(5, "1", "you", "files agent", call, `{}`, "p"), entry(6, "2", "files", "you agent", reply, usage("5"), "1"),
		}, callRow{Calls: 1, Answered: 1, P50: new(int64(1))}, "agent 5 5"},
		{"of another proposal", []*journal.Record{
			entry(0, "p", "agent", "files", "mcp/proposal:tools/call:write", `{}`),
			entry(5, "1", "you", "files", call, `{}`, "p"), entry(6, "2", "files", "you", reply, usage("5"), "1"),
		}, callRow{Calls: 1, Answered: 1, P50: new(int64(1))}, "you 5 5"},
		{"more tokens than bytes", []*journal.Record{entry(0, "1", "you", "files", call, `{}`), entry(1, "2", "files", "you", reply, usage("1e99"), "1")},
			callRow{Calls: 1, Answered: 1, P50: new(int64(1))}, "you 78 1048576"},
		{"tokens below nought", []*journal.Record{entry(0, "1", "you", "files", call, `{}`), entry(1, "2", "files", "you", reply, usage("-7"), "1")},
			callRow{Calls: 1, Answered: 1, P50: new(int64(1))}, "you 0 0"},
		{"before it was asked", []*journal.Record{entry(9, "1", "you", "files", call, `{}`), entry(1, "2", "files", "you", reply, `{}`, "1")},
			callRow{Calls: 1, Answered: 1, P50: new(int64(0))}, ""},
	} {
		s := statsOf(c.records...)
		rows := s.callRows()
		if len(rows) != 1 {
			t.Errorf("%s: %+v", c.name, rows)
			continue
		}
		got, want := rows[0], c.want
		if got.Server != "files" || got.Tool != "read" || got.Calls != want.Calls || got.Answered != want.Answered || got.Failed != want.Failed ||
			(got.P50 == nil) != (want.P50 == nil) || got.P50 != nil && *got.P50 != *want.P50 {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
		var tokens []string
		for _, a := range s.answerRows() {
			tokens = append(tokens, fmt.Sprintf("%s %d %d", a.Participant, a.Tokens, a.Saved))
		}
		if got := strings.Join(tokens, ", "); got != c.tokens {
			t.Errorf("%s: %q, want %q", c.name, got, c.tokens)
		}
	}
}

// TestStatsAreBounded counts what has no end of names.
func TestStatsAreBounded(t *testing.T) {
	s := newStats(statsFlags{})
	n := maxRecent + 10
	for i := range n {
		id := fmt.Sprint(i)
		s.count(entry(i, id, "p"+id, "s"+id, "mcp/request:tools/call:"+id, `{}`))
	}
	if len(s.open.by) != maxRecent || len(s.calls.by) != maxCounted+1 || len(s.said.by) != maxCounted+1 {
		t.Errorf("%d requests are remembered, of %d tools, by %d", len(s.open.by), len(s.calls.by), len(s.said.by))
	}
	if _, ok := s.open.get("9"); ok {
		t.Error("one of the oldest is remembered")
	}
	s.count(entry(n, "r", "s"+fmt.Sprint(n-1), "", "mcp/response:tools/call:x", `{}`, fmt.Sprint(n-1)))
	rows := s.callRows()
	if rows[0].Tool != otherName || rows[0].Calls != n-maxCounted || rows[0].Answered != 1 {
		t.Errorf("the rest is %+v", rows[0])
	}
}

func TestStatsOfRefusals(t *testing.T) {
	at := began
	s := statsOf(
		journal.NewRefusal(at, "agent", "1", "chat", journal.Refusal{Code: parley.RateLimited}, [16]byte{}),
		journal.NewRefusal(at, "agent", "", "", journal.Refusal{Code: parley.RateLimited, Count: 41}, [16]byte{}),
		journal.NewRefusal(at, "agent", "2", "chat", journal.Refusal{Code: parley.RateLimited}, [16]byte{}),
	)
	if got := fmt.Sprint(s.refusalRows()); got != "[{refusals agent flood 41} {refusals agent rate_limited 2}]" {
		t.Errorf("got %s", got)
	}
}

// TestStatsForPeople sees that names cannot act on a terminal, and that columns
// stand below each other.
func TestStatsForPeople(t *testing.T) {
	var out bytes.Buffer
	term := &terminal{out: &out, outTTY: true, json: choice{set: true}}
	s := statsOf(entry(0, "1", "you", "files", "mcp/request:tools/call:\x1b[31m"+strings.Repeat("x", 100), `{}`))
	if err := printStats(term, s, 0); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("it has escapes: %q", out.String())
	}
	out.Reset()
	long := table{title: "T", head: []string{"name", "n"}, texts: 1}
	long.add("a", "1")
	long.add("größer", "1000")
	w := bufio.NewWriter(&out)
	long.print(w, palette{}, 0)
	_ = w.Flush()
	if got := out.String(); got != "\nT\n  name       n\n  a          1\n  größer  1000\n" {
		t.Errorf("got %q", got)
	}
}

func FuzzStats(f *testing.F) {
	f.Add("mcp/request:tools/call:x", `{"result":{"_meta":{"parley/response":{"tokens":1}}}}`, "1")
	f.Fuzz(func(t *testing.T, kind, payload, id string) {
		if !jsontext.Value(payload).IsValid() {
			return
		}
		s := statsOf(entry(0, "1", "you", "files", kind, payload, id), entry(0, id, "files", "you", kind, payload, "1"))
		var out bytes.Buffer
		for _, asJSON := range []bool{true, false} {
			if err := printStats(&terminal{out: &out, json: choice{true, asJSON}}, s, 0); err != nil {
				t.Fatal(err)
			}
		}
	})
}
