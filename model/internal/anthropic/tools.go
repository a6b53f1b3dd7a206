package anthropic

import (
	"cmp"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// tools are those that are offered, and whether one has to be called.
func (r *request) tools(q *sampling.Request) error {
	if len(q.Tools) == 0 {
		return r.formerTools(q)
	}
	taken := map[string]bool{}
	for i, t := range q.Tools {
		if t.Name == "" || taken[t.Name] {
			return r.config.Refuse("tools[%d]: the name %q is empty, or another tool's", i, t.Name)
		}
		taken[t.Name] = true
		schema, ok := inputSchema(t.InputSchema)
		if !ok {
			return r.config.Refuse("tools[%d]: the inputSchema of %q is no JSON Schema of type object", i, t.Name)
		}
		r.declare(t.Name, cmp.Or(t.Description, t.Title), schema)
	}
	_, r.typed = provider.Structured(q)
	return r.choose(q.ToolChoice.Mode)
}

// formerTools declares the tools that the history speaks of, since the endpoint takes
// no calls without tools. None of them can be called.
func (r *request) formerTools(q *sampling.Request) error {
	if q.ToolChoice.Mode == sampling.Required {
		return r.config.Refuse("toolChoice is required, and there are no tools")
	}
	declared := map[string]bool{}
	for use := range uses(q) {
		if !declared[use.Name] && len(declared) < sampling.MaxTools {
			declared[use.Name] = true
			r.declare(use.Name, "Was called earlier in this conversation. It is not there any more.", anyObject)
		}
	}
	if len(declared) > 0 {
		return r.choose(sampling.None)
	}
	return nil
}

func (r *request) declare(name, description string, schema jsontext.Value) {
	t := sdk.ToolParam{Name: provider.Alias(name, maxName), InputSchema: param.Override[sdk.ToolInputSchemaParam](schema)}
	if description != "" {
		t.Description = sdk.String(description)
	}
	r.params.Tools = append(r.params.Tools, sdk.ToolUnionParam{OfTool: &t})
}

// choose says whether a tool is called. To a model that cannot be forced it is said in
// words.
func (r *request) choose(mode sampling.ToolMode) error {
	choice := &r.params.ToolChoice
	switch {
	case r.typed && !r.left.force:
		choice.OfTool = &sdk.ToolChoiceToolParam{Name: sampling.SchemaTool, DisableParallelToolUse: sdk.Bool(true)}
	case r.typed:
		choice.OfAuto = &sdk.ToolChoiceAutoParam{DisableParallelToolUse: sdk.Bool(true)}
		r.order("Answer by calling the tool " + sampling.SchemaTool + ", and in no other way.")
	case mode == "" || mode == sampling.Auto:
		choice.OfAuto = new(sdk.ToolChoiceAutoParam)
	case mode == sampling.Required && !r.left.force:
		choice.OfAny = new(sdk.ToolChoiceAnyParam)
	case mode == sampling.Required:
		choice.OfAuto = new(sdk.ToolChoiceAutoParam)
		r.order("Answer by calling at least one of the tools.")
	case mode == sampling.None:
		choice.OfNone = new(sdk.NewToolChoiceNoneParam())
	default:
		return r.config.Refuse("toolChoice is %q: there are auto, required and none", mode)
	}
	return nil
}

// order adds to the system prompt.
func (r *request) order(words string) {
	r.params.System = append(r.params.System, sdk.TextBlockParam{Text: words})
}

// forced says whether the request has a tool called.
func (r *request) forced() bool {
	return r.params.ToolChoice.OfTool != nil || r.params.ToolChoice.OfAny != nil
}

var anyObject = jsontext.Value(`{"type":"object"}`)

// inputSchema is a schema that says its type, which the endpoint wants to hear.
func inputSchema(schema jsontext.Value) (jsontext.Value, bool) {
	if len(schema) == 0 {
		return anyObject, true
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(schema, &members); err != nil {
		return nil, false
	}
	kind, ok := members["type"]
	if ok {
		return schema, string(kind) == `"object"`
	}
	if len(members) == 0 {
		return anyObject, true
	}
	return append(jsontext.Value(`{"type":"object",`), schema[1:]...), true
}
