package webhook

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/sqlite"
)

// BenchmarkRecorded is what the journal's goroutine does for webhooks, per record of
// a conversation and per proposal.
func BenchmarkRecorded(b *testing.B) {
	for name, kind := range map[string]string{"chat": "chat", "proposal": "mcp/proposal:tools/call:write_file"} {
		b.Run(name, func(b *testing.B) {
			d := &Desk{feeds: map[string]*feed{demo: {wake: []func(){func() {}}}}}
			batch := make([]*journal.Record, 64)
			for i := range batch {
				batch[i] = &journal.Record{Type: journal.Admitted, Effective: kind, Index: uint64(i + 1)}
			}
			b.ReportAllocs()
			for n := 0; b.Loop(); n += len(batch) {
				for _, r := range batch {
					r.Index += uint64(len(batch))
				}
				d.Recorded(demo, batch)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(batch)), "ns/record")
		})
	}
}

// BenchmarkCommit appends a conversation with a proposal in every hundredth place to
// a journal on disk, until it is durable, in a space with webhooks and in one
// without.
func BenchmarkCommit(b *testing.B) {
	for _, hooks := range []int{0, 1, 4} {
		b.Run(fmt.Sprint("webhooks=", hooks), func(b *testing.B) {
			r := newReceiver(b)
			url := r.listen()
			j, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "parley.db")})
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			o := Options{Dir: b.TempDir()}
			for i := range hooks {
				o.Hooks = append(o.Hooks, hook(fmt.Sprint("hook", i), url))
			}
			d, err := Open(b.Context(), j, o)
			if err != nil {
				b.Fatal(err)
			}
			s := &sink{d, make(chan int, 1<<20)}
			log, err := j.Open(b.Context(), demo, s)
			if err != nil {
				b.Fatal(err)
			}
			if err := d.Start(b.Context(), nil); err != nil {
				b.Fatal(err)
			}
			defer d.Close(cancelled())
			waiting := 0
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				e := &parley.Envelope{Protocol: "mcpx/v0.1", ID: fmt.Sprint("e", n), TS: began, From: "agent", Kind: "chat", Payload: []byte(`{"text":"hello"}`)}
				if n%100 == 0 {
					e.Kind, e.Payload = "mcp/proposal:tools/call:x", []byte(`{"method":"tools/call","params":{"name":"x"}}`)
				}
				log.Append(journal.Envelope(e, parley.SplitKind(e.Kind), [16]byte{}))
				for waiting++; waiting > 512; waiting -= <-s.durable {
				}
			}
			for ; waiting > 0; waiting -= <-s.durable {
			}
		})
	}
}

type sink struct {
	desk    *Desk
	durable chan int
}

func (s *sink) Durable(records []*journal.Record) {
	s.desk.Recorded(demo, records)
	s.durable <- len(records)
}

func (s *sink) Failed(_ []*journal.Record, err error) { panic(err) }
