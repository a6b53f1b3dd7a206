package schema_test

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/schema"
)

// level is read from a name and written as a number.
type level int

func (l *level) UnmarshalText([]byte) error { *l = 2; return nil }

type example struct {
	Word  *string        `json:"word" enum:"a,b"`
	Count []int          `json:"count" minimum:"1" maximum:"9"`
	Level level          `json:"level"`
	Raw   jsontext.Value `json:"raw"`
	Std   json.RawMessage
	Bytes [2]byte `json:"bytes"`
}

// One type has as many schemas as there are purposes.
func TestPurposes(t *testing.T) {
	for _, c := range []struct {
		purpose     schema.Purpose
		word, level string
	}{
		{schema.Reading, `{"type":["null","string"],"enum":["a","b",null]}`, `{"type":"string"}`},
		{schema.Writing, `{"type":["null","string"],"enum":["a","b",null]}`, `{"type":"integer"}`},
		{schema.Asking, `{"type":"string","enum":["a","b"]}`, `{"type":"integer"}`},
	} {
		s, err := schema.Of(reflect.TypeFor[example](), c.purpose)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{
			"word": c.word, "level": c.level, "raw": `true`, "Std": `true`,
			"count": `{"type":["null","array"],"items":{"type":"integer","minimum":1,"maximum":9}}`,
			"bytes": `{"type":"string","contentEncoding":"base64"}`,
		} {
			if got, err := json.Marshal(s.Properties[name]); err != nil || string(got) != want {
				t.Errorf("%s is %s (%v), want %s", name, got, err, want)
			}
		}
	}
}

// What the codec and the schema would understand differently has no schema,
// whatever it is for.
func TestRefusals(t *testing.T) {
	type inner struct{ N int }
	type tree struct{ Below []tree }
	for want, v := range map[string]any{
		"the tag enum is for strings": struct {
			N int `enum:"1,2"`
		}{},
		"the tag minimum is for numbers": struct {
			N netip.Addr `minimum:"1"`
		}{},
		`the tag maximum is "Inf", which is no number`: struct {
			N float64 `maximum:"Inf"`
		}{},
		"there is nothing from 5 to 4": struct {
			N int `minimum:"5" maximum:"4"`
		}{},
		`the option "string" of its json tag has no schema`: struct {
			N int `json:"n,string"`
		}{},
		"it is embedded under a name": struct {
			inner `json:"inner"`
		}{},
		"cycle": tree{},
	} {
		for _, p := range []schema.Purpose{schema.Reading, schema.Writing, schema.Asking} {
			if _, err := schema.Of(reflect.TypeOf(v), p); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	}
}
