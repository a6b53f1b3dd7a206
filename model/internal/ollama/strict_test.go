package ollama

import (
	stdjson "encoding/json" // the schema library's, and the server's
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/ollama/ollama/api"

	"github.com/parleyhq/parley/model/internal/providertest"
)

// strict is an endpoint that takes what the API's description allows, reads it by the
// types that the server reads it by, and refuses also what the server
// takes and models then do not understand.
func strict(t testing.TB) providertest.Check {
	data, err := os.ReadFile("testdata/chat.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var described jsonschema.Schema
	if err := stdjson.Unmarshal(data, &described); err != nil {
		t.Fatal(err)
	}
	schema, err := described.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(r *http.Request, body []byte) error {
		if r.Method != http.MethodPost || r.URL.String() != "/api/chat" || !strings.HasPrefix(r.Host, "127.0.0.1:") {
			return fmt.Errorf("%s %s to %s is no request of the API", r.Method, r.URL, r.Host)
		}
		for name, want := range map[string]string{"Authorization": "Bearer " + providertest.Key, "Content-Type": "application/json"} {
			if got := r.Header.Get(name); got != want {
				return fmt.Errorf("the header %s is %q", name, got)
			}
		}
		if !jsontext.Value(body).IsValid() {
			return errors.New("the body is no JSON that everybody reads alike")
		}
		var instance any
		if err := stdjson.Unmarshal(body, &instance); err != nil {
			return err
		}
		if err := schema.Validate(instance); err != nil {
			return err
		}
		var sent api.ChatRequest
		if err := stdjson.Unmarshal(body, &sent); err != nil {
			return err
		}
		return understood(&sent)
	}
}

// understood says whether templates of models find what they look for: each call
// answered by the next messages, in its order, and none without tools.
func understood(sent *api.ChatRequest) error {
	var open []api.ToolCall
	ids := map[string]bool{}
	for i, m := range sent.Messages {
		if m.Role == "tool" {
			if len(open) == 0 || m.ToolName != open[0].Function.Name || m.ToolCallID != open[0].ID {
				return fmt.Errorf("messages.%d: a result of %q, where %v is waited for", i, m.ToolName, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("messages.%d: %v is waited for", i, open)
		}
		if strings.TrimSpace(m.Content) == "" && len(m.Images) == 0 && len(m.ToolCalls) == 0 {
			return fmt.Errorf("messages.%d says nothing", i)
		}
		switch {
		case m.Role == "system" && i > 0:
			return fmt.Errorf("messages.%d: the system prompt comes first", i)
		case m.Role != "user" && len(m.Images) > 0:
			return fmt.Errorf("messages.%d: an image of the %s's", i, m.Role)
		case m.Role != "assistant" && len(m.ToolCalls) > 0, len(m.ToolCalls) > 0 && len(sent.Tools) == 0:
			return fmt.Errorf("messages.%d: a call of the %s's, with %d tools", i, m.Role, len(sent.Tools))
		}
		for n, call := range m.ToolCalls {
			if ids[call.ID] || call.Function.Index != n {
				return fmt.Errorf("messages.%d: call %d has the index %d and the id %q", i, n, call.Function.Index, call.ID)
			}
			ids[call.ID] = true
		}
		open = m.ToolCalls
	}
	if len(open) > 0 {
		return fmt.Errorf("%v is waited for", open)
	}
	if sent.Format != nil && len(sent.Tools) > 0 {
		return errors.New("a format keeps models from calling tools")
	}
	return nil
}

// The endpoint refuses what it has to, or the tests with it show nothing.
func TestStrictRefuses(t *testing.T) {
	check := strict(t)
	const (
		begin = `{"model":"m","stream":true,"truncate":false,"shift":false,"options":{},"messages":[{"role":"user","content":"hi"}`
		call  = `,{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"index":0,"name":"f","arguments":{}}}]}`
		tools = `],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]}`
	)
	for body, good := range map[string]bool{
		begin + `]}`: true,
		begin + call + `,{"role":"tool","content":"","tool_name":"f","tool_call_id":"1"}` + tools: true,
		begin + call + `,{"role":"tool","content":"","tool_name":"f","tool_call_id":"1"}]}`:       false,
		begin + call + `,{"role":"tool","content":"","tool_name":"f","tool_call_id":"2"}` + tools: false,
		begin + call + `,{"role":"tool","content":"","tool_name":"g","tool_call_id":"1"}` + tools: false,
		begin + call + tools: false,
		begin + call + `,{"role":"user","content":"x"}` + tools:           false,
		begin + `,{"role":"user","content":" "}]}`:                        false,
		begin + `,{"role":"system","content":"x"}]}`:                      false,
		begin + `,{"role":"assistant","content":"x","images":["AA=="]}]}`: false,
		begin + `,{"role":"user","content":"","images":["AA=="]}]}`:       true,
		begin + `,{"role":"user","content":"","images":[]}]}`:             false,
		begin + `,{"role":"nobody","content":"x"}]}`:                      false,
		begin + `],"format":{"type":"object"}}`:                           true,
		begin + `],"format":{"type":"object"},"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]}`: false,
		begin + `],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"n":true}}}}]}`:                    false,
		begin + `],"tools":[]}`: false,
		begin + `],"think":1}`:  false,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/api/chat", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "127.0.0.1:11434"
		r.Header.Set("Authorization", "Bearer "+providertest.Key)
		r.Header.Set("Content-Type", "application/json")
		if err := check(r, []byte(body)); (err == nil) != good {
			t.Errorf("the endpoint says %v to %s", err, body)
		}
	}
}
