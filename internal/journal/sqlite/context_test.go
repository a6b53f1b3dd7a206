package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/journaltest"
)

// thought is an envelope of one of some contexts, of which each has those before
// it for parents.
func thought(n, contexts int) *journal.Record {
	e := &parley.Envelope{
		Protocol: parley.ProtocolMCPx, ID: talkID(n), TS: time.UnixMilli(1_700_000_000_000 + int64(n)).UTC(),
		From: fmt.Sprintf("agent-%d", n%3), Kind: fmt.Sprintf("reflection/%d", n%5), Payload: []byte(`{"text":"hm"}`),
	}
	if c := n % contexts; n%7 > 0 {
		e.Context = &parley.Context{ID: fmt.Sprintf("c-%d", c), Type: "reasoning"}
		if c > 0 {
			e.Context.Parent = fmt.Sprintf("c-%d", c/4)
		}
		if n%3 == 0 {
			e.Kind = journal.KindConclusion
		}
		switch n % 11 {
		case 0:
			e.Context.Metadata = []byte(`{"n":1}`)
		case 1, 2, 3:
			e.Context.Metadata = fmt.Appendf(nil, `{"summary_of":%q}`, e.Context.ID)
		}
	}
	return journal.Envelope(e, parley.SplitKind(e.Kind), [16]byte{1})
}

// think appends thoughts and waits until they are durable.
func think(l journal.Log, sink *journaltest.Sink, from, to, contexts int) {
	for n := from; n <= to; n++ {
		l.Append(thought(n, contexts))
	}
	sink.WaitDurable(to)
}

// fromIndex reads contexts in pages of the index, without the way around it.
func fromIndex(t *testing.T, l journal.Reader, q journal.ContextQuery) []*journal.Context {
	t.Helper()
	s, ok := l.(*spaceReader)
	if !ok {
		s = &l.(*log).spaceReader
	}
	page, err := s.contextPage(t.Context(), q, 1<<20)
	must(t, err)
	return page
}

// sameContexts compares what the index says with what all that is on record
// says. What the first envelope said may have been dropped since.
func sameContexts(t *testing.T, l journal.Reader, when string, droppedFirst bool) {
	t.Helper()
	for _, q := range []journal.ContextQuery{{Kinds: true}, {Tree: "c-1"}, {Tree: "c-1", Newest: true}, {Tree: "c-0"}, {Parent: "c-0", Kinds: true}, {Opener: "agent-2"}} {
		if droppedFirst && q.Opener != "" {
			continue
		}
		var want []*journal.Context
		for c, err := range journal.ScanContexts(t.Context(), l, q) {
			must(t, err)
			want = append(want, c)
		}
		got := fromIndex(t, l, q)
		same := slices.EqualFunc(got, want, func(a, b *journal.Context) bool {
			if droppedFirst {
				a.Opener, a.Depth = b.Opener, b.Depth
			}
			return reflect.DeepEqual(a, b)
		})
		if !same {
			t.Errorf("%s, %+v: the index has %d contexts, the record %d", when, q, len(got), len(want))
			for i := range min(len(got), len(want)) {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Fatalf("%+v\nwant %+v", got[i], want[i])
				}
			}
		}
	}
}

func TestContextsFromAnIndexThatIsBehind(t *testing.T) {
	j := open(t, Options{Path: filepath.Join(t.TempDir(), "parley.db")})
	l, sink := openLog(t, j)
	think(l, sink, 1, 500, 40)
	must(t, j.WaitIndexed(t.Context(), "demo", 500))
	sameContexts(t, l, "indexed", false)
	j.index.stop()
	think(l, sink, 501, 700, 60)
	if got := l.(*log).space.indexed.Load(); got != 500 {
		t.Fatalf("the index has read %d", got)
	}
	sameContexts(t, l, "with a tail", false)
	if got := fromIndex(t, l, journal.ContextQuery{Settled: true}); len(got) != 40 {
		t.Errorf("settled are %d contexts", len(got))
	}
	all := len(fromIndex(t, l, journal.ContextQuery{}))
	drop(t, l, sink, 400)
	sameContexts(t, l, "with a tail and what is not forgotten", true)
	drop(t, l, sink, 100)
	sameContexts(t, l, "where nothing that was indexed is left", true)
	if got := len(fromIndex(t, l, journal.ContextQuery{})); got >= all {
		t.Errorf("%d contexts of %d are left", got, all)
	}
	if got := fromIndex(t, l, journal.ContextQuery{Settled: true}); len(got) > 0 {
		t.Errorf("settled are %d contexts", len(got))
	}
}

