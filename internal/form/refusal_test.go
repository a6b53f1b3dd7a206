package form

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// What is no form of MCP is refused with what it is and where it stands.
func TestRefusals(t *testing.T) {
	const flat = "MCP's forms have no such thing: their fields are strings, numbers, booleans and choices (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema)"
	inForm := func(schema string) string { return `{"message":"m","requestedSchema":` + schema + `}` }
	inField := func(schema string) string { return inForm(`{"type":"object","properties":{"x":` + schema + `}}`) }
	for _, c := range []struct{ params, want string }{
		{``, "expected an object, got nothing"},
		{`[]`, "expected an object, got a list"},
		{`{"message":"a","message":"b"}`, "it is no JSON that can be understood in one way only"},
		{`{}`, "there is no message that says what is asked"},
		{`{"message":1}`, "message: expected a string, got a number"},
		{`{"message":"` + strings.Repeat("m", MaxMessage+1) + `"}`, "message: longer than 65536 bytes"},
		{`{"message":"m","mode":"url","url":"https://example.com","elicitationId":"1"}`, `elicitation in mode "url" is refused here: only forms are declared, and what is not declared is answered with −32602 (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling)`},
		{`{"message":"m","mode":"\u001b[2J"}`, `elicitation in mode "\x1b[2J" is not known here: MCP has "form" and "url" (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#elicitation-requests)`},
		{`{"message":"m","mode":null}`, "mode: expected a string, got null"},

		{inForm(`true`), "requestedSchema: expected an object, got true or false"},
		{inForm(`{}`), `requestedSchema.type: expected "object", got nothing`},
		{inForm(`{"type":["object"]}`), "requestedSchema.type: expected a string, got a list"},
		{inForm(`{"type":"object","$ref":"#/$defs/a"}`), "requestedSchema.$ref: " + flat},
		{inForm(`{"type":"object","allOf":[]}`), "requestedSchema.allOf: " + flat},
		{inForm(`{"type":"object","properties":[]}`), "requestedSchema.properties: expected an object, got a list"},
		{inForm(`{"type":"object","properties":{"x":{"type":"string"},"x":{"type":"string"}}}`), "it is no JSON that can be understood in one way only"},
		{inForm(`{"type":"object","required":["y"]}`), `requestedSchema.required: there is no field "y"`},
		{inForm(`{"type":"object","required":"x"}`), "requestedSchema.required: expected a list, got a string"},
		{inForm(`{"type":"object","properties":{` + many(MaxFields+1) + `}}`), "requestedSchema.properties: there are more than 1000 fields"},
		{inForm(`{"type":"object","properties":{"` + strings.Repeat("n", MaxName+1) + `":{"type":"string"}}}`), "requestedSchema.properties: the name of a field is longer than 256 bytes"},
		{`{"message":"m"` + strings.Repeat(" ", MaxParams) + `}`, "the form is larger than 1024 KiB"},

		{inField(`{"type":"object","properties":{}}`), `properties["x"].type: an object inside of a form cannot be filled in: MCP's forms are flat (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema)`},
		{inField(`{"$ref":"#/$defs/a"}`), `properties["x"].$ref: ` + flat},
		{inField(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), `properties["x"].anyOf: ` + flat},
		{inField(`{"type":"string","const":"a"}`), `properties["x"].const: ` + flat},
		{inField(`{}`), `properties["x"].type: expected "string", "number", "integer", "boolean" or "array", got nothing`},
		{inField(`{"type":"null"}`), `properties["x"].type: expected "string", "number", "integer", "boolean" or "array", got "null"`},
		{inField(`true`), `properties["x"]: expected an object, got true or false`},
		{inField(`{"type":"string","title":"` + strings.Repeat("t", MaxTitle+1) + `"}`), `properties["x"].title: longer than 1024 bytes`},
		{inField(`{"type":"string","format":"ipv4"}`), `properties["x"].format: expected "email", "uri", "date" or "date-time", got "ipv4"`},
		{inField(`{"type":"string","minLength":-1}`), `properties["x"].minLength: expected a whole number of at least 0, got -1`},
		{inField(`{"type":"string","minLength":4,"maxLength":3}`), `properties["x"].minLength: 4 is above the upper bound, 3`},
		{inField(`{"type":"string","default":1}`), `properties["x"].default: expected a text, got a number`},
		{inField(`{"type":"string","oneOf":[{"type":"object"}]}`), `properties["x"].oneOf: an alternative without a const is no choice: MCP's have a const and a title each (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema)`},
		{inField(`{"type":"string","oneOf":[{"const":1}]}`), `properties["x"].oneOf.const: expected a string, got a number`},
		{inField(`{"type":"string","enum":[]}`), `properties["x"].enum: there is nothing to choose from`},
		{inField(`{"type":"string","enum":["a",1]}`), `properties["x"].enum: expected a string, got a number`},
		{inField(`{"type":"string","enum":["a","a"]}`), `properties["x"].enum: "a" is given twice`},
		{inField(`{"type":"string","enum":["a"],"enumNames":[]}`), `properties["x"].enumNames: there are 0 names for 1 choice`},
		{inField(`{"type":"string","enum":["a"],"default":"b"}`), `properties["x"].default: "b" is none of the choices`},
		{inField(`{"type":"string","enum":[` + strings.Repeat(`"a",`, MaxChoices) + `"b"]}`), `properties["x"].enum: there are more than 1000`},
		{inField(`{"type":"number","enum":[1]}`), `properties["x"].enum: ` + flat},
		{inField(`{"type":"integer","multipleOf":2}`), `properties["x"].multipleOf: ` + flat},
		{inField(`{"type":"integer","minimum":2,"maximum":1.9}`), `properties["x"].minimum: 2 is above the upper bound, 1.9`},
		{inField(`{"type":"integer","minimum":"1"}`), `properties["x"].minimum: expected a number, got a string`},
		{inField(`{"type":"integer","default":"\u001b"}`), `properties["x"].default: expected an integer, got a string`},
		{inField(`{"type":"integer","minimum":` + strings.Repeat("1", MaxNumber+1) + `}`), `properties["x"].minimum: the number has more than 128 characters`},
		{inField(`{"type":"boolean","enum":[true]}`), `properties["x"].enum: ` + flat},
		{inField(`{"type":"array"}`), `properties["x"].items: expected an object, got nothing`},
		{inField(`{"type":"array","items":{"type":"string"}}`), `properties["x"].items: expected an enum of strings, or anyOf with a const and a title each: a list of anything else cannot be filled in`},
		{inField(`{"type":"array","items":{"type":"object"}}`), `properties["x"].items: expected an enum of strings, or anyOf with a const and a title each: a list of anything else cannot be filled in`},
		{inField(`{"type":"array","items":{"anyOf":[{"type":"string"}]}}`), `properties["x"].items.anyOf: an alternative without a const is no choice: MCP's have a const and a title each (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema)`},
		{inField(`{"type":"array","items":{"type":"string","enum":["a"]},"minItems":2}`), `properties["x"].minItems: 2 are wanted of 1 choice`},
		{inField(`{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":2,"maxItems":1}`), `properties["x"].minItems: 2 is above the upper bound, 1`},
	} {
		f, err := Parse(jsontext.Value(c.params))
		if err == nil {
			t.Errorf("%.200s is taken: %+v", c.params, f)
			continue
		}
		if got := strings.Replace(err.Error(), "requestedSchema.properties[", "properties[", 1); got != c.want {
			t.Errorf("%.200s:\n got %s\nwant %s", c.params, got, c.want)
		}
	}
}

// many is so many fields.
func many(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"f%d":{"type":"boolean"}`, i))
	}
	return strings.Join(all, ",")
}

// As many as are allowed make a form that can be filled in.
func TestLargestForm(t *testing.T) {
	f, err := Parse(jsontext.Value(`{"message":"m","requestedSchema":{"type":"object","properties":{` + many(MaxFields) + `}}}`))
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]jsontext.Value{}
	for _, field := range f.Fields {
		answers[field.Name] = jsontext.Value("true")
	}
	content, err := f.Content(answers)
	if err != nil || !strings.HasPrefix(string(content), `{"f0":true,"f1":true,`) || !content.IsValid() {
		t.Errorf("%.100s, %v", content, err)
	}
}
