package mcpstdio

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/parleyhq/parley"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for.
const patience = 20 * time.Second

// peer is a client that speaks in lines.
type peer struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string
	ended chan error
	stop  context.CancelFunc
}

func connect(t *testing.T, o Options) *peer {
	t.Helper()
	in, ours := io.Pipe()
	theirs, out := io.Pipe()
	o.In, o.Out = in, out
	o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	ctx, cancel := context.WithCancel(t.Context())
	p := &peer{t: t, in: ours, lines: make(chan string, 100), ended: make(chan error, 1), stop: cancel}
	go func() {
		p.ended <- Run(ctx, o)
		in.Close()
		out.Close()
	}()
	go func() {
		s := bufio.NewScanner(theirs)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			p.lines <- s.Text()
		}
		close(p.lines)
	}()
	t.Cleanup(func() {
		p.in.Close()
		for range p.lines {
		}
	})
	return p
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.in, l+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *peer) next() string {
	p.t.Helper()
	select {
	case l, ok := <-p.lines:
		if !ok {
			p.t.Fatal("the relay has ended")
		}
		return l
	case <-time.After(patience):
		p.t.Fatal("nothing came")
	}
	return ""
}

// want reads until a line has all the texts.
func (p *peer) want(texts ...string) string {
	p.t.Helper()
	var seen []string
	for {
		select {
		case l, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("the relay has ended; no %q in %q", texts, seen)
			}
			if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(l, text) }) {
				return l
			}
			seen = append(seen, l)
		case <-time.After(patience):
			p.t.Fatalf("no %q in %q", texts, seen)
		}
	}
}

// end closes the input, and returns what else came.
func (p *peer) end() (rest []string) {
	p.t.Helper()
	p.in.Close()
	for l := range p.lines {
		rest = append(rest, l)
	}
	if err := <-p.ended; err != nil {
		p.t.Errorf("Run: %v", err)
	}
	return rest
}

func (p *peer) hello() {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"t","version":"0"}}}`)
	p.want(`"id":"hello"`, `"result"`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// both serves both eras with servers by other people's hands, and can forget.
type both struct {
	mu      sync.Mutex
	server  *mcp.Server
	legacy  http.Handler
	modern  http.Handler
	release chan struct{}
	calls   []string
}

func serveBoth(t *testing.T) (*both, string) {
	b := &both{release: make(chan struct{})}
	b.restart()
	srv := httptest.NewServer(b)
	t.Cleanup(func() {
		close(b.release)
		b.forget()
		srv.CloseClientConnections()
		srv.Close()
	})
	return b, srv.URL
}

func (b *both) restart() {
	b.forget()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(_ context.Context, r *mcp.SubscribeRequest) error { b.saw("subscribe " + r.Params.URI); return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	s.AddResource(&mcp.Resource{URI: "test:x", Name: "x"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "test:x", Text: "x"}}}, nil
	})
	schema := `{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"},"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}`
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: jsonSchema(schema)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
	})
	s.AddTool(&mcp.Tool{Name: "block", InputSchema: jsonSchema(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		b.saw("block")
		select {
		case <-ctx.Done():
			b.saw("cancelled")
		case <-b.release:
		}
		return &mcp.CallToolResult{}, ctx.Err()
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.server = s
	one := func(*http.Request) *mcp.Server { return s }
	b.legacy = mcp.NewStreamableHTTPHandler(one, nil)
	b.modern = mcp.NewStreamableHTTPHandler(one, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
}

func jsonSchema(s string) jsontext.Value { return jsontext.Value(s) }

func (b *both) forget() {
	b.mu.Lock()
	s := b.server
	b.mu.Unlock()
	if s != nil {
		for ss := range s.Sessions() {
			ss.Close()
		}
	}
}

func (b *both) saw(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, what)
}

func (b *both) times(what string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.calls {
		if c == what {
			n++
		}
	}
	return n
}

func (b *both) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	h := b.legacy
	if r.Header.Get("Mcp-Protocol-Version") >= "2026" {
		h = b.modern
	}
	b.mu.Unlock()
	h.ServeHTTP(w, r)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for late := time.Now().Add(patience); !ok(); {
		if time.Now().After(late) {
			t.Fatal("not seen: " + what)
		}
		<-time.After(time.Millisecond)
	}
}

func TestSession(t *testing.T) {
	b, url := serveBoth(t)
	p := connect(t, Options{URL: url})
	p.hello()
	p.send(`{"jsonrpc":"2.0","id":9007199254740991,"method":"tools/list"}`)
	p.want(`"id":9007199254740991`, `"name":"echo"`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`)
	p.want(`"id":2`, `hi`)
	p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"block","arguments":{}}}`)
	eventually(t, "the call", func() bool { return b.times("block") == 1 })
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	eventually(t, "its end", func() bool { return b.times("cancelled") == 1 })
	if rest := p.end(); slices.ContainsFunc(rest, func(l string) bool { return strings.Contains(l, `"id":3`) }) {
		t.Errorf("a cancelled call was answered: %q", rest)
	}
	for ss := range b.server.Sessions() {
		t.Errorf("session %s was not ended", ss.ID())
	}
}

// What is said all at once, as by a shell script, is done in its order.
func TestPipelined(t *testing.T) {
	_, url := serveBoth(t)
	p := connect(t, Options{URL: url})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`)
	rest := strings.Join(p.end(), "\n")
	if !strings.Contains(rest, `"id":1`) || !strings.Contains(rest, "hi") {
		t.Errorf("got %s", rest)
	}
}

