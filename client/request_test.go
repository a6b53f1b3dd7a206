package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

type object = map[string]any

// serving answers every request that is admitted, as its addressee.
func serving(g *gateway, payload string, before ...func(e *parley.Envelope)) {
	g.admit = func(_ *connection, e *parley.Envelope) {
		k := parley.SplitKind(e.Kind)
		if k.Type != parley.TypeRequest || len(e.To) == 0 || k.Method == "notifications/cancelled" {
			return
		}
		id, from, target := e.ID, e.From, e.To[0]
		go func() {
			g.find(nopTB{}, func(e *parley.Envelope) bool { return e.ID == id })
			for _, f := range before {
				f(e)
			}
			g.say(target, k.As(parley.TypeResponse).String(), payload, to(from), answers(id))
		}()
	}
}

// nopTB lets a goroutine wait that the test does not own.
type nopTB struct{ testing.TB }

func (nopTB) Helper()                  {}
func (nopTB) Context() context.Context { return context.Background() }

func TestRequest(t *testing.T) {
	g := newGateway(t)
	serving(g, `{"jsonrpc":"2.0","id":7,"result":{"text":"hi","n":9007199254740993}}`)
	room := g.dial(t, "you", nil)
	reply, err := room.Request(t.Context(), "files", "tools/call", object{"name": "read", "arguments": object{"path": "a"}}, client.WithID("q"))
	if err != nil {
		t.Fatal(err)
	}
	if string(reply.Result) != `{"text":"hi","n":9007199254740993}` || reply.Envelope.From != "files" {
		t.Errorf("got %s of %s", reply.Result, reply.Envelope.From)
	}
	var v struct {
		Text string `json:"text"`
	}
	if err := reply.Decode(&v); err != nil || v.Text != "hi" {
		t.Errorf("decoded %+v, %v", v, err)
	}
	e := g.record()[0]
	if e.Kind != "mcp/request:tools/call:read" || e.To[0] != "files" ||
		string(e.Payload) != `{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"arguments":{"path":"a"},"name":"read"}}` {
		t.Errorf("sent %s %s", e.Kind, e.Payload)
	}
}

func TestRequestIsAnsweredWithAnError(t *testing.T) {
	g := newGateway(t)
	serving(g, `{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no path","data":{"a":1}}}`)
	room := g.dial(t, "you", nil)
	_, err := room.Request(t.Context(), "files", "tools/list", nil)
	failed, ok := errors.AsType[*client.RPCError](err)
	if !ok || failed.Code != client.CodeInvalidParams || failed.Message != "no path" || string(failed.Data) != `{"a":1}` {
		t.Errorf("got %v", err)
	}
}

// In a lazy space nobody but us checks a response.
func TestRequestIsAnsweredWithNonsense(t *testing.T) {
	for _, payload := range []string{`{"result":1,"error":{}}`, `{}`, `[]`, `{"Result":1}`} {
		g := newGateway(t)
		serving(g, payload)
		room := g.dial(t, "you", nil)
		if _, err := room.Request(t.Context(), "files", "tools/list", nil); !errors.Is(err, &parley.Error{Code: parley.KindMismatch}) {
			t.Errorf("%s: got %v", payload, err)
		}
	}
}

// An answer counts only from whom was asked, and under the envelope's id.
func TestRequestIsAnsweredByOthers(t *testing.T) {
	g := newGateway(t)
	serving(g, `{"result":"true"}`, func(e *parley.Envelope) {
		g.say("mallory", "mcp/response:tools/list", `{"result":"false"}`, to("you"), answers(e.ID))
		g.say("files", "mcp/response:tools/list", `{"jsonrpc":"2.0","id":"q","result":"false"}`, to("you"), answers("other"))
		g.say("files", "chat", `{"result":"false"}`, to("you"), answers(e.ID))
	})
	room := g.dial(t, "you", nil)
	reply, err := room.Request(t.Context(), "files", "tools/list", nil, client.WithID("q"))
	if err != nil || string(reply.Result) != `"true"` {
		t.Errorf("got %v, %v", reply, err)
	}
}

