package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// eventually waits for something that comes soon.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("not so: %s", what)
		}
	}
}

// Who floods with what is valid has its rate and no more, few records are made
// of the rest, and whoever else speaks is heard.
func TestFloodOfValidEnvelopes(t *testing.T) {
	s := demo("ann", "bob", "eve")
	s.Rules.Limits.Rate, s.Rules.Limits.Burst = 0.001, 20
	h := serve(t, Options{Spaces: []Space{s}, Logger: textLog(io.Discard)})
	bob, eve := h.join("bob", "presence=off&kinds=note"), h.join("eve", "presence=off&kinds=note")
	flooded := make(chan websocket.StatusCode)
	go func() { flooded <- eve.closed() }()
	for eve.ws.Write(context.Background(), websocket.MessageText, []byte(`{"kind":"note"}`)) == nil {
	}
	if code := <-flooded; code != statusFlooding {
		t.Errorf("closed with %d", code)
	}
	ann := h.join("ann", "presence=off")
	ann.send(`{"kind":"note","payload":"heard"}`)
	got := 0
	for string(bob.next().Payload) != `"heard"` {
		got++
	}
	if got != 20 {
		t.Errorf("%d got through, want 20", got)
	}
	records := 0
	for range h.g.rooms["demo"].record.Read(t.Context(), journal.Query{Chain: true}) {
		records++
	}
	if most := 50 + 10*floodRecords; records > most {
		t.Errorf("%d records, want at most %d", records, most)
	}
}

// A message in many fragments that never ends is given up as one large frame is.
func TestHugeMessageInFragments(t *testing.T) {
	s := demo("ann", "bob")
	s.Rules.Limits.EnvelopeBytes = 10_000
	h := serve(t, Options{Spaces: []Space{s}, Logger: textLog(io.Discard)})
	nc := h.raw("bob")
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for piece := clientFrame(opText, strings.Repeat("x", 1_000)); ; piece[0] = opContinue {
			if _, err := nc.Write(piece); err != nil {
				return
			}
		}
	}()
	all := untilEOF(t, nc)
	if !bytes.Contains(all, []byte("a frame far beyond the limit")) {
		t.Errorf("it ends with %q", all[max(0, len(all)-100):])
	}
	nc.Close()
	<-sent
}

// A frame may claim to be of the largest size that there is: nothing is kept
// ready for it.
func TestFrameThatClaimsMuch(t *testing.T) {
	h := serve(t, Options{Logger: textLog(io.Discard)})
	ann := h.join("ann", "presence=off")
	nc := h.raw("bob")
	before := heapOf()
	header := []byte{0x81, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}
	if _, err := nc.Write(append(header, "{}"...)); err != nil {
		t.Fatal(err)
	}
	c := h.connOf("bob")
	eventually(t, "it is being read", func() bool { return c.arriving.Load() != 0 })
	ann.send(chat("meanwhile"))
	ann.until("chat")
	if grown := heapOf() - before; grown > 1<<20 {
		t.Errorf("%d bytes are kept for it", grown)
	}
}

func heapOf() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Large messages that do not come to their end take the memory of a few, over
// all connections of their sender; others' large messages get through, and so
// do these when they end.
func TestManyLargeMessages(t *testing.T) {
	h := serve(t, Options{Logger: textLog(io.Discard)})
	ann := h.join("ann", "presence=off&kinds=chat")
	const connections, size = largeAtOnce + 8, 200_000
	frame := clientFrame(0x81, chat(strings.Repeat("x", size)))
	conns := make([]net.Conn, connections)
	for i := range conns {
		conns[i] = h.raw("bob")
		if _, err := conns[i].Write(frame[:size/2]); err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, conns[i]) // ends with the connection
	}
	large := h.g.rooms["demo"].large.of("bob")
	eventually(t, "as many as may be are read", func() bool { return len(large) == largeAtOnce })
	cy := h.join("cy", "presence=off&kinds=none")
	cy.send(chat(strings.Repeat("y", size)))
	if e := ann.next(); e.From != "cy" {
		t.Errorf("got one of %s", e.From)
	}
	for i := range conns {
		go conns[i].Write(frame[size/2:])
	}
	for range conns {
		if e := ann.next(); e.From != "bob" {
			t.Errorf("got one of %s", e.From)
		}
	}
}

// What a participant makes up leaves nothing that grows for ever: ids, kinds,
// contexts, refusals. What is remembered on purpose is full after one window.
func TestMapsDoNotGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := demo("ann", "bob")
	s.Rules.Limits.Rate, s.Rules.Limits.Burst = 1e9, 1<<30
	s.Rules.Limits.ContextRate, s.Rules.Limits.OpenContexts = 1e9, 1<<30
	j := forgetful{journal.NewMemory(journal.MemoryOptions{Epoch: "e1"})}
	t.Cleanup(func() { j.Close() })
	h := start(t, Options{Spaces: []Space{s}, Journal: j, RetainBytes: 1 << 20, CheckpointEvery: 1 << 30, Logger: textLog(io.Discard)})
	r := h.g.rooms["demo"]
	for i := range 3 { // who filter, so that there is something to be remembered of kinds
		c := parkWithPatterns(r.frames, fmt.Sprint("p", i), i, 3, 10)
		defer r.frames.leave(c)
	}
	send := func(from, to int) {
		_ = r.do(context.Background(), func() {
			for i := from; i < to; i++ {
				r.take(r.parse("ann", nobody{}, fmt.Appendf(nil, `{"id":"id-%d","kind":"end-%d","context":{"id":"c-%d"},"payload":{}}`, i, i, i)))
				r.take(r.parse("ann", nobody{}, fmt.Appendf(nil, `{"id":"r-%d","kind":"system/%d"}`, i, i)))
			}
		})
	}
	const window = 1 << 16
	send(0, window+1_000)
	before := heapOf()
	send(window+1_000, 2*window)
	if grown := heapOf() - before; grown > 4<<20 {
		t.Errorf("as much again takes %d bytes more", grown)
	}
	if r.state.Seq() != 2*window {
		t.Errorf("%d were admitted", r.state.Seq())
	}
}

// forgetful is a journal that says that all is on record, and keeps nothing.
type forgetful struct{ *journal.Memory }

func (f forgetful) Open(ctx context.Context, space string, sink journal.Sink) (journal.Log, error) {
	log, err := f.Memory.Open(ctx, space, sink)
	return forgetfulLog{log, sink}, err
}

type forgetfulLog struct {
	journal.Log
	sink journal.Sink
}

func (l forgetfulLog) Append(r *journal.Record) { l.sink.Durable([]*journal.Record{r}) }

// nobody is a submitter who does not listen.
type nobody struct{}

func (nobody) admitted(*journal.Record) *cursor { return nil }
func (nobody) refused(string, *parley.Error)    {}