// meta is what a message of 2026-07-28 says of itself.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"}}`

func TestModern(t *testing.T) {
	b, url := serveBoth(t)
	p := connect(t, Options{URL: url})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`)
	p.want(`"id":1`, `"supportedVersions"`)
	// The tools' headers are looked up where the client did not list the tools.
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{` + meta + `,"name":"echo","arguments":{"text":" né","deep":{"n":1e2}}}}`)
	p.want(`"id":2`, `\"n\":1e2`)
	p.send(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{` + meta + `,"uri":"test:x"}}`)
	p.want(`"id":3`, `"result"`)
	p.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{` + meta + `,"name":"block","arguments":{}}}`)
	eventually(t, "the call", func() bool { return b.times("block") == 1 })
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
	eventually(t, "its end", func() bool { return b.times("cancelled") == 1 })
	// Both eras may come from one client.
	p.hello()
	p.send(`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`)
	p.want(`"id":5`, `"name":"echo"`)
	p.end()
}

func TestListedToolsHaveTheirHeaders(t *testing.T) {
	_, url := serveBoth(t)
	p := connect(t, Options{URL: url})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`)
	p.want(`"id":1`, `x-mcp-header`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{` + meta + `,"name":"echo","arguments":{"text":"=?base64?x?="}}}`)
	p.want(`"id":2`, `=?base64?x?=`, `"content"`)
	p.end()
}

// A server that forgot the session meets the same client again, who is told to
// look again and notices nothing else.
func TestServerForgets(t *testing.T) {
	b, url := serveBoth(t)
	p := connect(t, Options{URL: url})
	p.hello()
	p.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test:x"}}`)
	p.want(`"id":1`, `"result"`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"debug"}}`)
	p.want(`"id":2`, `"result"`)
	b.restart()
	p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"again"}}}`)
	p.want(`"id":3`, `again`)
	if n := b.times("subscribe test:x"); n != 2 {
		t.Errorf("%d subscriptions, want 2", n)
	}
	// And again, without a call: the listening stream notices.
	b.restart()
	p.want("notifications/tools/list_changed")
	eventually(t, "the subscription", func() bool { return b.times("subscribe test:x") == 3 })
	p.end()
}

// script is a server by hand.
type script func(w http.ResponseWriter, r *http.Request, method, id string)

func (s script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	method, _ := parley.MemberString(body, "method")
	s(w, r, method, string(parley.Member(body, "id")))
}

func serve(t *testing.T, s script) (*httptest.Server, Options) {
	srv := httptest.NewServer(s)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv, Options{URL: srv.URL}
}

func answer(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, text)
}

func hangUp(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		c.Close()
	}
}

