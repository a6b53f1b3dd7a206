package tool

import (
	"regexp"
	"testing"

	"github.com/go-json-experiment/json"
)

type fuzzInput struct {
	Path    string            `json:"path"`
	N       int               `json:"n,omitempty" minimum:"-5" maximum:"100"`
	Flag    bool              `json:"flag,omitempty"`
	Kind    string            `json:"kind,omitempty" enum:"a,b"`
	Kinds   []string          `json:"kinds,omitempty" enum:"a,b"`
	Options editOptions       `json:"options,omitzero"`
	Edits   []edit            `json:"edits,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Any     any               `json:"any,omitempty"`
}

// Some numbers are integers to a schema, and too large for Go.
var unlike = regexp.MustCompile(`[0-9][eE]|[0-9]{10}`)

// A form lets through what the schema does that clients were given, and what it
// lets through fits the type.
func FuzzArguments(f *testing.F) {
	for _, raw := range []string{
		`{"path":"a"}`, `{}`, `[]`, `{"path":"a","n":-5,"flag":false,"kind":"b","kinds":["a"]}`, `{"path":"a","kind":"c"}`, `{"path":"a","kinds":["c"]}`,
		`{"path":"a","options":{"backup":true}}`, `{"path":"a","options":{}}`, `{"path":"a","edits":[{"line":1,"text":""},{"line":1}]}`,
		`{"path":"a","labels":{"a":"b","c":""}}`, `{"path":"a","labels":{"a":1}}`, `{"path":"a","any":[{"x":[null]}]}`, `{"path":"a","path":"b"}`,
		`{"path":"a","n":101}`, `{"path":"a","n":1.0}`, `{"path":"a","x":1}`, `{"p\u0061th":"a"}`, `{"path":null}`, `{"path":"a","kinds":null}`, `{"path":`, "\xff",
		`{"path":"a","edits":null}`, `{"path":"a","labels":null}`, `{"path":"a","options":null}`,
	} {
		f.Add([]byte(raw))
	}
	schema, err := schemaOf[fuzzInput](reading)
	if err != nil {
		f.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		f.Fatal(err)
	}
	form := formOf[fuzzInput](f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var in fuzzInput
		refused := form.decode(raw, &in)
		if len(raw) == 0 || string(raw) == "null" {
			return
		}
		var tree any
		if err := json.Unmarshal(raw, &tree); err != nil {
			if refused == nil {
				t.Fatalf("%q is let through: %v", raw, err)
			}
			return
		}
		invalid := resolved.Validate(tree)
		if refused == nil && invalid != nil || refused != nil && invalid == nil && !unlike.Match(raw) {
			t.Fatalf("%q: the form says %v, the schema %v", raw, refused, invalid)
		}
		if refused != nil && refused.(*Error).Code != InvalidArgument {
			t.Fatalf("%q: %v", raw, refused)
		}
	})
}
