package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// While the journal cannot be written nothing is admitted; afterwards the state
// is what is on record, and everybody is told.
func TestJournalFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{})
		ann, bob := h.join("ann", ""), h.join("bob", "")
		ann.until(parley.KindPresence)
		h.journal.Fail(errors.New("the disk is full"))
		ann.send(`{"id":"p1","kind":"mcp/proposal:tools/call:x","payload":{"method":"tools/call","params":{"name":"x"}}}`)
		if e := ann.next(); field(t, e, "error") != "unavailable" || e.Correlation.IDs[0] != "p1" {
			t.Fatalf("got %s %s", e.Kind, e.Payload)
		}
		if _, err := h.g.Submit(t.Context(), "demo", "bob", []byte(chat("x"))); !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
			t.Errorf("over HTTP: %v", err)
		}
		if _, res, err := h.dial("cy", ""); err == nil || res.StatusCode != 503 {
			t.Errorf("a newcomer: %v", err)
		}
		if err := h.g.Ready(t.Context()); err == nil {
			t.Error("it says that it is ready")
		}
		bob.ws.Close(websocket.StatusNormalClosure, "")
		time.Sleep(10 * time.Second)
		h.journal.Heal()
		time.Sleep(lastRetry)
		if e := ann.next(); e.Kind != parley.KindPresence || field(t, e, "event") != "leave" || e.Seq != 3 {
			t.Errorf("first comes %s %s, not that bob has left", e.Kind, e.Payload)
		}
		if e := ann.next(); e.Kind != parley.KindWelcome {
			t.Errorf("then %s", e.Kind)
		}
		// What failed never happened: its id is free.
		ann.send(`{"id":"p1","kind":"chat","payload":{"text":"back"}}`)
		if e := ann.next(); e.Kind != "chat" || e.Seq != 4 {
			t.Errorf("got %s %s at %d", e.Kind, e.Payload, e.Seq)
		}
		if err := h.g.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		ann.ws.CloseNow()
	})
}

// A fault while an envelope is taken into the state has the state rebuilt.
func TestFaultInTheState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{})
		ann := h.join("ann", "")
		r := h.g.rooms["demo"]
		_ = r.do(t.Context(), func() { r.fail(errors.New("a fault")) })
		synctest.Wait()
		if e := ann.next(); e.Kind != parley.KindWelcome {
			t.Errorf("got %s", e.Kind)
		}
		ann.send(chat("back"))
		if e := ann.next(); e.Seq != 2 {
			t.Errorf("got %s at %d", e.Kind, e.Seq)
		}
		ann.ws.CloseNow()
	})
}

// A gateway that starts again goes on where the record ends.
func TestRestart(t *testing.T) {
	for _, retain := range []int{0, 1} { // served from memory, and from the journal
		j := journal.NewMemory(journal.MemoryOptions{Epoch: "e1"})
		h := serve(t, Options{Journal: j, RetainBytes: retain})
		ann := h.join("ann", "")
		for i := range 300 {
			ann.send(chat(strings.Repeat(fmt.Sprint(i%10), 200)))
			ann.until("chat")
		}
		ann.ws.CloseNow()
		h.stop()
		j.Close()

		again := serve(t, Options{Journal: j, RetainBytes: retain})
		bob := again.join("bob", "after=1&epoch=e1")
		if got := field(t, bob.welcome, "history", "gap"); got != nil {
			t.Errorf("gap %v", got)
		}
		for seq := uint64(2); seq <= 302; seq++ {
			if e := bob.next(); e.Seq != seq {
				t.Fatalf("got %d, want %d", e.Seq, seq)
			}
		}
		if e := bob.next(); e.Seq != 303 || field(t, e, "participant", "id") != "bob" {
			t.Errorf("then %s %s", e.Kind, e.Payload)
		}
		bob.ws.CloseNow()
		again.stop()
		j.Close()
	}
}

// stop shuts the gateway down.
func (h *harness) stop() {
	h.t.Helper()
	if err := h.g.Shutdown(context.Background()); err != nil {
		h.t.Error(err)
	}
}

