package gateway

import (
	"testing"

	"github.com/parleyhq/parley"
)

func TestConversation(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "")
	if got := field(t, ann.welcome, "history", "epoch"); got != "e1" {
		t.Errorf("epoch %v", got)
	}
	bob := h.join("bob", "")
	if e := ann.next(); e.Kind != parley.KindPresence || e.Seq != 2 {
		t.Errorf("ann sees %s at %d, not bob's presence", e.Kind, e.Seq)
	}
	bob.send(chat("hello"))
	for _, p := range []*peer{ann, bob} {
		if e := p.next(); e.Kind != "chat" || e.From != "bob" || e.Seq != 3 {
			t.Errorf("got %s from %s at %d", e.Kind, e.From, e.Seq)
		}
	}
	bob.send(`{"id":"x1","kind":"system/welcome","payload":{}}`)
	if e := bob.next(); e.Kind != parley.KindError || e.Correlation.IDs[0] != "x1" || field(t, e, "error") != "reserved_kind" {
		t.Errorf("got %s %s", e.Kind, e.Payload)
	}
	quiet := h.join("cy", "echo=off&history=1")
	if e := quiet.next(); e.Seq != 4 || e.Kind != parley.KindPresence {
		t.Errorf("history starts at %d %s", e.Seq, e.Kind)
	}
	quiet.send(`{"id":"q1","kind":"chat","payload":{"text":"psst"}}`)
	if e := quiet.next(); e.Kind != parley.KindAck || field(t, e, "seq") != 5.0 || field(t, e, "id") != "q1" {
		t.Errorf("got %s %s", e.Kind, e.Payload)
	}
}
