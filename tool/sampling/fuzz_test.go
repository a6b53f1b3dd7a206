package sampling_test

import (
	stdjson "encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parleyhq/parley/tool/sampling"
)

// Whatever is read is written with all that was in it, and reads the same again.
func FuzzRequest(f *testing.F) {
	for _, doc := range requests {
		f.Add([]byte(doc))
	}
	for _, m := range messages {
		f.Add([]byte(`{"messages":[` + m + `],"maxTokens":1e2,"temperature":-0.0}`))
	}
	f.Add([]byte(`{"messages":[],"maxTokens":0.0,"x":{"\u0061":"\ud83d\ude00"},"temperature":1e-7}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := sampling.ReadRequest(data)
		if err != nil {
			isDecodeError(t, err)
			return
		}
		kept(t, data, r, new(sampling.Request))
		if err := r.Check(); err != nil {
			_ = err.Error()
		}
		if all := sampling.Append(r.Messages, r.Messages...); sampling.Check(r.Messages) == nil && sampling.Check(all) != nil {
			t.Errorf("appended to itself, it is no history: %v", sampling.Check(all))
		}
	})
}

// A reply is read, and something comes of it, whoever wanted it.
func FuzzResult(f *testing.F) {
	for _, m := range messages {
		f.Add([]byte(m[:len(m)-1] + `,"model":"m","stopReason":"toolUse"}`))
	}
	f.Add([]byte(`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"__schema__","input":{"cell":9}}],"model":"m"}`))
	f.Add([]byte(`{"role":"assistant","content":{"type":"text","text":"{\"cell\":1}"},"model":"m","stopReason":""}`))
	s := newSchema[move](f, sampling.SchemaOptions{AcceptText: true})
	asked := sampling.Request{Messages: history("u"), Tools: []sampling.Tool{{Name: "f"}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := sampling.ReadResult(data)
		if err != nil {
			isDecodeError(t, err)
			return
		}
		kept(t, data, r, new(sampling.Result))
		comesToSomething(t, s.Read(r), asked)
		comesToSomething(t, sampling.ReadText(r), asked)
		sampling.ReadCalls(asked, r)
	})
}

func isDecodeError(t *testing.T, err error) {
	if _, ok := errors.AsType[*sampling.DecodeError](err); !ok || len(err.Error()) > 2000 {
		t.Errorf("the error is %T: %.500v", err, err)
	}
}

type document interface {
	UnmarshalJSON([]byte) error
	MarshalJSON() ([]byte, error)
}

func kept(t *testing.T, data []byte, read, again document) {
	written, err := read.MarshalJSON()
	if err != nil {
		t.Fatalf("cannot be written: %v", err)
	}
	if a, b := canonical(t, data), canonical(t, written); a != b {
		t.Errorf("something is lost:\n%s\n%s", a, b)
	}
	if err := again.UnmarshalJSON(written); err != nil || !reflect.DeepEqual(read, again) {
		t.Errorf("reads otherwise (%v):\n%+v\n%+v", err, read, again)
	}
}

func canonical(t *testing.T, data []byte) string {
	v := jsontext.Value(append([]byte(nil), data...))
	if err := v.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	return string(v)
}

func comesToSomething[T any](t *testing.T, o sampling.Outcome[T], asked sampling.Request) {
	e, err := o.Exchange(asked)
	if (err == nil) != o.Good() {
		t.Errorf("%s made %+v (%v)", o.Kind, e, err)
	}
	if err := sampling.Check(e.Messages); err != nil {
		t.Error(err)
	}
	if next, again := o.Retry(asked.Messages); again && sampling.Check(next) != nil {
		t.Error(sampling.Check(next))
	}
}

// What one pass takes, the schema library takes.
func FuzzDecode(f *testing.F) {
	for _, doc := range []string{
		`{"summary":"s","findings":[]}`, `{}`, `[]`, `{"summary":"s","findings":[{"file":"f","line":3.0,"severity":"low","note":null}]}`,
		`{"summary":"s","findings":null,"pair":[1,2],"counts":{"a":1e2},"raw":[{}],"blob":"YQ=="}`, `{"a":[[[[`,
	} {
		f.Add([]byte(doc))
	}
	s := newSchema[review](f, sampling.SchemaOptions{})
	var schema jsonschema.Schema
	if err := stdjson.Unmarshal(s.JSON(), &schema); err != nil {
		f.Fatal(err)
	}
	library, err := schema.Resolve(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := s.Decode(data)
		if err != nil {
			if e, ok := errors.AsType[*sampling.ValidationError](err); !ok || len(e.Problems) == 0 {
				t.Errorf("the error is %T: %v", err, err)
			}
			return
		}
		var tree any
		if err := json.Unmarshal(data, &tree); err != nil {
			t.Fatal(err)
		}
		if err := library.Validate(tree); err != nil {
			t.Errorf("the library says %v", err)
		}
	})
}
