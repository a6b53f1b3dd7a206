package command

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// room is what the tests know.
var room = Known{
	People:   []string{"agent", "boss", "files", "you"},
	Contexts: []string{"plan", "plan/step", "leave"},
	Kinds:    []string{"chat", "mcp/*", "mcp/proposal:*"},
	Tools: []Tool{
		{"files", "write_file", "Write a file.\nIt must not exist.", jsontext.Value(`{"type":"object","properties":{
			"mode":{"type":"string","enum":["create","append","two words"],"default":"create","description":"how"},
			"path":{"type":"string","description":"where it goes"},
			"content":{"type":"string"},
			"lines":{"type":"array","items":{"type":"integer"}},
			"size":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":9007199254740993},
			"backup":{"type":"boolean","default":true},
			"for":{"$ref":"#/$defs/reader"}
		},"required":["path","content"],"additionalProperties":false,"$defs":{"reader":{"type":"string","enum":["people","\u202eelihw"]}}}`)},
		{"files", "read_file", "Read a file.", jsontext.Value(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
		{"files", "a/b", "with a slash", nil},
		{"mail", "send \u202e", "\x1b[2Jnothing good", nil},
		{"mail", "fetch", "", jsontext.Value(`{"properties":{"":{},"a b":{"type":["integer","string"]},"x=y":{"const":5},"deep":{"type":"object"}}}`)},
	},
	Proposals: []Proposal{{6, "agent", "write_file path=a.txt"}, {12, "agent", "read_file\n\x1b[2J"}},
	Forms:     []Proposal{{31, "files", "Which one?"}},
}

// The cursor is at the | of a line.
func TestComplete(t *testing.T) {
	golden(t, "testdata/complete.txt", func(given string) (lines []string) {
		before, after, ok := strings.Cut(given, "|")
		if !ok {
			t.Fatalf("%q has no cursor", given)
		}
		for _, c := range Complete(before+after, len(before), room) {
			whole := (before + after)[:c.From] + "[" + c.Text + "]" + (before + after)[c.To:]
			lines = append(lines, strings.TrimRight(fmt.Sprintf("%-40s  %s", whole, c.Label), " "))
		}
		if lines == nil {
			return []string{"(nothing)"}
		}
		return lines
	})
}

func TestArguments(t *testing.T) {
	golden(t, "testdata/arguments.txt", func(given string) []string {
		c, err := Parse(given)
		if err != nil {
			return wrong(err)
		}
		v, err := c.Arguments(room.Schema(c.Target, c.Tool))
		if err != nil {
			return wrong(err)
		}
		return []string{string(v)}
	})
}

// terms of one property, whichever way it is written.
func TestSchemas(t *testing.T) {
	for _, c := range []struct{ schema, typed, want string }{
		{`{"type":"integer"}`, "12", "12"},
		{`{"type":["integer","null"]}`, "null", "null"},
		{`{"type":["null","string"]}`, "null", `"null"`},
		{`{"type":"null"}`, "null", "null"},
		{`{"type":"boolean"}`, "yes", "true"},
		{`{"type":"boolean"}`, "perhaps", "wants true or false"},
		{`{"type":"number"}`, "-1e-400", "-1e-400"},
		{`{"type":"number"}`, "1e", "wants a number"},
		{`{"type":"integer"}`, "1.5", "wants an integer"},
		{`{"type":"array"}`, "[1, 2]", "[1, 2]"},
		{`{"type":"array"}`, "1", "wants a list"},
		{`{"type":"object"}`, "[1]", "wants an object"},
		{`{"type":["object","array","integer"]}`, `{"a":1}`, `{"a":1}`},
		{`{"enum":[1,"1",true,null]}`, "1", "1"},
		{`{"enum":["a",2,{"b": 1}]}`, `{"b":1}`, `{"b": 1}`},
		{`{"enum":["a","b"]}`, "c", `cannot be "c"`},
		{`{"enum":["a","b"],"type":["string","null"]}`, "null", "null"},
		{`{"const":7}`, "7", "7"},
		{`{"anyOf":[{"enum":["a"]},{"type":"string"}]}`, "c", `"c"`},
		{`{"anyOf":[{"enum":["a"]},{"type":"null"}]}`, "null", "null"},
		{`{"anyOf":[{"enum":["a"]},{"type":"null"}]}`, "c", `cannot be "c"`},
		{`{"anyOf":[{"$ref":"#/$defs/e"},{"type":"integer"}]}`, "5", `"5"`},
		{`{"$ref":"#/$defs/n"}`, "5", "5"},
		{`{"$ref":"#/$defs/a~1b%20c"}`, "5", "5"},
		{`{"allOf":[{"$ref":"#/$defs/n"}]}`, "5", "5"},
		{`{"$ref":"#/$defs/loop"}`, "5", `"5"`},
		{`{"$ref":"#/nowhere"}`, "5", `"5"`},
		{`{"$ref":"https://example.com/x"}`, "5", `"5"`},
		{`{"$ref":"#"}`, "5", "wants an object"},
		{`{"type":"nonsense"}`, "5", "wants something else"},
		{`true`, "5", `"5"`},
		{`5`, "5", `"5"`},
	} {
		schema := `{"type":"object","properties":{"x":` + c.schema + `},"$defs":{"n":{"type":"integer"},"a/b c":{"type":"integer"},"e":{"type":"string","enum":["e"]},"loop":{"allOf":[{"$ref":"#/$defs/loop"},{"$ref":"#/$defs/loop"}]}}}`
		cmd := Command{Args: []Arg{{Name: "x", Text: c.typed}}}
		got, err := cmd.Arguments(jsontext.Value(schema))
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %q gives %v, want %s", c.schema, c.typed, err, c.want)
			}
			continue
		}
		if string(got) != `{"x":`+c.want+`}` {
			t.Errorf("%s: %q gives %s, want %s", c.schema, c.typed, got, c.want)
		}
	}
}

