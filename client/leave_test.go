package client_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func TestLeave(t *testing.T) {
	g := newGateway(t)
	started, finish := make(chan struct{}), make(chan struct{})
	room := g.dial(t, "files", &client.Options{Handler: func(_ context.Context, q *client.Request) (any, error) {
		if q.Envelope.ID == "first" {
			close(started)
			<-finish
		}
		return "done", nil
	}})
	g.say("you", listKind, listCall, withID("first"), to("files"))
	<-started
	left := make(chan struct{})
	go func() {
		defer close(left)
		room.Leave(t.Context())
	}()
	// Leave begins at its own time; who asks from then on is told so at once.
	refused := func(e *parley.Envelope) bool { return strings.Contains(string(e.Payload), `"code":-32000`) }
	for i := 0; !slices.ContainsFunc(g.record(), refused); i++ {
		g.say("you", listKind, listCall, withID(fmt.Sprintf("q%d", i)), to("files"))
		if _, err := room.Chat(t.Context(), "tick"); err != nil {
			t.Fatal(err)
		}
	}
	close(finish)
	<-left
	if got := answered(t, g, "first"); !strings.Contains(string(got.Payload), `"done"`) {
		t.Errorf("the request that was being handled was answered %s", got.Payload)
	}
}

// Who gives a request up and leaves at once has it cancelled all the same.
func TestLeaveSaysWhatIsCancelled(t *testing.T) {
	for range 20 {
		g := newGateway(t)
		room := g.dial(t, "you", nil)
		ctx, cancel := context.WithCancel(t.Context())
		g.admit = func(_ *connection, e *parley.Envelope) { cancel() }
		if _, err := room.Request(ctx, "files", "tools/list", nil); err == nil {
			t.Fatal("it was answered")
		}
		room.Leave(t.Context())
		if !slices.ContainsFunc(g.record(), func(e *parley.Envelope) bool { return e.Kind == "mcp/request:notifications/cancelled" }) {
			t.Fatal("nobody was told that it is cancelled")
		}
	}
}
