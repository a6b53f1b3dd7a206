package tool

import (
	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parleyhq/parley/internal/schema"
)

// A form is what the object of all arguments has to look like.
type form struct{ schema.Form }

// newForm makes a form of what [schemaOf] makes.
func newForm(s *jsonschema.Schema) (*form, error) {
	f, err := schema.NewForm(s)
	if err != nil {
		return nil, err
	}
	return &form{*f}, nil
}

// decode reads a call's arguments into in. The error is an [*Error] that names
// the argument and what was expected, and nothing of what it held.
func (f *form) decode(raw []byte, in any) error {
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}") // what clients send of a call without arguments
	}
	raw, err := f.Check(raw, refused)
	if err != nil {
		return malformed(err)
	}
	if err := json.Unmarshal(raw, in); err != nil {
		return f.unfit(err)
	}
	return nil
}
