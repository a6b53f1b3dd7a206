package journaltest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// within is an envelope of a context, which is given as it is sent.
func within(n int, context string) *journal.Record {
	return record(inContext(n, context))
}

func inContext(n int, context string) *parley.Envelope {
	text := fmt.Sprintf(`{"id":"e-%d","kind":"chat","from":"ann","context":%s,"payload":{"text":"message %d"}}`, n, context, n)
	e, err := parley.Decode([]byte(text), 0)
	if err != nil {
		panic(err) // the suite's own envelopes are right
	}
	e.TS = start.Add(time.Duration(n) * time.Second)
	return e
}

// contexts collects what a query finds.
func (s *suite) contexts(r journal.Reader, q journal.ContextQuery) []*journal.Context {
	s.Helper()
	var all []*journal.Context
	for c, err := range r.Contexts(s.Context(), q) {
		s.check(err)
		all = append(all, c)
	}
	return all
}

func (s *suite) context(r journal.Reader, id string) *journal.Context {
	s.Helper()
	all := s.contexts(r, journal.ContextQuery{ID: id, Kinds: true})
	if len(all) != 1 {
		s.Fatalf("%d contexts have the id %q", len(all), id)
	}
	return all[0]
}

func contextIDs(all []*journal.Context) string {
	var ids []string
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return strings.Join(ids, " ")
}

// family holds a tree, a circle of parents, a parent that nobody has opened, and
// the string form.
func family() []*journal.Record {
	return []*journal.Record{
		within(1, `{"id":"root","type":"reasoning","metadata":{"n":1}}`),
		within(2, `{"id":"child","parent":"root","type":"workflow"}`),
		record(chat(3, "nothing to do with it")),
		within(4, `{"id":"grandchild","parent":"child"}`),
		within(5, `{"id":"child","parent":"elsewhere","type":"other"}`),
		within(6, `{"id":"round-a","parent":"round-b"}`),
		within(7, `{"id":"round-b","parent":"round-a"}`),
		within(8, `{"id":"orphan","parent":"nobody"}`),
		within(9, `"a/b/c"`),
		within(10, `"a/b"`),
		within(11, `{"id":"late","parent":"root","metadata":{}}`),
		within(12, `{"id":"root","metadata":{"n":2}}`),
	}
}

var contextTable = []struct {
	what string
	q    journal.ContextQuery
	want string
}{
	{"all", journal.ContextQuery{}, "root child grandchild round-a round-b orphan a/b/c a/b late"},
	{"newest first", journal.ContextQuery{Newest: true, Limit: 3}, "late a/b a/b/c"},
	{"a page", journal.ContextQuery{After: 2, Limit: 2}, "grandchild round-a"},
	{"a page backwards", journal.ContextQuery{Before: 7, Newest: true, Limit: 2}, "round-a grandchild"},
	{"between", journal.ContextQuery{After: 1, Before: 7}, "child grandchild round-a"},
	{"one", journal.ContextQuery{ID: "a/b/c"}, "a/b/c"},
	{"one that is not there", journal.ContextQuery{ID: "nobody"}, ""},
	{"several", journal.ContextQuery{IDs: []string{"late", "nobody", "root", "a/b", "late"}}, "root a/b late"},
	{"a page of several", journal.ContextQuery{IDs: []string{"late", "root", "a/b"}, After: 1, Limit: 1}, "a/b"},
	{"several of a tree", journal.ContextQuery{IDs: []string{"late", "grandchild", "a/b"}, Tree: "child"}, "grandchild"},
	{"one among several", journal.ContextQuery{ID: "root", IDs: []string{"late", "a/b"}}, ""},
	{"children", journal.ContextQuery{Parent: "root"}, "child late"},
	{"a tree", journal.ContextQuery{Tree: "root"}, "root child grandchild late"},
	{"a part of a tree", journal.ContextQuery{Tree: "root", After: 1, Limit: 2}, "child grandchild"},
	{"a circle", journal.ContextQuery{Tree: "round-b"}, "round-a round-b"},
	{"what nobody has opened", journal.ContextQuery{Tree: "nobody"}, "orphan"},
	{"the string form", journal.ContextQuery{Tree: "a/b"}, "a/b/c a/b"},
	{"type", journal.ContextQuery{Type: "workflow"}, "child"},
	{"opener", journal.ContextQuery{Opener: "ann", Limit: 2}, "root child"},
	{"no such opener", journal.ContextQuery{Opener: "bob"}, ""},
	{"touched since", journal.ContextQuery{Since: start.Add(11 * time.Second)}, "root late"},
	{"touched since a moment later", journal.ContextQuery{Since: start.Add(11*time.Second + 1)}, "root"},
	{"touched until", journal.ContextQuery{Until: start.Add(6 * time.Second)}, "child grandchild"},
	{"touched until a moment later", journal.ContextQuery{Until: start.Add(6*time.Second + 1)}, "child grandchild round-a"},
	{"odd ids", journal.ContextQuery{Tree: "\xff\x00'\"%"}, ""},
}

