package main

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/config"
)

const summariesText = `
listen: 127.0.0.1:0
spaces:
  demo:
    context_types:
      reasoning: {summarize: true, limits: {context_idle: 40ms}}
    participants:
      you: {token: you-0123456789abcdef, capabilities: [chat, reflection]}
      model: {token: model-0123456789abcdef, capabilities: ["mcp/response:*"], serves: [sampling]}
`

// A line of reasoning that is concluded gets a summary, once, and another one when
// it went on; one that was concluded before somebody was there to sum it up does
// too, and what nobody wants summed up does not.
func TestSummaries(t *testing.T) {
	h := openedHouse(t, summariesText)
	you := enter(t, h, "you")
	speak(t, you, "before", client.InContext(&parley.Context{ID: "early", Type: "reasoning"}))

	var asked atomic.Int32
	model, err := client.Dial(t.Context(), h.url, &client.Options{
		Space: "demo", Token: "model-0123456789abcdef",
		Handler: func(_ context.Context, req *client.Request) (any, error) {
			asked.Add(1)
			if !strings.Contains(string(req.Params), "you, chat: ") || !strings.Contains(string(req.Params), `"systemPrompt"`) {
				t.Errorf("the model is asked %s", req.Params)
			}
			return map[string]any{"role": "assistant", "model": "m-1", "content": map[string]any{"type": "text", "text": "They talked."}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	h.summarize(h.invite(t.Context()))
	hear := follow(t, h)
	hear("early")

	r := &parley.Context{ID: "r", Type: "reasoning"}
	speak(t, you, "step 1", client.InContext(r))
	speak(t, you, "work", client.InContext(&parley.Context{ID: "w", Type: "workflow"}))
	hear("r")
	speak(t, you, "step 2", client.InContext(r))
	hear("r")
	speak(t, you, "another", client.InContext(&parley.Context{ID: "s", Type: "reasoning"}))
	hear("s")
	if n := asked.Load(); n != 4 {
		t.Errorf("the model was asked %d times, want 4", n)
	}
}

// follow returns a function that waits for the summary of a context, which is the
// next that comes.
func follow(t *testing.T, h *house) func(id string) {
	room, err := client.Dial(t.Context(), h.url, &client.Options{Space: "demo", Token: "you-0123456789abcdef", History: 100, Kinds: []string{"conclusion"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	summaries := make(chan *parley.Envelope)
	go func() {
		defer close(summaries)
		for e, err := range room.Envelopes(ctx) {
			if err != nil {
				return
			}
			if e.Kind == "conclusion" {
				summaries <- e
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		for range summaries { // until the goroutine has ended
		}
		room.Close()
	})
	return func(id string) {
		t.Helper()
		e := <-summaries
		if e == nil {
			t.Fatal("the room has ended")
		}
		of, _ := parley.MemberString(e.Context.Metadata, "summary_of")
		text, _ := parley.MemberString(e.Payload, "summary")
		if e.From != config.Summarizer || e.Context.ID != id || of != id || text != "They talked." {
			t.Fatalf("%s says %s of %s: %s, want a summary of %s", e.From, e.Kind, e.Context.Raw(), e.Payload, id)
		}
	}
}
