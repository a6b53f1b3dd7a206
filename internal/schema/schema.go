package schema

import (
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// Of makes the schema of what t is as JSON. The error says which type or field
// has none, and why.
func Of(t reflect.Type, p Purpose) (*jsonschema.Schema, error) {
	own := map[reflect.Type]*jsonschema.Schema{}
	p.find(t, own, map[reflect.Type]bool{})
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: own})
	if err != nil {
		return nil, err
	}
	return s, p.refine(s, t)
}

// Element is what a pointer leads to.
func Element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// allows says whether a schema names a type of JSON Schema, such as "string".
func allows(s *jsonschema.Schema, name string) bool {
	return s.Type == name || slices.Contains(s.Types, name)
}