func contexts(s *suite) {
	l, sink := s.open("demo")
	other, otherSink := s.open("other") // what must not be found
	appendAll(l, family())
	appendAll(other, family())
	sink.WaitDurable(12)
	otherSink.WaitDurable(12)
	look := func(when string) {
		s.Helper()
		for _, c := range contextTable {
			if got := contextIDs(s.contexts(l, c.q)); got != c.want {
				s.Errorf("%s, %s: %s, want %s", when, c.what, got, c.want)
			}
		}
		at := func(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }
		for _, want := range []*journal.Context{
			{ID: "root", Type: "reasoning", Opener: "ann", Depth: 1, First: 1, Last: 12, Opened: at(1), Touched: at(12), Count: 2, Noted: 12},
			{ID: "child", Type: "workflow", Parent: "root", Opener: "ann", Depth: 2, First: 2, Last: 5, Opened: at(2), Touched: at(5), Count: 2},
			{ID: "grandchild", Parent: "child", Opener: "ann", Depth: 3, First: 4, Last: 4, Opened: at(4), Touched: at(4), Count: 1},
			{ID: "orphan", Parent: "nobody", Opener: "ann", Depth: 2, First: 8, Last: 8, Opened: at(8), Touched: at(8), Count: 1},
			{ID: "a/b/c", Parent: "a/b", Opener: "ann", Depth: 2, First: 9, Last: 9, Opened: at(9), Touched: at(9), Count: 1},
		} {
			want.Kinds = map[string]uint64{"chat": want.Count}
			if got := s.context(l, want.ID); !reflect.DeepEqual(got, want) {
				s.Errorf("%s: %+v\nwant %+v", when, got, want)
			}
		}
	}
	look("at once")
	s.settle("demo", 12)
	look("indexed")
	s.reopen()
	l, _ = s.open("demo")
	look("after a restart")
	if got := contextIDs(s.contexts(l, journal.ContextQuery{Settled: true, Tree: "root"})); got != "root child grandchild late" {
		s.Errorf("settled: %s", got)
	}
	for _, err := range l.Contexts(canceled(), journal.ContextQuery{}) {
		if err == nil {
			s.Error("a query whose context has ended found something")
		}
	}
}

// contextKinds counts kinds without their subjects, and not too many of them.
func contextKinds(s *suite) {
	l, sink := s.open("demo")
	const n = 3 * journal.MostKinds
	for i := 1; i <= n; i++ {
		e := inContext(i, `{"id":"c"}`)
		e.Kind = fmt.Sprintf("x%d/y", (i+1)/2)
		if i <= 4 {
			e.Kind = "mcp/request:tools/call:" + e.ID
		}
		if i == 7 {
			e.Kind = journal.KindConclusion
		}
		l.Append(record(e))
		if i == n/2 {
			sink.WaitDurable(i)
			s.settle("demo", uint64(i))
		}
	}
	sink.WaitDurable(n)
	look := func(when string) {
		s.Helper()
		c, sum := s.context(l, "c"), uint64(0)
		for _, n := range c.Kinds {
			sum += n
		}
		if len(c.Kinds) != journal.MostKinds+1 || sum != n || c.Count != n || c.Concluded != 7 ||
			c.Kinds["mcp/request:tools/call"] != 4 || c.Kinds[journal.OtherKinds] == 0 {
			s.Errorf("%s: %+v", when, c)
		}
	}
	look("at once")
	s.settle("demo", n)
	look("indexed")
	if c := s.contexts(l, journal.ContextQuery{})[0]; c.Kinds != nil {
		s.Errorf("nobody asked for %v", c.Kinds)
	}
}

