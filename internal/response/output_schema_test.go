package response

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The transcripts hold envelopes of every profile against a schema; here are
// the schemas that are not simple.
func TestOutputSchema(t *testing.T) {
	const tree = `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"name":{"type":"string"},"left":{"$ref":"#"},"kind":{"$ref":"#/definitions/kind"}},
		"required":["name","kind"],"minProperties":2,"definitions":{"kind":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}},"additionalProperties":false}`
	const choice = `{"oneOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"b":{"type":"integer"}},"required":["b"]}],"not":{"required":["c"]}}`
	for _, c := range []struct {
		name, schema, envelope string
		want                   bool
	}{
		{"any", "", `{"data":[1]}`, true},
		{"any, with an odd schema", "true", `{"data":[1]}`, true},
		{"no envelope", "", `[]`, false},
		{"null", tree, `{"data":null}`, true},
		{"error without data", tree, `{"error":{"error":"no","error_code":"timeout"}}`, true},
		{"error without code", tree, `{"error":{"error":"no"}}`, false},
		{"unknown code", tree, `{"error":{"error":"no","error_code":"oops"}}`, false},
		{"whole", tree, `{"data":{"name":"a","kind":{"id":1},"left":{"name":"b","kind":{"id":2}}}}`, true},
		{"filtered", tree, `{"data":{"left":{"kind":{}}}}`, true},
		{"wrong below a reference", tree, `{"data":{"left":{"name":1}}}`, false},
		{"wrong below a definition", tree, `{"data":{"kind":{"id":"x"}}}`, false},
		{"unknown member", tree, `{"data":{"right":1}}`, false},
		{"one of several, filtered", choice, `{"data":{}}`, true},
		{"none of several", choice, `{"data":{"a":"x","b":"y"}}`, false},
		{"constant without members", `{"properties":{"k":{"const":"v"}}}`, `{"data":{"k":"w"}}`, false},
		{"constant with members, filtered", `{"properties":{"k":{"const":{"a":null}},"l":{"enum":[[{"a":0}],1]}}}`, `{"data":{"k":{},"l":[{}]}}`, true},
		{"distinct elements, filtered", `{"properties":{"k":{"uniqueItems":true,"contains":{"required":["id"]},"items":{"type":"object"}}}}`, `{"data":{"k":[{},{}]}}`, true},
		{"an id of its own", `{"$id":"https://example.org/tree","properties":{"left":{"$ref":"#"},"n":{"type":"integer"}}}`, `{"data":{"left":{"n":"x"}}}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var value any
			if err := json.Unmarshal([]byte(c.envelope), &value); err != nil {
				t.Fatal(err)
			}
			schema := OutputSchema(jsontext.Value(c.schema))
			if err := resolved(t, schema).Validate(value); (err == nil) != c.want {
				t.Errorf("%s: %v\n%s", c.envelope, err, schema)
			}
		})
	}
}

// The given schema is not touched, and what comes out is always the same.
func TestOutputSchemaIsStable(t *testing.T) {
	given := `{"required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`
	data := jsontext.Value(given)
	first := OutputSchema(data)
	if string(OutputSchema(data)) != string(first) || string(data) != given {
		t.Errorf("%s\n%s", first, data)
	}
}
