package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	rpc "github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/tool/sampling"
)

//lint:file-ignore SA1019 what MCP retires is what clients of today answer

// answers are what clients may answer with, and the type that the SDK reads it
// as in a retry.
var answers = []struct{ name, raw, as string }{
	{"a text", `{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m","stopReason":"endTurn"}`, "sampling"},
	{"a list of one", `{"role":"assistant","content":[{"type":"text","text":"hi"}],"model":"m"}`, "sampling"},
	{"no blocks", `{"role":"assistant","content":[],"model":"m"}`, "sampling"},
	{"a block of a new type", `{"role":"assistant","content":[{"type":"video","uri":"a:b","frames":[1,2]}],"model":"m"}`, "sampling"},
	{"big integers, and an order", `{"model":"m","content":{"type":"tool_use","id":"1","name":"f","input":{"z":9007199254740993,"a":0.70,"m":-0}},"role":"assistant"}`, "sampling"},
	{"members of nobody", `{"role":"assistant","content":{"type":"text","text":"a","x":1},"model":"m","_meta":{"y":2},"more":[]}`, "sampling"},
	{"layout", "{ \"role\" :\t\"assistant\",\n \"content\": [ ] , \"model\":\"m\" }", "sampling"},
	{"a role that is none", `{"role":7}`, "sampling"},
	{"content of a wrong type", `{"role":"assistant","content":null,"model":7,"stopReason":{}}`, "sampling"},
	{"_meta of a wrong type", `{"role":"assistant","content":[],"model":"m","_meta":7}`, "sampling"},
	{"names twice", `{"role":"assistant","role":"user","content":[],"content":1,"model":"m"}`, "sampling"},
	{"escapes in names", `{"r\u006fle":"assistant","content":{"type":"text","text":"\ud800"},"model":"m"}`, "sampling"},
	{"text that is not UTF-8", "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"\xff\"},\"model\":\"m\"}", "sampling"},
	{"a carrier of its own", `{"role":"assistant","content":{"type":"text","text":"a"},"model":"m","_meta":{"parley/raw":"e30="}}`, "sampling"},
	{"a form", `{"action":"accept","content":{"z":9007199254740993,"a":["x"]}}`, "elicitation"},
	{"a form with all types", `{"action":"accept","content":{"a":{"b":[null]},"c":null}}`, "elicitation"},
	{"a declined form", `{"action":"decline"}`, "elicitation"},
	{"an action of nobody", `{"action":"perhaps","content":"?"}`, "elicitation"},
	{"an action of a wrong type", `{"action":[]}`, "elicitation"},
	{"a form with a carrier of its own", `{"action":"accept","content":{},"_meta":{"parley/raw":"e30="}}`, "elicitation"},
	{"both", `{"role":"assistant","content":{"type":"text","text":"a"},"model":"m","action":"accept","roots":[]}`, "elicitation"},
	{"roots", `{"roots":[{"uri":"file:///a"}]}`, "roots"},
	{"roots with a carrier of their own", `{"roots":[],"content":{"type":"text","text":"a"},"_meta":{"parley/raw":"e30="}}`, "roots"},
	{"roots of a wrong type", `{"roots":7}`, "sampling"},
	{"names in other letters", `{"Role":"assistant","Content":{"type":"text","text":"a"},"ACTION":"accept"}`, "sampling"},
	{"an empty object", `{}`, "sampling"},
	{"a list", `[1,2]`, "sampling"},
	{"a string", `"role"`, "sampling"},
	{"a number", `1e999`, "sampling"},
	{"null", `null`, "sampling"},
	{"true", `true`, "sampling"},
	{"depth", strings.Repeat("[", 900) + strings.Repeat("]", 900), "sampling"},
}

// Whatever an answer holds gets through the SDK: as the result of any request,
// and in a retry.
func TestCarried(t *testing.T) {
	for _, c := range answers {
		t.Run(c.name, func(t *testing.T) {
			for name, got := range throughSDK(t, jsontext.Value(c.raw)) {
				if string(got) != c.raw {
					t.Errorf("as the answer to %s: %s", name, got)
				}
			}
			retry, as := throughRetry(t, jsontext.Value(c.raw))
			if string(retry) != c.raw || as != c.as {
				t.Errorf("in a retry, as %s: %s", as, retry)
			}
		})
	}
}