// A page out of many is what a look at all of the record gives.
func TestContextsOfManyPages(t *testing.T) {
	j := open(t, Options{Path: filepath.Join(t.TempDir(), "parley.db")})
	l, sink := openLog(t, j)
	think(l, sink, 1, 6_000, 3_000)
	must(t, j.WaitIndexed(t.Context(), "demo", 6_000))
	for _, tail := range []bool{false, true} {
		if tail {
			j.index.stop()
			think(l, sink, 6_001, 6_500, 3_500)
		}
		model := journal.NewTree()
		for r, err := range l.Read(t.Context(), journal.Query{}) {
			must(t, err)
			model.Add(r)
		}
		for _, q := range []journal.ContextQuery{
			{}, {Newest: true}, {Tree: "c-0"}, {Tree: "c-0", Newest: true, Kinds: true}, {Limit: 1_500, Tree: "c-0"},
			{Tree: "c-0", Limit: 100}, {Tree: "c-0", Limit: 100, After: 2_900}, {Tree: "c-0", Limit: 100, Newest: true, Before: 3_000},
			{Tree: "c-1", Limit: 100}, {Tree: "c-1", Limit: 256, Newest: true}, {Tree: "c-1", Limit: 200, Type: "reasoning", Opener: "agent-1"},
			{Tree: "c-700", Limit: 100}, {Since: thought(6_100, 1).TS}, {Since: thought(100, 1).TS, Limit: 100},
		} {
			want := model.Select(q)
			var got []*journal.Context
			for c, err := range l.Contexts(t.Context(), q) {
				must(t, err)
				got = append(got, c)
			}
			if !slices.EqualFunc(got, want, func(a, b *journal.Context) bool { return reflect.DeepEqual(a, b) }) {
				t.Errorf("tail: %v, %+v: %d contexts, want %d", tail, q, len(got), len(want))
			}
			if page := fromIndex(t, l, q); q.Limit == 0 && len(page) != len(want) {
				t.Errorf("tail: %v, %+v: %d contexts in one page, want %d", tail, q, len(page), len(want))
			}
		}
	}
}

// Whatever the index does meanwhile, each envelope counts once.
func TestContextsWhileTheIndexIsFed(t *testing.T) {
	j := open(t, Options{Path: filepath.Join(t.TempDir(), "parley.db"), Sync: Off})
	l, sink := openLog(t, j)
	const n = 5_000
	done := make(chan struct{})
	go func() {
		defer close(done)
		think(l, sink, 1, n, 50)
	}()
	durable := func() uint64 {
		seq := l.(*log).space.durable.Load()
		return seq - seq/7 // every seventh is in no context
	}
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		least, counted := durable(), uint64(0)
		for c, err := range l.Contexts(t.Context(), journal.ContextQuery{Kinds: true}) {
			must(t, err)
			counted += c.Count
			kinds := uint64(0)
			for _, n := range c.Kinds {
				kinds += n
			}
			if kinds != c.Count {
				t.Fatalf("%+v", c)
			}
		}
		if most := durable(); counted < least || counted > most {
			t.Fatalf("%d envelopes are counted, of %d to %d", counted, least, most)
		}
	}
}