// After a crash those who were here are not any more, and the record says so.
func TestStartAfterCrash(t *testing.T) {
	j := journal.NewMemory(journal.MemoryOptions{Epoch: "e1"})
	t.Cleanup(func() { j.Close() })
	h := serve(t, Options{Journal: j})
	ann := h.join("ann", "")
	_ = h.g.rooms["demo"].do(context.Background(), func() { h.g.rooms["demo"].down = true }) // nothing is recorded any more
	ann.ws.CloseNow()
	h.g.Shutdown(context.Background()) // says that the journal cannot be written
	j.Close()
	again := serve(t, Options{Journal: j})
	bob := again.join("bob", "history=10")
	var events []any
	for range 3 {
		events = append(events, field(t, bob.next(), "event"))
	}
	if fmt.Sprint(events) != "[join leave join]" {
		t.Errorf("on record: %v", events)
	}
}

// Whatever was accepted before a shutdown is on record and delivered.
func TestShutdownLosesNothing(t *testing.T) {
	s := demo("ann", "bob")
	s.Rules.Limits.Rate, s.Rules.Limits.Burst = 1e6, 1e6
	h := serve(t, Options{Spaces: []Space{s}})
	ann, bob := h.join("ann", "presence=off"), h.join("bob", "presence=off&echo=off")
	sent := make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			if bob.ws.Write(context.Background(), websocket.MessageText, []byte(chat(fmt.Sprint(n)))) != nil {
				break
			}
		}
		sent <- n
	}()
	for range 50 {
		ann.next()
	}
	var acked, seen sync.Map
	var readers sync.WaitGroup
	codes := make(chan websocket.StatusCode, 2)
	drain := func(p *peer, note func(*parley.Envelope)) {
		for {
			e, err := p.read()
			if err != nil {
				codes <- websocket.CloseStatus(err)
				return
			}
			note(e)
		}
	}
	readers.Go(func() { drain(ann, func(e *parley.Envelope) { seen.Store(e.ID, true) }) })
	readers.Go(func() {
		drain(bob, func(e *parley.Envelope) {
			if e.Kind == parley.KindAck {
				acked.Store(e.Correlation.IDs[0], field(t, e, "seq"))
			}
		})
	})
	h.stop()
	readers.Wait()
	<-sent
	for range 2 {
		if code := <-codes; code != statusGoingAway {
			t.Errorf("closed with %d", code)
		}
	}
	reader, _ := h.journal.Reader(context.Background(), "demo")
	recorded := map[string]bool{}
	for rec := range reader.Read(context.Background(), journal.Query{From: "bob"}) {
		recorded[rec.ID] = true
		if rec.Seq > 60 { // ann read the first ones before
			if _, ok := seen.Load(rec.ID); !ok {
				t.Errorf("%d was accepted and not delivered", rec.Seq)
			}
			if _, ok := acked.Load(rec.ID); !ok {
				t.Errorf("%d was accepted and not acknowledged", rec.Seq)
			}
		}
	}
	acked.Range(func(id, _ any) bool {
		if !recorded[id.(string)] {
			t.Errorf("%v was acknowledged and is not on record", id)
		}
		return true
	})
}

// When the time for a shutdown is over, connections are cut off.
func TestShutdownInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{})
		ann := h.join("ann", "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := h.g.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
		ann.ws.CloseNow()
	})
}

// Who does not read is closed, and nobody waits for it.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{})
		slow, ann := h.join("bob", ""), h.join("ann", "")
		for i := range 10 {
			ann.send(chat(fmt.Sprint(i)))
			ann.until("chat")
		}
		time.Sleep(2*stalledFor*time.Second + closeWithin)
		h.settleTo(1)
		slow.ws.CloseNow()
		ann.ws.CloseNow()
	})
}

// settleTo waits until so many connections are left.
func (h *harness) settleTo(n int) {
	h.t.Helper()
	synctest.Wait()
	if got := h.g.connections("demo"); got != n {
		h.t.Errorf("%d connections are left, not %d", got, n)
	}
}

