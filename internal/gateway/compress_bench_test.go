//go:build unix

package gateway

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/parleyhq/parley/internal/space"
)

// spoken is an envelope of about so many bytes that says something.
func spoken(i, size int) []byte {
	words := strings.Fields("the file you asked about was not there so I read the other one instead and found that its parser drops " +
		"the last line of every section which explains what the test said about lengths please look at internal parser before the next run")
	r := rand.New(rand.NewPCG(1, uint64(i%1024)))
	b := fmt.Appendf(nil, `{"protocol":"mcpx/v0.1","id":"%032d","kind":"chat","payload":{"text":"`, i)
	for len(b) < size-4 {
		b = append(append(b, words[r.IntN(len(words))]...), ' ')
	}
	return append(b, `"}}`...)
}

// What it takes to compress an envelope, and to inflate it, and what is left.
// No two that follow on each other are alike, as what is alike takes a third.
func BenchmarkPack(b *testing.B) {
	for _, size := range []int{200, 300, 400, 512, 700, 1_000, 2_000, 4_000, 16_000} {
		frames, packed := make([][]byte, 256), make([][]byte, 256)
		ratio := 0.0
		for i := range frames {
			text := spoken(i, size)
			frames[i] = append(appendFrameHeader(nil, opText, len(text)), text...)
			packed[i] = pack(nil, frames[i])
			ratio += float64(len(packed[i])) / float64(len(frames[i]))
		}
		var buf []byte
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				buf = pack(buf[:0], frames[i%len(frames)])
			}
			b.ReportMetric(ratio/float64(len(frames)), "ratio")
		})
		b.Run(fmt.Sprintf("bytes=%d/inflate", size), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				one := packed[i%len(packed)]
				buf, _ = inflate(buf[:0], one[framePrefix(one):], 1<<20)
			}
		})
	}
}

// Deliveries to connections over loopback, of which none, half or all have
// agreed on compression: what the process spends on an envelope, and what one
// receiver gets of it. The receivers are in the same process, and inflate
// nothing.
func BenchmarkCompression(b *testing.B) {
	for _, receivers := range []int{2, 20, 200} {
		for _, size := range []int{300, 600, 1_000, 4_000, 16_000} {
			for _, packed := range []int{0, receivers / 2, receivers} {
				name := fmt.Sprintf("receivers=%d/bytes=%d/compressed=%d", receivers, size, packed)
				b.Run(name, func(b *testing.B) { benchmarkCompression(b, size, receivers, packed) })
			}
		}
	}
}

func benchmarkCompression(b *testing.B, size, receivers, packed int) {
	s := demo("ann", "bob")
	s.Rules.Limits.Rate, s.Rules.Limits.Burst, s.Rules.Limits.LagEnvelopes, s.Rules.Limits.LagBytes = 1e9, 1e9, 1e9, 1<<40
	h := serve(b, Options{Spaces: []Space{s}, Logger: slog.New(slog.DiscardHandler)})
	r := h.g.rooms["demo"]
	var got, plain atomic.Uint64
	for i := range receivers {
		offer, count := "x", &plain
		if i < packed {
			offer, count = "permessage-deflate", &got
		}
		w := h.offer("bob", offer, "presence=off")
		_ = w.nc.SetDeadline(time.Time{})
		go drainInto(w, count)
	}
	_ = h.g.View(b.Context(), "demo", func(*space.State) {})
	time.Sleep(100 * time.Millisecond) // all are welcomed
	frames := make([][]byte, b.N)
	for i := range frames {
		frames[i] = spoken(i, size)
	}
	got.Store(0)
	plain.Store(0)
	before := processTime()
	c := &counted{done: make(chan struct{}), left: b.N}
	b.ResetTimer()
	for i := range b.N {
		r.submit(r.parse("ann", c, frames[i]))
	}
	<-c.done
	for !r.allRead() {
		runtime.Gosched()
	}
	b.StopTimer()
	b.ReportMetric(float64(processTime()-before)/float64(b.N)/1e3, "cpu-µs/op")
	if packed > 0 {
		b.ReportMetric(float64(got.Load())/float64(packed)/float64(b.N), "B/compressed")
	}
	if packed < receivers {
		b.ReportMetric(float64(plain.Load())/float64(receivers-packed)/float64(b.N), "B/plain")
	}
	for _, c := range r.everyConn(nil) {
		c.close(closing{})
	}
}

func drainInto(w *wire, count *atomic.Uint64) {
	buf := make([]byte, 64<<10)
	for {
		n, err := w.r.Read(buf)
		count.Add(uint64(n))
		if err != nil {
			return
		}
	}
}

// allRead reports whether every connection has been sent everything, and its
// other side has it.
func (r *room) allRead() bool {
	for _, c := range r.everyConn(nil) {
		if envelopes, _ := r.frames.lag(c.cur); envelopes > 0 || c.writing.Load() || c.sock.taken() != c.sock.wrote.Load() {
			return false
		}
	}
	return true
}

// processTime is how much processor time the process has used, in nanoseconds.
func processTime() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}
