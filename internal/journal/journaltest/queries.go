package journaltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// corpus is a small conversation in which every condition selects some
// envelopes and not others.
func corpus() []*journal.Record {
	at := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	main := (*parley.Context)(nil)
	plan := &parley.Context{ID: "plan", Type: "reasoning"}
	sub := &parley.Context{ID: "plan/a", Parent: "plan"}
	const write = `{"method":"tools/call","params":{"name":"write_file","arguments":{"path":"notes/todo.md","content":"buy milk"}}}`
	one := func(n int, from, kind, effective string, to []string, corr []string, c *parley.Context, payload string) *journal.Record {
		e := &parley.Envelope{
			Protocol: parley.ProtocolMCPx, ID: fmt.Sprintf("q-%d", n), TS: at(n), From: from, To: to, Kind: kind,
			Correlation: parley.CorrelateWith(corr...), Context: c, Payload: []byte(payload),
		}
		return journal.Envelope(e, parley.SplitKind(effective), salt(e.ID))
	}
	return []*journal.Record{
		one(1, "ann", "chat", "chat", nil, nil, main, `{"text":"Good morning"}`),
		one(2, "bot", "mcp/proposal:tools/call", "mcp/proposal:tools/call:write_file", []string{"files"}, nil, plan, write),
		one(3, "ann", "mcp/request:tools/call:write_file", "mcp/request:tools/call:write_file", []string{"files"}, []string{"q-2"}, plan, write),
		one(4, "files", "mcp/response:tools/call", "mcp/response:tools/call:write_file", []string{"ann", "bot"}, []string{"q-3"}, plan, `{"result":{"content":[{"type":"text","text":"written"}]}}`),
		one(5, "bob", "chat", "chat", []string{"ann"}, []string{"q-1"}, main, `{"text":"morning, Ann"}`),
		one(6, "bot", "mcp/request:tools/list", "mcp/request:tools/list", []string{"files"}, nil, sub, `{"method":"tools/list"}`),
		one(7, "files", "mcp/response:tools/list", "mcp/response:tools/list", []string{"bot"}, []string{"q-6"}, sub, `{"result":{"tools":[]}}`),
		one(8, "bot", "chat/acknowledge", "chat/acknowledge", []string{"ann", "bob"}, []string{"q-1", "q-5"}, main, `{"text":"todo done"}`),
	}
}

var queryTable = []struct {
	what string
	q    journal.Query
	want []uint64
}{
	{"everything", journal.Query{}, []uint64{1, 2, 3, 4, 5, 6, 7, 8}},
	{"after", journal.Query{After: 6}, []uint64{7, 8}},
	{"after all", journal.Query{After: 8}, nil},
	{"before", journal.Query{Before: 3}, []uint64{1, 2}},
	{"before the first", journal.Query{Before: 1}, nil},
	{"between", journal.Query{After: 2, Before: 6}, []uint64{3, 4, 5}},
	{"nothing between", journal.Query{After: 6, Before: 3}, nil},
	{"limit", journal.Query{Limit: 3}, []uint64{1, 2, 3}},
	{"newest", journal.Query{Newest: true}, []uint64{8, 7, 6, 5, 4, 3, 2, 1}},
	{"newest and limit", journal.Query{Newest: true, Limit: 2}, []uint64{8, 7}},
	{"newest before", journal.Query{Newest: true, Before: 4, After: 1}, []uint64{3, 2}},

	{"id", journal.Query{ID: "q-4"}, []uint64{4}},
	{"an id that is not there", journal.Query{ID: "q-9"}, nil},
	{"an id is told by case", journal.Query{ID: "Q-4"}, nil},
	{"from", journal.Query{From: "bot"}, []uint64{2, 6, 8}},
	{"from, newest", journal.Query{From: "bot", Newest: true, Limit: 2}, []uint64{8, 6}},
	{"from nobody", journal.Query{From: "bo"}, nil},
	{"to", journal.Query{To: "ann"}, []uint64{4, 5, 8}},
	{"to nobody", journal.Query{To: "an"}, nil},
	{"correlation", journal.Query{Correlation: "q-1"}, []uint64{5, 8}},
	{"a correlation further back in its list", journal.Query{Correlation: "q-5"}, []uint64{8}},
	{"a correlation that is not there", journal.Query{Correlation: "q-8"}, nil},
	{"one context", journal.Query{Contexts: []string{"plan"}}, []uint64{2, 3, 4}},
	{"several contexts", journal.Query{Contexts: []string{"plan/a", "plan"}}, []uint64{2, 3, 4, 6, 7}},
	{"the main context", journal.Query{Contexts: []string{""}}, []uint64{1, 5, 8}},
	{"no such context", journal.Query{Contexts: []string{"pla"}}, nil},

	{"kind", journal.Query{Kinds: []string{"chat"}}, []uint64{1, 5}},
	{"kinds", journal.Query{Kinds: []string{"chat", "chat/*"}}, []uint64{1, 5, 8}},
	{"kind by type", journal.Query{Kinds: []string{"mcp/*"}}, []uint64{2, 3, 4, 6, 7}},
	{"kind by method", journal.Query{Kinds: []string{"mcp/request:*/list"}}, []uint64{6}},
	{"effective kind", journal.Query{Kinds: []string{"mcp/proposal:tools/call:write_*"}}, []uint64{2}},
	{"effective kind of a response", journal.Query{Kinds: []string{"mcp/*:tools/call:write_file"}}, []uint64{2, 3, 4}},
	{"written kind", journal.Query{Kinds: []string{"mcp/response:tools/call"}}, []uint64{4}},
	{"no such kind", journal.Query{Kinds: []string{"cha"}}, nil},

	{"since", journal.Query{Since: start.Add(7 * time.Minute)}, []uint64{7, 8}},
	{"since a moment later", journal.Query{Since: start.Add(7*time.Minute + time.Millisecond)}, []uint64{8}},
	{"until", journal.Query{Until: start.Add(3 * time.Minute)}, []uint64{1, 2}},
	{"since and until", journal.Query{Since: start.Add(3 * time.Minute), Until: start.Add(5 * time.Minute)}, []uint64{3, 4}},

	{"text", journal.Query{Text: "morning"}, []uint64{1, 5}},
	{"text by all words", journal.Query{Text: "ann morning"}, []uint64{1, 5}},
	{"text of a sender's name", journal.Query{Text: "bob"}, []uint64{5}},
	{"text, newest", journal.Query{Text: "morning", Newest: true, Limit: 1}, []uint64{5}},
	{"text within arguments", journal.Query{Text: "MILK"}, []uint64{2, 3}},
	{"text of a path", journal.Query{Text: "notes/todo.md"}, []uint64{2, 3}},
	{"member names are no text", journal.Query{Text: "arguments"}, nil},
	{"text that no envelope has all of", journal.Query{Text: "milk morning"}, nil},
	{"text of the kind", journal.Query{Text: "acknowledge"}, []uint64{8}},
	{"text of the effective kind", journal.Query{Text: "proposal write_file"}, []uint64{2}},

	{"all at once", journal.Query{
		After: 1, Before: 8, From: "ann", To: "files", Kinds: []string{"mcp/request:*"}, Contexts: []string{"plan"},
		Correlation: "q-2", Since: start, Until: start.Add(time.Hour), Text: "milk", ID: "q-3",
	}, []uint64{3}},
	{"all but one", journal.Query{From: "ann", Kinds: []string{"mcp/request:*"}, Contexts: []string{"plan/a"}}, nil},
}