// concluding is a conclusion in a context, which is given as it is sent.
func concluding(n int, context string) *journal.Record {
	e := inContext(n, context)
	e.Kind = journal.KindConclusion
	return record(e)
}

const (
	summary  = `{"id":"c","metadata":{"summary_of":"c","through":9}}`
	decision = `{"id":"c","metadata":{"confidence":0.95}}`
)

// ending is what a context says of its metadata and of what it came to.
type ending struct{ noted, concluded, summed uint64 }

func (s *suite) ends(l journal.Reader, when string, want ending) {
	s.Helper()
	if c := s.context(l, "c"); (ending{c.Noted, c.Concluded, c.Summed}) != want {
		s.Errorf("%s: %+v, want %+v", when, c, want)
	}
}

// contextsSummedUp: a summary takes the place of no conclusion and of no metadata,
// whoever says that it is one.
func contextsSummedUp(s *suite) {
	l, sink := s.open("demo")
	var last ending
	for i, step := range []struct {
		r    *journal.Record
		want ending
	}{
		{concluding(1, summary), ending{0, 0, 1}},
		{within(2, decision), ending{2, 0, 1}},
		{concluding(3, summary), ending{2, 0, 3}},
		{concluding(4, `{"id":"c","metadata":{"summary_of":"another"}}`), ending{4, 4, 0}},
		{concluding(5, summary), ending{4, 4, 5}},
		{within(6, summary), ending{4, 4, 5}},
		{concluding(7, `{"id":"c","metadata":{"summary_of":["c"]}}`), ending{7, 7, 0}},
		{concluding(8, summary), ending{7, 7, 8}},
	} {
		l.Append(step.r)
		sink.WaitDurable(i + 1)
		if i%2 > 0 { // the index has read a part
			s.settle("demo", uint64(i+1))
		}
		s.ends(l, "after "+step.r.ID, step.want)
		last = step.want
	}
	s.reopen()
	l, _ = s.open("demo")
	s.ends(l, "after a restart", last)
}

// contextsSummaryRedacted: of what was redacted nobody knows whether it was a summary,
// and what may have been a decision hides the older ones.
func contextsSummaryRedacted(s *suite) {
	l, sink := s.open("demo")
	appendAll(l, []*journal.Record{
		concluding(1, decision), concluding(2, summary), concluding(3, decision), concluding(4, summary), concluding(5, summary),
	})
	n := 5
	sink.WaitDurable(n)
	s.settle("demo", uint64(n))
	strike := func(seq uint64, want ending) {
		s.Helper()
		id := fmt.Sprint("e-", seq)
		l.Append(redact(id))
		n++
		sink.WaitDurable(n)
		s.redact(l, id, uint64(n), seq)
		s.ends(l, "without "+id, want)
	}
	s.ends(l, "before", ending{3, 3, 5})
	strike(2, ending{3, 3, 5})
	strike(4, ending{3, 4, 5})
	strike(3, ending{1, 4, 5})
	strike(5, ending{1, 5, 0})
	s.reopen()
	l, _ = s.open("demo")
	s.ends(l, "after a restart", ending{1, 5, 0})
}

