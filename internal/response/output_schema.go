package response

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// OutputSchema is the JSON Schema of a tool's envelope, given that of its data;
// nil is any data. It holds for every profile and every configuration, so that
// a changed one changes no tool's definition. For that it asks less of data
// than was given: members may be missing, since exclusions take them away, and
// data may be null.
//
// A schema that cannot be read counts as any.
func OutputSchema(data jsontext.Value) jsontext.Value {
	properties := envelopeProperties()
	root := map[string]any{"type": "object", "properties": properties}
	var given any
	if len(data) > 0 && json.Unmarshal(data, &given) == nil {
		if s, ok := given.(map[string]any); ok {
			delete(s, "$schema") // what holds for the whole holds for its parts
			_, own := s["$id"]
			relax(s, own)
			root["$defs"] = map[string]any{"data": s}
			properties["data"] = map[string]any{"anyOf": []any{map[string]any{"$ref": "#/$defs/data"}, map[string]any{"type": "null"}}}
		}
	}
	out, err := json.Marshal(root, json.Deterministic(true))
	if err != nil {
		panic(err) // what was read can be written
	}
	return out
}

// envelopeProperties are all members, none of them required. Descriptions are
// left out: every client pays for them with every list of tools.
func envelopeProperties() map[string]any {
	text := map[string]any{"type": "string"}
	orNull := func(kind string) map[string]any { return map[string]any{"type": []any{kind, "null"}} }
	failure := orNull("object")
	failure["properties"] = map[string]any{
		"error":         text,
		"error_code":    map[string]any{"enum": Codes()},
		"error_details": map[string]any{},
	}
	failure["required"] = []any{"error", "error_code"}
	capabilities := orNull("array")
	capabilities["items"] = text
	return map[string]any{
		"tier":          map[string]any{"enum": append(anys(tierNames()), nil)},
		"tool_version":  orNull("string"),
		"tool_id":       orNull("string"),
		"request_id":    orNull("string"),
		"capabilities":  capabilities,
		"duration_ms":   orNull("integer"),
		"error":         failure,
		"upgrade_hints": map[string]any{"type": "array", "items": hintSchema()},
		"data":          map[string]any{},
	}
}

func hintSchema() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{
		"type":       "object",
		"properties": map[string]any{"feature": text, "tier": text, "reason": text},
		"required":   []any{"feature", "tier", "reason"},
	}
}

func anys(names []string) (list []any) {
	for _, n := range names {
		list = append(list, n)
	}
	return list
}

// demanding are the keywords that data can fail to meet once members are
// missing. They go by themselves or turn others around.
var demanding = []string{
	"required", "minProperties", "dependentRequired", "dependentSchemas", "dependencies",
	"not", "if", "then", "else", "const", "enum", "unevaluatedProperties", "contains", "minContains", "maxContains", "uniqueItems",
}

// relax makes a schema hold for data that lost members. Own says that the
// schema's references begin at itself, since it has an id.
func relax(schema map[string]any, own bool) {
	for _, k := range demanding {
		if k == "const" || k == "enum" {
			relaxValues(schema, k)
		} else {
			delete(schema, k)
		}
	}
	if one, ok := schema["oneOf"]; ok {
		delete(schema, "oneOf") // several may match what lost members
		schema["allOf"] = append(list(schema["allOf"]), map[string]any{"anyOf": one})
	}
	if !own {
		moveRef(schema, "$ref")
		moveRef(schema, "$dynamicRef")
	}
	for _, k := range []string{"properties", "patternProperties", "$defs", "definitions"} {
		if named, ok := schema[k].(map[string]any); ok {
			for _, s := range named {
				relaxAny(s, own)
			}
		}
	}
	for _, k := range []string{"items", "prefixItems", "additionalItems", "additionalProperties", "unevaluatedItems", "allOf", "anyOf"} {
		relaxAny(schema[k], own)
	}
}

// relaxAny relaxes a schema or a list of them.
func relaxAny(value any, own bool) {
	switch v := value.(type) {
	case map[string]any:
		_, has := v["$id"]
		relax(v, own || has)
	case []any:
		for _, s := range v {
			relaxAny(s, own)
		}
	}
}

// relaxValues drops a keyword that lists values with members.
func relaxValues(schema map[string]any, keyword string) {
	values := list(schema[keyword])
	if keyword == "const" {
		values = []any{schema[keyword]}
	}
	for _, v := range values {
		switch v.(type) {
		case map[string]any, []any:
			delete(schema, keyword)
			return
		}
	}
}

func list(value any) []any {
	l, _ := value.([]any)
	return l
}

// moveRef lets a reference into the schema of data find it at its new place.
func moveRef(schema map[string]any, keyword string) {
	ref, ok := schema[keyword].(string)
	if ok && (ref == "#" || strings.HasPrefix(ref, "#/")) {
		schema[keyword] = "#/$defs/data" + ref[1:]
	}
}