func queries(s *suite) {
	l, sink := s.open("demo")
	appendAll(l, corpus())
	sink.WaitDurable(len(corpus()))
	run := func(when string) {
		for _, c := range queryTable {
			if got := seqs(s.read(l, c.q)); !slices.Equal(got, c.want) {
				s.Errorf("%s, %s: %d, want %d", when, c.what, got, c.want)
			}
		}
	}
	run("at once")
	s.settle("demo", 8)
	run("indexed")

	for _, q := range []journal.Query{{Kinds: []string{""}}, {Kinds: []string{"!chat"}}, {Kinds: []string{`{"kind":"chat"}`}}} {
		var err error
		for _, err = range l.Read(s.Context(), q) {
		}
		if !errors.Is(err, &parley.Error{Code: parley.InvalidArgument}) {
			s.Errorf("kinds %q: %v", q.Kinds, err)
		}
	}
}

// queriesAgainstModel asks at random and compares with a loop over everything,
// while the index has read a part.
func queriesAgainstModel(s *suite) {
	const n = 400
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	people := []string{"ann", "bob", "bot", "files"}
	words := []string{"red", "green", "blue", "Ocean"}
	l, sink := s.open("demo")
	other, otherSink := s.open("other") // what must not be found
	var all []*journal.Record
	for i := 1; i <= n; i++ {
		e := chat(i, pick(words...)+" "+pick(words...))
		e.From, e.Kind = pick(people...), pick("chat", "note", "mcp/request:tools/call:x")
		if rnd.IntN(2) == 0 {
			e.To = []string{pick(people...)}
		}
		if rnd.IntN(2) == 0 {
			e.Context = &parley.Context{ID: pick("c1", "c2")}
		}
		if i > 1 {
			e.Correlation = parley.CorrelateWith(fmt.Sprintf("e-%d", 1+rnd.IntN(min(i-1, 9))))
		}
		all = append(all, record(e))
		l.Append(record(e))
		other.Append(record(e))
		if i == n/2 {
			sink.WaitDurable(i)
			s.settle("demo", uint64(i))
		}
	}
	sink.WaitDurable(n)
	otherSink.WaitDurable(n)
	for i := range all {
		all[i].Seq = uint64(i + 1)
	}
	maybe := func(list ...string) string {
		if rnd.IntN(3) > 0 {
			return ""
		}
		return pick(list...)
	}
	for range 300 {
		q := journal.Query{
			From: maybe(people...), To: maybe(people...), Correlation: maybe("e-1", "e-5"), Text: maybe(words...),
			Newest: rnd.IntN(2) == 0, Limit: rnd.IntN(3) * 4, After: uint64(rnd.IntN(3) * rnd.IntN(n)), Before: uint64(rnd.IntN(2) * rnd.IntN(n)),
		}
		if c := maybe("c1", "c2"); c != "" {
			q.Contexts = []string{c}
		}
		if k := maybe("chat", "mcp/*"); k != "" {
			q.Kinds = []string{k}
		}
		if got, want := seqs(s.read(l, q)), model(all, q); !slices.Equal(got, want) {
			s.Fatalf("%+v: %d, want %d", q, got, want)
		}
	}
}

func model(all []*journal.Record, q journal.Query) []uint64 {
	m, err := journal.NewMatcher(q)
	if err != nil {
		panic(err) // the suite's own queries are right
	}
	got := []uint64{}
	for _, r := range all {
		if r.Seq > q.After && (q.Before == 0 || r.Seq < q.Before) && m.Header(r) && m.Body(r) {
			got = append(got, r.Seq)
		}
	}
	if q.Newest {
		slices.Reverse(got)
	}
	if q.Limit > 0 {
		got = got[:min(q.Limit, len(got))]
	}
	return got
}
