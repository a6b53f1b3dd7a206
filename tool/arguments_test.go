package tool

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"
)

type editInput struct {
	Path     string            `json:"path"`
	Depth    int               `json:"depth,omitempty" minimum:"1" maximum:"8"`
	Small    int8              `json:"small,omitempty"`
	Size     uint              `json:"size,omitempty"`
	Share    float64           `json:"share,omitempty"`
	Dry      bool              `json:"dry,omitempty"`
	Language string            `json:"language,omitempty" enum:"go,python"`
	Only     []string          `json:"only,omitempty" enum:"a,b"`
	Options  editOptions       `json:"options,omitzero"`
	Edits    []edit            `json:"edits,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Any      any               `json:"any,omitempty"`
	Raw      []byte            `json:"raw,omitempty"`
	Nothing  *int              `json:"nothing,omitempty"`
}

type editOptions struct {
	Backup bool `json:"backup"`
	Mode   int  `json:"mode,omitempty"`
}

type edit struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

func TestArguments(t *testing.T) {
	var got editInput
	r := newRoom(t, Options{}, func(s *Server) {
		Add(s, Tool{Name: "edit"}, func(_ context.Context, _ *Call, in editInput) (string, error) {
			got = in
			return "done", nil
		})
	})
	for _, c := range []struct{ arguments, refused string }{
		{`{"path":"a"}`, ""},
		{`{"path":"a","depth":8,"small":-128,"size":0,"share":1e-3,"dry":true,"language":"go","only":["a","b"],"options":{"backup":true},
			"edits":[{"line":1,"text":"<&>é\u00e9"}],"labels":{"x":"y"},"any":[{"z":null}],"raw":"aGk=","nothing":null}`, ""},
		{`{"p\u0061th":"a"}`, ""},
		{`{"path":"a","depth":8.0,"size":1e3,"small":-0.0,"edits":[{"line":20e-1,"text":""}],"nothing":30e-1}`, ""},

		{`null`, `argument "path" is missing: expected a string`},
		{`{}`, `argument "path" is missing: expected a string`},
		{`[1]`, `the arguments: expected an object, got a list`},
		{`"a"`, `the arguments: expected an object, got a string`},
		{`{"path":7}`, `argument "path": expected a string, got a number`},
		{`{"path":null}`, `argument "path": expected a string, got null`},
		{`{"path":"a","size":1e300}`, `argument "size": expected an integer of at least 0, got another number`},
		{`{"path":"a","depth":"8"}`, `argument "depth": expected an integer from 1 to 8, got a string`},
		{`{"path":"a","depth":1.5}`, `argument "depth": expected an integer from 1 to 8, got another number`},
		{`{"path":"a","depth":9}`, `argument "depth": expected an integer from 1 to 8, got another number`},
		{`{"path":"a","depth":1e99999}`, `argument "depth": expected an integer from 1 to 8, got another number`},
		{`{"path":"a","depth":11111111111111111111111}`, `argument "depth": expected an integer from 1 to 8, got another number`},
		{`{"path":"a","small":128}`, `argument "small": expected an integer from -128 to 127, got another number`},
		{`{"path":"a","size":-1}`, `argument "size": expected an integer of at least 0, got another number`},
		{`{"path":"a","size":99999999999999999999}`, `argument "size": expected an integer of at least 0 that fits, got another one`},
		{`{"path":"a","share":{}}`, `argument "share": expected a number, got an object`},
		{`{"path":"a","dry":"yes"}`, `argument "dry": expected true or false, got a string`},
		{`{"path":"a","language":"ruby"}`, `argument "language": expected one of "go", "python", got another string`},
		{`{"path":"a","only":["a","c"]}`, `argument "only.1": expected one of "a", "b", got another string`},
		{`{"path":"a","only":"a"}`, `argument "only": expected a list, got a string`},
		{`{"path":"a","options":{}}`, `argument "options.backup" is missing: expected true or false`},
		{`{"path":"a","options":{"mode":1}}`, `argument "options.backup" is missing: expected true or false`},
		{`{"path":"a","options":{"backup":true,"bakcup":1}}`, `unknown argument "options.bakcup"; there are "backup", "mode"`},
		{`{"path":"a","edits":[{"line":1,"text":"x"},{"line":2}]}`, `argument "edits.1.text" is missing: expected a string`},
		{`{"path":"a","edits":[{"line":1,"text":"x"},7]}`, `argument "edits.1": expected an object, got a number`},
		{`{"path":"a","labels":{"x":1}}`, `argument "labels.x": expected a string, got a number`},
		{`{"path":"a","raw":"not base64!"}`, `argument "raw": expected a string that fits, got another one`},
		{`{"path":"a","nothing":"x"}`, `argument "nothing": expected an integer, got a string`},
		{`{"path":"a","Path":"b"}`, `unknown argument "Path"; there are "path", "depth", "small", "size", "share", "dry", "language", "only", "options", "edits", "labels", "any", "raw", "nothing"`},
		{`{"path":"a","path":"b"}`, `argument "path" is given twice`},
		{`{"path":"a","any":{"x":1,"x":2}}`, `argument "any.x" is given twice`},
	} {
		text, isError := r.call("edit", json.RawMessage(c.arguments))
		if isError != (c.refused != "") {
			t.Errorf("%s: %s", c.arguments, text)
			continue
		}
		if !isError {
			continue
		}
		var e struct {
			Error struct {
				Message string        `json:"error"`
				Code    string        `json:"error_code"`
				Details argumentError `json:"error_details"`
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatal(err)
		}
		if e.Error.Message != c.refused || e.Error.Code != "invalid_argument" || e.Error.Details.Expected == "" || e.Error.Details.Got == "" {
			t.Errorf("%s:\n got %s\nwant %s", c.arguments, text, c.refused)
		}
	}
	if got.Path != "a" || *got.Nothing != 3 || got.Depth != 8 || got.Size != 1000 || got.Edits[0].Line != 2 {
		t.Errorf("the last that fitted came as %+v", got)
	}
}

func formOf[In any](t testing.TB) *form {
	t.Helper()
	s, err := schemaOf[In](reading)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newForm(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What the SDK does not let through is refused here all the same.
func TestArgumentsThatAreNotJSON(t *testing.T) {
	f := formOf[editInput](t)
	for raw, want := range map[string]string{
		"":                       `invalid_argument: argument "path" is missing: expected a string`,
		"{\"path\":\"\xff\"}":    `invalid_argument: argument "path": expected JSON in UTF-8, got something else`,
		`{"path":"a"`:            `invalid_argument: the arguments: expected JSON in UTF-8, got something else`,
		`{"path":"a"} {}`:        `invalid_argument: the arguments: expected JSON in UTF-8, got something else`,
		`{"path":SECRET}`:        `invalid_argument: argument "path": expected JSON in UTF-8, got something else`,
		`{"path":"a","only":[}`:  `invalid_argument: argument "only.0": expected JSON in UTF-8, got something else`,
		`{"path":"a","any":[[}`:  `invalid_argument: argument "any.0.0": expected JSON in UTF-8, got something else`,
		`{"path":"a","depth":1x`: `invalid_argument: the arguments: expected JSON in UTF-8, got something else`,
	} {
		var in editInput
		if err := f.decode([]byte(raw), &in); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", raw, err, want)
		}
	}
}

// Long and hostile names come back short, and contents never.
func TestRefusalsAreBounded(t *testing.T) {
	f := formOf[editInput](t)
	long := strings.Repeat("x", 1<<20)
	for _, raw := range []string{
		`{"` + long + `":1}`,
		`{"path":"a","labels":{"` + long + `":1}}`,
		`{"path":"a","language":"` + long + `"}`,
		`{"path":"a","any":` + strings.Repeat("[", 9000) + `}`,
	} {
		var in editInput
		err := f.decode([]byte(raw), &in)
		if e, ok := errors.AsType[*Error](err); !ok || len(bounded(e.Message)) > MaxMessage || len(asJSON(t, e.Details)) > 1024 {
			t.Errorf("%.30s…: %.300v", raw, err)
		}
	}
}

// A type's own refusal is told in its words.
type address struct{ netip.Addr }

func (a *address) UnmarshalText(text []byte) (err error) {
	if a.Addr, err = netip.ParseAddr(string(text)); err != nil {
		return Errorf(InvalidArgument, "argument %q: expected an IP address", "address")
	}
	return nil
}

func TestArgumentWithItsOwnRefusal(t *testing.T) {
	var in struct {
		Address address `json:"address"`
	}
	err := new(form).decode([]byte(`{"address":"localhost"}`), &in)
	if want := `invalid_argument: argument "address": expected an IP address`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestToolWithoutArguments(t *testing.T) {
	r := newRoom(t, Options{}, func(s *Server) {
		Add(s, Tool{Name: "now"}, func(context.Context, *Call, struct{}) (*int, error) { return nil, nil })
	})
	r.want("now", nil, `{"data":null}`)
	r.want("now", args{}, `{"data":null}`)
	if got, failed := r.call("now", args{"x": 1}); !failed || !strings.Contains(got, `unknown argument \"x\"; there are none`) {
		t.Error(got)
	}
}

// The schema says what the form holds to.
func TestInputSchema(t *testing.T) {
	r := newRoom(t, Options{}, func(s *Server) {
		Add(s, Tool{Name: "edit", Title: "Edit", Description: "Edit a file.", Annotations: Annotations{Additive: true}},
			func(context.Context, *Call, struct {
				Path     string   `json:"path" jsonschema:"the file"`
				Language string   `json:"language,omitempty" enum:"go,python"`
				Lines    []int    `json:"lines,omitempty" maximum:"9"`
				Words    []string `json:"words,omitempty" enum:"a,b"`
				Depth    int      `json:"depth,omitempty" minimum:"1"`
			}) (struct {
				N int `json:"n"`
			}, error) {
				panic("is not called")
			})
	})
	list, err := r.client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	tool := list.Tools[0]
	const input = `{"type":"object","required":["path"],"additionalProperties":false,"properties":{
		"path":{"type":"string","description":"the file"},"language":{"type":"string","enum":["go","python"]},
		"lines":{"type":["null","array"],"items":{"type":"integer","maximum":9}},
		"words":{"type":["null","array"],"items":{"type":"string","enum":["a","b"]}},"depth":{"type":"integer","minimum":1}}}`
	if got := string(asJSON(t, tool.InputSchema)); !sameJSON(t, got, input) {
		t.Errorf("input schema: %s", got)
	}
	const annotations = `{"title":"Edit","readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":true}`
	if got := string(asJSON(t, tool.Annotations)); !sameJSON(t, got, annotations) || tool.Title != "Edit" || tool.Description != "Edit a file." {
		t.Errorf("annotations: %s", got)
	}
}

// Mistakes of a declaration show when the program starts.
func TestBadDeclarations(t *testing.T) {
	s, err := NewServer(quiet(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	fine := func(context.Context, *Call, struct{}) (int, error) { return 0, nil }
	Add(s, Tool{Name: "taken"}, fine)
	for want, add := range map[string]func(){
		"the name has 0 bytes":              func() { Add(s, Tool{}, fine) },
		"the name has 65 bytes":             func() { Add(s, Tool{Name: strings.Repeat("x", 65)}, fine) },
		"letters, digits":                   func() { Add(s, Tool{Name: "a.b"}, fine) },
		"there is a tool of that name":      func() { Add(s, Tool{Name: "taken"}, fine) },
		"the timeout is -1ns":               func() { Add(s, Tool{Name: "x", Timeout: -1}, fine) },
		`"gold" is not a tier`:              func() { Add(s, Tool{Name: "x", Features: []Feature{{"f", "gold", ""}}}, fine) },
		`the feature "f": the name`:         func() { Add(s, Tool{Name: "x", Features: []Feature{{"f", Pro, ""}, {"f", Pro, ""}}}, fine) },
		`the limit "l" is negative or shri`: func() { Add(s, Tool{Name: "x", Limits: []Limit{{"l", 0, 5, 5}}}, fine) },
		`the limit "": the name`:            func() { Add(s, Tool{Name: "x", Limits: []Limit{{"", 1, 2, 3}}}, fine) },
		"the input: it is not a struct": func() {
			Add(s, Tool{Name: "x"}, func(context.Context, *Call, int) (int, error) { return 0, nil })
		},
		"the input: ": func() {
			Add(s, Tool{Name: "x"}, func(context.Context, *Call, struct{ F func() }) (int, error) { return 0, nil })
		},
		"the output: ": func() {
			Add(s, Tool{Name: "x"}, func(context.Context, *Call, struct{}) (chan int, error) { return nil, nil })
		},
		"no default representation": func() {
			Add(s, Tool{Name: "x"}, func(context.Context, *Call, struct{ D time.Duration }) (int, error) { return 0, nil })
		},
		"enum is for strings": func() {
			Add(s, Tool{Name: "x"}, func(context.Context, *Call, struct {
				N int `enum:"1,2"`
			}) (int, error) {
				return 0, nil
			})
		},
		"minimum is for numbers": func() {
			Add(s, Tool{Name: "x"}, func(context.Context, *Call, struct {
				S string `minimum:"1"`
			}) (int, error) {
				return 0, nil
			})
		},
		"maximum is for numbers": func() {
			Add(s, Tool{Name: "x"}, func(context.Context, *Call, struct {
				S []string `maximum:"1"`
			}) (int, error) {
				return 0, nil
			})
		},
		"the tag minimum is \"NaN\"": func() {
			Add(s, Tool{Name: "x"}, func(context.Context, *Call, struct {
				N float64 `minimum:"NaN"`
			}) (int, error) {
				return 0, nil
			})
		},
		"nothing from 5 to 4": func() {
			Add(s, Tool{Name: "x"}, func(context.Context, *Call, struct {
				N int `minimum:"5" maximum:"4"`
			}) (int, error) {
				return 0, nil
			})
		},
		"the option \"string\"": func() {
			Add(s, Tool{Name: "x"}, func(context.Context, *Call, struct {
				N int `json:"n,string"`
			}) (int, error) {
				return 0, nil
			})
		},
		"is embedded under a name": func() {
			Add(s, Tool{Name: "x"}, func(context.Context, *Call, struct {
				edit `json:"edit"`
			}) (int, error) {
				return 0, nil
			})
		},
		"which is no number": func() {
			Add(s, Tool{Name: "x"}, func(context.Context, *Call, struct {
				N int `minimum:"one"`
			}) (int, error) {
				return 0, nil
			})
		},
	} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, want) {
					t.Errorf("panics with %q, want %q", p, want)
				}
			}()
			add()
		}()
	}
}
