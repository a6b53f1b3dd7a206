package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// frameOf is an envelope of so many bytes, with the id i.
func frameOf(i, size int) []byte {
	head := fmt.Sprintf(`{"protocol":"mcpx/v0.1","id":"%032d","kind":"mcp/request:tools/call:read_file","to":["bob"],"payload":{"method":"tools/call","params":{"name":"read_file","arguments":{"path":"`, i)
	return []byte(head + strings.Repeat("x", max(0, size-len(head)-5)) + `"}}}}`)
}

// counted is a submitter that counts.
type counted struct {
	done chan struct{}
	left int
}

func (c *counted) admitted(*journal.Record) *cursor {
	if c.left--; c.left == 0 {
		close(c.done)
	}
	return nil
}

func (c *counted) refused(_ string, err *parley.Error) { panic(err) }

// The way of a 600-byte envelope: parse, judge, stamp, apply, record, frame.
func BenchmarkAdmit(b *testing.B) {
	s := demo("ann", "bob")
	s.Rules.Limits.Rate, s.Rules.Limits.Burst = 1e9, 1e9
	h := start(b, Options{Spaces: []Space{s}, Logger: slog.New(slog.DiscardHandler)})
	r := h.g.rooms["demo"]
	frames := make([][]byte, b.N)
	for i := range frames {
		frames[i] = frameOf(i, 600)
	}
	c := &counted{done: make(chan struct{}), left: b.N}
	b.ReportAllocs()
	b.SetBytes(600)
	b.ResetTimer()
	for i := range b.N {
		r.submit(r.parse("ann", c, frames[i]))
	}
	<-c.done
}

// rawReader is a client that does nothing but read, and count bytes where it
// is given a counter.
func (h *harness) rawReader(id string, count *atomic.Uint64, query ...string) net.Conn {
	nc := h.raw(id, query...)
	if count == nil {
		return nc
	}
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := nc.Read(buf)
			count.Add(uint64(n))
			if err != nil {
				return
			}
		}
	}()
	return nc
}

// Deliveries to 200 connections over loopback, readers in the same process.
func BenchmarkFanOut(b *testing.B) {
	for _, n := range []int{2, 20, 200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := demo("ann", "bob")
			s.Rules.Limits.Rate, s.Rules.Limits.Burst, s.Rules.Limits.LagEnvelopes = 1e9, 1e9, 1e9
			h := serve(b, Options{Spaces: []Space{s}, Logger: slog.New(slog.DiscardHandler)})
			r := h.g.rooms["demo"]
			counts := make([]atomic.Uint64, n)
			for i := range n {
				h.rawReader("bob", &counts[i])
			}
			frames := make([][]byte, b.N)
			for i := range frames {
				frames[i] = frameOf(i, 300)
			}
			base := make([]uint64, n)
			h.g.View(context.Background(), "demo", func(*space.State) {})
			time.Sleep(100 * time.Millisecond) // all are welcomed
			for i := range counts {
				base[i] = counts[i].Load()
			}
			before := r.frames.total
			c := &counted{done: make(chan struct{}), left: b.N}
			b.ResetTimer()
			for i := range b.N {
				r.submit(r.parse("ann", c, frames[i]))
			}
			<-c.done
			h.g.View(context.Background(), "demo", func(*space.State) {})
			want := r.frames.total - before
			for i := range counts {
				for counts[i].Load()-base[i] < want {
					runtime.Gosched()
				}
			}
			b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds(), "deliveries/s")
			for _, c := range r.everyConn(nil) {
				c.close(closing{})
			}
		})
	}
}

// What a connection costs that only waits.
func BenchmarkIdleConnection(b *testing.B) {
	const n = 1000
	s := demo("bob")
	s.Rules.Limits.Rate, s.Rules.Limits.Burst = 1e9, 1e9
	h := serve(b, Options{Spaces: []Space{s}, Logger: slog.New(slog.DiscardHandler)})
	for b.Loop() {
		heap, stack := inUse()
		conns := make([]net.Conn, n)
		for i := range conns {
			conns[i] = h.rawReader("bob", nil)
		}
		_ = h.g.rooms["demo"].do(context.Background(), func() {})
		heapNow, stackNow := inUse()
		b.ReportMetric(float64(heapNow-heap)/n, "heap-bytes/conn")
		b.ReportMetric(float64(stackNow-stack)/n, "stack-bytes/conn")
		for _, nc := range conns {
			nc.Close()
		}
		for h.g.connections("demo") > 0 {
			runtime.Gosched()
		}
	}
}

func inUse() (heap, stack uint64) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse, m.StackInuse
}
