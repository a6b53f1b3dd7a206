package tool

import (
	"encoding/json" // the schema library's
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parleyhq/parley/internal/response"
	"github.com/parleyhq/parley/internal/schema"
)

var reading, writing = schema.Reading, schema.Writing

// schemaOf makes the schema of what T is as JSON, for those who read it or write
// it.
func schemaOf[T any](purpose schema.Purpose) (*jsonschema.Schema, error) {
	// The codec is stricter about types than the schema library is.
	if _, err := marshal(*new(T)); err != nil {
		return nil, err
	}
	return schema.Of(reflect.TypeFor[T](), purpose)
}

// outputSchema is the schema of every answer of a tool whose function returns
// Out, whatever the profile.
func outputSchema[Out any]() (jsontext.Value, error) {
	s, err := schemaOf[Out](writing)
	if err != nil {
		return nil, err
	}
	// What an error has to tell as data may have members of its own.
	if rest := s.AdditionalProperties; rest != nil && rest.Not != nil {
		s.AdditionalProperties = nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return response.OutputSchema(data), nil
}
