package response

import (
	_ "embed"

	"github.com/go-json-experiment/json/jsontext"
)

//go:embed response_config.schema.json
var schema []byte

// Schema is the JSON Schema (2020-12) of response_config.json, for editors. What
// it cannot say is that a profile which is named must be there, and that no
// name may stand twice in an object.
func Schema() jsontext.Value { return jsontext.Value(schema).Clone() }
