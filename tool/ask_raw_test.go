package tool

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asking serves a tool that asks its session what the arguments say, and hands
// over what comes of it.
func asking(t *testing.T, capabilities string) (*lines, chan answer) {
	t.Helper()
	s, err := NewServer(quiet(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan answer, 10)
	s.mcp.AddTool(&mcp.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var q struct {
				Method string
				Params jsontext.Value
			}
			if err := json.Unmarshal(req.Params.Arguments, &q); err != nil {
				return nil, err
			}
			raw, err := s.askSession(ctx, req.Session, q.Method, q.Params)
			heard <- answer{raw, err}
			return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
		})
	l := newLines(t, func(in io.ReadCloser, out io.WriteCloser) error {
		return s.Serve(context.Background(), &mcp.IOTransport{Reader: in, Writer: out})
	})
	l.initialize(capabilities)
	return l, heard
}

type answer struct {
	raw jsontext.Value
	err error
}

func (l *lines) callAsk(id, method, params string) {
	l.t.Helper()
	l.send(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"ask","arguments":{"method":%q,"params":%s}}}`, id, method, params)
}

const bothAbilities = `{"sampling":{"tools":{}},"elicitation":{}}`

// What is asked and answered passes byte for byte.
func TestAskSession(t *testing.T) {
	l, heard := asking(t, bothAbilities)
	for _, c := range []struct{ method, params, result string }{
		{methodSample, `{"messages":[{"role":"user","content":{"type":"hologram","n":9007199254740993}}],"zebra":[1.0,-0],"maxTokens":100,"temperature":0,"_meta":{"parley/context":{"id":"x"}},"text":"<b>&\u2028é"}`,
			`{"model":"m","role":"assistant","content":[{"type":"hologram","n":9007199254740993}],"stopReason":""}`},
		{methodElicit, `{"message":"m","requestedSchema":{"type":"object","properties":{"z":{"type":"integer","default":9007199254740993},"a":{"type":"string"}},"required":["z"]},"mode":"form"}`,
			`{"content":{"z":9007199254740993,"a":1.0},"action":"accept"}`},
		{methodElicit, `{}`, `{"action":"accept","content":{"a":{"nested":[]}}}`},
		{methodElicit, `{}`, `{"role":"assistant"}`},
		{methodSample, `{}`, `{"action":"decline"}`},
		{methodSample, `{}`, `[]`},
		{methodElicit, `{}`, `null`},
	} {
		l.callAsk(`"c"`, c.method, c.params)
		q := l.asked(c.method)
		if string(q.Params) != c.params {
			t.Errorf("%s was sent as\n%s, want\n%s", c.method, q.Params, c.params)
		}
		l.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, c.result)
		if got := <-heard; got.err != nil || string(got.raw) != c.result {
			t.Errorf("%s came back as\n%s, %v, want\n%s", c.method, got.raw, got.err, c.result)
		}
		l.answered(`"c"`)
	}
}

// What the client refuses is told as it was said.
func TestAskSessionRefused(t *testing.T) {
	l, heard := asking(t, bothAbilities)
	l.callAsk(`"c"`, methodSample, `{}`)
	l.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"no","data":{"z":9007199254740993,"a":1.0}}}`, l.asked(methodSample).ID)
	e, ok := errors.AsType[*PeerError]((<-heard).err)
	if !ok || e.Code != -1 || e.Message != "no" || string(e.Data) != `{"z":9007199254740993,"a":1.0}` {
		t.Errorf("got %#v", e)
	}
}

// A client that cannot be asked is not, and nothing of it looks like its answer.
func TestAskSessionUnasked(t *testing.T) {
	l, heard := asking(t, `{"elicitation":{"url":{}}}`)
	for _, method := range []string{methodElicit, "roots/list"} {
		l.callAsk(`"c"`, method, `{}`)
		got := <-heard
		if _, ok := errors.AsType[*PeerError](got.err); ok || got.err == nil {
			t.Errorf("%s: %s, %v", method, got.raw, got.err)
		}
		l.answered(`"c"`)
	}
}

// The end of a call ends what it asks, and the client is told. Another question
// gets its own answer, however late that of the first is.
func TestAskSessionCancelled(t *testing.T) {
	l, heard := asking(t, bothAbilities)
	l.callAsk(`"c"`, methodSample, `{}`)
	first := l.asked(methodSample)
	l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}`)
	if got := <-heard; !errors.Is(got.err, context.Canceled) {
		t.Errorf("got %s, %v", got.raw, got.err)
	}
	cancelled := false
	for range 2 { // and the call is answered, in either order
		if m := l.next(); m.Method == "notifications/cancelled" {
			cancelled = true
		}
	}
	if !cancelled {
		t.Error("the client was not told")
	}
	l.callAsk(`"d"`, methodElicit, `{}`)
	second := l.asked(methodElicit)
	l.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, first.ID)
	l.send(`{"jsonrpc":"2.0","id":"unheard-of","result":{"action":"accept"}}`)
	l.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, second.ID)
	l.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, second.ID)
	if got := <-heard; string(got.raw) != `{"action":"decline"}` {
		t.Errorf("got %s, %v", got.raw, got.err)
	}
}

// Who leaves is not waited for.
func TestAskSessionGone(t *testing.T) {
	l, heard := asking(t, bothAbilities)
	l.callAsk(`"c"`, methodSample, `{}`)
	l.asked(methodSample)
	l.in.Close()
	got := <-heard
	if _, ok := errors.AsType[*PeerError](got.err); ok || got.err == nil {
		t.Errorf("got %s, %v", got.raw, got.err)
	}
}
