package ollama

import (
	"encoding/json" // the client's types need it
	"fmt"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

func (m *model) request(q *sampling.Request) (*api.ChatRequest, error) {
	if err := q.Check(); err != nil {
		return nil, m.config.Refuse("%v", err)
	}
	options, err := m.options(q)
	if err != nil {
		return nil, err
	}
	r := &api.ChatRequest{Model: m.config.Model, Stream: new(true), Options: options}
	// The endpoint would leave out what does not fit into the model's window, at
	// the beginning of a request or while it replies.
	r.Truncate, r.Shift = new(false), new(false)
	orders, err := m.offer(r, q)
	if err != nil {
		return nil, err
	}
	if system := joined(q.SystemPrompt, orders); system != "" {
		r.Messages = []api.Message{{Role: "system", Content: system}}
	}
	return r, m.messages(r, q)
}

func (m *model) options(q *sampling.Request) (map[string]any, error) {
	options := map[string]any{}
	if most := m.config.Tokens(q); most > 0 {
		options["num_predict"] = most
	}
	if len(q.StopSequences) > 0 {
		options["stop"] = q.StopSequences
	}
	if q.Temperature != nil {
		if *q.Temperature < 0 {
			return nil, m.config.Refuse("temperature is %v: it has to be 0 or more", *q.Temperature)
		}
		options["temperature"] = *q.Temperature
	}
	return options, nil
}

// offer puts in what the model may or has to answer with. What it is ordered to do
// besides is for the system prompt.
func (m *model) offer(r *api.ChatRequest, q *sampling.Request) (orders string, err error) {
	switch q.ToolChoice.Mode {
	case "", sampling.Auto, sampling.Required, sampling.None:
	default:
		return "", m.config.Refuse("toolChoice is %q: there are auto, required and none", q.ToolChoice.Mode)
	}
	if len(q.Tools) == 0 && q.ToolChoice.Mode == sampling.Required {
		return "", m.config.Refuse("toolChoice is required, and there are no tools")
	}
	if answer, ok := provider.Structured(q); ok {
		schema, ok := inputSchema(answer)
		if !ok {
			return "", m.config.Refuse("tools[0]: the inputSchema of %s is no JSON Schema of type object", sampling.SchemaTool)
		}
		r.Format = json.RawMessage(schema)
		return joined(answer.Description, "Answer with JSON, and nothing else, that fits this JSON Schema:\n"+string(schema)), nil
	}
	if q.ToolChoice.Mode == sampling.None {
		return "", nil
	}
	if r.Tools, err = m.tools(q.Tools); err == nil && q.ToolChoice.Mode == sampling.Required {
		orders = "Answer by calling at least one of the tools."
	}
	return orders, err
}

// messages puts in the history.
func (m *model) messages(r *api.ChatRequest, q *sampling.Request) error {
	history := provider.Spoken(q.Messages)
	if slices.ContainsFunc(r.Tools, func(t api.Tool) bool { return t.Function.Name == sampling.SchemaTool }) {
		history = slices.All(q.Messages)
	}
	var calls []sampling.ToolUse // of the last message
	for i, said := range history {
		t := turn{config: m.config, at: fmt.Sprintf("messages[%d]", i), asText: len(r.Tools) == 0, calls: calls}
		told, err := t.told(said)
		if err != nil {
			return err
		}
		r.Messages = append(r.Messages, told...)
		calls = said.ToolUses()
	}
	return nil
}

// joined puts texts that say something below each other.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return strings.TrimSpace(text) == "" }), "\n")
}
