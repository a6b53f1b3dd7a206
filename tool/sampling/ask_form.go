package sampling

import (
	stdjson "encoding/json" // the schema library's
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// Form asks a human for a T: the params of elicitation/create, mode "form". It
// fails where T has fields that MCP's forms have not: they have texts, numbers,
// truth values, choices of one, and lists of choices.
func (s *Schema[T]) Form(message string) (jsontext.Value, error) {
	s.asking.once.Do(func() { s.asking.schema, s.asking.err = formOf(s.library.Schema()) })
	if s.asking.err != nil {
		return nil, s.asking.err
	}
	o := begin(nil)
	o.text("mode", "form")
	o.text("message", message)
	o.raw("requestedSchema", s.asking.schema)
	return valid(o.end(nil))
}

// formSchema is a schema as forms have it, made when it is needed first.
type formSchema struct {
	once   sync.Once
	schema jsontext.Value
	err    error
}

func formOf(s *jsonschema.Schema) (jsontext.Value, error) {
	form := *s
	form.AdditionalProperties = nil // MCP's forms do not say it
	form.Properties = make(map[string]*jsonschema.Schema, len(form.Properties))
	for name, p := range s.Properties {
		field, err := fieldOf(p)
		if err != nil {
			return nil, fmt.Errorf("sampling: the field %q is nothing that a form can ask for: %w", name, err)
		}
		form.Properties[name] = field
	}
	return stdjson.Marshal(&form)
}

// fieldOf is a property as MCP's forms have it: of one type, since null is a
// field that is left empty.
func fieldOf(p *jsonschema.Schema) (*jsonschema.Schema, error) {
	f := *p
	if len(f.Types) > 0 {
		types := slices.DeleteFunc(slices.Clone(f.Types), func(t string) bool { return t == "null" })
		if len(types) != 1 {
			return nil, fmt.Errorf("it may be any of %v", f.Types)
		}
		f.Type, f.Types = types[0], nil
	}
	switch f.Type {
	case "string", "number", "integer", "boolean":
		return &f, nil
	case "array":
		if f.Items != nil && (f.Items.Type == "string" && len(f.Items.Enum) > 0 || len(f.Items.AnyOf) > 0 || len(f.Items.OneOf) > 0) {
			return &f, nil
		}
		return nil, fmt.Errorf("of lists there are only those of choices, with an enum")
	}
	return nil, fmt.Errorf("it is of the type %q", f.Type)
}
