package client_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func TestSendIsAcknowledged(t *testing.T) {
	for name, opts := range map[string]*client.Options{
		"by its echo": nil,
		"by an ack":   {EchoOff: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t)
			room := g.dial(t, "you", opts)
			got, err := room.Chat(t.Context(), "hello", client.To("agent"), client.WithID("c1"), client.Markdown(),
				client.InContext(&parley.Context{ID: "ctx"}), client.Correlate("a", "b"))
			if err != nil || got != (client.Receipt{ID: "c1", Seq: 1, Epoch: "e1"}) {
				t.Fatalf("got %+v, %v", got, err)
			}
			e := g.record()[0]
			if want := `{"text":"hello","format":"markdown"}`; string(e.Payload) != want || e.To[0] != "agent" ||
				e.Context.ID != "ctx" || len(e.Correlation.IDs) != 2 {
				t.Errorf("sent %+v", e)
			}
			if s := room.Stats(); s.Sent != 1 {
				t.Errorf("stats are %+v", s)
			}
		})
	}
}

func TestSendRefused(t *testing.T) {
	g := newGateway(t)
	g.judge = func(e *parley.Envelope) *parley.Error {
		err := parley.Errorf(parley.CapabilityViolation, "you may not send %s", e.Kind).WithHint("propose it")
		err.AttemptedKind = e.Kind
		return err
	}
	room := g.dial(t, "you", nil)
	_, err := room.Chat(t.Context(), "hello")
	refused, ok := err.(*parley.Error)
	if !ok || refused.Code != parley.CapabilityViolation || refused.Hint != "propose it" || refused.AttemptedKind != "chat" {
		t.Errorf("got %v", err)
	}
}

// What would cost us the connection, or be refused without a name, is refused
// here.
func TestSendRefusedHere(t *testing.T) {
	g := newGateway(t)
	g.limits = `{"envelope_bytes":200}`
	room := g.dial(t, "you", nil)
	for name, c := range map[string]struct {
		e    parley.Envelope
		want parley.Code
	}{
		"too large":     {parley.Envelope{Kind: "chat", Payload: []byte(`"` + strings.Repeat("x", 300) + `"`)}, parley.EnvelopeTooLarge},
		"no JSON":       {parley.Envelope{Kind: "chat", Payload: []byte(`{"a":`)}, parley.MalformedEnvelope},
		"two envelopes": {parley.Envelope{Kind: "chat", Payload: []byte(`1} {"kind":"x"`)}, parley.MalformedEnvelope},
		"bad id":        {parley.Envelope{ID: "a b", Kind: "chat"}, parley.MalformedEnvelope},
		"bad UTF-8":     {parley.Envelope{Kind: "chat", Payload: []byte("\"\xff\"")}, parley.MalformedEnvelope},
	} {
		if _, err := room.Send(t.Context(), &c.e); !errors.Is(err, &parley.Error{Code: c.want}) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if n := len(g.record()); n != 0 {
		t.Errorf("%d envelopes came through", n)
	}
}

// A connection breaks after the gateway admitted an envelope and before it said
// so: the envelope is sent again, and is on record once.
func TestSendAgainAfterALostAcknowledgement(t *testing.T) {
	for name, opts := range map[string]client.Options{
		"the echo arrives on resuming": {},
		"the duplicate is told":        {EchoOff: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t)
			var broke atomic.Bool
			g.admit = func(c *connection, _ *parley.Envelope) {
				if broke.CompareAndSwap(false, true) {
					c.ws.CloseNow()
				}
			}
			room := g.dial(t, "you", &opts)
			got, err := room.Chat(t.Context(), "hello", client.WithID("c1"))
			if err != nil || got.Seq != 1 || got.Epoch != "e1" {
				t.Fatalf("got %+v, %v", got, err)
			}
			if n := len(g.record()); n != 1 {
				t.Errorf("%d on record", n)
			}
			if s := room.Stats(); s.Reconnects != 1 {
				t.Errorf("stats are %+v", s)
			}
		})
	}
}

// A repetition that is refused before the gateway looks at its id says nothing
// of the first attempt.
func TestSendAgainRefusedUnseen(t *testing.T) {
	for code, unknown := range map[parley.Code]bool{
		parley.RateLimited: true, parley.Unavailable: true, parley.CapabilityViolation: false,
	} {
		g := newGateway(t)
		var broke atomic.Bool
		g.judge = func(*parley.Envelope) *parley.Error {
			if broke.CompareAndSwap(false, true) {
				g.of("you").ws.CloseNow() // nobody hears what became of it
			}
			return parley.Errorf(code, "not now")
		}
		room := g.dial(t, "you", &client.Options{EchoOff: true})
		_, err := room.Chat(t.Context(), "hello")
		if !errors.Is(err, &parley.Error{Code: code}) || errors.Is(err, client.ErrUnacknowledged) != unknown {
			t.Errorf("%s: got %v", code, err)
		}
	}
}

// The same id with other content was never ours.
func TestSendDuplicateOfAnother(t *testing.T) {
	g := newGateway(t)
	g.judge = func(*parley.Envelope) *parley.Error { return parley.Errorf(parley.DuplicateID, "used") }
	room := g.dial(t, "you", nil)
	if _, err := room.Chat(t.Context(), "hello"); !errors.Is(err, &parley.Error{Code: parley.DuplicateID}) {
		t.Errorf("got %v", err)
	}
}

func TestSendGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t)
		hold := make(chan struct{})
		g.judge = func(*parley.Envelope) *parley.Error { <-hold; return nil }
		room := g.dial(t, "you", nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := room.Chat(ctx, "hello")
		if !errors.Is(err, client.ErrUnacknowledged) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		close(hold)
		room.Close()
	})
}

// While there is no connection a send waits for the next one.
func TestSendWaitsForTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t)
		lost := make(chan struct{})
		room := g.dial(t, "you", &client.Options{BackoffMin: time.Minute, BackoffMax: time.Minute, OnState: func(s client.State) {
			if s.Phase == client.Waiting {
				close(lost)
			}
		}})
		g.dropAll()
		<-lost
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := room.Chat(ctx, "too soon"); errors.Is(err, client.ErrUnacknowledged) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := room.Chat(t.Context(), "in time"); err != nil {
			t.Error(err)
		}
		if n := len(g.record()); n != 1 {
			t.Errorf("%d on record", n)
		}
		room.Close()
	})
}

// Sends of one goroutine keep their order.
func TestSendOrder(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "you", nil)
	for range 50 {
		if _, err := room.Chat(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
	}
	for i, e := range g.record() {
		if e.Seq != uint64(i+1) {
			t.Fatalf("%d has seq %d", i, e.Seq)
		}
	}
}

func TestNotify(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "you", nil)
	if _, err := room.Notify(t.Context(), "", "tools/list_changed", nil); err != nil {
		t.Fatal(err)
	}
	e := g.record()[0]
	if e.Kind != "mcp/request:notifications/tools/list_changed" || len(e.To) != 0 ||
		string(e.Payload) != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
		t.Errorf("sent %s %s", e.Kind, e.Payload)
	}
}
