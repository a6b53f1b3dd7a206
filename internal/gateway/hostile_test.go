package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// While the journal takes nothing everything is refused, which is no fault of
// those who send: their connections stay.
func TestOutageIsNoFlood(t *testing.T) {
	h := serve(t, Options{Logger: textLog(io.Discard)})
	ann := h.join("ann", "echo=off&presence=off")
	h.journal.Fail(errors.New("full"))
	for range floodRefusals + 100 {
		ann.send(`{"kind":"chat"}`)
		if e := ann.next(); e.Kind != parley.KindError || field(t, e, "error") != "unavailable" {
			t.Fatalf("got %s %s", e.Kind, e.Payload)
		}
	}
	h.journal.Heal()
	ann.until(parley.KindWelcome)
	ann.send(`{"kind":"chat"}`)
	ann.until(parley.KindAck)
}

// What took effect right before the journal failed is carried out.
func TestEffectBeforeAnOutage(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "")
	r := h.g.rooms["demo"]
	if err := r.do(t.Context(), func() {
		r.down = true
		r.mu.Lock()
		r.effects = append(r.effects, effect{space.Effect{Type: space.Remove, Participant: "ann"}, r.state.Seq()})
		r.mu.Unlock()
		r.heal(&restored{state: r.state, first: r.first, index: r.index})
		r.signal()
	}); err != nil {
		t.Fatal(err)
	}
	if code := ann.closed(); code != statusRemoved {
		t.Errorf("closed with %d", code)
	}
}

// heard is a submitter that tells what it is told.
type heard chan *parley.Error

func (h heard) admitted(*journal.Record) *cursor        { h <- nil; return nil }
func (h heard) refused(_ string, refused *parley.Error) { h <- refused }

// A refusal that is only counted says nothing that could turn out not to be on
// record: here, that somebody else was first.
func TestFloodedRefusalBeforeAnOutage(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "")
	r := h.g.rooms["demo"]
	first, second := make(heard, 1), make(heard, 1)
	h.journal.Fail(errors.New("the disk is full"))
	if err := r.do(t.Context(), func() {
		now := r.now()
		v, err := r.state.Judge("ann", &parley.Envelope{ID: "x", Kind: "chat"}, now)
		if err != nil {
			t.Error(err)
			return
		}
		r.admit(v.Envelope, v.Kind, v.To, first)
		r.floods["bob"] = &flood{began: now, recorded: floodRecords}
		s := r.parse("bob", second, []byte(`{"id":"x","kind":"chat"}`))
		r.refuse(&s, parley.Errorf(parley.DuplicateID, "the id was used before"), now)
	}); err != nil {
		t.Fatal(err)
	}
	for who, hears := range map[string]heard{"the first": first, "the second": second} {
		if got := <-hears; got == nil || got.Code != parley.Unavailable {
			t.Errorf("%s hears %v", who, got)
		}
	}
	h.journal.Heal()
	ann.until(parley.KindWelcome)
}

// Answers whose place in the order comes after the connection's end are sent
// all the same, and do not keep it from ending.
func TestClosedWithAnswersWaiting(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "")
	r := h.g.rooms["demo"]
	c := r.everyConn(nil)[0]
	c.mu.Lock()
	end := c.seq
	c.closing = &closing{code: statusRemoved, upTo: end, drain: true}
	for i := range 3 {
		c.private = append(c.private, answer{frame: r.systemFrame(parley.KindAck, "ann", fmt.Append(nil, i)), after: end + 1 + uint64(i)})
	}
	c.mu.Unlock()
	c.cur.rouse()
	began := time.Now()
	for i := range 3 {
		if e := ann.until(parley.KindAck); string(e.Payload) != fmt.Sprint(i) {
			t.Errorf("answer %d is %s", i, e.Payload)
		}
	}
	if code := ann.closed(); code != statusRemoved || time.Since(began) > closeWithin {
		t.Errorf("closed with %d after %v", code, time.Since(began))
	}
}

