package openai

import (
	stdjson "encoding/json" // the schema library's
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parleyhq/parley/model/internal/providertest"
)

// strictEndpoint takes what OpenAI's description of an API allows, and holds to
// the rules that no schema can say.
func strictEndpoint(t testing.TB, path, schema string, rules func(body map[string]any) error) providertest.Check {
	data, err := os.ReadFile(schema)
	if err != nil {
		t.Fatal(err)
	}
	var described jsonschema.Schema
	if err := stdjson.Unmarshal(data, &described); err != nil {
		t.Fatal(err)
	}
	resolved, err := described.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(r *http.Request, body []byte) error {
		if r.Method != http.MethodPost || r.URL.Path != path {
			return fmt.Errorf("%s %s is no request of the API", r.Method, r.URL)
		}
		for name, want := range map[string]string{"Authorization": "Bearer " + providertest.Key, "Content-Type": "application/json", "OpenAI-Organization": ""} {
			if got := r.Header.Get(name); got != want {
				return fmt.Errorf("the header %s is %q", name, got)
			}
		}
		var document map[string]any
		if err := stdjson.Unmarshal(body, &document); err != nil {
			return err
		}
		if err := resolved.Validate(document); err != nil {
			return err
		}
		if document["tools"] == nil && document["tool_choice"] != nil {
			return errors.New("tool_choice is only allowed when tools are specified")
		}
		return rules(document)
	}
}

func strictResponses(t testing.TB) providertest.Check {
	return strictEndpoint(t, "/v1/responses", "testdata/responses.schema.json", responsesRules)
}

func strictChat(t testing.TB) providertest.Check {
	return strictEndpoint(t, "/v1/chat/completions", "testdata/chat.schema.json", chatRules)
}

// responsesRules are that each call has one output, which comes after it, and
// that the assistant's words are no input.
func responsesRules(body map[string]any) error {
	open, seen := map[any]bool{}, map[any]bool{}
	for i, item := range body["input"].([]any) {
		o := item.(map[string]any)
		id := o["call_id"]
		switch o["type"] {
		case "function_call":
			if seen[id] {
				return fmt.Errorf("input[%d]: duplicate call_id %v", i, id)
			}
			open[id], seen[id] = true, true
		case "function_call_output":
			if !open[id] {
				return fmt.Errorf("input[%d]: no tool call found for function call output with call_id %v", i, id)
			}
			delete(open, id)
		}
		if _, parts := o["content"].([]any); parts && o["role"] == "assistant" {
			return fmt.Errorf("input[%d]: invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'", i)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("no tool output found for function calls %v", open)
	}
	return nil
}

// chatRules are that the calls of a message are answered by the messages that
// follow it, and that the system speaks first.
func chatRules(body map[string]any) error {
	var open []any
	for i, message := range body["messages"].([]any) {
		m := message.(map[string]any)
		if m["role"] == "system" && i > 0 {
			return fmt.Errorf("messages[%d]: the system speaks first", i)
		}
		if m["role"] == "tool" {
			at := slices.Index(open, m["tool_call_id"])
			if at < 0 {
				return fmt.Errorf("messages[%d]: messages with role 'tool' must be a response to a preceding message with 'tool_calls'", i)
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("messages[%d]: an assistant message with 'tool_calls' must be followed by tool messages: %v", i, open)
		}
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			id := c.(map[string]any)["id"]
			if slices.Contains(open, id) {
				return fmt.Errorf("messages[%d]: duplicate id %v", i, id)
			}
			open = append(open, id)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("an assistant message with 'tool_calls' must be followed by tool messages: %v", open)
	}
	return nil
}

// The endpoints refuse what they have to, or the tests with them show nothing.
func TestStrictRefuses(t *testing.T) {
	const responses = `{"model":"m","stream":true,"input":[{"role":"user","content":"hi"}`
	const call = `,{"type":"function_call","call_id":"1","name":"f","arguments":"{}"}`
	const output = `,{"type":"function_call_output","call_id":"1","output":""}`
	const chat = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}`
	const calls = `,{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	const result = `,{"role":"tool","tool_call_id":"1","content":""}`
	for body, good := range map[string]bool{
		responses + `]}`:                          true,
		responses + call + output + `]}`:          true,
		responses + call + `]}`:                   false,
		responses + output + `]}`:                 false,
		responses + output + call + `]}`:          false,
		responses + call + call + output + `]}`:   false,
		responses + call + output + output + `]}`: false,
		responses + `,{"role":"assistant","content":[{"type":"input_text","text":"x"}]}]}`: false,
		responses + `,{"role":"tool","content":"x"}]}`:                                     false,
		responses + `],"max_output_tokens":15}`:                                            false,
		responses + `],"stop":["x"]}`:                                                      false,
		responses + `],"tool_choice":"required"}`:                                          false,
		responses + `],"tools":[{"type":"function","name":"a.b","strict":false,"parameters":{"type":"object","properties":{}}}]}`:    false,
		responses + `],"tools":[{"type":"function","name":"a","parameters":{"type":"object","properties":{}}}]}`:                     false,
		responses + `],"tools":[{"type":"function","name":"a","strict":false,"parameters":{"type":"object"}}]}`:                      false,
		responses + `,{"role":"user","content":[{"type":"input_image","detail":"auto","image_url":"data:image/bmp;base64,AA=="}]}]}`: false,
		chat + `]}`:                  true,
		chat + calls + result + `]}`: true,
		chat + calls + `]}`:          false,
		chat + result + `]}`:         false,
		chat + calls + `,{"role":"user","content":"x"}` + result + `]}`: false,
		chat + calls + result + result + `]}`:                           false,
		chat + `,{"role":"system","content":"x"}]}`:                     false,
		chat + `,{"role":"assistant"}]}`:                                false,
		chat + `,{"role":"user","content":[]}]}`:                        false,
		chat + `],"temperature":2.5}`:                                   false,
		chat + `],"tools":[{"type":"function","function":{"name":"a b","parameters":{"type":"object","properties":{}}}}]}`: false,
	} {
		path, check := "/v1/responses", strictResponses(t)
		if strings.HasPrefix(body, chat) {
			path, check = "/v1/chat/completions", strictChat(t)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://host"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+providertest.Key)
		r.Header.Set("Content-Type", "application/json")
		if err := check(r, []byte(body)); (err == nil) != good {
			t.Errorf("the endpoint says %v to %s", err, body)
		}
	}
}
