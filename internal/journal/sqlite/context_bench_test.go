package sqlite

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// large is the size of the journal that words are searched in: a million are
// what docs/performance.md speaks of.
var large = flag.Int("large", 20_000, "envelopes of a large journal")

// opening is an envelope that opens a context below another.
func opening(n int) *journal.Record {
	e := &parley.Envelope{
		Protocol: parley.ProtocolMCPx, ID: talkID(n), TS: time.UnixMilli(1_700_000_000_000 + int64(n)).UTC(),
		From: fmt.Sprintf("agent-%d", n%100), Kind: "reflection", Payload: []byte(`{"text":"hm"}`),
		Context: &parley.Context{ID: fmt.Sprintf("0190b5a4-7c00-7000-8000-%012d", n), Type: "reasoning"},
	}
	if n%1000 == 0 {
		e.Context.Type = "rare"
	}
	if n > 1 {
		e.Context.Parent = fmt.Sprintf("0190b5a4-7c00-7000-8000-%012d", max(n/8, 1))
	}
	return journal.Envelope(e, parley.SplitKind(e.Kind), [16]byte{1})
}

// BenchmarkContexts asks for contexts out of 100,000.
func BenchmarkContexts(b *testing.B) {
	const n = 100_000
	j, l, sink := openBench(b, Options{Sync: Off})
	sink.want = n
	for i := 1; i <= n; i++ {
		l.Append(opening(i))
	}
	<-sink.done
	if err := j.WaitIndexed(b.Context(), "bench", n); err != nil {
		b.Fatal(err)
	}
	id := func(n int) string { return opening(n).Context }
	var hundred []string
	for i := range 100 {
		hundred = append(hundred, id(1+i*997%n))
	}
	for _, c := range []struct {
		name string
		q    journal.ContextQuery
		want int
	}{
		{"page", journal.ContextQuery{After: n / 2, Limit: 100}, 100},
		{"newest", journal.ContextQuery{Newest: true, Limit: 100}, 100},
		{"type", journal.ContextQuery{Type: "rare", Limit: 100}, 100},
		{"open", journal.ContextQuery{Since: opening(n - 50).TS, Limit: 100}, 51},
		{"concluded", journal.ContextQuery{Until: opening(n - 50).TS, Limit: 100}, 100},
		{"kinds", journal.ContextQuery{Limit: 100, Kinds: true}, 100},
		{"children", journal.ContextQuery{Parent: id(1000), Limit: 100}, 8},
		{"opener", journal.ContextQuery{Opener: "agent-7", Limit: 100}, 100},
		{"id", journal.ContextQuery{ID: id(n / 2), Kinds: true}, 1},
		{"ids", journal.ContextQuery{IDs: hundred}, 100},
		{"subtree", journal.ContextQuery{Tree: id(200)}, 73},
		{"largeSubtree", journal.ContextQuery{Tree: id(1), After: n / 2, Limit: 100}, 100},
		{"sparseSubtree", journal.ContextQuery{Tree: id(3), After: n / 2, Limit: 100}, 100},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				got := 0
				for _, err := range l.Contexts(b.Context(), c.q) {
					if err != nil {
						b.Fatal(err)
					}
					got++
				}
				if got != c.want {
					b.Fatalf("found %d, want %d", got, c.want)
				}
			}
		})
	}
	b.Run("pageAsDeepAsNow", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, err := range journal.NewAncestry(l, 64).Contexts(b.Context(), journal.ContextQuery{After: n / 2, Limit: 100}) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkIndexContexts is what the index costs per envelope, without contexts,
// with a hundred, and where each envelope opens its own.
func BenchmarkIndexContexts(b *testing.B) {
	for _, c := range []struct {
		name    string
		context func(n int) string
	}{
		{"none", func(int) string { return "" }},
		{"hundred", func(n int) string { return opening(1 + n%100).Context }},
		{"each", func(n int) string { return opening(n).Context }},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "parley.db")
			j, l, sink := openBenchAt(b, Options{Path: path, Sync: Off})
			sink.want = int64(b.N)
			for n := 1; n <= b.N; n++ {
				r := opening(n)
				if r.Context = c.context(n); r.Context == "" {
					r.Parent = ""
				}
				l.Append(r)
			}
			<-sink.done
			if err := errors.Join(j.Close(), os.Remove(path+"-search")); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			j, err := Open(b.Context(), Options{Path: path})
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			if err := j.WaitIndexed(b.Context(), "bench", uint64(b.N)); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkSearchLarge searches for a word that ten envelopes of many hold.
func BenchmarkSearchLarge(b *testing.B) {
	j, l, sink := openBench(b, Options{Sync: Off})
	sink.want = int64(*large)
	for n := 1; n <= *large; n++ {
		text := fmt.Sprintf("message %d of many about the usual", n)
		if n%(*large/10) == 0 {
			text += " needle"
		}
		l.Append(message(n, text))
	}
	<-sink.done
	if err := j.WaitIndexed(b.Context(), "bench", uint64(*large)); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		q    journal.Query
		want int
	}{
		{"selective", journal.Query{Text: "needle"}, 10},
		{"selectiveAndCommon", journal.Query{Text: "needle usual"}, 10},
		{"common", journal.Query{Text: "usual", Newest: true, Limit: 50}, 50},
	} {
		b.Run(fmt.Sprintf("%s/%d", c.name, *large), func(b *testing.B) {
			for b.Loop() {
				got := 0
				for _, err := range l.Read(b.Context(), c.q) {
					if err != nil {
						b.Fatal(err)
					}
					got++
				}
				if got != c.want {
					b.Fatalf("found %d, want %d", got, c.want)
				}
			}
		})
	}
}