// A message that comes byte by byte, and never to its end, holds nothing for
// long, although its sender is not silent.
func TestMessageWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{Logger: textLog(io.Discard)})
		nc := h.raw("bob")
		began := time.Now()
		var sender sync.WaitGroup
		sender.Go(func() {
			piece := []byte{1, 0x81, 0, 0, 0, 0, ' '}
			for {
				if _, err := nc.Write(piece); err != nil {
					return
				}
				piece[0] = 0 // goes on
				time.Sleep(time.Second)
			}
		})
		all, _ := io.ReadAll(nc) // ends with the connection
		nc.Close()
		sender.Wait()
		if took := time.Since(began); !bytes.Contains(all, []byte("a message does not come to its end")) || took > 2*arriveWithin*time.Second {
			t.Errorf("closed after %v, with %q", took, all[max(0, len(all)-100):])
		}
	})
}

// One participant cannot take all the connections of a space.
func TestConnectionsOfOneParticipant(t *testing.T) {
	s := demo("ann", "bob")
	s.Rules.Limits.Rate, s.Rules.Limits.Burst = 1e6, 1e6
	h := start(t, Options{Spaces: []Space{s}, Logger: textLog(io.Discard)})
	r := h.g.rooms["demo"]
	enter := func(id string) (*conn, error) {
		c := r.newConn(id, join{})
		return c, r.enter(t.Context(), c)
	}
	var all []*conn
	for range connectionsEach {
		c, err := enter("ann")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if _, err := enter("ann"); !errors.Is(err, &parley.Error{Code: parley.LimitReached}) {
		t.Errorf("one too many: %v", err)
	}
	bob, err := enter("bob")
	if err != nil {
		t.Errorf("somebody else: %v", err)
	}

	// One that closes the others is let in; many such that wait for the others to
	// end are not.
	for i := range 2 {
		c := r.newConn("ann", join{exclusive: true})
		if err := r.enter(t.Context(), c); (err == nil) != (i == 0) {
			t.Errorf("exclusive connection %d: %v", i, err)
		}
		all = append(all, c)
	}
	for _, c := range append(all, bob) {
		r.leave(c)
	}
}

// Who takes all the connections of a space keeps nobody out, and an exclusive one
// that makes room for itself is let in.
func TestConnectionsOfASpace(t *testing.T) {
	s := demo("ann", "bob", "cy")
	s.Rules.Limits.Connections = 2
	h := serve(t, Options{Spaces: []Space{s}})
	first, second := h.join("ann", "presence=off"), h.join("ann", "presence=off")
	h.join("bob", "")
	refused := func(who, query string) {
		t.Helper()
		if _, resp, err := h.dial(who, query); err == nil || resp == nil || resp.StatusCode != 409 {
			t.Errorf("%s with %q: %v", who, query, err)
		}
	}
	refused("ann", "")
	refused("bob", "")
	only := h.join("ann", "exclusive=on")
	for _, p := range []*peer{first, second} {
		if code := p.closed(); code != statusReplaced {
			t.Errorf("closed with %d", code)
		}
	}
	only.send(chat("still here"))
	only.until("chat")
	h.join("cy", "exclusive=on") // frees none, but is the first
}

// Who connects and disconnects all the time cannot fill the record: it is
// refused before anything is recorded, and told when to come again.
func TestComingAndGoing(t *testing.T) {
	s := demo("ann", "bob")
	s.Rules.Limits.Rate, s.Rules.Limits.Burst = 0.001, 50
	h := serve(t, Options{Spaces: []Space{s}, Logger: textLog(io.Discard)})
	r := h.g.rooms["demo"]
	come := func(id string) error {
		c := r.newConn(id, join{})
		err := r.enter(t.Context(), c)
		r.leave(c)
		return err
	}
	came := 0
	var refused error
	for refused == nil && came < 100 {
		if refused = come("ann"); refused == nil {
			came++
		}
	}
	const most = 5 // 50 in tens
	if e := asError(refused); came != most || e.Code != parley.RateLimited || e.RetryAfterMS <= 0 {
		t.Errorf("after %d: %+v", came, refused)
	}
	_ = h.g.View(t.Context(), "demo", func(*space.State) {}) // all is on record then
	if bounds, err := r.record.Bounds(t.Context()); err != nil || bounds.Last != 2*most {
		t.Errorf("%d are on record, %v", bounds.Last, err)
	}
	_, res, err := h.dial("ann", "")
	if err == nil || res == nil || res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
		t.Errorf("over HTTP: %v, %+v", err, res)
	}
	if err := come("bob"); err != nil {
		t.Errorf("somebody else: %v", err)
	}
}