// An index that is very far behind is no help, and not used.
func TestContextsFarBehind(t *testing.T) {
	j := open(t, Options{Path: filepath.Join(t.TempDir(), "parley.db"), Sync: Off})
	l, sink := openLog(t, j)
	j.index.stop()
	think(l, sink, 1, mostBehind+1, 5)
	s := &l.(*log).spaceReader
	if _, err := s.contextPage(t.Context(), journal.ContextQuery{}, 10); !errors.Is(err, errNoIndex) {
		t.Errorf("a page: %v", err)
	}
	n := uint64(0)
	for c, err := range l.Contexts(t.Context(), journal.ContextQuery{Parent: "c-0"}) {
		must(t, err)
		n += c.Count
	}
	if want := uint64((mostBehind + 1) * 3 / 5 * 6 / 7); n < want-3 || n > want+3 {
		t.Errorf("%d envelopes are counted, want %d", n, want)
	}
}

func TestContextsOfAnIndexThatForgets(t *testing.T) {
	j := open(t, Options{Path: filepath.Join(t.TempDir(), "parley.db")})
	l, sink := openLog(t, j)
	think(l, sink, 1, 1000, 100)
	must(t, j.WaitIndexed(t.Context(), "demo", 1000))
	for _, n := range []uint64{900, 500, 20} { // that are left
		d := drop(t, l, sink, n)
		until(t, "it is forgotten", func() bool { return l.(*log).space.forgotten.Load() == d.Through.Seq })
		sameContexts(t, l, fmt.Sprintf("%d are left", n), true)
	}
}

// An index that is made anew says the same, and another process reads it, or
// does without it.
func TestContextsWithoutTheIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path})
	l, sink := openLog(t, j)
	think(l, sink, 1, 600, 50)
	must(t, j.WaitIndexed(t.Context(), "demo", 600))
	before := fromIndex(t, l, journal.ContextQuery{Kinds: true})

	other := open(t, Options{Path: path, ReadOnly: true})
	r, err := other.Reader(t.Context(), "demo")
	must(t, err)
	sameContexts(t, r, "in another process", false)
	must(t, other.Close())
	must(t, j.Close())
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + "-search" + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}

	other = open(t, Options{Path: path, ReadOnly: true})
	r, err = other.Reader(t.Context(), "demo")
	must(t, err)
	var got []*journal.Context
	for c, err := range r.Contexts(t.Context(), journal.ContextQuery{Kinds: true}) {
		must(t, err)
		got = append(got, c)
	}
	if !reflect.DeepEqual(got, before) {
		t.Error("without an index the contexts are others")
	}
	for c, err := range r.Contexts(t.Context(), journal.ContextQuery{Settled: true}) {
		if c != nil || !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
			t.Errorf("whoever must not wait got %v, %v", c, err)
		}
	}
	must(t, other.Close())

	j = open(t, Options{Path: path})
	l, _ = openLog(t, j)
	must(t, j.WaitIndexed(t.Context(), "demo", 600))
	if got := fromIndex(t, l, journal.ContextQuery{Kinds: true}); !reflect.DeepEqual(got, before) {
		t.Error("an index that was made anew has other contexts")
	}
}

// The type that a redacted envelope gave its context leaves the files.
func TestRedactedContextTypeLeavesTheFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path})
	l, sink := openLog(t, j)
	const secret = "swordfishes"
	e := &parley.Envelope{
		Protocol: parley.ProtocolMCPx, ID: talkID(1), TS: time.UnixMilli(1_700_000_000_000).UTC(), From: "ann", Kind: "chat",
		Context: &parley.Context{ID: "c", Type: secret, Metadata: []byte(`{"n":"` + secret + `"}`)}, Payload: []byte(`{}`),
	}
	l.Append(journal.Envelope(e, parley.SplitKind(e.Kind), [16]byte{1}))
	sink.WaitDurable(1)
	must(t, j.WaitIndexed(t.Context(), "demo", 1))
	if c := fromIndex(t, l, journal.ContextQuery{ID: "c"})[0]; c.Type != secret || c.Noted != 1 {
		t.Errorf("the context is %+v", c)
	}
	strike(t, l, talkID(1))
	if c := fromIndex(t, l, journal.ContextQuery{ID: "c"})[0]; c.Type != "" || c.Noted != 0 || c.Count != 1 {
		t.Errorf("then the context is %+v", c)
	}
	if wordIn(t, path, secret) {
		t.Errorf("%s is in the files", secret)
	}
}
