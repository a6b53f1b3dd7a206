package response

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What a tool answers may be anything. What goes out is an envelope.
func TestDataThatIsNotJSON(t *testing.T) {
	debug := Default().inDebug()
	for name, data := range map[string]string{
		"cut off": `{"a":`, "two members": `{"a":1,"a":2}`, "two values": `1 2`, "words": `hello`, "not UTF-8": "\"\xff\"", "blanks": "  ",
		"lone surrogate": `"\ud800"`, "too deep": strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "two members below": `{"x":[{"a":1,"\u0061":2}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			a := &Answer{Tool: "t", Data: jsontext.Value(data), RequestID: "r", Asked: true}
			got := string(Default().Shape("t", Pro).Append([]byte("before "), a))
			if want := `before {"request_id":"r","error":{"error":"internal error","error_code":"internal_error"}}`; got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
			if got := debug.Shape("t", Pro).Append(nil, a); !bytes.Contains(got, []byte(`"error":"the tool's answer is not valid JSON"`)) {
				t.Errorf("debug does not say why: %s", got)
			}
		})
	}
}

// An error stays the error that it is, also where its details are not JSON.
func TestDetailsThatAreNotJSON(t *testing.T) {
	a := &Answer{Error: &Error{Message: "no \xff", Code: Forbidden, Details: jsontext.Value(`{"a"`)}}
	got := string(Default().Shape("t", Pro).Append(nil, a))
	if want := `{"error":{"error":"no ` + "\ufffd" + `","error_code":"forbidden"}}`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestWhiteSpaceIsLeftOut(t *testing.T) {
	a := &Answer{Data: jsontext.Value(" { \"a b\" : [ 1 , \" x \" ] }\n")}
	if got := string(Default().Shape("t", Pro).Append(nil, a)); got != `{"data":{"a b":[1," x "]}}` {
		t.Error(got)
	}
}

// The answer is not touched, and may be sent again.
func TestAppendLeavesTheAnswer(t *testing.T) {
	data := `{"a":null,"b":{"c":[]},"d":1}`
	a := &Answer{Data: jsontext.Value(data)}
	c := parsed(t, `{"global":{"exclude_null_values":true,"exclude_empty_arrays":true,"exclude_empty_objects":true}}`)
	for range 2 {
		if got := string(c.Shape("t", Pro).Append(nil, a)); got != `{"data":{"d":1}}` || string(a.Data) != data {
			t.Errorf("sent %s, and data is %s", got, a.Data)
		}
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	a := &Answer{Tool: "t", Version: "1", Tier: Pro, Duration: time.Second, Data: jsontext.Value(`{"risk":"high","list":[],"n":1}`)}
	buf := make([]byte, 0, 4<<10)
	for _, profile := range Default().Profiles() {
		for _, more := range []string{"", `,"exclude_empty_arrays":true`} {
			s := parsed(t, `{"global":{"profile":"`+profile+`"`+more+`}}`).Shape("t", Pro)
			if n := testing.AllocsPerRun(100, func() { buf = s.Append(buf[:0], a) }); n > 4 { // the codec keeps buffers in a pool, which may be emptied
				t.Errorf("%s%s: %v allocations", profile, more, n)
			}
		}
	}
}

// Whatever is configured and answered, what goes out is one JSON object without
// duplicate members, and its data is a part of the tool's.
func FuzzAppend(f *testing.F) {
	for _, config := range keys {
		f.Add([]byte(config), []byte(`{"array":[[],{}],"object":{"a":{}},"null":null,"zero":-0.0,"deep":[{"n":null}]}`), "not_found", "no", []byte(`{"d":[]}`), "r")
	}
	f.Add([]byte(`{}`), []byte(`{"a":1,"a":2}`), "", "", []byte(nil), "")
	f.Add([]byte(`{"global":{"profile":"debug","exclude_default_values":true}}`), []byte(`{"a":"\u0041\\","b\"":[""]}`), "", "", []byte(`1 1`), "\xff")
	f.Fuzz(func(t *testing.T, config, data []byte, code, message string, details []byte, id string) {
		c, err := Parse("f", config)
		if err != nil {
			c = Default()
		}
		a := &Answer{Tool: "t", Version: message, Tier: Tier(code), RequestID: id, Asked: len(id)%2 == 0, Data: data, Capabilities: []string{message}}
		if code != "" {
			a.Error = &Error{Message: message, Code: Code(code), Details: details}
			a.Hints = []Hint{{id, Tier(code), message}}
		}
		for _, tool := range append(c.Tools(), "t") {
			for _, tier := range tiers {
				held(t, a, c.Shape(tool, tier).Append(nil, a))
			}
		}
	})
}

// held sees that an envelope keeps what is promised of it.
func held(t *testing.T, a *Answer, sent []byte) {
	t.Helper()
	var envelope map[string]jsontext.Value
	if err := json.Unmarshal(sent, &envelope); err != nil {
		t.Fatalf("%v: %s", err, sent)
	}
	out, has := envelope["data"]
	failed := string(envelope["error"])
	if failed == "" || failed == "null" {
		if a.Error != nil || !has {
			t.Fatalf("an error became a success, or a success has no data: %s", sent)
		}
	} else if a.Error == nil && len(a.Data) > 0 && a.Data.IsValid() {
		t.Fatalf("a success became an error: %s", sent)
	}
	if a.Asked && a.RequestID != "" && envelope["request_id"] == nil {
		t.Errorf("request_id is missing: %s", sent)
	}
	if has && string(out) != "null" && !part(t, out, a.Data) {
		t.Errorf("%s is no part of %s", out, a.Data)
	}
}

// part says whether a value is another one less some members of its objects.
func part(t *testing.T, some, all jsontext.Value) bool {
	t.Helper()
	if some.Kind() != all.Kind() {
		return false
	}
	switch some.Kind() {
	case '{':
		var s, a map[string]jsontext.Value
		if json.Unmarshal(some, &s) != nil || json.Unmarshal(all, &a) != nil {
			return false
		}
		for name, value := range s {
			if was, ok := a[name]; !ok || !part(t, value, was) {
				return false
			}
		}
		return true
	case '[':
		var s, a []jsontext.Value
		if json.Unmarshal(some, &s) != nil || json.Unmarshal(all, &a) != nil || len(s) != len(a) {
			return false
		}
		for i := range s {
			if !part(t, s[i], a[i]) {
				return false
			}
		}
		return true
	case '"':
		var s, a string
		return json.Unmarshal(some, &s) == nil && json.Unmarshal(all, &a) == nil && s == a
	}
	return string(bytes.TrimSpace(some)) == string(bytes.TrimSpace(all))
}