func TestBytesStayAsTheyAre(t *testing.T) {
	result := `{"z":9007199254740993,"a":1.0,"s":"\u00e9\/","deep":[ 1 , 2 ]}`
	_, o := serve(t, func(w http.ResponseWriter, _ *http.Request, method, id string) {
		switch method {
		case "json":
			answer(w, "{\n\"result\":"+result+",\r\n\"id\":"+id+"}")
		case "events":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, ": hi\n\ndata: {\"method\":\"notifications/x\",\"a\":1.0}\n\ndata: nonsense\n\ndata: {\"id\":%s,\ndata: \"result\":%s}\n\n", id, result)
		case "no-id":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"headers","x":1.0}}`)
		case "problem":
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"code":"unauthorized","detail":"no such token","hint":"another"}`)
		case "html":
			fmt.Fprint(w, "<html>")
		case "twice":
			answer(w, `{"id":`+id+`,"result":{"a":1,"a":2}}`)
		case "long":
			answer(w, `{"id":`+id+`,"result":"`+strings.Repeat("x", 9000)+`"}`)
		case "elsewhere":
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	})
	o.MaxMessage = 8 << 10
	p := connect(t, o)
	for _, c := range []struct{ method, id, want string }{
		{"json", `"a\u0062"`, `{ "result":` + result + `,  "id":"a\u0062"}`},
		{"events", `1.50`, `{"method":"notifications/x","a":1.0}`},
		{"", "", `{"id":1.50, "result":` + result + `}`},
		{"no-id", `7`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32020,"message":"headers","x":1.0}}`},
		{"problem", `8`, `{"jsonrpc":"2.0","id":8,"error":{"code":-32000,"message":"unauthorized: the gateway answers with HTTP status 401: no such token (another)","data":{"error":"unauthorized","message":"the gateway answers with HTTP status 401: no such token","hint":"another"}}}`},
		{"html", `9`, `{"jsonrpc":"2.0","id":9,"error":{"code":-32000,"message":"internal: the gateway answers with \"text/html\", which is not MCP (is there a Parley gateway at this URL?)"`},
		{"twice", `10`, `{"jsonrpc":"2.0","id":10,"error":{"code":-32000,"message":"internal: `},
		{"long", `11`, `{"jsonrpc":"2.0","id":11,"error":{"code":-32000,"message":"envelope_too_large: `},
		{"elsewhere", `12`, `{"jsonrpc":"2.0","id":12,"error":{"code":-32000,"message":"internal: the gateway answers with HTTP status 307"`},
	} {
		if c.method != "" {
			p.send(`{"jsonrpc":"2.0","id":` + c.id + `,"method":"` + c.method + `"}`)
		}
		if got := p.next(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %s\nwant %s", c.method, got, c.want)
		}
	}
	p.end()
}

func TestBadLines(t *testing.T) {
	_, o := serve(t, func(w http.ResponseWriter, _ *http.Request, _, id string) { answer(w, `{"id":`+id+`,"result":{}}`) })
	o.MaxLine = 4 << 10
	p := connect(t, o)
	for _, c := range []struct{ line, want string }{
		{`what`, `{"jsonrpc":"2.0","error":{"code":-32700`},
		{`{"jsonrpc":"2.0","id":1,"method":"x"`, `{"jsonrpc":"2.0","error":{"code":-32700`},
		{`{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","error":{"code":-32600`},
		{`{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","error":{"code":-32600`},
		{"{\"id\":1,\"method\":\"x\",\"params\":{\"a\":\"\xff\"}}", `"id":1,"error":{"code":-32700`},
		{`"x"`, `{"jsonrpc":"2.0","error":{"code":-32600`},
		{`[]`, `{"jsonrpc":"2.0","error":{"code":-32600`},
		{`[{"jsonrpc":"2.0","id":1,"method":"x"},`, `{"jsonrpc":"2.0","error":{"code":-32700`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","a":1,"a":2}`, `"id":1,"error":{"code":-32700`},
		{`{"id":1,"method":"x","params":"` + strings.Repeat("x", 5000) + `"}`, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"not a JSON-RPC message: a line is too long"`},
		{`[{"jsonrpc":"2.0","id":1,"method":"x"}]`, `{"id":1,"result":{}}`},
		{`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1500) + `","method":"x"}`, `{"jsonrpc":"2.0","error":{"code":-32600`},
	} {
		p.send("", c.line)
		if got := p.next(); !strings.Contains(got, c.want) {
			t.Errorf("%.80s: got %s", c.line, got)
		}
	}
	p.end()
}

func TestIDsUnderWay(t *testing.T) {
	release, calls := make(chan struct{}), make(chan string, maxCalls)
	_, o := serve(t, func(w http.ResponseWriter, _ *http.Request, method, id string) {
		calls <- method
		<-release
		answer(w, `{"id":`+id+`,"result":{}}`)
	})
	p := connect(t, o)
	p.send(`{"id":"a","method":"x"}`, `{"id":"\u0061","method":"x"}`)
	if got := p.next(); strings.Contains(got, `"id":`) || !strings.Contains(got, "under way already") {
		t.Errorf("got %s", got)
	}
	for i := range maxCalls - 1 {
		p.send(fmt.Sprintf(`{"id":%d,"method":"x"}`, i))
	}
	p.send(`{"id":-1,"method":"x"}`)
	if got := p.next(); !strings.Contains(got, "too many requests") {
		t.Errorf("got %s", got)
	}
	for range maxCalls {
		<-calls
	}
	close(release)
	for range maxCalls {
		p.want(`"result":{}`)
	}
	p.end()
}

// What may have happened is not done again, and what only reads is.
func TestConnectionBreaks(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	_, o := serve(t, func(w http.ResponseWriter, _ *http.Request, method, id string) {
		mu.Lock()
		seen[method]++
		n := seen[method]
		mu.Unlock()
		if method == "tools/list" && n == 3 {
			answer(w, `{"id":`+id+`,"result":{"tools":[]}}`)
			return
		}
		hangUp(w)
	})
	p := connect(t, o)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
	if got := p.next(); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "outcome_unknown") || !strings.Contains(got, "make the same call again") {
		t.Errorf("got %s", got)
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"x"}}`)
	if got := p.next(); !strings.Contains(got, `"id":2,"error"`) || !strings.Contains(got, `"error":"outcome_unknown"`) {
		t.Errorf("got %s", got)
	}
	p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	p.want(`"id":3`, `"tools":[]`)
	if seen["tools/call"] != 1 || seen["prompts/get"] != 1 {
		t.Errorf("requests: %v", seen)
	}
	p.end()
}

// Nobody is there; then somebody is woken.
func TestServerIsWoken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	srv := httptest.NewUnstartedServer(script(func(w http.ResponseWriter, _ *http.Request, _, id string) {
		answer(w, `{"id":`+id+`,"result":{}}`)
	}))
	var once sync.Once
	p := connect(t, Options{URL: "http://" + address, Wake: func(context.Context) {
		once.Do(func() {
			srv.Listener.Close()
			if srv.Listener, err = net.Listen("tcp", address); err != nil {
				t.Error(err)
			}
			srv.Start()
		})
	}})
	t.Cleanup(srv.Close)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
	p.want(`"id":1,"result":{}`)
	p.end()
}

func TestNobodyIsThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	p := connect(t, Options{URL: "http://" + l.Addr().String(), Patience: time.Millisecond})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
	if got := p.next(); !strings.Contains(got, `"error":"unavailable"`) || !strings.Contains(got, "start one with parley up") {
		t.Errorf("got %s", got)
	}
	p.end()
}

// A server's own request reaches the client, and its answer the server; but not
// the next session's, which may have asked something else.
func TestServerAsks(t *testing.T) {
	answers, gets := make(chan string, 10), 0
	session := "one"
	var mu sync.Mutex
	_, o := serve(t, func(w http.ResponseWriter, r *http.Request, method, id string) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case method == "initialize":
			w.Header().Set("Mcp-Session-Id", session)
			answer(w, `{"id":`+id+`,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
		case r.Method == http.MethodDelete:
		case r.Header.Get("Mcp-Session-Id") != session:
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodGet:
			if gets++; gets > 1 {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"id\":1,\"method\":\"sampling/createMessage\"}\n\ndata: {\"id\":2,\"method\":\"roots/list\"}\n\n")
		case method == "" && id != "":
			answers <- id
			w.WriteHeader(http.StatusAccepted)
		case id != "":
			answer(w, `{"id":`+id+`,"result":{}}`)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	p := connect(t, o)
	p.hello()
	p.want(`sampling/createMessage`)
	p.want(`roots/list`)
	p.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if got := <-answers; got != "1" {
		t.Errorf("got the answer to %s", got)
	}
	mu.Lock()
	session = "two"
	mu.Unlock()
	p.send(`{"jsonrpc":"2.0","id":"x","method":"ping"}`)
	p.want(`"id":"x","result"`)
	p.send(`{"jsonrpc":"2.0","id":2,"result":{}}`, `{"jsonrpc":"2.0","id":"y","method":"ping"}`)
	p.want(`"id":"y","result"`)
	p.end()
	if len(answers) > 0 {
		t.Errorf("the next session got an answer to %s", <-answers)
	}
}

// What a server asks and takes back waits for no answer any more.
func TestServerTakesBack(t *testing.T) {
	_, o := serve(t, func(w http.ResponseWriter, r *http.Request, method, id string) {
		switch {
		case method == "initialize":
			w.Header().Set("Mcp-Session-Id", "one")
			answer(w, `{"id":`+id+`,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range maxAsked {
				fmt.Fprintf(w, "data: {\"id\":%d,\"method\":\"roots/list\"}\n\n", i)
				fmt.Fprintf(w, "data: {\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d}}\n\n", i)
			}
			fmt.Fprint(w, "data: {\"id\":\"last\",\"method\":\"sampling/createMessage\"}\n\n")
		}
	})
	p := connect(t, o)
	p.hello()
	p.want(`"last"`)
	p.end()
}

// A subscription outlives the server: it is made again, and what may have changed
// meanwhile is looked at again.
func TestSubscriptionIsReopened(t *testing.T) {
	var mu sync.Mutex
	times := 0
	closed := make(chan struct{})
	_, o := serve(t, func(w http.ResponseWriter, r *http.Request, _, id string) {
		mu.Lock()
		times++
		n := times
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"method\":\"notifications/subscriptions/acknowledged\",\"n\":%d}\n\n", n)
		switch n {
		case 1: // it breaks
			return
		case 2: // it goes down in order
			fmt.Fprintf(w, "data: {\"id\":%s,\"result\":{}}\n\n", id)
			return
		}
		fmt.Fprint(w, "data: {\"method\":\"notifications/tools/list_changed\",\"n\":3}\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(closed)
	})
	p := connect(t, o)
	p.send(`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{` + meta + `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test:x"]}}}`)
	for _, want := range []string{
		`"n":1`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`,
		`"uri":"test:x"`, `tools/list_changed`, `"uri":"test:x"`, `"n":3`,
	} {
		if got := p.next(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}`)
	<-closed
	if rest := p.end(); len(rest) > 0 {
		t.Errorf("then came %q", rest)
	}
}

// A stream that breaks is resumed where the server made that possible.
func TestStreamIsResumed(t *testing.T) {
	_, o := serve(t, func(w http.ResponseWriter, r *http.Request, method, id string) {
		switch {
		case method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s")
			answer(w, `{"id":`+id+`,"result":{"protocolVersion":"2025-11-25"}}`)
		case method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 7\nretry: 1\ndata:\n\n")
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "7":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"id\":1,\"result\":{\"n\":1}}\n\n")
		}
	})
	p := connect(t, o)
	p.send(`{"id":0,"method":"initialize","params":{}}`, `{"id":1,"method":"tools/call","params":{}}`)
	p.want(`"id":1,"result":{"n":1}`)
	p.end()
}

func TestEnds(t *testing.T) {
	for _, how := range []string{"input", "signal", "output", "handshake"} {
		t.Run(how, func(t *testing.T) {
			begun := make(chan struct{}, 1)
			_, o := serve(t, func(_ http.ResponseWriter, r *http.Request, _, _ string) {
				begun <- struct{}{}
				<-r.Context().Done()
			})
			in, ours := io.Pipe()
			theirs, out := io.Pipe()
			o.In, o.Out = in, out
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- Run(ctx, o); in.Close() }()
			first := "tools/call"
			if how == "handshake" {
				first = "initialize"
			}
			io.WriteString(ours, `{"id":1,"method":"`+first+`"}`+"\n")
			<-begun
			switch how {
			case "handshake": // the server does not answer, and the client goes on as if it had
				io.WriteString(ours, `{"method":"notifications/initialized"}`+"\n"+`{"id":2,"method":"tools/call"}`+"\n")
				ours.Close()
			case "input":
				ours.Close()
			case "signal":
				cancel()
			case "output":
				theirs.Close()
				io.WriteString(ours, "what\n")
			}
			err := <-ended
			if (how == "output") != (err != nil) {
				t.Errorf("got %v", err)
			}
			theirs.Close()
			ours.Close()
		})
	}
}

func FuzzTakeApart(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
	f.Add(`[{"id":1,"result":{}},{"method":"n"},3]`)
	f.Add(`{"id":1,"result":{"a":1,"a":2}}`)
	f.Fuzz(func(t *testing.T, in string) {
		parts := takeApart([]byte(in))
		if len(parts) == 0 {
			t.Fatal("nothing, not even an error")
		}
		for _, p := range parts {
			if p.bad == nil && !strings.Contains(in, string(p.raw)) {
				t.Fatalf("%q is not in %q", p.raw, in)
			}
			if p.bad == nil && p.msg.Fault == nil && !jsontext.Value(p.raw).IsValid() {
				t.Fatalf("%q is taken for a message", p.raw)
			}
			if l := onOneLine(p.raw); strings.Count(string(l), "\n") != 1 {
				t.Fatalf("%q", l)
			}
		}
	})
}
