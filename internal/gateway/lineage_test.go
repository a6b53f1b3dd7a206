package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parleyhq/parley/internal/space"
)

// What the rules have forgotten of contexts comes back from the record, also
// while the record is read again at a start.
func TestForgottenContextsComeBack(t *testing.T) {
	s := demo("ann", "bob")
	s.Rules.Limits.Rate, s.Rules.Limits.Burst = 1e9, 1<<30
	s.Rules.Limits.ContextDepth, s.Rules.Limits.OpenContexts = 3, 1<<30
	h := start(t, Options{Spaces: []Space{s}, CheckpointEvery: 1 << 30, Logger: textLog(io.Discard)})
	send := func(frame string) { h.submit("ann", frame) }
	send(`{"kind":"chat","context":{"id":"a","type":"x"}}`)
	send(`{"kind":"chat","context":{"id":"b","parent":"a"}}`)
	send(`{"kind":"chat","context":{"id":"c","parent":"b"}}`)
	r := h.g.rooms["demo"]
	_ = r.do(t.Context(), func() {
		for i := range space.MostContexts {
			r.take(r.parse("ann", nobody{}, fmt.Appendf(nil, `{"kind":"chat","context":{"id":"n-%d"}}`, i)))
		}
	})
	if path := lineageIn(h, "c"); path != "" {
		t.Fatalf("c is still in memory: %s", path)
	}
	send(`{"kind":"chat","context":{"id":"c","type":"y","parent":"n-1"}}`)
	if path := lineageIn(h, "c"); path != "[c b a]" {
		t.Errorf("c stands at %q", path)
	}
	if _, err := h.g.Submit(t.Context(), "demo", "ann", []byte(`{"kind":"chat","context":{"id":"d","parent":"c"}}`)); err == nil {
		t.Error("a context is deeper than the limit")
	}
}

func (h *harness) submit(from, frame string) {
	h.t.Helper()
	if _, err := h.g.Submit(context.Background(), "demo", from, []byte(frame)); err != nil {
		h.t.Fatal(err)
	}
}

func lineageIn(h *harness, id string) (path string) {
	_ = h.g.View(context.Background(), "demo", func(s *space.State) {
		if l := s.Lineage(id); l != nil {
			path = fmt.Sprint(l.Path)
		}
	})
	return path
}

// Deliveries to 200 connections, all without a filter, and half of them with one
// that keeps contexts away, of a sender who thinks aloud half of the time.
func BenchmarkFanOutContexts(b *testing.B) {
	for _, query := range []string{"", "contexts=none", "contexts=type:workflow,delegation", "contexts=tree:other"} {
		b.Run("half-"+query, func(b *testing.B) { benchFanOutContexts(b, query) })
	}
}

func benchFanOutContexts(b *testing.B, query string) {
	const n = 200
	s := demo("ann", "bob")
	s.Rules.Limits.Rate, s.Rules.Limits.Burst, s.Rules.Limits.LagEnvelopes = 1e9, 1e9, 1e9
	s.Rules.Limits.ContextRate = 1e9
	h := serve(b, Options{Spaces: []Space{s}, Logger: slog.New(slog.DiscardHandler)})
	r := h.g.rooms["demo"]
	counts := make([]atomic.Uint64, n)
	for i := range n {
		q := ""
		if i%2 == 0 {
			q = query
		}
		h.rawReader("bob", &counts[i], q)
	}
	frames := make([][]byte, b.N+1)
	for i := range frames {
		frames[i] = bytes.Replace(frameOf(i, 300), []byte(`"to":["bob"],`), nil, 1)
		if i%2 == 0 && i < b.N {
			frames[i] = append([]byte(`{"context":{"id":"line","type":"reasoning"},`), frames[i][1:]...)
		}
	}
	h.g.View(context.Background(), "demo", func(*space.State) {})
	for i := range counts { // all are welcomed
		for counts[i].Load() == 0 {
			runtime.Gosched()
		}
	}
	before := delivered(counts)
	c := &counted{done: make(chan struct{}), left: b.N}
	b.ResetTimer()
	for i := range b.N {
		r.submit(r.parse("ann", c, frames[i]))
	}
	<-c.done
	for last := delivered(counts); ; { // nothing comes any more
		for range 1000 {
			runtime.Gosched()
		}
		now := delivered(counts)
		if now == last && now > before {
			break
		}
		last = now
	}
	b.StopTimer()
	for _, c := range r.everyConn(nil) {
		c.close(closing{})
	}
}

func delivered(counts []atomic.Uint64) (sum uint64) {
	for i := range counts {
		sum += counts[i].Load()
	}
	return sum
}

// Of a context whose first envelope was redacted the record has no type any more;
// the rules go by the one that it was opened with.
func TestTypeOfARedactedContext(t *testing.T) {
	h := newHouse(t)
	h.inContext("agent", "first", `{"id":"c","type":"secret"}`)
	h.inContext("agent", "second", `{"id":"c"}`)
	h.post("human", "envelopes", `{"kind":"space/redact","payload":{"id":"first"}}`)
	for { // it is carried out beside what else happens
		redacting := -1
		_ = h.View(t.Context(), "demo", func(s *space.State) { redacting = len(s.Redacting()) })
		if redacting == 0 {
			break
		}
		runtime.Gosched()
	}
	if body := h.get("human", "contexts/c").body; strings.Contains(body, `"type"`) {
		t.Errorf("the record says %s", body)
	}
	_ = h.View(t.Context(), "demo", func(s *space.State) {
		if got := s.Lineage("c").Type; got != "secret" {
			t.Errorf("the rules take it for one of type %q", got)
		}
	})
}