// throughSDK is what is left of an answer that the SDK read for each of the
// requests that can be asked.
func throughSDK(t testing.TB, raw jsontext.Value) map[string]jsontext.Value {
	t.Helper()
	msg := decoded(t, `{"jsonrpc":"2.0","id":1,"result":`+string(raw)+`}`)
	result := edge(t, msg).(*jsonrpc.Response).Result
	left := make(map[string]jsontext.Value)
	for name, into := range map[string]any{methodSample: new(mcp.CreateMessageWithToolsResult), methodElicit: new(mcp.ElicitResult)} {
		if err := json.Unmarshal(result, into); err != nil {
			t.Errorf("%s of %s: %v", name, result, err)
		}
		left[name] = rawOf(into)
	}
	return left
}

// throughRetry is what is left of an answer in the retry of a call, and what the
// SDK takes it for.
func throughRetry(t testing.TB, raw jsontext.Value) (left jsontext.Value, as string) {
	t.Helper()
	const around = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":{"inputResponses":{"k":1.0}},"inputResponses":{"k":%}}}`
	msg := edge(t, decoded(t, strings.Replace(around, "%", string(raw), 1)))
	var params mcp.CallToolParamsRaw
	if err := json.Unmarshal(msg.(*jsonrpc.Request).Params, &params); err != nil {
		t.Fatalf("%s: %v", msg.(*jsonrpc.Request).Params, err)
	}
	if got := string(params.Arguments); got != `{"inputResponses":{"k":1.0}}` {
		t.Errorf("the arguments are %s", got)
	}
	switch params.InputResponses["k"].(type) {
	case *mcp.CreateMessageWithToolsResult:
		as = "sampling"
	case *mcp.ElicitResult:
		as = "elicitation"
	case *mcp.ListRootsResult:
		as = "roots"
	}
	return rawOf(params.InputResponses["k"]), as
}

func decoded(t testing.TB, text string) jsonrpc.Message {
	t.Helper()
	msg, err := jsonrpc.DecodeMessage([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return msg
}

// edge is what passes the edge of a server. The message stays as it was.
func edge(t testing.TB, msg jsonrpc.Message) jsonrpc.Message {
	t.Helper()
	before, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		t.Fatal(err)
	}
	out, err := carriedIn(msg)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := jsonrpc.EncodeMessage(msg); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the message became %s, %v", after, err)
	}
	return out
}

// The reply that a tool reads is the one that was sent.
func TestCarriedReplyIsRead(t *testing.T) {
	raw := jsontext.Value(`{"role":"assistant","content":[{"type":"hologram","n":9007199254740993},{"type":"tool_use","id":"1","name":"f","input":{"z":9007199254740993,"a":1}}],"model":"m"}`)
	reply, err := sampling.ReadResult(throughSDK(t, raw)[methodSample])
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := reply.Content[0].(sampling.Unknown); !ok || string(b.Raw) != `{"type":"hologram","n":9007199254740993}` {
		t.Errorf("the block of an unknown type became %#v", reply.Content[0])
	}
	if b, ok := reply.Content[1].(sampling.ToolUse); !ok || string(b.Input) != `{"z":9007199254740993,"a":1}` {
		t.Errorf("the input became %#v", reply.Content[1])
	}
}

// What is no answer passes the edge as it is.
func TestNotCarried(t *testing.T) {
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":{"z":1,"a":9007199254740993}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":{"inputResponses":{"k":{}}}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","inputResponses":[{}],"requestState":"\u0061"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","inputResponses":null}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["inputResponses",{"k":{}}]}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"inputResponses":{"k":{"action":"accept"}}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
	} {
		got, err := jsonrpc.EncodeMessage(edge(t, decoded(t, text)))
		want, _ := jsonrpc.EncodeMessage(decoded(t, text))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s\nbecame %s, %v", text, got, err)
		}
	}
}

