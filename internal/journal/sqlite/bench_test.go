package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// envelope has a body of about 300 bytes.
func envelope(n int) *journal.Record {
	e := &parley.Envelope{
		Protocol: parley.ProtocolMCPx,
		ID:       fmt.Sprintf("0190b5a4-7c00-7000-8000-%012d", n),
		TS:       time.UnixMilli(1_700_000_000_000 + int64(n)).UTC(),
		From:     "agent-1",
		To:       []string{"files"},
		Kind:     "mcp/request:tools/call:read_file",
		Payload:  []byte(`{"method":"tools/call","params":{"name":"read_file","arguments":{"path":"` + strings.Repeat("ab/", 10) + `readme.md"}}}`),
	}
	return journal.Envelope(e, parley.SplitKind(e.Kind), [16]byte{1})
}

// countingSink counts, and lets senders wait for their own record.
type countingSink struct {
	b    testing.TB
	n    atomic.Int64
	want int64
	done chan struct{}
}

func (s *countingSink) Durable(records []*journal.Record) {
	for _, r := range records {
		if c, ok := r.Token.(chan struct{}); ok {
			c <- struct{}{}
		}
	}
	if s.n.Add(int64(len(records))) == s.want {
		close(s.done)
	}
}

func (s *countingSink) Failed(_ []*journal.Record, err error) { s.b.Error(err) }

func openBench(b testing.TB, opts Options) (*Journal, journal.Log, *countingSink) {
	b.Helper()
	opts.Path = filepath.Join(b.TempDir(), "parley.db")
	return openBenchAt(b, opts)
}

func openBenchAt(b testing.TB, opts Options) (*Journal, journal.Log, *countingSink) {
	b.Helper()
	j, err := Open(b.Context(), opts)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { j.Close() })
	sink := &countingSink{b: b, want: -1, done: make(chan struct{})}
	l, err := j.Open(b.Context(), "bench", sink)
	if err != nil {
		b.Fatal(err)
	}
	return j, l, sink
}

// BenchmarkAppend is durable admission: each sender waits for its record before
// it sends the next.
func BenchmarkAppend(b *testing.B) {
	for _, sync := range []Sync{Normal, Full, Off} {
		for _, senders := range []int{1, 64} {
			b.Run(fmt.Sprintf("sync=%s/senders=%d", sync, senders), func(b *testing.B) {
				_, l, _ := openBench(b, Options{Sync: sync})
				records := benchRecords(b.N)
				b.ReportAllocs()
				b.ResetTimer()
				appendBySenders(l, records, senders)
			})
		}
	}
}

