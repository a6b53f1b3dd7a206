package mcpfront_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcpfront"
)

func filesOffer() *mcpfront.Offer {
	return &mcpfront.Offer{
		Info: jsontext.Value(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"x-own":{"a":1}},"serverInfo":{"name":"files","version":"7","x":9007199254740993},"instructions":"read me"}`),
		Tools: raws(
			`{"name":"write","title":"Write","description":"Writes.","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"x-own":9007199254740993}`,
			`{"name":"echo","description":"Echoes.","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}},"outputSchema":{"type":"object"},"_meta":{"own":1}}`,
			`{"name":"odd name 🚀","inputSchema":{"type":"object"},"annotations":{"title":"Odd"}}`,
			`{"name":"files__echo","inputSchema":{"type":"object"}}`,
			`{"name":"ask","inputSchema":{"type":"object"}}`,
			`{"name":"rounds","inputSchema":{"type":"object"}}`,
			`{"name":"hang","inputSchema":{"type":"object"}}`,
			`{"name":"report","inputSchema":{"type":"object"}}`,
			`{"name":"fail","inputSchema":{"type":"object"}}`,
			`{"name":"answer","inputSchema":{"type":"object"}}`,
			`{"name":"echo","description":"A second one of that name.","inputSchema":{"type":"object"}}`,
			`{"name":"bad\u0007name","inputSchema":{"type":"object"}}`,
			`{"title":"without a name"}`,
			`17`,
		),
		Resources: raws(`{"uri":"file:///w/a","name":"a"}`, `{"uri":"file:///etc/b","name":"b","title":"B"}`),
		Templates: raws(`{"uriTemplate":"file:///w/{path}","name":"any"}`, `{"uriTemplate":"secret:///{path}","name":"none"}`),
		Prompts:   raws(`{"name":"greet","arguments":[{"name":"whom"}]}`),
	}
}

func wikiOffer() *mcpfront.Offer {
	return &mcpfront.Offer{
		Info:      jsontext.Value(`{"capabilities":{"tools":{}}}`),
		Tools:     raws(`{"name":"search","inputSchema":{"type":"object"}}`),
		Resources: raws(`{"uri":"wiki:///home","name":"home"}`),
	}
}

// server plays an MCP server that was brought into the room.
type server struct {
	room *client.Room

	mu      sync.Mutex
	got     []*client.Request
	release chan struct{} // closed, ends calls of hang
	ended   int           // calls of hang whose requester cancelled
	answers []string      // of clients, to what was asked in mid-call
}

// serve brings a server into demo.
func (s *site) serve(id string) *server {
	s.t.Helper()
	v := &server{release: make(chan struct{})}
	v.room = s.join(id, client.Options{Handler: v.handle, Routing: client.RoutingDirected, Concurrency: 1_024})
	return v
}

// requests are those that arrived of a method.
func (v *server) requests(method string) (list []*client.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, q := range v.got {
		if q.Kind.Method == method {
			list = append(list, q)
		}
	}
	return list
}

func (v *server) cancelled() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ended
}

func (v *server) handle(ctx context.Context, q *client.Request) (any, error) {
	v.mu.Lock()
	v.got = append(v.got, q)
	v.mu.Unlock()
	switch q.Kind.Method {
	case "resources/subscribe", "resources/unsubscribe":
		return jsontext.Value(`{}`), nil
	case "tools/call":
		return v.call(ctx, q)
	}
	params := q.Params
	if params == nil {
		params = jsontext.Value(`null`)
	}
	return jsontext.Value(`{"method":"` + q.Kind.Method + `","params":` + string(params) + `}`), nil
}

func (v *server) call(ctx context.Context, q *client.Request) (any, error) {
	arguments := parley.Member(q.Params, "arguments")
	switch q.Kind.Subject {
	case "ask":
		return v.ask(ctx, q, arguments)
	case "rounds":
		return v.rounds(q)
	case "hang":
		return v.hang(ctx)
	case "report":
		return v.report(ctx, q)
	case "fail":
		return nil, &client.RPCError{Code: -31000, Message: "no", Data: jsontext.Value(`{"why":9007199254740993}`)}
	case "answer":
		return parley.Member(arguments, "with"), nil
	}
	return jsontext.Value(`{"content":[], "structuredContent":` + string(q.Params) + `, "x":9007199254740993}`), nil
}

func (v *server) hang(ctx context.Context) (any, error) {
	select {
	case <-v.release:
		return jsontext.Value(`{"content":[]}`), nil
	case <-ctx.Done():
		v.mu.Lock()
		defer v.mu.Unlock()
		v.ended++
		return nil, ctx.Err()
	}
}

// ask asks the requester, or whom the arguments name, as servers of 2025-11-25
// do in mid-call.
func (v *server) ask(ctx context.Context, q *client.Request, arguments jsontext.Value) (any, error) {
	method, ok := parley.MemberString(arguments, "method")
	if !ok {
		method = "elicitation/create"
	}
	whom, ok := parley.MemberString(arguments, "whom")
	if !ok {
		whom = q.Envelope.From
	}
	id := q.Envelope.ID
	if other, ok := parley.MemberString(arguments, "correlation"); ok {
		id = other
	}
	params := parley.Member(arguments, "params")
	if params == nil {
		params = jsontext.Value(`{"message":"which?","n":9007199254740993}`)
	}
	reply, err := v.room.Request(ctx, whom, method, params, client.Correlate(id))
	text := ""
	if err != nil {
		text = err.Error()
	} else {
		text = string(reply.Result)
	}
	v.mu.Lock()
	v.answers = append(v.answers, text)
	v.mu.Unlock()
	return jsontext.Value(`{"content":[],"said":` + string(quote(text)) + `}`), nil
}

// rounds asks for input as servers of 2026-07-28 do, as often as the arguments say,
// which also say whether it takes errors for answers.
func (v *server) rounds(q *client.Request) (any, error) {
	want := 1
	fmt.Sscan(string(parley.Member(parley.Member(q.Params, "arguments"), "times")), &want)
	state, _ := parley.MemberString(q.Params, "requestState")
	asks := parley.Member(parley.Member(q.Params, "arguments"), "asks")
	if asks == nil {
		asks = jsontext.Value(`{"method":"elicitation/create","params":{"message":"which?"}}`)
	}
	meta := ""
	if string(parley.Member(parley.Member(q.Params, "arguments"), "errors")) == "true" {
		meta = `"_meta":{"parley/errors":true},`
	}
	if len(state) < want {
		return jsontext.Value(`{"resultType":"input_required",` + meta + `"inputRequests":{"a":` + string(asks) + `},"requestState":"` + state + `x"}`), nil
	}
	return jsontext.Value(`{"content":[],"said":` + string(parley.Member(q.Params, "inputResponses")) + `}`), nil
}

func (v *server) report(ctx context.Context, q *client.Request) (any, error) {
	for i := range 5 {
		if err := q.Progress(ctx, client.Progress{Progress: float64(i + 1), Message: "a\nb"}); err != nil {
			return nil, err
		}
		if _, err := v.room.Notify(ctx, q.Envelope.From, "notifications/message", jsontext.Value(fmt.Sprintf(`{"level":"info","data":"n%d"}`, i)), client.Correlate(q.Envelope.ID)); err != nil {
			return nil, err
		}
	}
	return jsontext.Value(`{"content":[]}`), nil
}

func quote(s string) jsontext.Value {
	b, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "?"))
	return b
}