// Who falls too far behind live traffic is told to resume.
func TestLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := demo("ann", "bob")
		s.Rules.Limits.LagEnvelopes = 10
		h := memory(t, Options{Spaces: []Space{s}})
		slow := h.join("bob", "")
		synctest.Wait() // it has reached the end: from then on its lag counts
		ann := h.join("ann", "")
		for i := range 30 {
			ann.send(chat(fmt.Sprint(i)))
			ann.until("chat")
		}
		time.Sleep(2500 * time.Millisecond)
		if code := slow.closed(); code != statusTooSlow {
			t.Errorf("closed with %d", code)
		}
		ann.ws.CloseNow()
	})
}

// A connection that says nothing, not even a pong, is closed.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{})
		alive, dead := h.join("ann", ""), h.join("bob", "")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for {
				if _, _, err := alive.ws.Read(ctx); err != nil { // answers pings meanwhile
					return
				}
			}
		}()
		time.Sleep((silentFor + 2*pingEvery) * time.Second)
		h.settleTo(1)
		dead.ws.CloseNow()
		alive.ws.CloseNow()
	})
}

func TestPing(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "")
	go ann.read()
	if err := ann.ws.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// Proposals end when their time is over, and those who wait for it see it.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{})
		ann := h.join("ann", "")
		ends := time.Now().Add(10 * time.Second).UTC().Format(time.RFC3339)
		ann.send(`{"id":"p1","kind":"mcp/proposal:tools/call:x","payload":{"method":"tools/call","params":{"name":"x"},"expires":"` + ends + `"}}`)
		ann.until("mcp/proposal:tools/call:x")
		began := time.Now()
		e := ann.until(parley.KindNotice)
		if e.Correlation.IDs[0] != "p1" {
			t.Errorf("notice %s", e.Payload)
		}
		if waited := time.Since(began); waited > 11*time.Second {
			t.Errorf("after %v", waited)
		}
		ann.ws.CloseNow()
	})
}

// History that is no longer in memory comes from the journal; with a filter it
// is the newest that the connection receives.
func TestHistoryFromTheJournal(t *testing.T) {
	h := serve(t, Options{RetainBytes: 1})
	ann := h.join("ann", "echo=off")
	filler := strings.Repeat("x", 2000)
	for i := range 60 {
		kind := []string{"chat", "note"}[i%2]
		ann.send(fmt.Sprintf(`{"id":"i%d","kind":%q,"payload":%q}`, i, kind, filler))
		ann.until(parley.KindAck)
	}
	for _, tc := range []struct {
		query      string
		first, len int
	}{
		{"history=50", 10, 50}, {"history=500", 0, 60}, {"history=25&kinds=note", 11, 25}, {"history=500&kinds=note", 1, 30},
	} {
		bob := h.join("bob", tc.query+"&presence=off&echo=off")
		first := ""
		n := 0
		for range tc.len {
			e := bob.next()
			if n++; n == 1 {
				first = e.ID
			}
		}
		if first != fmt.Sprintf("i%d", tc.first) {
			t.Errorf("%s: begins with %s, want i%d", tc.query, first, tc.first)
		}
		bob.ws.CloseNow()
	}
}

// What a call sees is on record when it is told.
func TestView(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "")
	ann.send(chat("one"))
	ann.until("chat")
	var seq uint64
	if err := h.g.View(t.Context(), "demo", func(s *space.State) { seq = s.Seq() }); err != nil || seq != 2 {
		t.Errorf("at %d, %v", seq, err)
	}
	for name, err := range map[string]error{
		"view":   h.g.View(t.Context(), "nowhere", func(*space.State) {}),
		"submit": submitTo(h, "nowhere"),
	} {
		if !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := h.g.Submit(t.Context(), "demo", "bob", []byte(`{"id":"s1","kind":"chat"}`))
	if err != nil || got.ID != "s1" || got.Seq != 3 || got.Epoch != "e1" || got.TS.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	ann.ws.CloseNow()
	h.stop()
	if err := submitTo(h, "demo"); !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
		t.Errorf("after the end: %v", err)
	}
}