// Every one of several, however their names are written, and nothing else.
func TestCarriedParams(t *testing.T) {
	got, err := carriedParams(jsontext.Value(`{"a": 1.0, "input\u0052esponses" : { "x":{} , "x":{"action":"accept"},"y\n":7}, "b":[ ], "inputResponses":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	x, y, z := carried(jsontext.Value(`{}`)), carried(jsontext.Value(`{"action":"accept"}`)), carried(jsontext.Value(`7`))
	want := `{"a": 1.0, "input\u0052esponses" : { "x":` + string(x) + ` , "x":` + string(y) + `,"y\n":` + string(z) + `}, "b":[ ], "inputResponses":{}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	many := `{"inputResponses":{` + strings.Repeat(`"k":1,`, maxAnswers) + `"k":1}}`
	for _, broken := range []string{`{"inputResponses":{"k":}}`, `{"inputResponses":{"k":{}}`, `{`, many} {
		if _, err := carriedParams(jsontext.Value(broken)); err == nil {
			t.Errorf("%.100s is read", broken)
		}
	}
}

// An answer that is left out is one that says nothing.
func TestCarriedNothing(t *testing.T) {
	msg := edge(t, decoded(t, `{"jsonrpc":"2.0","id":1}`))
	var into mcp.ElicitResult
	if err := json.Unmarshal(msg.(*jsonrpc.Response).Result, &into); err != nil || string(rawOf(&into)) != "null" {
		t.Errorf("%s, %v", rawOf(&into), err)
	}
}

// Without an edge there is what the SDK knows.
func TestRawOfTyped(t *testing.T) {
	for _, c := range []struct {
		result any
		want   string
	}{
		{&mcp.ElicitResult{Action: "accept", Content: map[string]any{"a": 1}}, `{"action":"accept","content":{"a":1}}`},
		{&mcp.CreateMessageWithToolsResult{Model: "m", Role: "assistant", Content: []mcp.Content{&mcp.TextContent{Text: "a"}}},
			`{"content":{"type":"text","text":"a"},"model":"m","role":"assistant"}`},
		{&mcp.ElicitResult{Action: "cancel", Meta: mcp.Meta{carriedKey: "*"}}, `{"_meta":{"parley/raw":"*"},"action":"cancel"}`},
		{&mcp.ElicitResult{Action: "cancel", Meta: mcp.Meta{carriedKey: 7}}, `{"_meta":{"parley/raw":7},"action":"cancel"}`},
		{nil, `null`},
		{make(chan int), ``},
	} {
		if got := rawOf(c.result); string(got) != c.want {
			t.Errorf("%#v: %s, want %s", c.result, got, c.want)
		}
	}
}

// Whatever the SDK takes for a response reaches the tool as it came.
func FuzzCarried(f *testing.F) {
	for _, c := range answers {
		f.Add([]byte(c.raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		msg, err := jsonrpc.DecodeMessage([]byte(`{"jsonrpc":"2.0","id":1,"result":` + string(raw) + `}`))
		if err != nil {
			return
		}
		response, ok := msg.(*jsonrpc.Response)
		if !ok || response.Error != nil {
			return
		}
		want := string(response.Result)
		if len(want) == 0 {
			want = "null"
		}
		result := edge(t, msg).(*jsonrpc.Response).Result
		for _, into := range []any{new(mcp.CreateMessageWithToolsResult), new(mcp.ElicitResult)} {
			if err := json.Unmarshal(result, into); err != nil {
				t.Errorf("%s: %v", result, err)
			}
			if got := rawOf(into); string(got) != want {
				t.Errorf("%q became %q", want, got)
			}
		}
	})
}

// No params get an answer past the edge that was not carried.
func FuzzCarriedParams(f *testing.F) {
	for _, c := range answers {
		f.Add([]byte(`{"name":"f","inputResponses":{"k":` + c.raw + `}}`))
	}
	f.Add([]byte(`{"name":"f","input\u0052esponses":{"k":{},"k":7},"inputResponses":{"l":{"roots":[{}]}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		msg, err := jsonrpc.DecodeMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + string(raw) + `}`))
		if err != nil {
			return
		}
		req, ok := msg.(*jsonrpc.Request)
		if !ok || req.Method != "tools/call" {
			return
		}
		out, err := carriedIn(req)
		if err != nil {
			return // it is answered with that
		}
		var params mcp.CallToolParamsRaw
		if inOtherLetters(req.Params) || json.Unmarshal(out.(*jsonrpc.Request).Params, &params) != nil {
			return
		}
		for name, answer := range params.InputResponses {
			text, _ := json.Marshal(answer)
			var doc struct {
				Meta map[string]any `json:"_meta"`
			}
			if err := json.Unmarshal(text, &doc); err != nil || len(doc.Meta) != 1 || doc.Meta[carriedKey] == nil || !bytes.Contains(raw, rawOf(answer)) {
				t.Errorf("%q: %s, %v", name, text, err)
			}
		}
	})
}

// inOtherLetters tells names that encoding/json, with which these tests read,
// takes for the one that is meant, and the SDK does not.
func inOtherLetters(params []byte) bool {
	for f, err := range rpc.Members(params, lenient...) {
		if err == nil && f.Name != "inputResponses" && strings.EqualFold(f.Name, "inputResponses") {
			return true
		}
	}
	return false
}

// script is a connection that says what is in it, and keeps what it is told.
type script struct {
	mcp.Connection
	said []jsonrpc.Message
	told []jsonrpc.Message
}

func (s *script) Read(context.Context) (jsonrpc.Message, error) {
	if len(s.said) == 0 {
		return nil, io.EOF
	}
	next := s.said[0]
	s.said = s.said[1:]
	return next, nil
}

func (s *script) Write(_ context.Context, m jsonrpc.Message) error {
	s.told = append(s.told, m)
	return nil
}

// A transport of one's own may hand over what is no JSON. It is refused, and the
// connection stays.
func TestLineRefuses(t *testing.T) {
	id, err := jsonrpc.MakeID("7")
	if err != nil {
		t.Fatal(err)
	}
	broken := &jsonrpc.Request{ID: id, Method: "tools/call", Params: json.RawMessage(`{"inputResponses":{"k":}}`)}
	silent := &jsonrpc.Request{Method: broken.Method, Params: broken.Params}
	last := &jsonrpc.Request{Method: "ping"}
	s := &script{said: []jsonrpc.Message{broken, silent, last}}
	if got, err := (carrying{s, nil}).Read(t.Context()); got != last || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if len(s.told) != 1 {
		t.Fatalf("it was told %v", s.told)
	}
	r, ok := s.told[0].(*jsonrpc.Response)
	if !ok || r.ID != id {
		t.Fatalf("it was told %#v", s.told[0])
	}
	if e, ok := errors.AsType[*jsonrpc.Error](r.Error); !ok || e.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("refused with %v", r.Error)
	}
	if _, err := (carrying{s, nil}).Read(t.Context()); err != io.EOF {
		t.Errorf("the end is %v", err)
	}
}

// What it costs to carry an answer: at the edge, with the SDK's reading, and what
// the SDK takes for the answer as it is.
func BenchmarkCarried(b *testing.B) {
	for name, text := range map[string]string{"100B": strings.Repeat("a", 100), "10KiB": strings.Repeat("a", 10<<10)} {
		raw := []byte(`{"role":"assistant","content":{"type":"text","text":"` + text + `"},"model":"m"}`)
		b.Run(name+"/edge", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				carried(raw)
			}
		})
		b.Run(name+"/whole", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var result mcp.CreateMessageWithToolsResult
				if err := json.Unmarshal(carried(raw), &result); err != nil || len(rawOf(&result)) != len(raw) {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/typed", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var result mcp.CreateMessageWithToolsResult
				if err := json.Unmarshal(raw, &result); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