// BenchmarkAppendBehind appends to journals of three sizes, of which none may
// tell: 64 senders, and a look-up by id and Cut beside it.
func BenchmarkAppendBehind(b *testing.B) {
	for _, size := range []int{25_000, 100_000, 400_000} {
		j, l, sink := openBench(b, Options{})
		sink.want = int64(size)
		for _, r := range benchRecords(size) {
			l.Append(r)
		}
		<-sink.done
		if err := j.WaitIndexed(b.Context(), "bench", uint64(size)); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("append/%d", size), func(b *testing.B) {
			records := benchRecords(b.N)
			b.ResetTimer()
			appendBySenders(l, records, 64)
		})
		b.Run(fmt.Sprintf("id/%d", size), func(b *testing.B) {
			for b.Loop() {
				for _, err := range l.Read(b.Context(), journal.Query{ID: envelope(size / 2).ID, Limit: 1}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run(fmt.Sprintf("cut/%d", size), func(b *testing.B) {
			for b.Loop() {
				keep := journal.Retention{Before: time.UnixMilli(1_700_000_000_000 + int64(size/2)), Bytes: int64(size) * 300}
				if d, err := l.Cut(b.Context(), keep); err != nil || d.Records == 0 {
					b.Fatal(d, err)
				}
			}
		})
	}
}

// BenchmarkSweep is a chunk of the rows that retention dropped, between two
// batches of appends.
func BenchmarkSweep(b *testing.B) {
	j, l, sink := openBench(b, Options{})
	n := b.N*256 + 10
	sink.want = int64(n)
	for _, r := range benchRecords(n) {
		l.Append(r)
	}
	<-sink.done
	s := l.(*log).space
	err := j.onWriter(b.Context(), func() error {
		s.tail.floor = journal.Head{Index: uint64(b.N * 256), Seq: uint64(b.N * 256)}
		s.forgotten.Store(s.tail.floor.Seq) // as if the index had
		b.ResetTimer()
		for range b.N {
			if removed, err := j.writer.sweepSpace(s); !removed || err != nil {
				b.Error(removed, err)
			}
		}
		b.StopTimer()
		s.tail.floor = journal.Head{}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCheckpoint is what appends wait for a checkpoint of 20 MB, which takes
// the body of an older one as well.
func BenchmarkCheckpoint(b *testing.B) {
	for _, size := range []int{64 << 10, 1 << 20, 20 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			_, l, _ := openBench(b, Options{})
			body := append(append([]byte(`{"pad":"`), strings.Repeat("x", size)...), `"}`...)
			done := make(chan struct{}, 1)
			for b.Loop() {
				b.StopTimer()
				r := journal.NewCheckpoint(time.UnixMilli(0), body, [16]byte{1})
				r.Token = done
				b.StartTimer()
				l.Append(r)
				<-done
			}
		})
	}
}

func benchRecords(n int) []*journal.Record {
	records := make([]*journal.Record, n)
	for i := range records {
		records[i] = envelope(i)
	}
	return records
}

func appendBySenders(l journal.Log, records []*journal.Record, senders int) {
	var running sync.WaitGroup
	var appending sync.Mutex // one goroutine at a time appends to a log
	for s := range senders {
		running.Go(func() {
			durable := make(chan struct{}, 1)
			for i := s; i < len(records); i += senders {
				records[i].Token = durable
				appending.Lock()
				l.Append(records[i])
				appending.Unlock()
				<-durable
			}
		})
	}
	running.Wait()
}

// BenchmarkStream appends as fast as the journal takes it.
func BenchmarkStream(b *testing.B) {
	_, l, sink := openBench(b, Options{})
	records := benchRecords(b.N)
	sink.want = int64(b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for _, r := range records {
		l.Append(r)
	}
	<-sink.done
}

// BenchmarkBareInsert is the floor: the same rows in the same table, batched,
// and nothing else.
func BenchmarkBareInsert(b *testing.B) {
	for _, batch := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			c, err := sqlite3.Open(Options{}.uri(filepath.Join(b.TempDir(), "bare.db")))
			if err != nil {
				b.Fatal(err)
			}
			defer closeConn(c)
			if err := c.Exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;` + schema1); err != nil {
				b.Fatal(err)
			}
			var w = writer{conn: c}
			if err := w.prepare(); err != nil {
				b.Fatal(err)
			}
			records := benchRecords(b.N)
			for i, r := range records {
				r.Index, r.Seq = uint64(i+1), uint64(i+1)
			}
			b.ResetTimer()
			for i := 0; i < len(records); i += batch {
				if err := w.begin.Exec(); err != nil {
					b.Fatal(err)
				}
				for _, r := range records[i:min(i+batch, len(records))] {
					if err := insert(w.envelope, 1, r, 0); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.commit.Exec(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRead reads a range, in records.
func BenchmarkRead(b *testing.B) {
	const n = 100_000
	j, l, sink := openBench(b, Options{})
	sink.want = n
	for _, r := range benchRecords(n) {
		l.Append(r)
	}
	<-sink.done
	if err := j.WaitIndexed(b.Context(), "bench", n); err != nil {
		b.Fatal(err)
	}
	for _, q := range []struct {
		name string
		q    journal.Query
	}{
		{"range", journal.Query{}},
		{"chain", journal.Query{Chain: true}},
		{"filtered", journal.Query{Kinds: []string{"chat"}}},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for left := b.N; left > 0; left -= n {
				q.q.Before = uint64(min(left, n)) + 1
				for _, err := range l.Read(b.Context(), q.q) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	for _, q := range []struct {
		name string
		q    journal.Query
	}{
		{"id", journal.Query{ID: "0190b5a4-7c00-7000-8000-000000050000"}},
		{"newest50", journal.Query{Newest: true, Limit: 50}},
		{"text50", journal.Query{Text: "readme", Newest: true, Limit: 50}},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range l.Read(b.Context(), q.q) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkIndex is what the search index costs beside the append.
func BenchmarkIndex(b *testing.B) {
	j, l, sink := openBench(b, Options{})
	records := benchRecords(b.N)
	sink.want = int64(b.N)
	b.ResetTimer()
	for _, r := range records {
		l.Append(r)
	}
	<-sink.done
	if err := j.WaitIndexed(b.Context(), "bench", uint64(b.N)); err != nil {
		b.Fatal(err)
	}
}