// contextsRedacted: what was redacted is not known of a context any more.
func contextsRedacted(s *suite) {
	l, sink := s.open("demo")
	appendAll(l, []*journal.Record{
		within(1, `{"id":"c","type":"secret","metadata":{"n":1}}`),
		within(2, `{"id":"c","type":"secret","metadata":{"n":2}}`),
		within(3, `{"id":"c"}`),
		within(4, `{"id":"c","metadata":{"n":4}}`),
	})
	sink.WaitDurable(4)
	want := func(typ string, noted uint64) {
		s.Helper()
		if c := s.context(l, "c"); c.Type != typ || c.Noted != noted || c.Count != 4 {
			s.Errorf("the context is %+v, want type %q, noted %d", c, typ, noted)
		}
	}
	n := uint64(4)
	strike := func(id string, seq uint64) {
		s.Helper()
		l.Append(redact(id))
		n++
		sink.WaitDurable(int(n))
		s.redact(l, id, n, seq)
	}
	want("secret", 4)
	s.settle("demo", n)
	strike("e-4", 4)
	want("secret", 2)
	strike("e-2", 2)
	want("secret", 1)
	s.settle("demo", n)
	want("secret", 1)
	strike("e-1", 1)
	want("", 0)
	s.settle("demo", n)
	want("", 0)
	s.reopen()
	l, _ = s.open("demo")
	want("", 0)
}

// contextsDropped: what retention dropped counts no more.
func contextsDropped(s *suite) {
	l, sink := s.open("demo")
	appendAll(l, []*journal.Record{
		within(1, `{"id":"gone"}`),
		within(2, `{"id":"long","type":"reasoning","parent":"gone","metadata":{}}`),
		concluding(3, `{"id":"long"}`),
		within(4, `{"id":"gone"}`),
		within(5, `{"id":"under","parent":"gone"}`),
		within(6, `{"id":"long","parent":"gone"}`),
		within(7, `{"id":"gone-before","parent":"gone"}`),
		concluding(8, `{"id":"long","metadata":{"summary_of":"long"}}`),
		within(9, `{"id":"new","parent":"long"}`),
		within(10, `{"id":"gone-before"}`),
	})
	sink.WaitDurable(10)
	s.settle("demo", 9) // the last may still be unknown
	all := s.read(l, journal.Query{Chain: true})
	l.Append(checkpoint(10, `{"state":1}`))
	l.Append(marker(10, dropped(all, journal.Head{}, 4)))
	l.Append(within(13, `{"id":"gone","parent":"new"}`))
	l.Append(checkpoint(13, `{"state":2}`))
	sink.WaitDurable(14)
	look := func(when string) {
		s.Helper()
		if got := contextIDs(s.contexts(l, journal.ContextQuery{})); got != "under long gone-before new gone" {
			s.Errorf("%s: %s", when, got)
		}
		if got := contextIDs(s.contexts(l, journal.ContextQuery{After: 6, Limit: 2})); got != "gone-before new" {
			s.Errorf("%s, a page: %s", when, got)
		}
		c := s.context(l, "long")
		if c.First != 6 || !c.Opened.Equal(start.Add(6*time.Second)) || c.Last != 8 || c.Count != 2 || c.Noted != 0 || c.Concluded != 0 || c.Summed != 8 ||
			c.Parent != "gone" || !reflect.DeepEqual(c.Kinds, map[string]uint64{"chat": 1, "conclusion": 1}) {
			s.Errorf("%s: %+v", when, c)
		}
		if c := s.context(l, "gone"); c.First != 11 || c.Parent != "new" || c.Count != 1 {
			s.Errorf("%s: %+v", when, c)
		}
		if got := contextIDs(s.contexts(l, journal.ContextQuery{Tree: "new"})); got != "under long gone-before new gone" {
			s.Errorf("%s, the tree below new: %s", when, got)
		}
	}
	look("at once")
	s.settle("demo", 11)
	look("indexed")
	s.reopen()
	l, sink = s.open("demo")
	look("after a restart")
	all = s.read(l, journal.Query{Chain: true})
	floor := journal.Head{Index: 4, Seq: 4}
	l.Append(marker(20, dropped(all, floor, 10)))
	sink.WaitDurable(1)
	if got := contextIDs(s.contexts(l, journal.ContextQuery{})); got != "gone" {
		s.Errorf("left are %s", got)
	}
}

