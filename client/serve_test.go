package client_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func echoing(_ context.Context, q *client.Request) (any, error) { return q.Params, nil }

const (
	listKind = "mcp/request:tools/list"
	listCall = `{"jsonrpc":"2.0","id":41,"method":"tools/list","params":{"n":9007199254740993}}`
)

// answered waits for the answer to a request.
func answered(t *testing.T, g *gateway, id string) *parley.Envelope {
	t.Helper()
	return g.find(t, func(e *parley.Envelope) bool {
		return parley.SplitKind(e.Kind).Type == parley.TypeResponse && len(e.Correlation.IDs) > 0 && e.Correlation.IDs[0] == id
	})
}

func TestServe(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		handler client.Handler
		want    string
	}{
		"a raw result": {listCall, echoing, `{"jsonrpc":"2.0","id":41,"result":{"n":9007199254740993}}`},
		"a Go value": {
			`{"id":"x","method":"tools/list"}`,
			func(context.Context, *client.Request) (any, error) { return object{"b": 1, "a": nil}, nil },
			`{"jsonrpc":"2.0","id":"x","result":{"a":null,"b":1}}`,
		},
		"nothing": {
			`{"method":"tools/list"}`,
			func(context.Context, *client.Request) (any, error) { return nil, nil },
			`{"jsonrpc":"2.0","id":0,"result":null}`,
		},
		"an RPC error": {
			listCall,
			func(_ context.Context, q *client.Request) (any, error) {
				return nil, client.MethodNotFound(q.Kind.Method)
			},
			`{"jsonrpc":"2.0","id":41,"error":{"code":-32601,"message":"method not found: tools/list"}}`,
		},
		"a refusal": {
			listCall,
			func(context.Context, *client.Request) (any, error) {
				return nil, parley.Errorf(parley.NotFound, "no such thing")
			},
			`{"jsonrpc":"2.0","id":41,"error":{"code":-32603,"message":"not_found: no such thing","data":{"error":"not_found","message":"no such thing"}}}`,
		},
		"another error": {
			listCall,
			func(context.Context, *client.Request) (any, error) { return nil, errors.New("oh") },
			`{"jsonrpc":"2.0","id":41,"error":{"code":-32603,"message":"oh"}}`,
		},
		"params of another type": {
			listCall,
			func(_ context.Context, q *client.Request) (any, error) {
				var v struct {
					N bool `json:"n"`
				}
				err := q.Decode(&v)
				if failed, ok := errors.AsType[*client.RPCError](err); !ok || failed.Code != client.CodeInvalidParams {
					return nil, err
				}
				return nil, &client.RPCError{Code: client.CodeInvalidParams, Message: "n"}
			},
			`{"jsonrpc":"2.0","id":41,"error":{"code":-32602,"message":"n"}}`,
		},
		"a panic": {
			listCall,
			func(context.Context, *client.Request) (any, error) { panic("secret") },
			`{"jsonrpc":"2.0","id":41,"error":{"code":-32603,"message":"the handler failed"}}`,
		},
		"a result that is not JSON": {
			listCall,
			func(context.Context, *client.Request) (any, error) { return jsontext.Value(`{"a":1,"a":2}`), nil },
			`{"jsonrpc":"2.0","id":41,"error":{"code":-32603,"message":"the answer could not be sent: invalid_argument: result: not valid JSON"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t)
			g.dial(t, "files", &client.Options{Handler: c.handler})
			g.say("you", listKind, c.payload, withID("q"), to("files"))
			e := answered(t, g, "q")
			if e.Kind != "mcp/response:tools/list" || e.From != "files" || fmt.Sprint(e.To) != "[you]" || string(e.Payload) != c.want {
				t.Errorf("answered %s to %v: %s", e.Kind, e.To, e.Payload)
			}
		})
	}
}

// What is not for us is not ours to answer.
func TestServeOnlyWhatIsAddressed(t *testing.T) {
	g := newGateway(t)
	g.say("you", listKind, listCall, withID("history"), to("files"))
	var ran atomic.Int32
	g.dial(t, "files", &client.Options{History: 10, Handler: func(context.Context, *client.Request) (any, error) {
		ran.Add(1)
		return nil, nil
	}})
	g.say("you", listKind, listCall, withID("broadcast"))
	g.say("you", listKind, listCall, withID("another's"), to("wiki"))
	g.say("you", "mcp/proposal:tools/list", listCall, withID("proposal"), to("files"))
	g.say("you", "mcp/request:notifications/x", `{"method":"notifications/x"}`, withID("note"), to("files"))
	g.say("you", listKind, listCall, withID("q"), to("wiki", "files"))
	answered(t, g, "q")
	if n := ran.Load(); n != 1 {
		t.Errorf("the handler ran %d times", n)
	}
}

// A request whose kind says one thing and whose payload says another is never
// acted upon.
func TestServeAnswersLies(t *testing.T) {
	for _, c := range []struct{ kind, payload string }{
		{"mcp/request:tools/call:read", `{"id":1,"method":"tools/call","params":{"name":"delete"}}`},
		{"mcp/request:tools/list", `{"id":1,"method":"tools/call","params":{"name":"delete"}}`},
		{"mcp/request:tools/call:read", `{"id":1,"method":"tools/call","Method":"x","params":{"name":"read"}}`},
		{"mcp/request:tools/call:read", `[{"id":1,"method":"tools/call","params":{"name":"read"}}]`},
		{"mcp/request:tools/call", `{"id":1,"method":"tools/call","params":{"name":7}}`},
	} {
		g := newGateway(t)
		room := g.dial(t, "files", &client.Options{Handler: func(context.Context, *client.Request) (any, error) {
			t.Errorf("%s: the handler ran", c.kind)
			return nil, nil
		}})
		g.say("you", c.kind, c.payload, withID("q"), to("files"))
		e := answered(t, g, "q")
		if code := parley.Member(parley.Member(e.Payload, "error"), "code"); string(code) != "-32600" {
			t.Errorf("%s: answered %s", c.kind, e.Payload)
		}
		if s := room.Stats(); s.Lied != 1 {
			t.Errorf("stats are %+v", s)
		}
	}
}

// With Strict the loop does not see them, and they are answered without a
// handler.
func TestStrict(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "files", &client.Options{Strict: true})
	lie := `{"method":"tools/call","params":{"name":"delete"}}`
	g.say("you", "mcp/request:tools/call:read", lie, withID("q"), to("files"))
	g.say("you", "mcp/proposal:tools/call:read", lie, withID("p"), to("wiki"))
	answered(t, g, "q")
	for e, err := range room.Envelopes(t.Context()) {
		if err != nil || e.ID == "q" || e.ID == "p" {
			t.Fatalf("got %v, %v", e, err)
		}
		break // our answer
	}
}

// The answer to a fulfilment reaches the proposer as well.
func TestServeAFulfilment(t *testing.T) {
	g := newGateway(t)
	g.dial(t, "files", &client.Options{Handler: echoing})
	g.say("agent", "mcp/proposal:tools/list", listCall, withID("p"), to("files"))
	g.say("you", listKind, listCall, withID("q"), to("files"), answers("p"))
	if e := answered(t, g, "q"); fmt.Sprint(e.To) != "[you agent]" || fmt.Sprint(e.Correlation.IDs) != "[q]" {
		t.Errorf("answered %v of %v", e.To, e.Correlation.IDs)
	}
}

func TestServeConcurrency(t *testing.T) {
	g := newGateway(t)
	started, goOn := make(chan string, 100), make(chan struct{})
	var mu sync.Mutex
	running, most := 0, 0
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		running += n
		most = max(most, running)
	}
	g.dial(t, "files", &client.Options{Concurrency: 2, Handler: func(_ context.Context, q *client.Request) (any, error) {
		count(1)
		started <- q.Envelope.ID
		<-goOn
		count(-1)
		return nil, nil
	}})
	for i := range 2 + 2*16 + 1 {
		g.say("you", listKind, listCall, withID(fmt.Sprintf("q%d", i)), to("files"))
	}
	busy := answered(t, g, "q34")
	if code := parley.Member(parley.Member(busy.Payload, "error"), "code"); string(code) != "-32000" {
		t.Errorf("the last one was answered %s", busy.Payload)
	}
	<-started
	<-started // both are at work
	close(goOn)
	for i := range 34 {
		answered(t, g, fmt.Sprintf("q%d", i))
	}
	if ran := 2 + len(started); most != 2 || ran != 34 {
		t.Errorf("%d ran, %d at the same time", ran, most)
	}
}

func TestServeCancellation(t *testing.T) {
	g := newGateway(t)
	started := make(chan struct{})
	cause := make(chan error, 1)
	g.dial(t, "files", &client.Options{Concurrency: 1, Handler: func(ctx context.Context, q *client.Request) (any, error) {
		close(started)
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return nil, ctx.Err()
	}})
	cancel := func(from, id string) {
		g.say(from, "mcp/request:notifications/cancelled", `{"method":"notifications/cancelled","params":{"requestId":"`+id+`"}}`, to("files"), answers(id))
	}
	g.say("you", listKind, listCall, withID("q"), to("files"))
	<-started
	g.say("you", listKind, listCall, withID("waits"), to("files"))
	cancel("you", "waits")
	cancel("mallory", "q") // is not believed
	select {
	case err := <-cause:
		t.Fatalf("cancelled by another: %v", err)
	default:
	}
	cancel("you", "q")
	if err := <-cause; !errors.Is(err, client.ErrCancelled) {
		t.Errorf("the cause is %v", err)
	}
	for _, id := range []string{"q", "waits"} {
		e := answered(t, g, id)
		if code := parley.Member(parley.Member(e.Payload, "error"), "code"); string(code) != "-32800" {
			t.Errorf("%s was answered %s", id, e.Payload)
		}
	}
}

func TestServeProgress(t *testing.T) {
	g := newGateway(t)
	g.dial(t, "files", &client.Options{Handler: func(ctx context.Context, q *client.Request) (any, error) {
		return nil, q.Progress(ctx, client.Progress{Progress: 1, Total: 2.5, Message: "half"})
	}})
	g.say("you", listKind, listCall, withID("unasked"), to("files"))
	answered(t, g, "unasked")
	g.say("you", listKind, `{"method":"tools/list","params":{"_meta":{"progressToken":7}}}`, withID("q"), to("files"))
	answered(t, g, "q")
	e := g.findKind(t, "mcp/request:notifications/progress")
	if fmt.Sprint(e.To, e.Correlation.IDs) != "[you] [q]" ||
		string(parley.Member(e.Payload, "params")) != `{"progressToken":7,"progress":1,"total":2.5,"message":"half"}` {
		t.Errorf("sent %v %v %s", e.To, e.Correlation.IDs, e.Payload)
	}
}

// A request that arrives again, after a gap, is not run again.
func TestServeOnce(t *testing.T) {
	g := newGateway(t)
	var ran atomic.Int32
	back := make(chan struct{}, 10)
	g.dial(t, "files", &client.Options{
		Handler: func(context.Context, *client.Request) (any, error) { ran.Add(1); return nil, nil },
		OnState: func(s client.State) {
			if s.Phase == client.Connected {
				back <- struct{}{}
			}
		},
	})
	<-back
	g.say("you", listKind, listCall, withID("q"), to("files"))
	answered(t, g, "q")
	g.mu.Lock()
	repeated := g.log[0]
	g.epoch = "e2"
	g.mu.Unlock()
	g.dropAll()
	<-back
	again := *repeated
	g.publish(&again)
	g.say("you", listKind, listCall, withID("q2"), to("files"))
	answered(t, g, "q2")
	if n := ran.Load(); n != 2 {
		t.Errorf("the handler ran %d times for 2 requests", n)
	}
}

// While the journal cannot be written an answer waits: the deed is done.
func TestServeAnswerWaitsForTheJournal(t *testing.T) {
	g := newGateway(t)
	var refusals atomic.Int32
	g.judge = func(e *parley.Envelope) *parley.Error {
		if parley.SplitKind(e.Kind).Type == parley.TypeResponse && refusals.Add(1) <= 3 {
			return parley.Errorf(parley.Unavailable, "the journal cannot be written")
		}
		return nil
	}
	g.dial(t, "files", &client.Options{Handler: echoing, BackoffMin: time.Millisecond, BackoffMax: time.Millisecond})
	g.say("you", listKind, listCall, withID("q"), to("files"))
	if e := answered(t, g, "q"); parley.Member(e.Payload, "result") == nil {
		t.Errorf("the answer is %s", e.Payload)
	}
	if n := refusals.Load(); n != 4 {
		t.Errorf("it was sent %d times", n)
	}
}

// An answer that the gateway does not let through leaves nobody waiting.
func TestServeAnswerRefused(t *testing.T) {
	g := newGateway(t)
	g.judge = func(e *parley.Envelope) *parley.Error {
		if parley.Member(e.Payload, "result") != nil {
			return parley.Errorf(parley.EnvelopeTooLarge, "too large")
		}
		return nil
	}
	g.dial(t, "files", &client.Options{Handler: echoing})
	g.say("you", listKind, listCall, withID("q"), to("files"))
	e := answered(t, g, "q")
	if message, _ := parley.MemberString(parley.Member(e.Payload, "error"), "message"); message != "the answer could not be sent: envelope_too_large: too large" {
		t.Errorf("answered %s", e.Payload)
	}
}

func TestRoomServe(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "files", nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	started := make(chan struct{}, 1)
	done := make(chan error)
	go func() {
		done <- room.Serve(ctx, func(ctx context.Context, _ *client.Request) (any, error) {
			select {
			case started <- struct{}{}:
			default: // more than one may have come before the test saw the first
			}
			<-ctx.Done()
			return "stopped", nil
		})
	}()
	// Serve begins at its own time; what comes before is not served.
	for i := 0; len(started) == 0; i++ {
		id := fmt.Sprintf("q%d", i)
		g.say("you", listKind, listCall, withID(id), to("files"))
		if _, err := room.Chat(t.Context(), "tick"); err != nil {
			t.Fatal(err)
		}
	}
	if err := room.Serve(t.Context(), echoing); !errors.Is(err, &parley.Error{Code: parley.InvalidArgument}) {
		t.Errorf("a second handler: %v", err)
	}
	why := errors.New("why")
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	g.find(t, func(e *parley.Envelope) bool {
		return e.Kind == "mcp/response:tools/list" && string(parley.Member(e.Payload, "result")) == `"stopped"`
	})
}

func TestServeEndsWithTheRoom(t *testing.T) {
	g := newGateway(t)
	started := make(chan struct{})
	cause := make(chan error, 1)
	room := g.dial(t, "files", &client.Options{Handler: func(ctx context.Context, _ *client.Request) (any, error) {
		close(started)
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return nil, nil
	}})
	g.say("you", listKind, listCall, withID("q"), to("files"))
	<-started
	room.Close()
	if err := <-cause; err == nil || errors.Is(err, client.ErrCancelled) {
		t.Errorf("the cause is %v", err)
	}
}

func TestRespond(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "files", nil)
	q := g.say("you", listKind, listCall, withID("q"), to("files"))
	if _, err := room.Respond(t.Context(), q, object{"a": 1}); err != nil {
		t.Fatal(err)
	}
	if e := answered(t, g, "q"); string(e.Payload) != `{"jsonrpc":"2.0","id":41,"result":{"a":1}}` {
		t.Errorf("answered %s", e.Payload)
	}
	q2 := g.say("you", listKind, listCall, withID("q2"), to("files"))
	if _, err := room.RespondError(t.Context(), q2, client.MethodNotFound("tools/list")); err != nil {
		t.Fatal(err)
	}
	answered(t, g, "q2")
}
