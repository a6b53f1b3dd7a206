package mcp

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestEdit(t *testing.T) {
	set := func(obj string) string { return string(SetMember(jsontext.Value(obj), "a", jsontext.Value(`7`))) }
	add := func(obj string) string { return string(AddMember(jsontext.Value(obj), "a", jsontext.Value(`7`))) }
	drop := func(obj string) string { return string(DropMember(jsontext.Value(obj), "a")) }
	meta := func(obj string) string { return string(SetMeta(jsontext.Value(obj), "a", jsontext.Value(`7`))) }
	for _, c := range []struct {
		name     string
		edit     func(string) string
		in, want string
	}{
		{"set in an empty one", set, `{}`, `{"a":7}`},
		{"set what is there", set, `{ "b": 9007199254740993, "a" : [1] }`, `{ "b": 9007199254740993, "a" : 7 }`},
		{"set what is new", set, `{ "b": 1.50 }`, `{ "b": 1.50,"a":7 }`},
		{"set in no object", set, `[1]`, `[1]`},
		{"add what is there", add, `{"a":1}`, `{"a":1}`},
		{"add what is new", add, `{"b":1}`, `{"b":1,"a":7}`},
		{"drop the only one", drop, `{"a":1}`, `{}`},
		{"drop the first", drop, `{"a":1,"b":2.0,"c":3}`, `{"b":2.0,"c":3}`},
		{"drop what is not there", drop, `{ "b":2.0 }`, `{ "b":2.0 }`},
		{"meta where there is none", meta, `{"b":1}`, `{"b":1,"_meta":{"a":7}}`},
		{"meta beside others", meta, `{"_meta":{"c":1},"b":1}`, `{"_meta":{"c":1,"a":7},"b":1}`},
		{"meta that is no object", meta, `{"_meta":null}`, `{"_meta":{"a":7}}`},
	} {
		if got := c.edit(c.in); got != c.want {
			t.Errorf("%s: %s became %s, want %s", c.name, c.in, got, c.want)
		}
	}
}

func TestUnquote(t *testing.T) {
	for in, want := range map[string]string{`"a"`: "a", `""`: "", `"\u00e9\n\""`: "é\n\""} {
		if got, ok := Unquote(jsontext.Value(in)); !ok || got != want {
			t.Errorf("%s is %q, %v; want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "null", "7", `["a"]`, `{"a":"b"}`, `"a`, `"\x"`} {
		if got, ok := Unquote(jsontext.Value(in)); ok {
			t.Errorf("%s passes for the string %q", in, got)
		}
	}
}

func FuzzSetMember(f *testing.F) {
	f.Add(`{"a":1,"b":{"a":2}}`, "a")
	f.Add(`{}`, "\x00é")
	f.Fuzz(func(t *testing.T, in, name string) {
		obj := jsontext.Value(in)
		if !obj.IsValid() || obj.Kind() != '{' {
			return
		}
		for _, out := range []jsontext.Value{SetMember(obj, name, jsontext.Value(`{"x":[1]}`)), DropMember(obj, name), SetMeta(obj, name, jsontext.Value(`"y"`))} {
			if !out.IsValid() {
				t.Fatalf("%s and %q made %s", in, name, out)
			}
		}
	})
}