// Schemas that were made to hurt are looked at as far as that goes.
func TestHostileSchemas(t *testing.T) {
	many := func(each string) string {
		var b strings.Builder
		for i := range 3_000 {
			fmt.Fprintf(&b, `,"p%d":%s`, i, each)
		}
		return `{"properties":{` + b.String()[1:] + `},"required":["p7"],"$defs":{"fat":{"description":"` + strings.Repeat("a ", 1<<17) + `"}}}`
	}
	loop := `{"allOf":[` + strings.TrimSuffix(strings.Repeat(`{"$ref":"#"},`, 1000), ",") + `]}`
	for name, schema := range map[string]string{
		"many":       many(`{"type":"string"}`),
		"references": many(`{"$ref":"#/$defs/fat"}`),
		"cyclic":     `{"$ref":"#","properties":{"p7":{"$ref":"#/properties/p7"}}}`,
		"branching":  loop,
		"deep":       `{"properties":{"p7":` + strings.Repeat(`{"allOf":[`, 5000) + `{}` + strings.Repeat(`]}`, 5000) + `}}`,
		"fat":        `{"properties":{"p7":{"description":"` + strings.Repeat(`\u202e`, 1<<16) + `","enum":["` + strings.Repeat("x", 1<<18) + `","ok"]}}}`,
		"too large":  `{"properties":{"p7":{"default":"` + strings.Repeat("x", maxSchema) + `"}}}`,
		"no JSON":    `{"properties":{"p7`,
		"a list":     `[1]`,
	} {
		k := Known{Tools: []Tool{{"evil", "t", strings.Repeat("word ", 1<<16), jsontext.Value(schema)}}}
		for _, line := range []string{"/call evil ", "/call evil t ", "/call evil t p", "/call evil t p7=", "/propose evil t zzz=1 "} {
			all := Complete(line, len(line), k)
			if len(all) > maxCompletions {
				t.Errorf("%s: %d completions", name, len(all))
			}
			for _, c := range all {
				checkHarmless(t, line, c)
			}
		}
		c, err := Parse("/call evil t p7=ok")
		if err != nil {
			t.Fatal(err)
		}
		if v, err := c.Arguments(jsontext.Value(schema)); err != nil || string(v) != `{"p7":"ok"}` {
			t.Errorf("%s: the arguments are %.100s, %v", name, v, err)
		}
	}
}

func checkHarmless(t *testing.T, line string, c Completion) {
	t.Helper()
	if !isHarmless(c.Text) || !isHarmless(c.Label) || len(c.Text) > 2*maxText {
		t.Errorf("%q is completed by %.200q, %.200q", line, c.Text, c.Label)
	}
	if c.From < 0 || c.From > c.To || c.To > len(line) || !utf8.RuneStart((line + " ")[c.From]) || !utf8.RuneStart((line + " ")[c.To]) {
		t.Errorf("%q is completed from %d to %d", line, c.From, c.To)
	}
}

// Whatever is typed, and whatever tools want, what is offered can be typed.
func FuzzComplete(f *testing.F) {
	lines, err := os.ReadFile("testdata/complete.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		if given, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> "); ok {
			before, after, _ := strings.Cut(given, "|")
			f.Add(before+after, len(before), "files", "write_file", string(room.Tools[0].Schema))
		}
	}
	f.Fuzz(func(t *testing.T, line string, cursor int, who, tool, schema string) {
		k := room
		k.Tools = append([]Tool{{who, tool, tool, jsontext.Value(schema)}}, k.Tools...)
		k.People = append([]string{who}, k.People...)
		all := Complete(line, cursor, k)
		if len(all) > maxCompletions {
			t.Errorf("%d completions", len(all))
		}
		for _, c := range all {
			checkHarmless(t, line, c)
		}
	})
}
