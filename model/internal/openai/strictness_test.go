package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool/sampling"
)

func TestStrict(t *testing.T) {
	object := func(members, required string) string {
		return `{"type":"object","additionalProperties":false,"properties":{` + members + `},"required":[` + required + `]}`
	}
	deep := `{"type":"string"}`
	for range 11 {
		deep = object(`"a":`+deep, `"a"`)
	}
	for schema, want := range map[string]bool{
		object(``, ``): true,
		object(`"a":{"type":"string","description":"x","pattern":"^a"},"b":{"type":["integer","null"],"minimum":1}`, `"a","b"`): true,
		object(`"a":{"type":"array","minItems":1,"items":{"$ref":"#/$defs/x"}}`, `"a"`):                                         true,
		object(`"a":{"anyOf":[{"type":"string","format":"uuid"},{"type":"null"}]}`, `"a"`):                                      true,
		object(`"a":`+object(`"b":{"enum":["x"],"type":"string"}`, `"b"`), `"a"`):                                               true,
		object(`"a":{"type":"string"}`, ``):                                                                                     false,
		object(`"a":{"type":"string"}`, `"b"`):                                                                                  false,
		object(`"a":{}`, `"a"`):                                                                                                 false,
		object(`"a":true`, `"a"`):                                                                                               false,
		object(`"a":{"type":"object"}`, `"a"`):                                                                                  false,
		object(`"a":{"properties":{"b":{"type":"string"}},"anyOf":[]}`, `"a"`):                                                  false,
		object(`"a":{"type":"string","minLength":1}`, `"a"`):                                                                    false,
		object(`"a":{"type":"string","format":"uri"}`, `"a"`):                                                                   false,
		object(`"a":{"type":"string","default":""}`, `"a"`):                                                                     false,
		object(`"a":{"oneOf":[{"type":"string"}],"type":"string"}`, `"a"`):                                                      false,
		`{"type":"object","properties":{},"required":[]}`:                                                                       false,
		`{"type":"object","additionalProperties":true,"properties":{},"required":[]}`:                                           false,
		`{"type":"object","anyOf":[],"additionalProperties":false,"properties":{},"required":[]}`:                               false,
		`{"type":"string"}`: false,
		`[]`:                false,
		deep:                false,
	} {
		if got := strict(jsontext.Value(schema)); got != want {
			t.Errorf("strict is %v for %s", got, schema)
		}
	}
	many := make([]string, strictEnums+1)
	for i := range many {
		many[i] = fmt.Sprintf("%q", fmt.Sprint(i))
	}
	if strict(jsontext.Value(object(`"a":{"type":"string","enum":[`+strings.Join(many, ",")+`]}`, `"a"`))) {
		t.Error("a schema with too many values is strict")
	}
}

// What tools ask for most is strict.
func TestSchemasOfTypesAreStrict(t *testing.T) {
	s, err := sampling.NewSchema[struct {
		Why  string   `json:"why" jsonschema:"what speaks for it"`
		Cell int      `json:"cell" minimum:"0" maximum:"8"`
		Kind string   `json:"kind" enum:"a,b"`
		List []string `json:"list"`
	}](sampling.SchemaOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !strict(s.JSON()) {
		t.Errorf("%s is not", s.JSON())
	}
}

func TestStops(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		want   string // of what comes
	}{
		{[]string{"abc"}, "abc"},
		{[]string{"ab", "STOP"}, "ab"},
		{[]string{"ab", "ST", "O", "Pc"}, "ab"},
		{[]string{"a\n\n", "b"}, "a"},
		{[]string{"a\n", "\nb"}, "a"},
		{[]string{"xSTOP\n\n"}, "x"},
		{[]string{"x\n\nSTOP"}, "x"},
		{[]string{"", "", "ST"}, "ST"},
		{[]string{"STOP"}, ""},
	} {
		s := newStops([]string{"", "STOP", "\n\n"})
		var text []byte
		for _, piece := range c.pieces {
			text = append(text, piece...)
			end, stopped := s.cut(text, len(piece))
			if text = text[:end]; stopped {
				break
			}
		}
		if string(text) != c.want {
			t.Errorf("%q: %q", c.pieces, text)
		}
	}
}

func FuzzStrict(f *testing.F) {
	f.Add([]byte(`{"type":"object","additionalProperties":false,"properties":{"a":{"type":["integer","null"]}},"required":["a"]}`))
	f.Add([]byte(`{"type":"object","additionalProperties":false,"properties":{"a":{"anyOf":[{"$ref":"#/$defs/x"}]}},"required":["a"],"$defs":{"x":{"type":"string"}}}`))
	f.Fuzz(func(t *testing.T, schema []byte) {
		with, ok := objectSchema(schema)
		if ok && !with.IsValid() {
			t.Errorf("%s became %s", schema, with)
		}
		if strict(schema) && (!ok || string(with) != string(schema)) {
			t.Errorf("%s is strict, and became %s", schema, with)
		}
	})
}

func TestObjectSchema(t *testing.T) {
	for schema, want := range map[string]string{
		``:                              `{"type":"object","properties":{}}`,
		`{}`:                            `{"type":"object","properties":{}}`,
		`{"properties":{"b":1,"a":{}}}`: `{"type":"object","properties":{"b":1,"a":{}}}`,
		`{"x":12345678901234567890}`:    `{"type":"object","properties":{},"x":12345678901234567890}`,
		`{"a":1,"properties":{},"type":"object"}`: `{"a":1,"properties":{},"type":"object"}`,
		`{"type":"string"}`:                       "",
		`{"type":["object"]}`:                     "",
		`{"type":"object","properties":[]}`:       "",
		`{"properties":true}`:                     "",
		`{"a":1,"a":1}`:                           "",
		`[]`:                                      "",
		`{`:                                       "",
	} {
		got, ok := objectSchema(jsontext.Value(schema))
		if ok != (want != "") || ok && string(got) != want {
			t.Errorf("%s becomes %s, %v", schema, got, ok)
		}
	}
}
