package space

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
)

// TestContextsStayFlat opens contexts without an end, of the longest ids there
// may be, nested, under parents that nobody opens, and in circles: once the state
// remembers all that it ever will, it grows no more.
func TestContextsStayFlat(t *testing.T) {
	const each = MostContexts
	s := New(Rules{Name: "demo", NewID: func() string { return "x" }})
	long := strings.Repeat("i", parley.MaxID-10)
	at := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	parents := []func(n int) string{
		func(int) string { return "" },
		func(n int) string { return fmt.Sprint(long, n-1) },
		func(n int) string { return fmt.Sprint(long, n+1) },
		func(n int) string { return fmt.Sprint("nobody", n) },
	}
	seq := 0
	open := func() (heap uint64) {
		for range each {
			seq++
			e := &parley.Envelope{
				ID: fmt.Sprint("e", seq), From: "you", TS: at.Add(time.Duration(seq) * time.Millisecond), Seq: uint64(seq), Kind: "chat",
				Context: &parley.Context{ID: fmt.Sprint(long, seq), Parent: parents[seq/7%len(parents)](seq)},
			}
			s.Apply(e, parley.SplitKind(e.Kind))
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for range 4 { // 65,536: as many ids as are remembered, too
		open()
	}
	before := open()
	for range 3 {
		open()
	}
	const slack = 2 << 20 // maps grow in steps
	if after := open(); after > before+slack {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	if b := s.contexts; len(b.byID) > MostContexts || len(b.above) > MostContexts || b.recent.Len() > MostContexts {
		t.Errorf("it knows %d contexts, and %d parents", len(b.byID), len(b.above))
	}
}
