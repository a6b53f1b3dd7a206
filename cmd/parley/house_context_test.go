package main

import (
	"errors"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

const contextsText = `
listen: 127.0.0.1:0
spaces:
  demo:
    limits: {context_idle: 2m}
    context_types:
      audit: {description: who changed what, kinds: [chat], limits: {context_depth: 1, context_idle: 7m}}
    participants:
      you: {token: you-0123456789abcdef, capabilities: [chat]}
      quiet: {token: quiet-0123456789abcdef, contexts: "type:audit"}
`

// What the configuration says of contexts is what a connection is told, what it
// receives, and what it is held to.
func TestConfiguredContexts(t *testing.T) {
	h := openedHouse(t, contextsText)
	quiet, you := enter(t, h, "quiet"), enter(t, h, "you")

	types := quiet.Welcome().Space.ContextTypes
	if audit := types["audit"]; audit.Description != "who changed what" || len(audit.Kinds) != 1 || audit.Limits.Depth != 1 || audit.Limits.Idle != 7*time.Minute {
		t.Errorf("of audit is told %+v", audit)
	}
	if idle := types["workflow"].Limits.Idle; len(types) != 4 || idle != 2*time.Minute {
		t.Errorf("told are %+v", types)
	}

	audit := &parley.Context{ID: "a", Type: "audit"}
	speak(t, you, "thought", client.InContext(&parley.Context{ID: "r", Type: "reasoning"}))
	speak(t, you, "changed", client.InContext(audit))
	_, err := you.Chat(t.Context(), "deep", client.InContext(&parley.Context{ID: "b", Type: "audit", Parent: "a"}))
	if !errors.Is(err, &parley.Error{Code: parley.ContextLimit}) {
		t.Errorf("too deep for its type: %v", err)
	}
	speak(t, you, "end")
	var got []string
	for e, err := range quiet.Envelopes(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != parley.KindChat {
			continue
		}
		text, _ := parley.MemberString(e.Payload, "text")
		if got = append(got, text); text == "end" {
			break
		}
	}
	if len(got) != 2 || got[0] != "changed" {
		t.Errorf("quiet receives %q", got)
	}
}

func enter(t *testing.T, h *house, id string) *client.Room {
	t.Helper()
	room, err := client.Dial(t.Context(), h.url, &client.Options{Space: "demo", Token: id + "-0123456789abcdef"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { room.Close() })
	return room
}

func speak(t *testing.T, room *client.Room, text string, opts ...client.SendOption) {
	t.Helper()
	if _, err := room.Chat(t.Context(), text, opts...); err != nil {
		t.Fatal(err)
	}
}
