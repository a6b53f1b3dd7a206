package ollama

import (
	"cmp"
	"encoding/json" // the client's types need it
	"fmt"
	"mime"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/ollama/ollama/api"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// turn is a message of a history as it is told.
type turn struct {
	config provider.Config
	at     string             // where it stands, for errors
	asText bool               // calls and their results are told as text
	calls  []sampling.ToolUse // of the message before
}

// told is the message, or one for each of its results.
func (t turn) told(m sampling.Message) ([]api.Message, error) {
	if len(m.ToolResults()) > 0 {
		return t.results(m)
	}
	message := api.Message{Role: string(m.Role)}
	for i, b := range m.Content {
		use, ok := b.(sampling.ToolUse)
		if !ok {
			if err := t.add(&message, fmt.Sprintf("%s.content[%d]", t.at, i), b); err != nil {
				return nil, err
			}
			continue
		}
		call, err := toolCall(use, len(message.ToolCalls))
		switch {
		case err != nil:
			return nil, t.config.Refuse("%s.content[%d]: the input of the call is no JSON object: %v", t.at, i, err)
		case t.asText:
			message.Content = joined(message.Content, fmt.Sprintf("Calls %s with %s", use.Name, provider.Input(use)))
		default:
			message.ToolCalls = append(message.ToolCalls, call)
		}
	}
	return []api.Message{message}, nil
}

// results are told in the order of the calls, for many models go by it.
func (t turn) results(m sampling.Message) (told []api.Message, err error) {
	results := m.ToolResults()
	order := map[string]int{}
	for i, r := range results {
		order[r.ToolUseID] = i
	}
	for _, use := range t.calls {
		i := order[use.ID]
		message, err := t.result(fmt.Sprintf("%s.content[%d]", t.at, i), use, results[i])
		if err != nil {
			return nil, err
		}
		told = append(told, message)
	}
	return told, nil
}

func (t turn) result(where string, use sampling.ToolUse, r sampling.ToolResult) (api.Message, error) {
	message := api.Message{Role: "tool", ToolName: use.Name, ToolCallID: use.ID}
	for i, b := range provider.Content(r) {
		if err := t.add(&message, fmt.Sprintf("%s.content[%d]", where, i), b); err != nil {
			return message, err
		}
	}
	if r.IsError {
		message.Content = joined("The tool failed:", cmp.Or(message.Content, "it does not say why"))
	}
	if t.asText {
		message.Role, message.ToolName, message.ToolCallID = "user", "", ""
		message.Content = joined("Result of "+use.Name+":", message.Content)
	}
	return message, nil
}

// add puts a block that is no call into a message.
func (t turn) add(m *api.Message, where string, b sampling.Block) error {
	words, ok := provider.Words(b)
	if !ok {
		data, label := picture(b)
		switch {
		case data == nil:
			return t.config.CannotTake(where, b, "text and images (JPEG, PNG, WebP), none of them empty")
		case m.Role == string(sampling.Assistant):
			return t.config.CannotTake(where, b, "text and calls from the assistant")
		}
		m.Images, words = append(m.Images, data), label
	}
	m.Content = joined(m.Content, words)
	return nil
}

// picture is what is in a block of a type that the endpoint takes, and what it is
// called, if it has a name. It is nil for others.
func picture(b sampling.Block) (data []byte, label string) {
	var kind string
	switch b := b.(type) {
	case sampling.Image:
		data, kind = b.Data, b.MIMEType
	case sampling.Resource:
		data, kind = b.Contents.Blob, b.Contents.MIMEType
		label = "Resource " + b.Contents.URI + " is one of the images."
	}
	kind, _, err := mime.ParseMediaType(kind)
	if err != nil || len(data) == 0 || !slices.Contains([]string{"image/jpeg", "image/jpg", "image/png", "image/webp"}, kind) {
		return nil, ""
	}
	return data, label
}

// toolCall keeps the order of the arguments, and the digits of their numbers.
func toolCall(use sampling.ToolUse, index int) (api.ToolCall, error) {
	arguments := api.NewToolCallFunctionArguments()
	err := members(provider.Input(use), func(name string, value jsontext.Value) {
		arguments.Set(name, json.RawMessage(value))
	})
	return api.ToolCall{ID: use.ID, Function: api.ToolCallFunction{Index: index, Name: use.Name, Arguments: arguments}}, err
}