func submitTo(h *harness, name string) error {
	_, err := h.g.Submit(h.t.Context(), name, "bob", []byte(chat("x")))
	return err
}

// A fault in applying rebuilds the state; the envelope is not on record.
func TestFaultInApply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{})
		ann := h.join("ann", "")
		r := h.g.rooms["demo"]
		whole := r.state
		_ = r.do(t.Context(), func() {
			if r.admit(&parley.Envelope{ID: "f1", Kind: "chat", From: "ann", TS: time.Now()}, parley.Kind{Type: "chat"}, nil, nil) {
				t.Log("applied")
			}
			r.state = new(space.State)
			defer func() { r.state = whole }()
			if r.admit(&parley.Envelope{ID: "f2", Kind: "chat", From: "ann", TS: time.Now()}, parley.Kind{Type: "chat"}, nil, nil) {
				t.Error("a state without maps takes envelopes")
			}
		})
		synctest.Wait()
		if e := ann.next(); e.ID != "f1" {
			t.Errorf("got %s", e.ID)
		}
		if e := ann.next(); e.Kind != parley.KindWelcome || field(t, e, "history", "last") != 2.0 {
			t.Errorf("then %s %s", e.Kind, e.Payload)
		}
		ann.ws.CloseNow()
	})
}

// Many who wait are woken, also those whom the journal's goroutine leaves to
// another.
func TestManyReaders(t *testing.T) {
	h := serve(t, Options{Logger: textLog(io.Discard)})
	var all []*peer
	for range 3 * wakeHere {
		all = append(all, h.join("bob", "presence=off"))
	}
	ann := h.join("ann", "presence=off")
	for i := range 20 {
		ann.send(chat(fmt.Sprint(i)))
		for _, p := range all {
			if e := p.next(); field(t, e, "text") != fmt.Sprint(i) {
				t.Fatalf("got %s, want %d", e.Payload, i)
			}
		}
	}
	for _, p := range all {
		p.ws.CloseNow()
	}
}

// A fault of a connection's own ends it alone, and it is told.
func TestFaultInOneConnection(t *testing.T) {
	h := serve(t, Options{Logger: textLog(io.Discard)})
	ann, bob := h.join("ann", ""), h.join("bob", "")
	for _, c := range h.g.rooms["demo"].everyConn(nil) {
		if c.id == "bob" {
			func() {
				defer c.survive("test")
				panic("a fault")
			}()
		}
	}
	if e := bob.until(parley.KindError); field(t, e, "error") != "internal" {
		t.Errorf("got %s", e.Payload)
	}
	if code := bob.closed(); code != statusGoingAway {
		t.Errorf("closed with %d", code)
	}
	ann.send(chat("still here"))
	ann.until("chat")
}

func TestTooManyPings(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "")
	go func() {
		for ann.ws.Ping(context.Background()) == nil {
		}
	}()
	if code := ann.closed(); code != statusFlooding {
		t.Errorf("closed with %d", code)
	}
}

// A connection that is to be closed after something that never comes is cut off.
func TestCloseIsOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{})
		ann := h.join("ann", "")
		for _, c := range h.g.rooms["demo"].everyConn(nil) {
			c.close(closing{code: statusRemoved, upTo: 99, drain: true})
		}
		time.Sleep((closeOverdue + 2) * time.Second)
		h.settleTo(0)
		ann.ws.CloseNow()
	})
}

func TestShutdownWhileTheJournalFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{})
		ann := h.join("ann", "")
		h.journal.Fail(errors.New("the disk is full"))
		ann.send(chat("lost"))
		if e := ann.next(); field(t, e, "error") != "unavailable" {
			t.Errorf("got %s", e.Payload)
		}
		closed := make(chan websocket.StatusCode)
		go func() { closed <- ann.closed() }()
		if err := h.g.Shutdown(t.Context()); !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
			t.Errorf("error %v", err)
		}
		if code := <-closed; code != statusGoingAway {
			t.Errorf("closed with %d", code)
		}
	})
}