// Of several connections of a participant the one that sent something is
// answered, once; the others see what was admitted as everybody does.
func TestAnswersOfSeveralConnections(t *testing.T) {
	h := serve(t, Options{})
	bob := h.join("bob", "presence=off")
	for query, answer := range map[string]string{"presence=off": "chat", "presence=off&echo=off": parley.KindAck} {
		one, two := h.join("ann", query), h.join("ann", "presence=off")
		one.send(`{"kind":"system/x"}`)
		one.send(`{"kind":"chat"}`)
		one.expect(parley.KindError, answer)
		two.expect("chat")
		bob.send(`{"kind":"end-x"}`)
		two.expect("end-x")
		one.expect("end-x")
	}
}

// expect is what comes next, by kind.
func (p *peer) expect(kinds ...string) {
	p.t.Helper()
	for _, want := range kinds {
		if e := p.next(); e.Kind != want {
			p.t.Errorf("got %s, not %s", e.Kind, want)
		}
	}
}

// A message in fragments of one byte is a message.
func TestFragments(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "")
	nc := h.raw("bob")
	text := chat("in pieces")
	for i := range len(text) {
		op := byte(0)
		if i == 0 {
			op = 1
		}
		if i == len(text)-1 {
			op |= 0x80
		}
		// Masked with zeros; a ping between two pieces of it is allowed.
		if _, err := nc.Write([]byte{op, 0x81, 0, 0, 0, 0, text[i], 0x89, 0x80, 0, 0, 0, 0}[:7+6*(i%2)*(1-int(op>>7))]); err != nil {
			t.Fatal(err)
		}
	}
	if e := ann.until("chat"); field(t, e, "text") != "in pieces" {
		t.Errorf("got %s", e.Payload)
	}
}

// raw is a connection that was upgraded, and nothing else.
func (h *harness) raw(id string, query ...string) net.Conn {
	h.t.Helper()
	dial := (&net.Dialer{}).DialContext
	if t := h.client.Transport.(*http.Transport); t.DialContext != nil {
		dial = t.DialContext
	}
	nc, err := dial(context.Background(), "tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { nc.Close() })
	fmt.Fprintf(nc, "GET /ws?%s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer token-%s\r\n\r\n", strings.Join(append(query, "topic=demo"), "&"), id)
	var answer [16]byte
	if _, err := io.ReadFull(nc, answer[:]); err != nil || string(answer[9:12]) != "101" {
		h.t.Fatalf("%s, %v", answer[:], err)
	}
	return nc
}

// Refusals are counted by the second, also where something else keeps setting
// the space's timer.
func TestFloodCountsInTime(t *testing.T) {
	h := start(t, Options{})
	r := h.g.rooms["demo"]
	if err := r.do(context.Background(), func() {
		now := r.now()
		for range floodRecords + 5 {
			r.flooding("ann", parley.InvalidKind, now)
		}
		if r.flooding("ann", parley.InvalidKind, now.Add(time.Second)) {
			t.Error("the next second's first refusal is only counted")
		}
		if n := r.floods["ann"].counted; n != 0 {
			t.Errorf("%d are carried over", n)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
