package form

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// field reads the schema of one field, called x.
func field(t *testing.T, schema string) *Field {
	t.Helper()
	f, err := Parse(jsontext.Value(`{"message":"m","requestedSchema":{"type":"object","properties":{"x":` + schema + `}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return &f.Fields[0]
}

// All that MCP's PrimitiveSchemaDefinition allows, with what is expected in words,
// and what becomes of what a person types: "→ JSON", or what is wrong.
func TestRead(t *testing.T) {
	const seats = `{"type":"string","oneOf":[{"const":"in","title":"Inside"},{"const":"out","title":"Terrace, in the sun"}]}`
	const several = `{"type":"array","items":{"type":"string","enum":["red","green","blue"]},"minItems":1,"maxItems":2}`
	for _, c := range []struct{ schema, expected, typed, want string }{
		{`{"type":"string"}`, "a text", "Ann", `→ "Ann"`},
		{`{"type":"string"}`, "a text", ` "Ann" \n`, `→ " \"Ann\" \\n"`},
		{`{"type":"string"}`, "a text", `""`, `→ ""`},
		{`{"type":"string"}`, "a text", "", "expected a text, got nothing"},
		{`{"type":"string"}`, "a text", "a\xff", "this is no text in UTF-8"},
		{`{"type":"string","minLength":2,"maxLength":3}`, "a text of 2 to 3 characters", "ü", "expected a text of 2 to 3 characters, got 1 character"},
		{`{"type":"string","minLength":2,"maxLength":3}`, "a text of 2 to 3 characters", "üüü", `→ "üüü"`},
		{`{"type":"string","minLength":2,"maxLength":3}`, "a text of 2 to 3 characters", "üüüü", "expected a text of 2 to 3 characters, got 4 characters"},
		{`{"type":"string","minLength":0,"maxLength":3}`, "a text of at most 3 characters", `""`, `→ ""`},
		{`{"type":"string","minLength":4,"maxLength":4}`, "a text of 4 characters", `1234`, `→ "1234"`},
		{`{"type":"string","minLength":1.0}`, "a text of at least 1 character", `""`, "expected a text of at least 1 character, got 0 characters"},
		{`{"type":"string","pattern":"^[a-z]+$"}`, `a text that matches "^[a-z]+$"`, "abc", `→ "abc"`},
		{`{"type":"string","pattern":"^[a-z]+$"}`, `a text that matches "^[a-z]+$"`, "aBc", `expected a text that matches "^[a-z]+$", got "aBc"`},
		// What only ECMA-262 knows is left to the asker, and so is what takes too much.
		{`{"type":"string","pattern":"^(?!a)"}`, `a text that matches "^(?!a)"`, "abc", `→ "abc"`},
		{`{"type":"string","pattern":"((x{100}){10}){1}y{999}z{999}"}`, `a text that matches "((x{100}){10}){1}y{999}z{999}"`, "abc", `expected a text that matches "((x{100}){10}){1}y{999}z{999}", got "abc"`},
		{`{"type":"string","pattern":"` + strings.Repeat("x{999}", 20) + `"}`, `a text that matches "` + strings.Repeat("x{999}", 20)[:80] + `…"`, "abc", `→ "abc"`},
		{`{"type":"string","format":"email"}`, "an e-mail address", "ann@example.com", `→ "ann@example.com"`},
		{`{"type":"string","format":"email"}`, "an e-mail address", "Ann <ann@example.com>", `expected an e-mail address, got "Ann <ann@example.com>"`},
		{`{"type":"string","format":"uri"}`, "a URI such as https://example.com/a", "https://example.com/?a=b#c", `→ "https://example.com/?a=b#c"`},
		{`{"type":"string","format":"uri"}`, "a URI such as https://example.com/a", "example.com", `expected a URI such as https://example.com/a, got "example.com"`},
		{`{"type":"string","format":"uri"}`, "a URI such as https://example.com/a", "https://a b", `expected a URI such as https://example.com/a, got "https://a b"`},
		{`{"type":"string","format":"date"}`, "a date such as 2026-03-31", "2028-02-29", `→ "2028-02-29"`},
		{`{"type":"string","format":"date"}`, "a date such as 2026-03-31", "2027-02-29", `expected a date such as 2026-03-31, got "2027-02-29"`},
		{`{"type":"string","format":"date-time"}`, "a time such as 2026-03-31T15:04:05Z", "2026-03-31T15:04:05.5+02:00", `→ "2026-03-31T15:04:05.5+02:00"`},
		{`{"type":"string","format":"date-time"}`, "a time such as 2026-03-31T15:04:05Z", "2026-03-31", `expected a time such as 2026-03-31T15:04:05Z, got "2026-03-31"`},

		{`{"type":"integer","minimum":1,"maximum":9}`, "an integer from 1 to 9", " 7 ", `→ 7`},
		{`{"type":"integer","minimum":1,"maximum":9}`, "an integer from 1 to 9", "10", "expected an integer from 1 to 9, got 10"},
		{`{"type":"integer","minimum":1,"maximum":9}`, "an integer from 1 to 9", "-1", "expected an integer from 1 to 9, got -1"},
		{`{"type":"integer","minimum":1,"maximum":9}`, "an integer from 1 to 9", "seven", `expected an integer from 1 to 9, got "seven"`},
		{`{"type":"integer"}`, "an integer", "007", `→ 7`},
		{`{"type":"integer"}`, "an integer", "+0", `→ 0`},
		{`{"type":"integer"}`, "an integer", "1.5", `expected an integer in digits alone, got "1.5"`},
		{`{"type":"integer"}`, "an integer", "1e3", `expected an integer in digits alone, got "1e3"`},
		{`{"type":"integer"}`, "an integer", "1,000", `expected an integer, got "1,000"`},
		{`{"type":"integer"}`, "an integer", "-", `expected an integer, got "-"`},
		{`{"type":"integer"}`, "an integer", "--1", `expected an integer, got "--1"`},
		{`{"type":"integer"}`, "an integer", "9007199254740993", `→ 9007199254740993`},
		{`{"type":"integer","maximum":9007199254740992}`, "an integer of at most 9007199254740992", "9007199254740993", "expected an integer of at most 9007199254740992, got 9007199254740993"},
		{`{"type":"integer"}`, "an integer", strings.Repeat("1", 129), "a number has at most 128 characters here"},
		{`{"type":"number","minimum":0.1}`, "a number of at least 0.1", ".10", `→ 0.10`},
		{`{"type":"number","minimum":0.1}`, "a number of at least 0.1", "0.0999999999999999999999", "expected a number of at least 0.1, got 0.0999999999999999999999"},
		{`{"type":"number","minimum":-1e3,"maximum":1E+2}`, "a number from -1e3 to 1E+2", "-1000.0", `→ -1000.0`},
		{`{"type":"number","minimum":-1e3,"maximum":1E+2}`, "a number from -1e3 to 1E+2", "-1000.1", "expected a number from -1e3 to 1E+2, got -1000.1"},
		{`{"type":"number","maximum":1e-99999999999999999999}`, "a number of at most 1e-99999999999999999999", "1", "expected a number of at most 1e-99999999999999999999, got 1"},
		{`{"type":"number"}`, "a number", "0,5", `expected a number, got "0,5"`},
		{`{"type":"number"}`, "a number", "1e5", `→ 1e5`},
		{`{"type":"number"}`, "a number", "e5", `expected a number, got "e5"`},
		{`{"type":"number"}`, "a number", "NaN", `expected a number, got "NaN"`},

		{`{"type":"boolean"}`, "yes or no", "Yes", `→ true`},
		{`{"type":"boolean"}`, "yes or no", "n", `→ false`},
		{`{"type":"boolean"}`, "yes or no", "maybe", `expected yes or no, got "maybe"`},

		{seats, "one of 2 choices", "2", `→ "out"`},
		{seats, "one of 2 choices", "#1", `→ "in"`},
		{seats, "one of 2 choices", "Terrace, in the sun", `→ "out"`},
		{seats, "one of 2 choices", "inside", `→ "in"`},
		{seats, "one of 2 choices", `"out"`, `→ "out"`},
		{seats, "one of 2 choices", `"Inside"`, `"Inside" is none of the choices`},
		{seats, "one of 2 choices", "3", "there is no choice 3: they have the numbers from 1 to 2"},
		{seats, "one of 2 choices", "0", "there is no choice 0: they have the numbers from 1 to 2"},
		{seats, "one of 2 choices", "bar", `"bar" is none of the choices: write the number of one, from 1 to 2`},
		{`{"type":"string","enum":["a","b"],"enumNames":["Alpha","Beta"]}`, "one of 2 choices", "beta", `→ "b"`},
		// A choice that is itself a number could be meant by either.
		{`{"type":"string","enum":["2","1","7"]}`, "one of 3 choices", "1", `1 may be a number or a choice: #1 is the number, "1" the choice`},
		{`{"type":"string","enum":["2","1","7"]}`, "one of 3 choices", "#1", `→ "2"`},
		{`{"type":"string","enum":["2","1","7"]}`, "one of 3 choices", `"1"`, `→ "1"`},
		{`{"type":"string","enum":["2","1","7"]}`, "one of 3 choices", `7`, `→ "7"`},
		{`{"type":"string","enum":["1","2"]}`, "one of 2 choices", `2`, `→ "2"`},
		{`{"type":"string","oneOf":[{"const":"a","title":"same"},{"const":"b","title":"same"}]}`, "one of 2 choices", "same", `several choices are called "same": write the number of one`},

		{several, "1 to 2 of 3 choices", "1, blue", `→ ["red","blue"]`},
		{several, "1 to 2 of 3 choices", "3 1", `→ ["blue","red"]`},
		{several, "1 to 2 of 3 choices", "2,2,", `→ ["green"]`},
		{several, "1 to 2 of 3 choices", "1 2 3", "expected 1 to 2 of 3 choices, got 3"},
		{several, "1 to 2 of 3 choices", "none", "expected 1 to 2 of 3 choices, got 0"},
		{several, "1 to 2 of 3 choices", "red and blue", `"red and blue" is none of the choices: write the number of one, from 1 to 3`},
		{`{"type":"array","items":{"anyOf":[{"const":"a","title":"x, y"},{"const":"none","title":"z"}]}}`, "any number of 2 choices", "x, y", `→ ["a"]`},
		{`{"type":"array","items":{"anyOf":[{"const":"a","title":"x, y"},{"const":"none","title":"z"}]}}`, "any number of 2 choices", "none", `→ ["none"]`},
		{`{"type":"array","items":{"anyOf":[{"const":"a"}]}}`, "any number of 1 choice", "none", `→ []`},
	} {
		f := field(t, c.schema)
		if got := f.Expected(); got != c.expected {
			t.Errorf("%s expects %q, want %q", c.schema, got, c.expected)
		}
		got := ""
		switch v, err := f.Read(c.typed); {
		case err != nil:
			got = err.(*AnswerError).Problem
		default:
			got = "→ " + string(v)
		}
		if got != c.want {
			t.Errorf("%s: %q gives %s, want %s", c.schema, c.typed, got, c.want)
		}
	}
}

// Answers that are there as JSON, as those of a web page.
func TestCheck(t *testing.T) {
	for _, c := range []struct{ schema, answer, want string }{
		{`{"type":"integer"}`, `3.0`, ""},
		{`{"type":"integer"}`, `-12e-1`, "expected an integer, got -12e-1"},
		{`{"type":"integer"}`, `"3"`, "expected an integer, got a string"},
		{`{"type":"integer"}`, `null`, "expected an integer, got null"},
		{`{"type":"integer"}`, ``, "it is no JSON that can be understood in one way only"},
		{`{"type":"string"}`, `"\ud800"`, "it is no JSON that can be understood in one way only"},
		{`{"type":"string"}`, `["a"]`, "expected a text, got a list"},
		{`{"type":"boolean"}`, `"yes"`, "expected yes or no, got a string"},
		{`{"type":"boolean"}`, `false`, ""},
		{`{"type":"array","items":{"type":"string","enum":["a","b"]}}`, `["a","a"]`, `"a" is chosen twice`},
		{`{"type":"array","items":{"type":"string","enum":["a","b"]}}`, `["c"]`, `"c" is none of the choices`},
		{`{"type":"array","items":{"type":"string","enum":["a","b"]}}`, `[1]`, "expected any number of 2 choices, got a number among them"},
		{`{"type":"array","items":{"type":"string","enum":["a","b"]}}`, `[]`, ""},
	} {
		got := ""
		if err := field(t, c.schema).Check(jsontext.Value(c.answer)); err != nil {
			got = err.(*AnswerError).Problem
		}
		if got != c.want {
			t.Errorf("%s: %s gives %q, want %q", c.schema, c.answer, got, c.want)
		}
	}
}

// The order and the digits are the schema's, and what only describes is passed over.
func TestParse(t *testing.T) {
	f, err := Parse(jsontext.Value(`{"mode":"form","message":"Book?","_meta":{"x":1},"requestedSchema":{
		"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","title":"T","additionalProperties":false,
		"properties":{
			"z":{"type":"integer","default":9007199254740993,"examples":[1]},
			"a":{"type":"string","title":"A","description":"first","default":null},
			"m":{"type":"array","items":{"type":"string","enum":["x"]},"default":["x"],"uniqueItems":true}},
		"required":["a","a"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if f.Message != "Book?" || len(f.Fields) != 3 {
		t.Fatalf("%+v", f)
	}
	z, a, m := f.Fields[0], f.Fields[1], f.Fields[2]
	if z.Name != "z" || string(z.Default) != "9007199254740993" || z.Required {
		t.Errorf("z is %+v", z)
	}
	if a.Label() != "A" || a.Description != "first" || a.Default != nil || !a.Required {
		t.Errorf("a is %+v", a)
	}
	if m.Kind != Many || string(m.Default) != `["x"]` || m.Choices[0].Label() != "x" {
		t.Errorf("m is %+v", m)
	}
	for _, empty := range []string{
		`{"message":"Go on?"}`,
		`{"message":"Go on?","requestedSchema":{"type":"object"}}`,
		`{"message":"Go on?","requestedSchema":{"type":"object","properties":{}}}`,
	} {
		if f, err := Parse(jsontext.Value(empty)); err != nil || len(f.Fields) != 0 {
			t.Errorf("%s: %v, %v", empty, f, err)
		}
	}
}

func TestContent(t *testing.T) {
	f, err := Parse(jsontext.Value(`{"message":"m","requestedSchema":{"type":"object","properties":{
		"z":{"type":"integer"},"a \"b\"":{"type":"string","default":"d"},"m":{"type":"boolean"}},"required":["z"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	type answers = map[string]jsontext.Value
	for _, c := range []struct {
		answers answers
		want    string
	}{
		{answers{"m": jsontext.Value("true"), "z": jsontext.Value("9007199254740993")}, `{"z":9007199254740993,"m":true}`},
		{answers{"z": jsontext.Value("1"), `a "b"`: jsontext.Value(`"c"`)}, `{"z":1,"a \"b\"":"c"}`},
		{answers{}, `"z": expected an integer, got nothing`},
		{answers{"z": jsontext.Value(`"1"`)}, `"z": expected an integer, got a string`},
		{answers{"z": jsontext.Value("1"), "q": nil, "r": nil}, `"q": there is no such field among the 3 of the form`},
	} {
		got, err := f.Content(c.answers)
		if err != nil {
			got = jsontext.Value(err.Error())
		}
		if string(got) != c.want {
			t.Errorf("%s gives %s, want %s", c.answers, got, c.want)
		}
	}
}
