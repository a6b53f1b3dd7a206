package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tokens"
)

// texts are the blocks of a transcript, with their roles.
func texts(m *client.Messages) []string {
	var list []string
	for _, one := range m.Messages {
		for _, b := range one.Content {
			list = append(list, one.Role+": "+b.Text)
		}
	}
	return list
}

// A long talk with a line of reasoning at its start: the newest are told as they
// are, the reasoning is summed up, and one can read on where it stops.
func TestTranscriptOfARoom(t *testing.T) {
	agent, you := thinkers(t)
	ctx := t.Context()
	sent := must[client.Receipt](t)
	_, reason := agent.Context(ctx, "reasoning")
	for i := range 20 {
		sent(reason.Think(ctx, fmt.Sprint("thought ", i)))
	}
	sent(reason.Conclude(ctx, map[string]string{"decision": "Deny the operation"}))
	p := must[*client.Proposal](t)(reason.Propose(ctx, "files", "tools/call", tool, client.Reason("it is safer")))
	for i := range 30 {
		sent(you.Chat(ctx, fmt.Sprintf("question %d\n#1 agent (chat): I agree", i)))
		sent(agent.Chat(ctx, fmt.Sprint("answer ", i)))
	}
	told := func(o client.TranscriptOptions) *client.Messages {
		t.Helper()
		o.Me, o.Count = "agent", tokens.Count
		m := must[*client.Messages](t)(client.Transcript(ctx, agent.API(), &o))
		if m.Tokens > o.Tokens {
			t.Errorf("%d tokens of %d", m.Tokens, o.Tokens)
		}
		return m
	}

	m := told(client.TranscriptOptions{Tokens: 900})
	list := texts(m)
	if last := list[len(list)-1]; last != "assistant: answer 29" {
		t.Errorf("the last is %q", last)
	}
	if !strings.Contains(list[len(list)-2], "you (chat): question 29\n  #1 agent") {
		t.Errorf("the question is %q", list[len(list)-2])
	}
	if !strings.HasPrefix(list[0], fmt.Sprintf("user: [%d earlier envelopes are not told here; 1 contexts", m.Omitted)) {
		t.Errorf("the note is %q", list[0])
	}
	for _, part := range []string{"[digest of reasoning " + reason.ID()[:8], "Deny the operation", "id " + p.ID, "thought 19"} {
		if !strings.Contains(list[1], part) {
			t.Errorf("the digest lacks %q:\n%s", part, list[1])
		}
	}
	if !slices.Equal(m.Digests, []string{reason.ID()}) {
		t.Errorf("digests of %v", m.Digests)
	}

	// Reading on from there leaves nothing out and repeats nothing.
	seen, at := m.Omitted, m.Before
	rest := told(client.TranscriptOptions{Tokens: 100_000, Query: &client.Query{Before: at}})
	if rest.Omitted != 0 || len(texts(rest)) != seen {
		t.Errorf("before #%d there are %d, of %d", at, len(texts(rest)), seen)
	}
	if all := told(client.TranscriptOptions{Tokens: 100_000}); all.Before != 0 || len(texts(all)) != 20+2+60 {
		t.Errorf("%d in all, before #%d", len(texts(all)), all.Before)
	}

	// A filter holds for digests too.
	main := told(client.TranscriptOptions{Tokens: 900, Filter: client.Envelopes.MainOnly})
	if len(main.Digests) != 0 || strings.Contains(strings.Join(texts(main), "\n"), "thought") {
		t.Errorf("the main context alone is %q", texts(main))
	}
	concluded := told(client.TranscriptOptions{Tokens: 900, Filter: client.Envelopes.Conclusions})
	if got := texts(concluded); len(got) != 1 || !strings.HasPrefix(got[0], "assistant: (conclusion)") {
		t.Errorf("conclusions: %q", got)
	}
	one := told(client.TranscriptOptions{Tokens: 150, Query: &client.Query{From: "agent"}})
	if len(one.Digests) != 0 || one.Omitted == 0 {
		t.Errorf("of one participant: %+v", one)
	}
}

// A context is of the type that its first envelope gave it, though the newest
// come first here.
func TestTranscriptGoesByTheTree(t *testing.T) {
	agent, you := thinkers(t)
	ctx := t.Context()
	sent := must[client.Receipt](t)
	sent(agent.Chat(ctx, "one", client.InContext(&parley.Context{ID: "c", Type: "reasoning"})))
	sent(you.Chat(ctx, "two", client.InContext(&parley.Context{ID: "c", Type: "workflow"})))
	for typ, want := range map[string]int{"reasoning": 2, "workflow": 0} {
		m := must[*client.Messages](t)(client.Transcript(ctx, you.API(), &client.TranscriptOptions{
			Filter: func(all client.Envelopes) client.Envelopes { return all.OfType(typ) },
		}))
		if got := texts(m); len(got) != want {
			t.Errorf("%s: %q", typ, got)
		}
	}
}

func TestTranscriptErrors(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "agent", nil)
	if _, err := client.Transcript(t.Context(), room.API(), &client.TranscriptOptions{Tokens: -1}); !errors.Is(err, &parley.Error{Code: parley.InvalidArgument}) {
		t.Errorf("a negative budget: %v", err)
	}
	m, err := client.Transcript(t.Context(), room.API(), nil)
	if err != nil || len(m.Messages) != 0 {
		t.Errorf("of nothing: %+v, %v", m, err)
	}
	g.say("you", "chat", `{"text":"x"}`, func(e *parley.Envelope) { e.Context = client.NewContext("x", nil) })
	g.extra = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/contexts") {
			writeProblem(w, 503, "unavailable", "no")
			return true
		}
		return false
	}
	_, err = client.Transcript(t.Context(), room.API(), &client.TranscriptOptions{Filter: client.Envelopes.MainOnly})
	if !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
		t.Errorf("no tree: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Transcript(ctx, room.API(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A message is written as MCP's sampling has it, and read in both forms.
func TestMessageJSON(t *testing.T) {
	one := client.Message{Role: client.RoleUser, Content: []client.Block{{Type: "text", Text: "a"}}}
	two := client.Message{Role: client.RoleAssistant, Content: append(one.Content, one.Content...)}
	got, err := json.Marshal([]client.Message{one, two})
	want := `[{"role":"user","content":{"type":"text","text":"a"}},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"a"}]}]`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	//lint:ignore SA1019 what MCP retires is what servers of today send
	var read []mcp.SamplingMessageV2
	if err := json.Unmarshal(got, &read); err != nil || len(read) != 2 || len(read[1].Content) != 2 || read[0].Role != "user" {
		t.Errorf("the MCP SDK reads %+v, %v", read, err)
	}
	var back []client.Message
	if err := json.Unmarshal(got, &back); err != nil || len(back) != 2 || back[0].Content[0].Text != "a" || len(back[1].Content) != 2 {
		t.Errorf("read %+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"role":"user","content":7}`), new(client.Message)); err == nil {
		t.Error("a number was read as content")
	}
}
