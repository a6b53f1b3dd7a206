package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool/sampling"
)

// endpoint is one that is compatible with OpenAI's chat completions. Its model
// answers by the scripts of the game under way, in the format that is asked for.
type endpoint struct{ *room }

func (e endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := e.players.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	var asked completion
	err := json.UnmarshalRead(r.Body, &asked)
	if err == nil {
		err = asked.check(r)
	}
	line := ""
	if err == nil {
		p.requests = append(p.requests, &sampling.Request{})
		line, err = p.next(model, p.model)
	}
	if err != nil {
		http.Error(w, p.refuse(err).Error(), http.StatusBadRequest)
		return
	}
	stream(w, string(said(line)))
}

// stream sends a completion as the endpoint does, piece by piece.
func stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i, piece := range []string{text[:len(text)/2], text[len(text)/2:]} {
		content, _ := jsontext.AppendQuote(nil, piece) // of scripts, which are UTF-8
		role := []string{`"role":"assistant",`, ""}[i]
		fmt.Fprintf(w, chunk, fmt.Sprintf(`[{"index":0,"delta":{%s"content":%s},"finish_reason":null}]`, role, content), "null")
	}
	fmt.Fprintf(w, chunk, `[{"index":0,"delta":{},"finish_reason":"stop"}]`, "null")
	fmt.Fprintf(w, chunk, `[]`, `{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}`)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

const chunk = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"scripted","choices":%s,"usage":%s}` + "\n\n"

// completion is a request for one.
type completion struct {
	Stream         bool `json:"stream"`
	ResponseFormat struct {
		Type string `json:"type"`
	} `json:"response_format"`
	Messages []struct {
		Role      string `json:"role"`
		Content   any    `json:"content"`
		ToolCalls []struct {
			ID string `json:"id"`
		} `json:"tool_calls"`
		ToolCallID string `json:"tool_call_id"`
	} `json:"messages"`
}

// check is what such endpoints refuse: calls that are not answered by the messages
// right behind them, and answers to no call.
func (c *completion) check(r *http.Request) error {
	if r.URL.Path != "/v1/chat/completions" || !c.Stream || c.ResponseFormat.Type != "json_schema" || len(c.Messages) == 0 {
		return fmt.Errorf("%s is asked for %s", r.URL.Path, c.ResponseFormat.Type)
	}
	var open []string
	for i, m := range c.Messages {
		if m.Role == "tool" {
			at := slices.Index(open, m.ToolCallID)
			if at < 0 {
				return fmt.Errorf("message %d answers no call", i)
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d leaves calls open", i)
		}
		for _, call := range m.ToolCalls {
			open = append(open, call.ID)
		}
	}
	if len(open) > 0 || c.Messages[len(c.Messages)-1].Role != "user" {
		return errors.New("the last message is not the user's")
	}
	return nil
}

const configWithModel = `
listen: 127.0.0.1:0
spaces:
  club:
    participants:
      caller: {token: token-of-caller, capabilities: ["mcp/request:*"]}
      human:  {token: token-of-human, capabilities: ["mcp/response:*"], serves: [elicitation]}
      reader: {token: token-of-reader}
    models:
      model: {models: [{name: scripted, kind: openai-chat, model: scripted, url: %q}]}
    mcp_servers:
      game: {command: %q}
`

// The model is that of an endpoint, by a participant that "parley up" starts, and
// the human is at a terminal: nothing but the endpoint and the keys is the test's.
func TestModel(t *testing.T) {
	tools, err := filepath.Abs("../../.cache/bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(tools, "parley-model")); err != nil {
		t.Skip("parley-model is not built; scripts/fetch-test-deps does that")
	}
	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
	ctx := patient(t)
	r := &room{}
	e := httptest.NewServer(endpoint{r})
	t.Cleanup(e.Close)
	r.open(t, ctx, fmt.Sprintf(configWithModel, e.URL+"/v1", program(t, "tictactoe")))
	here := r.attendance(t, ctx)
	here.await(t, ctx, "join model")
	caller := r.join(t, ctx, "caller", nil)
	for name, g := range everyClientPlays {
		t.Run(name, func(t *testing.T) { r.playAtTerminal(t, ctx, caller, here, "game", g) })
	}
}
