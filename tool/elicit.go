package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool/sampling"
)

// Elicit asks a human to fill in a form that has the fields of T: a struct of
// texts, numbers, truth values, and choices (enum:"a,b"). The tool has to need
// [Elicitation].
//
// The exchange says what the human did. Where that is not to accept, there is an
// [*AskError] as well, with the reason Declined or Cancelled, so that nobody takes an
// empty form for an answer. Any other error comes without an exchange.
//
// [WithSchema] says what T does not: defaults, titles of choices, bounds of texts.
func Elicit[T, C any](ctx context.Context, c *Call, e sampling.Elicitation[C], opts ...SampleOption) (x sampling.ElicitExchange[T, C], err error) {
	if err := e.Check(); err != nil {
		return x, err
	}
	schema, err := schemaFor[T](optionsOf(opts).schema)
	if err != nil {
		return x, err
	}
	params, raw, err := c.elicit(ctx, e.Key, e.Mode, func() (jsontext.Value, error) { return schema.Form(e.Message) })
	if err != nil {
		return x, err
	}
	e.ID = cmp.Or(e.ID, c.callID(params))
	err = closed(&x, e, schema, raw)
	return x, err
}

// elicit shows a form and waits for what becomes of it. It may wait for hours, so
// it is kept apart from what needs a large stack.
func (c *Call) elicit(ctx context.Context, key, mode string, form func() (jsontext.Value, error)) (params, raw jsontext.Value, err error) {
	if err := c.checkElicitation(key, mode); err != nil {
		return nil, nil, err
	}
	if params, err = form(); err != nil {
		return nil, nil, err
	}
	raw, err = c.ask(ctx, Elicitation, inquiry{key, methodElicit, params, params})
	return params, raw, err
}

// closed makes the exchange of what became of a form.
func closed[T, C any](x *sampling.ElicitExchange[T, C], e sampling.Elicitation[C], schema *sampling.Schema[T], raw jsontext.Value) error {
	action, content, err := readForm(raw)
	if err != nil {
		return err
	}
	var t T
	if action == sampling.Accept {
		if t, err = schema.Decode(content); err != nil {
			return &AskError{Reason: Garbled, Method: methodElicit, Message: err.Error(), Err: err}
		}
	}
	if *x, err = sampling.Answered(e, action, content, t); err != nil {
		return err
	}
	return refusal(action)
}

// checkElicitation refuses forms that the tool does not announce.
func (c *Call) checkElicitation(key, mode string) error {
	if c.tool.Elicits != nil && !slices.Contains(c.tool.Elicits, key) {
		panic(fmt.Sprintf("tool %s asks for the form %q, which its Elicits do not have", c.tool.Name, key))
	}
	if mode != "" && mode != "form" {
		return fmt.Errorf("%s: the mode %q of the MCP specification 2025-11-25 (Client Features, Elicitation) is not supported: ask by a form, mode \"form\"", methodElicit, bounded(mode))
	}
	return nil
}

// readForm reads what became of a form.
func readForm(raw jsontext.Value) (sampling.Action, jsontext.Value, error) {
	var r struct {
		Action  sampling.Action `json:"action"`
		Content jsontext.Value  `json:"content"`
	}
	err := json.Unmarshal(raw, &r)
	if err == nil && !slices.Contains([]sampling.Action{sampling.Accept, sampling.Decline, sampling.Cancel}, r.Action) {
		err = fmt.Errorf("%q is no action: there are accept, decline and cancel", cut(string(r.Action), 64))
	}
	if err == nil && r.Action == sampling.Accept && r.Content.Kind() != '{' {
		err = errors.New("the content of an accepted form is missing, or no object")
	}
	if err != nil {
		return "", nil, &AskError{Reason: Garbled, Method: methodElicit, Message: bounded(err.Error()), Err: err}
	}
	return r.Action, r.Content, nil
}

func refusal(action sampling.Action) error {
	switch action {
	case sampling.Decline:
		return &AskError{Reason: Declined, Method: methodElicit, Message: "the human declined to answer"}
	case sampling.Cancel:
		return &AskError{Reason: Cancelled, Method: methodElicit, Message: "the human closed the form without an answer"}
	}
	return nil
}

// callID names the call that stands for a form in a history.
func (c *Call) callID(params jsontext.Value) string {
	return "form-" + c.run.derive("form", string(params))[:16]
}
