package form

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
)

// A Form is a message and the fields that are to be filled in. There may be none:
// then there is only something to agree to.
type Form struct {
	Message string
	Fields  []Field // in the order of the schema
}

// specification is where MCP says what is refused here.
const specification = "https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation"

// Parse reads the params of elicitation/create. The error is a [*Refusal].
func Parse(params jsontext.Value) (*Form, error) {
	if len(params) > MaxParams {
		return nil, refuse("", "the form is larger than %d KiB", MaxParams>>10)
	}
	ask, err := open(params, "")
	if err != nil {
		return nil, err
	}
	if err := checkMode(ask); err != nil {
		return nil, err
	}
	f := &Form{}
	if f.Message, err = ask.text("message", MaxMessage); err != nil {
		return nil, err
	}
	if !ask.has("message") {
		return nil, refuse("", "there is no message that says what is asked")
	}
	// Some servers leave the schema out where they only want a yes.
	if schema, ok := ask.get("requestedSchema"); ok {
		f.Fields, err = parseSchema(schema)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// checkMode refuses whatever is no form: a link that somebody unknown chose must
// not be opened from here.
func checkMode(ask *object) error {
	mode, err := ask.text("mode", MaxTitle)
	switch {
	case err != nil:
		return err
	case mode == "form", !ask.has("mode"):
		return nil
	case mode == "url":
		return refuse("", "elicitation in mode \"url\" is refused here: only forms are declared, and what is not declared is answered with −32602 (%s#error-handling)", specification)
	}
	return refuse("", "elicitation in mode %s is not known here: MCP has \"form\" and \"url\" (%s#elicitation-requests)", shown(mode), specification)
}

// parseSchema reads requestedSchema, which is an object with fields of primitive
// types.
func parseSchema(raw jsontext.Value) ([]Field, error) {
	s, err := open(raw, "requestedSchema")
	if err != nil {
		return nil, err
	}
	if typ, err := s.text("type", MaxTitle); err != nil {
		return nil, err
	} else if typ != "object" {
		return nil, s.wrong("type", "expected \"object\", got %s", s.given("type"))
	}
	if err := s.without(wholeObject...); err != nil {
		return nil, err
	}
	required, err := s.texts("required", MaxFields, MaxName)
	if err != nil {
		return nil, err
	}
	fields, err := parseFields(s)
	if err != nil {
		return nil, err
	}
	for _, name := range required {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		if i < 0 {
			return nil, s.wrong("required", "there is no field %s", shown(name))
		}
		fields[i].Required = true
	}
	return fields, nil
}

func parseFields(s *object) ([]Field, error) {
	raw, ok := s.get("properties")
	if !ok {
		return nil, nil
	}
	at := s.at + ".properties"
	if raw.Kind() != '{' {
		return nil, refuse(at, "expected an object, got %s", kindInWords(raw))
	}
	var fields []Field
	for m, err := range jsonrpc.Members(raw) {
		if err != nil {
			return nil, refuse(at, "%s", ambiguous)
		}
		if len(fields) == MaxFields {
			return nil, refuse(at, "there are more than %d fields", MaxFields)
		}
		if len(m.Name) > MaxName {
			return nil, refuse(at, "the name of a field is longer than %d bytes", MaxName)
		}
		f, err := parseField(m.Name, m.Value, at+"["+shown(m.Name)+"]")
		if err != nil {
			return nil, err
		}
		fields = append(fields, *f)
	}
	return fields, nil
}

// wholeObject are the keywords of JSON Schema that narrow an object as a whole.
// additionalProperties is none of them, since nothing else is ever sent.
var wholeObject = []string{
	"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "const", "enum",
	"dependentRequired", "dependentSchemas", "dependencies", "patternProperties", "propertyNames",
	"minProperties", "maxProperties", "unevaluatedProperties",
}
