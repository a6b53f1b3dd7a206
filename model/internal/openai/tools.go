package openai

import (
	stdjson "encoding/json"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// A function is what both APIs tell of a tool.
type function struct {
	name        string
	description string
	schema      jsontext.Value
	strict      bool
}

// functions are the tools of a request.
func functions(c provider.Config, tools []sampling.Tool) ([]function, error) {
	all := make([]function, len(tools))
	for i, t := range tools {
		var err error
		if all[i], err = newFunction(c, t); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// newFunction is a tool as a function. Only a typed answer is strict: the schema
// of a tool of somebody's own may mean more by a member that is left out.
func newFunction(c provider.Config, t sampling.Tool) (function, error) {
	schema, ok := objectSchema(t.InputSchema)
	if !ok {
		return function{}, c.Refuse("the schema of the tool %s is not one of a JSON object", t.Name)
	}
	return function{
		name:        provider.Alias(t.Name, longestName),
		description: t.Description,
		schema:      schema,
		strict:      t.Name == sampling.SchemaTool && strict(schema),
	}, nil
}

// objectSchema is a schema with members type and properties: OpenAI refuses any
// other. It is false for what is no schema of an object.
func objectSchema(schema jsontext.Value) (jsontext.Value, bool) {
	var members struct {
		Type       jsontext.Value `json:"type"`
		Properties jsontext.Value `json:"properties"`
		Rest       jsontext.Value `json:",embed"`
	}
	if len(schema) == 0 {
		schema = jsontext.Value(`{}`)
	}
	if schema.Kind() != '{' || json.Unmarshal(schema, &members) != nil {
		return nil, false
	}
	if members.Type != nil && members.Properties != nil {
		return schema, text(members.Type) == "object" && members.Properties.Kind() == '{'
	}
	if members.Type == nil {
		members.Type = jsontext.Value(`"object"`)
	}
	if members.Properties == nil {
		members.Properties = jsontext.Value(`{}`)
	}
	with, err := json.Marshal(members)
	return with, err == nil && text(members.Type) == "object" && members.Properties.Kind() == '{'
}

// as is the schema as the member of a parameter of the client's. Its own fields
// for schemas are maps, which lose the order of members; models answer better
// in the order that somebody has given them.
func (f function) as(member string) map[string]any {
	return map[string]any{member: stdjson.RawMessage(f.schema)}
}

// choice is whether tools are to be used, where that is to be said.
func choice(q *sampling.Request) (string, bool) {
	mode := q.ToolChoice.Mode
	return string(mode), len(q.Tools) > 0 && (mode == sampling.Required || mode == sampling.None)
}

// native is the tool of a typed answer that the endpoint has a way of its own
// for.
func native(q *sampling.Request, d dialect) (sampling.Tool, bool) {
	t, ok := provider.Structured(q)
	return t, ok && !d.noFormat
}
