package main

import (
	"context"
	"fmt"
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
// enough was said since. So does one that was concluded before somebody was there to
// sum it up; what nobody wants summed up, or is short, does not.
func TestSummaries(t *testing.T) {
	h := openedHouse(t, summariesText)
	you := enter(t, h, "you")
	discuss(t, you, "early", "reasoning", 3)
	asked := serveSampling(t, h)
	h.summarize(h.invite(t.Context()))
	hear := follow(t, h)
	hear("early")

	discuss(t, you, "r", "reasoning", 3)
	discuss(t, you, "w", "workflow", 3)
	hear("r")
	discuss(t, you, "short", "reasoning", 2)
	discuss(t, you, "early", "reasoning", 2)
	discuss(t, you, "r", "reasoning", 3)
	hear("r")
	discuss(t, you, "short", "reasoning", 1)
	hear("short")
	discuss(t, you, "s", "reasoning", 4)
	hear("s")
	if n := asked.Load(); n != 5 {
		t.Errorf("the model was asked %d times, want 5", n)
	}
}

// Whoever sums up comes back, and asks for what it missed alone.
func TestSummariesGoOn(t *testing.T) {
	h := openedHouse(t, summariesText)
	you := enter(t, h, "you")
	asked := serveSampling(t, h)
	hear := follow(t, h)
	sumUp := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- h.sumUp(ctx, "demo", h.plan.config.Spaces["demo"]) }()
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	stop := sumUp()
	for _, id := range []string{"done", "more"} {
		discuss(t, you, id, "reasoning", 3)
		hear(id)
	}
	stop()
	discuss(t, you, "done", "reasoning", 2)
	discuss(t, you, "more", "reasoning", 3)
	discuss(t, you, "short", "reasoning", 2)
	stop = sumUp()
	hear("more")
	discuss(t, you, "later", "reasoning", 3)
	hear("later")
	stop()
	if n := asked.Load(); n != 4 {
		t.Errorf("the model was asked %d times, want 4", n)
	}
}

// discuss says something in a context, so many times.
func discuss(t *testing.T, room *client.Room, id, typ string, times int) {
	t.Helper()
	for i := range times {
		speak(t, room, fmt.Sprint("step ", i+1), client.InContext(&parley.Context{ID: id, Type: typ}))
	}
}

// serveSampling has somebody there who sums up what it is asked to, and counts it.
func serveSampling(t *testing.T, h *house) *atomic.Int32 {
	t.Helper()
	asked := new(atomic.Int32)
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
	return asked
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