func TestRequestProgress(t *testing.T) {
	g := newGateway(t)
	serving(g, `{"result":{}}`, func(e *parley.Envelope) {
		token := parley.Member(parley.Member(parley.Member(e.Payload, "params"), "_meta"), "progressToken")
		if string(token) != `"q"` {
			t.Errorf("sent %s", e.Payload)
		}
		report := `{"method":"notifications/progress","params":{"progressToken":"q","progress":0.5,"total":2,"message":"half"}}`
		g.say("mallory", "mcp/request:notifications/progress", report, answers(e.ID))
		g.say("files", "mcp/request:notifications/progress", report, to("you"), answers(e.ID))
	})
	room := g.dial(t, "you", nil)
	var got []client.Progress
	_, err := room.Request(t.Context(), "files", "tools/call", object{"name": "x", "_meta": object{"a": 1}}, client.WithID("q"),
		client.OnProgress(func(p client.Progress) { got = append(got, p) }))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Progress != 0.5 || got[0].Total != 2 || got[0].Message != "half" {
		t.Errorf("got %+v", got)
	}
}

// The other side is told when nobody waits any more.
func TestRequestTimesOut(t *testing.T) {
	for name, c := range map[string]struct {
		limits string
		opts   client.Options
		within time.Duration // the ctx; 0 is none
		want   time.Duration
	}{
		"the default":           {`{}`, client.Options{}, 0, 5 * time.Minute},
		"the space's":           {`{"call_timeout":"30s"}`, client.Options{}, 0, 30 * time.Second},
		"the room's":            {`{"call_timeout":"30s"}`, client.Options{CallTimeout: time.Minute}, 0, time.Minute},
		"the caller's deadline": {`{"call_timeout":"30s"}`, client.Options{}, 2 * time.Hour, 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(t)
				g.limits = c.limits
				room := g.dial(t, "you", &c.opts)
				ctx := t.Context()
				if c.within > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.within)
					defer cancel()
				}
				start := time.Now()
				_, err := room.Request(ctx, "files", "tools/list", nil, client.WithID("q"))
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != c.want {
					t.Errorf("got %v after %v", err, time.Since(start))
				}
				e := g.findKind(t, "mcp/request:notifications/cancelled")
				if e.Correlation.IDs[0] != "q" || e.To[0] != "files" {
					t.Errorf("sent %+v", e)
				}
				room.Close()
			})
		})
	}
}

func TestRequestCancelled(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "you", nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	g.admit = func(*connection, *parley.Envelope) { cancel(why) }
	if _, err := room.Request(ctx, "files", "tools/list", nil); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	g.findKind(t, "mcp/request:notifications/cancelled")
}

// An answer that comes while the connection is down is received on resuming.
func TestRequestSurvivesALostConnection(t *testing.T) {
	g := newGateway(t)
	serving(g, `{"result":1}`, func(*parley.Envelope) { g.dropAll() })
	room := g.dial(t, "you", nil)
	for range 20 {
		if _, err := room.Request(t.Context(), "files", "tools/list", nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRequestEndsWithTheRoom(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "you", nil)
	g.admit = func(c *connection, _ *parley.Envelope) { go c.ws.Close(4003, "out") }
	if _, err := room.Request(t.Context(), "files", "tools/list", nil); !errors.Is(err, client.ErrRemoved) {
		t.Errorf("got %v", err)
	}
}

func TestComposeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		params any
		want   parley.Code
	}{
		"no name":       {"tools/call", nil, parley.KindMismatch},
		"name no text":  {"tools/call", object{"name": 1}, parley.KindMismatch},
		"no method":     {"", nil, parley.InvalidKind},
		"blank":         {"tools list", nil, parley.InvalidKind},
		"not JSON":      {"tools/list", jsontext.Value(`{"a":1,"a":2}`), parley.InvalidArgument},
		"not encodable": {"tools/list", func() {}, parley.InvalidArgument},
	} {
		if _, err := client.NewRequest("files", c.method, c.params); !errors.Is(err, &parley.Error{Code: c.want}) {
			t.Errorf("request, %s: got %v", name, err)
		}
		if _, err := client.NewProposal("files", c.method, c.params); !errors.Is(err, &parley.Error{Code: c.want}) {
			t.Errorf("proposal, %s: got %v", name, err)
		}
	}
}
