package gateway

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/parleyhq/parley/internal/journal/sqlite"
)

// BenchmarkStart opens a space whose newest checkpoint lies so many envelopes back.
func BenchmarkStart(b *testing.B) {
	for _, n := range []int{0, 1 << 12, 1 << 16} {
		b.Run(fmt.Sprintf("behind=%d", n), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "parley.db")
			s := demo("ann")
			s.Rules.Limits.Burst = 1_000_000
			start := func() (*Gateway, *sqlite.Journal) {
				j, err := sqlite.Open(b.Context(), sqlite.Options{Path: path, Sync: sqlite.Off})
				if err != nil {
					b.Fatal(err)
				}
				g, err := New(b.Context(), Options{Journal: j, Spaces: []Space{s}, CheckpointEvery: 1 << 30})
				if err != nil {
					b.Fatal(err)
				}
				return g, j
			}
			stop := func(g *Gateway, j *sqlite.Journal) {
				if err := errors.Join(g.Shutdown(context.Background()), j.Close()); err != nil {
					b.Fatal(err)
				}
			}
			g, j := start()
			send := func(k int) {
				for i := range k {
					if _, err := g.Submit(b.Context(), "demo", "ann", []byte(chat(fmt.Sprint(i)))); err != nil {
						b.Fatal(err)
					}
				}
			}
			send(1 << 16)
			stop(g, j)
			g, j = start()
			send(n)
			r := g.rooms["demo"]
			r.do(b.Context(), func() { r.saver.unsaved = 0 })
			stop(g, j)
			for b.Loop() {
				g, j := start()
				b.StopTimer()
				r := g.rooms["demo"]
				r.do(b.Context(), func() { r.saver.unsaved = 0 })
				stop(g, j)
				b.StartTimer()
			}
		})
	}
}
