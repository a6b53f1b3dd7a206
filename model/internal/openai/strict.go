package openai

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of strict schemas, as OpenAI publishes them.
const (
	strictDepth   = 10
	strictMembers = 5000
	strictEnums   = 1000
)

// strict says whether a schema keeps to what OpenAI takes for strict ones:
// objects that have all of their members and no others, and few keywords. Any
// other schema is sent as a wish.
func strict(schema jsontext.Value) bool {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil || root["type"] != "object" {
		return false
	}
	var s strictness
	return s.takes(root, 0)
}

type strictness struct{ members, enums int }

func (s *strictness) takes(schema any, depth int) bool {
	o, ok := schema.(map[string]any)
	if !ok || depth > strictDepth || !says(o) || isObject(o) && !s.closed(o) {
		return false
	}
	for keyword, v := range o {
		if !s.keyword(keyword, v, depth) {
			return false
		}
	}
	return s.members <= strictMembers && s.enums <= strictEnums
}

// says tells whether a schema says what it is about: there is no anything.
func says(schema map[string]any) bool {
	return schema["type"] != nil || schema["anyOf"] != nil || schema["$ref"] != nil
}

func isObject(schema map[string]any) bool {
	if kinds, ok := schema["type"].([]any); ok && slices.Contains(kinds, any("object")) {
		return true
	}
	return schema["type"] == "object" || schema["properties"] != nil
}

// closed says whether an object has all of its members, and no others.
func (s *strictness) closed(o map[string]any) bool {
	members, ok := o["properties"].(map[string]any)
	if !ok || o["additionalProperties"] != false {
		return false
	}
	s.members += len(members)
	required, _ := o["required"].([]any)
	for name := range members {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return len(required) == len(members)
}

var strictFormats = []any{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

func (s *strictness) keyword(keyword string, v any, depth int) bool {
	switch keyword {
	case "type", "required", "additionalProperties", "const", "$ref", "description", "title", "pattern",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems":
		return true
	case "format":
		return slices.Contains(strictFormats, v)
	case "enum":
		values, ok := v.([]any)
		s.enums += len(values)
		return ok
	case "items":
		return s.takes(v, depth+1)
	case "anyOf":
		return depth > 0 && s.all(v, depth+1)
	case "properties":
		return s.all(v, depth+1)
	case "$defs", "definitions":
		return s.all(v, depth)
	}
	return false
}

// all says whether all schemas of a list, or of an object, are strict.
func (s *strictness) all(v any, depth int) bool {
	switch v := v.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(schema any) bool { return !s.takes(schema, depth) })
	case map[string]any:
		for _, schema := range v {
			if !s.takes(schema, depth) {
				return false
			}
		}
		return true
	}
	return false
}
