package parley

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

// TestRefused runs testdata/codec/refused.txt.
func TestRefused(t *testing.T) {
	data, err := os.ReadFile("testdata/codec/refused.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, cases, _ := strings.Cut(string(data), "\n== ")
	for c := range strings.SplitSeq(cases, "\n== ") {
		want, frame, _ := strings.Cut(c, "\n")
		frame, _, _ = strings.Cut(frame, "\n\n")
		frame = strings.TrimSuffix(frame, "\n")
		frame = strings.ReplaceAll(frame, "<INVALID>", "\xff")
		frame = strings.ReplaceAll(frame, "<NUL>", "\x00")
		code, words, _ := strings.Cut(want, ": ")
		t.Run(want, func(t *testing.T) {
			_, err := Decode([]byte(frame), 0)
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("Decode(%s) = %v, want %s", frame, err, code)
			}
			if string(e.Code) != code || !strings.Contains(e.Message, words) {
				t.Errorf("Decode(%s)\n got %v\nwant %s … %s", frame, e, code, words)
			}
		})
	}
}

func TestDecodeLimits(t *testing.T) {
	deep := func(n int) string {
		return `{"kind":"chat","payload":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"
	}
	many := func(n int) string {
		return `{"kind":"chat","to":["a"` + strings.Repeat(`,"a"`, n-1) + `]}`
	}
	extra := func(n int) string {
		return `{"kind":"chat","x":"` + strings.Repeat("x", n-len(`"x":""`)) + `"}`
	}
	id := func(n int) string { return `{"kind":"chat","id":"` + strings.Repeat("i", n) + `"}` }
	for _, c := range []struct {
		name  string
		frame string
		ok    bool
	}{
		{"128 deep", deep(127), true},
		{"129 deep", deep(128), false},
		{"brackets in strings do not nest", `{"kind":"chat","payload":"` + strings.Repeat("[", 500) + `"}`, true},
		{"brackets beside each other do not nest", `{"kind":"chat","payload":[` + strings.Repeat("[],", 500) + `1]}`, true},
		{"256 addressees", many(256), true},
		{"257 addressees", many(257), false},
		{"4 KiB of unknown fields", extra(4096), true},
		{"one byte more", extra(4097), false},
		{"an id of 128", id(128), true},
		{"an id of 129", id(129), false},
	} {
		if _, err := Decode([]byte(c.frame), 0); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Decode([]byte(deep(10)), 5); err == nil {
		t.Error("a nesting limit of 5 let 11 through")
	}
}

func TestDecodeFields(t *testing.T) {
	const frame = ` {"protocol":"mcpp/v0.1","id":"e1","ts":"2026-01-02T03:04:05.678Z","from":"agent",
		"to":["files","you"],"kind":"mcp/request:tools/call:x","correlation_id":["p1"],
		"context":{"id":"c","type":"reasoning","parent":"b","metadata":{"n":1.0},"more":[ 1 ]},
		"seq":42,"amends":true,"x-trace" : "a\u0062c","payload": {"n" : 1.0e5, "s":"\u0041"} } `
	e, err := Decode([]byte(frame), 0)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"seq":42,"protocol":"mcpp/v0.1","id":"e1","ts":"2026-01-02T03:04:05.678Z","from":"agent",` +
		`"to":["files","you"],"kind":"mcp/request:tools/call:x","correlation_id":["p1"],` +
		`"context":{"id":"c","type":"reasoning","parent":"b","metadata":{"n":1.0},"more":[ 1 ]},` +
		`"amends":true,"x-trace":"a\u0062c","payload":{"n" : 1.0e5, "s":"\u0041"}}`
	got, _ := e.MarshalJSON()
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if c := e.Context; c.ID != "c" || c.Type != "reasoning" || c.Parent != "b" || string(c.Metadata) != `{"n":1.0}` {
		t.Errorf("context %+v", c)
	}
}

func TestContextForms(t *testing.T) {
	for _, c := range []struct{ raw, id, parent, refused string }{
		{`{"id":"a"}`, "a", "", ""},
		{`{"id":"a","parent":"b"}`, "a", "b", ""},
		{`"a/b/c"`, "a/b/c", "a/b", ""},
		{`"a"`, "a", "", ""},
		{`"/a"`, "/a", "", ""},
		{`""`, "", "", "visible ASCII"},
		{`{}`, "", "", "context.id is missing"},
		{`{"id":"a","parent":"a"}`, "a", "a", "its own parent"},
		{`{"id":"a b"}`, "a b", "", "visible ASCII"},
		{`{"id":"a","parent":"\t"}`, "a", "\t", "visible ASCII"},
		{`{"id":7}`, "", "", "context.id is a number"},
		{`{"id":"a","type":[]}`, "a", "", "context.type is an array"},
		{`{"id":"a","metadata":"m"}`, "a", "", "context.metadata is a string"},
		{`{"id":"a","ID":"b"}`, "a", "", "only differs"},
		{`{"id":"a","type":"` + strings.Repeat("t", MaxID) + `"}`, "a", "", ""},
		{`{"id":"a","type":"` + strings.Repeat("t", MaxID+1) + `"}`, "a", "", "longer than 128 bytes"},
	} {
		e, err := Decode([]byte(`{"kind":"chat","context":`+c.raw+`}`), 0)
		if err != nil {
			t.Errorf("%s: %v", c.raw, err)
			continue
		}
		err = e.Context.Check()
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%s: %v", c.raw, err)
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: %v, want %s", c.raw, err, c.refused)
		case e.Context.ID != c.id || e.Context.Parent != c.parent:
			t.Errorf("%s: id %q parent %q", c.raw, e.Context.ID, e.Context.Parent)
		case string(e.Context.Raw()) != c.raw:
			t.Errorf("%s came back as %s", c.raw, e.Context.Raw())
		}
	}
}

func TestCorrelationKeepsItsForm(t *testing.T) {
	for _, form := range []string{`"a"`, `["a"]`, `["a","b"]`, `[]`} {
		e, err := Decode([]byte(`{"kind":"chat","correlation_id":`+form+`}`), 0)
		if err != nil {
			t.Fatal(err)
		}
		if out, _ := e.MarshalJSON(); !bytes.Contains(out, []byte(`"correlation_id":`+form)) {
			t.Errorf("%s came back in %s", form, out)
		}
	}
}

func TestDecodeErrorNamesTheEnvelope(t *testing.T) {
	e, err := Decode([]byte(`{"id":"e7","kind":5}`), 0)
	if err == nil || e.ID != "e7" {
		t.Errorf("got id %q with %v", e.ID, err)
	}
}

func BenchmarkDecode(b *testing.B) {
	frame := benchmarkFrame()
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(frame, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func TestValidParticipantID(t *testing.T) {
	for id, ok := range map[string]bool{
		"a": true, "0": true, "a.b-c": true, "a-": true, strings.Repeat("a", 64): true, "parley2": true,
		"": false, "parley": false, "-a": false, ".a": false, "A": false, "a_b": false, "a b": false, "é": false,
		"system:gateway": false, strings.Repeat("a", 65): false,
	} {
		if ValidParticipantID(id) != ok {
			t.Errorf("%q: %v", id, !ok)
		}
	}
}

func BenchmarkReadCall(b *testing.B) {
	e, _ := Decode(benchmarkFrame(), 0)
	k := SplitKind(e.Kind)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadCall(k, e.Payload); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendBody(b *testing.B) {
	e, _ := Decode(benchmarkFrame(), 0)
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = e.AppendBody(buf[:0])
	}
}

// benchmarkFrame is a tool call of 600 bytes.
func benchmarkFrame() []byte {
	const head = `{"id":"0199c2a0-0000-7000-8000-000000000001","to":["files"],"kind":"mcp/request:tools/call:write_file",` +
		`"correlation_id":"0199c2a0-0000-7000-8000-000000000000","payload":{"jsonrpc":"2.0","id":7,"method":"tools/call",` +
		`"params":{"name":"write_file","arguments":{"path":"/w/notes/today.md","content":"`
	const tail = `"}}}}`
	return []byte(head + strings.Repeat("all work and no play ", 40)[:600-len(head)-len(tail)] + tail)
}
