package anthropic

import (
	stdjson "encoding/json" // the schema library's
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parleyhq/parley/model/internal/providertest"
)

// sentBody is a request as the endpoint reads it.
type sentBody struct {
	Messages []sentTurn
	Tools    []struct{ Name string }
	Choice   struct{ Type, Name string } `json:"tool_choice"`
}

type sentTurn struct {
	Role    string
	Content []sentBlock
}

type sentBlock struct {
	Type, ID, Text, Name string
	Result               string `json:"tool_use_id"`
	Failed               bool   `json:"is_error"`
	Content              []sentBlock
	Source               jsontext.Value
	Input                jsontext.Value
}

// strict is an endpoint that takes what the API's description allows, and holds to the
// rules of its documents and errors which that cannot say.
func strict(t testing.TB) providertest.Check {
	data, err := os.ReadFile("testdata/messages.schema.json")
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
		if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
			return fmt.Errorf("%s %s is no request of the API", r.Method, r.URL)
		}
		for name, want := range map[string]string{"X-Api-Key": providertest.Key, "Anthropic-Version": "2023-06-01", "Content-Type": "application/json", "Authorization": ""} {
			if got := r.Header.Get(name); got != want {
				return fmt.Errorf("the header %s is %q", name, got)
			}
		}
		var instance any
		if err := stdjson.Unmarshal(body, &instance); err != nil {
			return err
		}
		if err := schema.Validate(instance); err != nil {
			return err
		}
		var sent sentBody
		if err := json.Unmarshal(body, &sent, json.MatchCaseInsensitiveNames(true)); err != nil { // refuses names that come twice
			return err
		}
		return errors.Join(sent.tools(), sent.turns())
	}
}

func (b sentBody) tools() error {
	var names []string
	for _, tool := range b.Tools {
		if slices.Contains(names, tool.Name) {
			return fmt.Errorf("tools: the name %q comes twice", tool.Name)
		}
		names = append(names, tool.Name)
	}
	if len(names) == 0 && b.Choice.Type != "" {
		return errors.New("tool_choice may only be given together with tools")
	}
	if b.Choice.Type == "tool" && !slices.Contains(names, b.Choice.Name) {
		return fmt.Errorf("tool_choice: there is no tool %q", b.Choice.Name)
	}
	for _, turn := range b.Messages {
		for _, block := range turn.Content {
			if block.Type == "tool_use" && len(names) == 0 {
				return errors.New("requests with tool_use blocks must define tools")
			}
		}
	}
	return nil
}

// turns are the two roles', one after the other, and each call is answered at the
// beginning of the next.
func (b sentBody) turns() error {
	seen := map[string]bool{}
	var open []string
	for i, turn := range b.Messages {
		if want := []string{"user", "assistant"}[i%2]; turn.Role != want {
			return fmt.Errorf("messages.%d: the role is %s", i, turn.Role)
		}
		if err := turn.answers(&open); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		for _, block := range turn.Content {
			if block.Type != "tool_use" {
				continue
			}
			if seen[block.ID] {
				return fmt.Errorf("messages.%d: tool_use ids must be unique: %q", i, block.ID)
			}
			seen[block.ID] = true
			open = append(open, block.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("tool_use ids without tool_result blocks: %q", open)
	}
	last := b.Messages[len(b.Messages)-1]
	if text := last.Content[len(last.Content)-1].Text; last.Role == "assistant" && strings.TrimRight(text, " \n\t\r") != text {
		return errors.New("final assistant content cannot end with trailing whitespace")
	}
	return nil
}

// answers closes the calls that are open, with the results that a turn begins with.
func (t sentTurn) answers(open *[]string) error {
	others := false
	for i, block := range t.Content {
		if block.Type != "tool_result" {
			others = true
			continue
		}
		at := slices.Index(*open, block.Result)
		if others || at < 0 {
			return fmt.Errorf("content.%d: unexpected tool_use_id %q", i, block.Result)
		}
		*open = slices.Delete(*open, at, at+1)
		for _, inner := range block.Content {
			if block.Failed && inner.Type != "text" {
				return fmt.Errorf("content.%d: all content must be type text if is_error is true", i)
			}
		}
		if block.Failed && len(block.Content) == 0 {
			return fmt.Errorf("content.%d: content cannot be empty if is_error is true", i)
		}
	}
	if len(*open) > 0 {
		return fmt.Errorf("tool_use ids without tool_result blocks: %q", *open)
	}
	return nil
}

// The endpoint refuses what it has to, or the tests with it show nothing.
func TestStrictRefuses(t *testing.T) {
	check := strict(t)
	const begin = `{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}`
	const tools = `],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`
	const call = `,{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]}`
	for body, good := range map[string]bool{
		begin + `]}`: true,
		begin + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}` + tools:                            true,
		begin + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}]}`:                                  false,
		begin + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"2"}]}` + tools:                            false,
		begin + call + `,{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"1"}]}` + tools: false,
		begin + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"},{"type":"text","text":"x"}]}` + tools: true,
		begin + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","is_error":true}]}` + tools:            false,
		begin + call + `,{"role":"user","content":[{"type":"text","text":"x"}]}` + tools:                                          false,
		begin + call + tools: false,
		begin + `,{"role":"user","content":[{"type":"text","text":"x"}]}]}`:                                           false,
		begin + `,{"role":"assistant","content":[{"type":"text","text":"x "}]}]}`:                                     false,
		begin + `,{"role":"assistant","content":[{"type":"text","text":" x"}]}]}`:                                     true,
		begin + `,{"role":"assistant","content":[{"type":"text","text":"  "}]}]}`:                                     false,
		begin + `,{"role":"assistant","content":[]}]}`:                                                                false,
		begin + `],"tool_choice":{"type":"any"}}`:                                                                     false,
		begin + `],"tool_choice":{"type":"tool","name":"g"},"tools":[{"name":"f","input_schema":{"type":"object"}}]}`: false,
		begin + `],"tools":[{"name":"a.b","input_schema":{"type":"object"}}]}`:                                        false,
		begin + `],"tools":[{"name":"f","input_schema":{}}]}`:                                                         false,
		begin + `],"temperature":1.5}`:                                                                                false,
		begin + `],"top":1}`:                                                                                          false,
		begin + `,{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":"AA=="}}]}]}`: false,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://host/v1/messages", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Api-Key", providertest.Key)
		r.Header.Set("Anthropic-Version", "2023-06-01")
		r.Header.Set("Content-Type", "application/json")
		if err := check(r, []byte(body)); (err == nil) != good {
			t.Errorf("the endpoint says %v to %s", err, body)
		}
	}
}