// contextsAgainstModel asks at random and compares with all that is on record,
// while the index has read a part.
func contextsAgainstModel(s *suite) {
	const n = 600
	rnd := rand.New(rand.NewPCG(3, 4))
	name := func() string { return fmt.Sprintf("c%d", rnd.IntN(60)) }
	l, sink := s.open("demo")
	model := journal.NewTree()
	for i := 1; i <= n; i++ {
		e := chat(i, "x")
		e.Kind = []string{"chat", journal.KindConclusion, "mcp/request:tools/call:a"}[rnd.IntN(3)]
		e.From = []string{"ann", "bob"}[rnd.IntN(2)]
		if rnd.IntN(5) > 0 {
			c := &parley.Context{ID: name(), Type: []string{"", "a", "b"}[rnd.IntN(3)]}
			if p := name(); p != c.ID && rnd.IntN(4) > 0 {
				c.Parent = p
			}
			switch rnd.IntN(9) {
			case 0:
				c.Metadata = jsontext.Value(`{"n":1}`)
			case 1, 2:
				c.Metadata = jsontext.Value(fmt.Sprintf(`{"summary_of":%q}`, c.ID))
			}
			e.Context = c
		}
		r := record(e)
		l.Append(r)
		kept := record(e)
		kept.Seq = uint64(i)
		model.Add(kept)
		if i%40 > 0 || i > n-80 {
			continue
		}
		sink.WaitDurable(i)
		s.settle("demo", uint64(i))
		s.compareContexts(l, model, rnd, 3)
	}
	sink.WaitDurable(n)
	s.compareContexts(l, model, rnd, 100)
	s.settle("demo", n)
	s.compareContexts(l, model, rnd, 300)
}

func (s *suite) compareContexts(l journal.Reader, model *journal.Tree, rnd *rand.Rand, times int) {
	s.Helper()
	maybe := func(text string) string {
		if rnd.IntN(4) > 0 {
			return ""
		}
		return text
	}
	name := func() string { return fmt.Sprintf("c%d", rnd.IntN(60)) }
	for range times {
		q := journal.ContextQuery{
			After: uint64(rnd.IntN(3) * rnd.IntN(100)), Before: uint64(rnd.IntN(2) * rnd.IntN(600)), Limit: rnd.IntN(3) * 5, Newest: rnd.IntN(2) == 0,
			ID: maybe(maybe(name())), Parent: maybe(maybe(name())), Tree: maybe(name()), Type: maybe("a"), Opener: maybe("bob"), Kinds: rnd.IntN(2) == 0,
		}
		if rnd.IntN(5) == 0 {
			q.Since = start.Add(time.Duration(rnd.IntN(600)) * time.Second)
		}
		if rnd.IntN(5) == 0 {
			q.Until = start.Add(time.Duration(rnd.IntN(600)) * time.Second)
		}
		got, want := s.contexts(l, q), model.Select(q)
		same := slices.EqualFunc(got, want, func(a, b *journal.Context) bool { return reflect.DeepEqual(a, b) })
		if !same {
			s.Fatalf("%+v:\n%s, want\n%s", q, contextIDs(got), contextIDs(want))
		}
	}
}

// manyContexts asks for the envelopes of more contexts than an index is asked for.
func manyContexts(s *suite) {
	const n = 700
	l, sink := s.open("demo")
	var ids []string
	for i := 1; i <= n; i++ {
		l.Append(within(i, fmt.Sprintf(`{"id":"c-%d"}`, i)))
		ids = append(ids, fmt.Sprintf("c-%d", i))
	}
	sink.WaitDurable(n)
	for _, indexed := range []bool{false, true} {
		if indexed {
			s.settle("demo", n)
		}
		for _, most := range []int{1, 9, 256, 257, 600} {
			for _, text := range []string{"", "message"} {
				q := journal.Query{Contexts: ids[:most], Text: text}
				if got := s.read(l, q); len(got) != most || got[most-1].Seq != uint64(most) {
					s.Errorf("%d contexts with %q have %d envelopes", most, text, len(got))
				}
			}
		}
		if got := seqs(s.read(l, journal.Query{Contexts: ids[:600], Text: "599"})); !slices.Equal(got, []uint64{599}) {
			s.Errorf("a word in many contexts: %d", got)
		}
	}
}
