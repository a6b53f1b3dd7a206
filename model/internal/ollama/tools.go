package ollama

import (
	"bytes"
	"cmp"
	stdjson "encoding/json" // the client's types need it
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/ollama/ollama/api"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

var anyObject = jsontext.Value(`{"type":"object"}`)

func (m *model) tools(offered []sampling.Tool) (api.Tools, error) {
	var tools api.Tools
	taken := map[string]bool{}
	for i, t := range offered {
		if t.Name == "" || taken[t.Name] {
			return nil, m.config.Refuse("tools[%d]: the name %q is empty, or another tool's", i, t.Name)
		}
		taken[t.Name] = true
		function := api.ToolFunction{Name: t.Name, Description: cmp.Or(t.Description, t.Title)}
		schema, ok := inputSchema(t)
		if !ok {
			return nil, m.config.Refuse("tools[%d]: the inputSchema of %q is no JSON Schema of type object", i, t.Name)
		}
		var whole bool
		if function.Parameters, whole = parameters(schema); !whole {
			function.Description = joined(function.Description, "Its arguments have to fit this JSON Schema: "+string(schema))
		}
		tools = append(tools, api.Tool{Type: "function", Function: function})
	}
	return tools, nil
}

// inputSchema is a tool's schema as short as it can be, for it is read by models.
func inputSchema(t sampling.Tool) (schema jsontext.Value, ok bool) {
	if schema, ok = provider.Object(string(t.InputSchema)); !ok {
		return nil, false
	}
	if schema = schema.Clone(); schema.Compact() != nil {
		return nil, false
	}
	typed := false
	if members(schema, func(name string, _ jsontext.Value) { typed = typed || name == "type" }) != nil {
		return nil, false
	}
	if !typed && len(schema) == len(`{}`) {
		return anyObject, true
	}
	if !typed { // MCP knows no other type here, and the endpoint asks for one
		schema = append([]byte(`{"type":"object",`), schema[1:]...)
	}
	return schema, true
}

// parameters are a schema as the endpoint knows them, and whether they say all
// that it says.
func parameters(schema jsontext.Value) (p api.ToolFunctionParameters, whole bool) {
	if err := stdjson.Unmarshal(schema, &p); err != nil {
		p = api.ToolFunctionParameters{}
	}
	p.Type = "object"
	if p.Properties == nil {
		p.Properties = api.NewToolPropertiesMap()
	}
	carried, err := stdjson.Marshal(p)
	return p, err == nil && bytes.Equal(essence(carried), essence(schema))
}

// essence is a schema of an object in one form, without what says nothing to a model.
func essence(schema jsontext.Value) []byte {
	kept := []byte(`{"type":"object","properties":{}`)
	err := members(schema, func(name string, value jsontext.Value) {
		switch {
		case name == "type" || name == "$schema" || name == "additionalProperties":
		case name == "properties" && string(value) == "{}":
		case name == "properties":
			kept = bytes.Replace(kept, []byte(`"properties":{}`), append([]byte(`"properties":`), value...), 1)
		default:
			kept = fmt.Appendf(kept, `,%q:%s`, name, value)
		}
	})
	one := jsontext.Value(append(kept, '}'))
	if err == nil {
		err = one.Format(jsontext.ReorderRawObjects(true), jsontext.Multiline(false))
	}
	if err != nil {
		return nil
	}
	return one
}

// members reads the members of an object in their order.
func members(object jsontext.Value, told func(name string, value jsontext.Value)) error {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if kind := d.PeekKind(); kind != '{' {
		return fmt.Errorf("expected an object, got %v", kind)
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		told(text, value.Clone())
	}
	_, err := d.ReadToken()
	return err
}
