package sampling_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parleyhq/parley/tool/sampling"
)

type move struct {
	Cell int    `json:"cell" jsonschema:"0 is the upper left" minimum:"0" maximum:"8"`
	Mark string `json:"mark,omitempty" enum:"x,o"`
}

type finding struct {
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Severity string  `json:"severity" enum:"low,high"`
	Note     *string `json:"note,omitempty"`
}

type review struct {
	Summary  string         `json:"summary"`
	Findings []finding      `json:"findings"`
	Counts   map[string]int `json:"counts,omitempty"`
	Pair     [2]int         `json:"pair,omitzero"`
	Score    float64        `json:"score,omitzero"`
	Done     bool           `json:"done,omitzero"`
	Raw      jsontext.Value `json:"raw,omitzero"`
	Blob     []byte         `json:"blob,omitzero"`
}

func newSchema[T any](t testing.TB, o sampling.SchemaOptions) *sampling.Schema[T] {
	t.Helper()
	s, err := sampling.NewSchema[T](o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchemaIsSent(t *testing.T) {
	s := newSchema[move](t, sampling.SchemaOptions{Description: "Your move."})
	asked := sampling.Request{
		Messages:  []sampling.Message{sampling.UserText("Move!")},
		MaxTokens: 9,
		Tools:     []sampling.Tool{{Name: "look"}},
	}
	sent, err := s.Request(asked)
	if err != nil {
		t.Fatal(err)
	}
	got, err := sent.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"messages":[{"role":"user","content":{"type":"text","text":"Move!"}}],"maxTokens":9,` +
		`"tools":[{"name":"__schema__","description":"Your move.","inputSchema":` + string(s.JSON()) + `},` +
		`{"name":"look","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"required"}}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	wantSchema := `{"type":"object","properties":{"cell":{"type":"integer","description":"0 is the upper left","minimum":0,"maximum":8},` +
		`"mark":{"type":"string","enum":["x","o"]}},"required":["cell"],"additionalProperties":false}`
	if string(s.JSON()) != wantSchema {
		t.Errorf("got %s\nwant %s", s.JSON(), wantSchema)
	}
	if len(asked.Tools) != 1 || asked.ToolChoice.Mode != "" {
		t.Error("what was asked has changed")
	}
}

func TestToolsThatAreRefused(t *testing.T) {
	s := newSchema[move](t, sampling.SchemaOptions{})
	ask := func(names ...string) error {
		r := sampling.Request{Messages: history("u")}
		for _, n := range names {
			r.Tools = append(r.Tools, sampling.Tool{Name: n})
		}
		_, err := s.Request(r)
		return err
	}
	if err := ask("look", "__schema__"); !errors.Is(err, sampling.ErrReservedTool) {
		t.Error(err)
	}
	for _, names := range [][]string{{"a", "b", "a"}, {""}} {
		if err := ask(names...); err == nil {
			t.Errorf("%q are taken", names)
		}
	}
	if err := ask("schema", "__Schema__"); err != nil {
		t.Error(err)
	}
	if _, err := s.Request(sampling.Request{Messages: history("u a[?1] u")}); err == nil {
		t.Error("messages that do not go together are sent")
	}
}

func TestTypesWithoutASchema(t *testing.T) {
	refused := func(name string, err error) {
		if err == nil || !strings.HasPrefix(err.Error(), "sampling: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	type tree struct{ Children []tree }
	_, err := sampling.NewSchema[string](sampling.SchemaOptions{})
	refused("a string", err)
	_, err = sampling.NewSchema[[]move](sampling.SchemaOptions{})
	refused("a list", err)
	_, err = sampling.NewSchema[struct{ C chan int }](sampling.SchemaOptions{})
	refused("a channel", err)
	_, err = sampling.NewSchema[struct{ A netip.Addr }](sampling.SchemaOptions{})
	refused("a struct that is written as a string", err)
	_, err = sampling.NewSchema[tree](sampling.SchemaOptions{})
	refused("a tree", err)
	_, err = sampling.NewSchema[struct {
		N int `enum:"1,2"`
	}](sampling.SchemaOptions{})
	refused("an enum of numbers", err)
	_, err = sampling.NewSchema[struct {
		N int `minimum:"low"`
	}](sampling.SchemaOptions{})
	refused("a minimum that is no number", err)
	for _, given := range []string{`{"type":"string"}`, `{`, `{"type":"object","type":"object"}`, `{"type":"object","$ref":"#/nowhere"}`, `{"type":"object","properties":{"a":{"pattern":"("}}}`} {
		_, err = sampling.NewSchema[move](sampling.SchemaOptions{Schema: jsontext.Value(given)})
		refused(given, err)
	}
}

func TestDecode(t *testing.T) {
	s := newSchema[*review](t, sampling.SchemaOptions{})
	for answer, want := range map[string]string{ // "": fits
		"{\"summary\":\"s\",\"findings\":[],\"a\\n\\u0007\":1}": `/a  : there is no such member; there are "summary", "findings", "counts", "pair", "score", "done", "raw", "blob"`,
		`{"summary":"s","findings":[]}`:                         "",
		`{"summary":"s","findings":null}`:                       "",
		`{"\u0073ummary":"s","findings":[{"file":"f","line":3.0,"severity":"low","note":null}],"counts":{"a":1},"pair":[1,2],"score":0.5,"done":true,"raw":{"x":[]},"blob":"YQ=="}`: "",
		`{}`:                          `the answer: has no "summary", "findings"`,
		`[]`:                          `the answer: expected an object, got a list`,
		`{"summary":1,"findings":{}}`: `/summary: expected a string, got 1; /findings: expected a list or null, got an object`,
		`{"summary":"s","findings":[],"mood":"good"}`:                                      `/mood: there is no such member; there are "summary", "findings", "counts", "pair", "score", "done", "raw", "blob"`,
		`{"summary":"s","findings":[{"file":"f","line":"3","severity":"low"}]}`:            `/findings/0/line: expected an integer, got "3"`,
		`{"summary":"s","findings":[{"file":"f","line":3.5,"severity":"low"}]}`:            `/findings/0/line: expected an integer, got 3.5`,
		`{"summary":"s","findings":[{"file":"f","line":1e300,"severity":"low"}]}`:          `/findings/0/line: expected an integer, got 1e300`,
		`{"summary":"s","findings":[{"file":"f","line":3,"severity":"dire"}]}`:             `/findings/0/severity: expected one of "low", "high", got "dire"`,
		`{"summary":"s","findings":[{"file":"f","severity":"low"},{"line":1,"file":"f"}]}`: `/findings/0: has no "line"; /findings/1: has no "severity"`,
		`{"summary":"s","findings":[],"pair":[1]}`:                                         `/pair: expected at least 2 elements, got 1`,
		`{"summary":"s","findings":[],"pair":[1,2,3]}`:                                     `/pair: expected at most 2 elements, got 3`,
		`{"summary":"s","findings":[],"counts":{"a":"b"}}`:                                 `/counts/a: expected an integer, got "b"`,
		`{"summary":"s","findings":[],"done":"yes"}`:                                       `/done: expected true or false, got "yes"`,
		`{"summary":"s","summary":"s","findings":[]}`:                                      `it is no JSON that can be understood in one way only`,
		`{"summary":"s"`:         `it is no JSON that can be understood in one way only`,
		`{"summary":"s"} {}`:     `it is no JSON that can be understood in one way only`,
		``:                       `it is no JSON that can be understood in one way only`,
		"{\"summary\":\"\xff\"}": `it is no JSON that can be understood in one way only`,
	} {
		got, err := s.Decode(jsontext.Value(answer))
		if want == "" {
			if err != nil || got.Summary != "s" {
				t.Errorf("%s: %v", answer, err)
			}
			continue
		}
		e, ok := errors.AsType[*sampling.ValidationError](err)
		if !ok || strings.Join(e.Problems, "; ") != want || got != nil {
			t.Errorf("%s\n got %v\nwant %s", answer, err, want)
		}
	}
}

// What the schema takes and Go does not is an answer that does not fit.
func TestNumbersThatGoDoesNotTake(t *testing.T) {
	s := newSchema[struct{ N uint8 }](t, sampling.SchemaOptions{Schema: jsontext.Value(`{"type":"object","properties":{"N":{"type":"integer"}}}`)})
	if v, err := s.Decode(jsontext.Value(`{"N":300}`)); err == nil || v.N != 0 {
		t.Errorf("300 is %v (%v)", v, err)
	}
	if v, err := s.Decode(jsontext.Value(`{"N":2.5e1}`)); err != nil || v.N != 25 {
		t.Errorf("25 is %v (%v)", v, err)
	}
}

func TestManyProblemsAreFew(t *testing.T) {
	s := newSchema[review](t, sampling.SchemaOptions{})
	_, err := s.Decode(jsontext.Value(`{"summary":"` + strings.Repeat("x", 1<<16) + `","findings":[` + strings.Repeat(`{"file":1,"line":"`+strings.Repeat("y", 1000)+`"},`, 1000) + `{}]}`))
	e, ok := errors.AsType[*sampling.ValidationError](err)
	if !ok || len(e.Problems) != 8 || len(err.Error()) > 4096 || e.Problems[7] != "and more" {
		t.Errorf("%d problems in %d bytes", len(e.Problems), len(err.Error()))
	}
}

// Schemas that say more than Go's types can are the schema library's to hold.
func TestGivenSchemas(t *testing.T) {
	s := newSchema[move](t, sampling.SchemaOptions{Schema: jsontext.Value(`{
		"type":"object",
		"properties":{"cell":{"type":"integer","not":{"const":4}},"mark":{"pattern":"^[xo]$"}},
		"required":["cell"]}`)})
	for answer, fits := range map[string]bool{
		`{"cell":3}`: true, `{"cell":3,"mark":"o"}`: true, `{"cell":4}`: false, `{"cell":3,"mark":"xo"}`: false, `{"mark":"x"}`: false, `{"cell":"3"}`: false,
	} {
		if _, err := s.Decode(jsontext.Value(answer)); (err == nil) != fits {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

// One pass says the same as the schema library.
func TestFormAgreesWithTheLibrary(t *testing.T) {
	s := newSchema[review](t, sampling.SchemaOptions{})
	var schema jsonschema.Schema
	if err := json.Unmarshal(s.JSON(), &schema); err != nil {
		t.Fatal(err)
	}
	library, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	values := []string{`"s"`, `1`, `-1.5`, `2.0`, `true`, `null`, `[]`, `{}`, `[1,2]`, `{"a":1}`, `[{"file":"f","line":1,"severity":"high"}]`, `"low"`}
	tried := 0
	for _, member := range []string{"summary", "findings", "counts", "pair", "score", "done", "raw", "else"} {
		for _, v := range values {
			answer := fmt.Sprintf(`{"summary":"s","findings":[],%q:%s}`, member, v)
			if member == "summary" || member == "findings" {
				answer = strings.Replace(`{"summary":"s","findings":[]}`, map[string]string{"summary": `"s"`, "findings": `[]`}[member], v, 1)
			}
			var tree any
			if err := json.Unmarshal([]byte(answer), &tree); err != nil {
				t.Fatal(err)
			}
			want := library.Validate(tree)
			if _, got := s.Decode(jsontext.Value(answer)); (got == nil) != (want == nil) {
				t.Errorf("%s: %v; the library says %v", answer, got, want)
			}
			tried++
		}
	}
	if tried != 96 {
		t.Errorf("tried %d answers", tried)
	}
	if !reflect.DeepEqual(schema.Required, []string{"summary", "findings"}) {
		t.Errorf("required are %q", schema.Required)
	}
}

// Null is no word of an enum, also where the field is a pointer.
func TestOptionalEnum(t *testing.T) {
	s := newSchema[struct {
		Mark *string `json:"mark,omitempty" enum:"x,o"`
	}](t, sampling.SchemaOptions{})
	for answer, fits := range map[string]bool{`{}`: true, `{"mark":"x"}`: true, `{"mark":"z"}`: false, `{"mark":null}`: false} {
		if _, err := s.Decode(jsontext.Value(answer)); (err == nil) != fits {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

func TestSchemasAreShared(t *testing.T) {
	s := newSchema[review](t, sampling.SchemaOptions{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 50 {
				text := fmt.Sprintf("%d of %d", n, i)
				if got, err := s.Decode(jsontext.Value(`{"summary":"` + text + `","findings":[]}`)); err != nil || got.Summary != text {
					t.Errorf("%s is %q (%v)", text, got.Summary, err)
				}
				if _, err := s.Decode(jsontext.Value(`{"summary":` + strings.Repeat("[", n))); err == nil {
					t.Error("half an answer is taken")
				}
			}
		})
	}
	wg.Wait()
}

// Whichever way a given schema is held, the library would say the same.
func TestGivenSchemasAgreeWithTheLibrary(t *testing.T) {
	members := []string{`"a0":{"type":"string"}`}
	for i := range 70 {
		members = append(members, fmt.Sprintf(`"p%d":{"type":"integer"}`, i))
	}
	answers := []string{
		`{}`, `{"a":1}`, `{"a":-1}`, `{"a":"x"}`, `{"a":1.5}`, `{"a":null}`, `{"a":[]}`, `{"a":[1]}`, `{"a":[1,"x",{}]}`, `{"a":{"b":1}}`, `{"a":{"c":[1]}}`, `{"b":1}`, `{"b":"x","a":2}`, `{"p3":"x"}`, `{"p3":1}`,
	}
	for _, given := range []string{
		`{"type":"object"}`,
		`{"type":"object","required":["a"]}`,
		`{"type":"object","properties":{"a":{"minimum":0}}}`,
		`{"type":"object","properties":{"a":{"maximum":1,"type":["integer","null"]}}}`,
		`{"type":"object","properties":{"a":{"type":["integer","number"]}}}`,
		`{"type":"object","properties":{"a":{"type":"array","minItems":1,"maxItems":2}}}`,
		`{"type":"object","properties":{"a":{"minItems":1}}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}}}`,
		`{"type":"object","properties":{"a":{"items":{"enum":[1,2]}}}}`,
		`{"type":"object","properties":{"a":{"enum":["x"]}}}`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{}},"additionalProperties":false}}}`,
		`{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]}}}`,
		`{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x"]}}}`,
		`{"type":"object","properties":{"a":{"type":"null"}}}`,
		`{"type":"object","properties":{"a":{"additionalProperties":{"type":"integer"}}}}`,
		`{"type":"object","additionalProperties":{"type":"integer"}}`,
		`{"type":"object","additionalProperties":{"pattern":"^x"}}`,
		`{"type":"object","additionalProperties":{"not":{"type":"string"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"string"}}}`,
		`{"type":"object","properties":{` + strings.Join(members, ",") + `}}`,
	} {
		s := newSchema[map[string]any](t, sampling.SchemaOptions{Schema: jsontext.Value(given)})
		var schema jsonschema.Schema
		if err := json.Unmarshal([]byte(given), &schema); err != nil {
			t.Fatal(err)
		}
		library, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range answers {
			var tree any
			if err := json.Unmarshal([]byte(answer), &tree); err != nil {
				t.Fatal(err)
			}
			want := library.Validate(tree)
			if _, got := s.Decode(jsontext.Value(answer)); (got == nil) != (want == nil) {
				t.Errorf("%s of %s: %v; the library says %v", answer, given, got, want)
			}
		}
		if _, err := s.Decode(jsontext.Value(`{"a":`)); err == nil {
			t.Errorf("half an answer fits %s", given)
		}
	}
}

func TestBrokenAnswers(t *testing.T) {
	s := newSchema[review](t, sampling.SchemaOptions{})
	whole := `{"summary":"s","findings":[{"file":"f","line":3.0,"severity":"low","note":null}],"pair":[1,2],"counts":{"a":1}}`
	for i := range whole {
		if _, err := s.Decode(jsontext.Value(whole[:i])); err == nil {
			t.Errorf("%s is taken", whole[:i])
		}
	}
	if _, err := s.Decode(jsontext.Value(whole)); err != nil {
		t.Error(err)
	}
}
