package sampling

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An Action is what somebody did with a form.
type Action string

// The actions of MCP.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
)

// An Elicitation is a question to a human, who answers with a form.
type Elicitation[C any] struct {
	ID      string // of the call that stands for it in a history; unique there
	Key     string // what is asked for, as the name of a tool: letters, digits, _ and -, at most 64
	Mode    string // "" or "form": there is no other
	Message string // what the human is told
	Context C      // what the tool knew when it asked; not told to anybody
}

// Check says why the elicitation cannot stand in a history, so that nobody is asked
// in vain. An ID that is missing can still be given.
func (e Elicitation[C]) Check() error {
	if !validKey(e.Key) {
		return fmt.Errorf("sampling: an elicitation needs a key of 1 to 64 letters, digits, _ and -: %q is none", clip(e.Key, 64))
	}
	if len(e.ID) > MaxName {
		return fmt.Errorf("sampling: the id of the elicitation %q has %d bytes, and may have %d", e.Key, len(e.ID), MaxName)
	}
	return nil
}

// An ElicitExchange is what a question to a human and the answer add to a model's
// history: a call, as if the model had asked, and its result.
type ElicitExchange[T, C any] struct {
	Request  Message   // the assistant's tool_use: the key, and the message as its input
	Response Message   // the user's tool_result
	Messages []Message // both
	Action   Action
	Parsed   T // the zero T unless the action is Accept
	Context  C // of the elicitation
}

// Answered makes the exchange of an elicitation. content is the form as it was filled in, an
// object, and parsed what was read from it; both count for Accept
// only. What was declined or cancelled says so, as an error.
func Answered[T, C any](asked Elicitation[C], action Action, content jsontext.Value, parsed T) (ElicitExchange[T, C], error) {
	var none ElicitExchange[T, C]
	if err := asked.Check(); err != nil {
		return none, err
	}
	if asked.ID == "" {
		return none, fmt.Errorf("sampling: the elicitation %q needs an id", asked.Key)
	}
	result := ToolResult{ToolUseID: asked.ID, IsError: action != Accept}
	said := ""
	switch action {
	case Accept:
		if content.Kind() != '{' || !content.IsValid() {
			return none, fmt.Errorf("sampling: the answer to %q is no JSON object", asked.Key)
		}
		said = string(content)
	case Decline:
		said = "The user declined to answer."
	case Cancel:
		said = "The user cancelled."
	default:
		return none, fmt.Errorf("sampling: %q is no action: there are accept, decline and cancel", clip(string(action), 64))
	}
	result.Content = []Block{Text{Text: said}}
	e := ElicitExchange[T, C]{Response: Results(result), Action: action, Context: asked.Context}
	if action == Accept {
		e.Parsed = parsed
	}
	return e.withInput(asked.ID, asked.Key, map[string]string{"message": asked.Message})
}

// WithArguments is the exchange with what fn makes of the context as the input
// of the call, so that the model sees later what the question was about. It has
// to be written as a JSON object.
func (e ElicitExchange[T, C]) WithArguments(fn func(C) any) (ElicitExchange[T, C], error) {
	uses := e.Request.ToolUses()
	if len(uses) != 1 {
		return e, fmt.Errorf("sampling: this exchange was not made by Answered")
	}
	return e.withInput(uses[0].ID, uses[0].Name, fn(e.Context))
}

func (e ElicitExchange[T, C]) withInput(id, key string, arguments any) (ElicitExchange[T, C], error) {
	input, err := json.Marshal(arguments, json.Deterministic(true))
	if err != nil {
		return e, fmt.Errorf("sampling: the arguments of %q cannot be written as JSON: %w", key, err)
	}
	if jsontext.Value(input).Kind() != '{' {
		return e, fmt.Errorf("sampling: the arguments of %q are no JSON object", key)
	}
	e.Request = Message{Role: Assistant, Content: []Block{ToolUse{ID: id, Name: key, Input: input}}}
	e.Messages = []Message{e.Request, e.Response}
	return e, nil
}

func validKey(key string) bool {
	for _, r := range key {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-') {
			return false
		}
	}
	return key != "" && len(key) <= 64
}
