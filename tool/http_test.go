package tool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	rpc "github.com/parleyhq/parley/internal/jsonrpc"
	wire "github.com/parleyhq/parley/internal/mcp"
)

// web is a server over HTTP, and what a client of any era can do to it. Its tool
// "ask" asks a legacy session, "look" tells which answers a retry brought, "wait"
// waits until its call ends, and "echo" says nothing new.
type web struct {
	t       testing.TB
	handler *Handler
	url     string
	heard   chan answer   // of "ask"
	entered chan struct{} // by "wait"
	gone    chan error    // out of "wait": why
	calls   int           // the last id
}

func newWeb(t testing.TB, o HandlerOptions, around func(http.Handler) http.Handler) *web {
	t.Helper()
	w := newTools(t, o)
	h := http.Handler(w.handler)
	if around != nil {
		h = around(h)
	}
	w.listen(h)
	return w
}

// listen puts what answers under an address.
func (w *web) listen(h http.Handler) {
	server := httptest.NewServer(h)
	w.t.Cleanup(func() {
		w.handler.Close()
		server.Close()
	})
	w.url = server.URL
}

// newTools is a web without a network.
func newTools(t testing.TB, o HandlerOptions) *web {
	t.Helper()
	s, err := NewServer(quiet(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	w := &web{t: t, heard: make(chan answer, 10), entered: make(chan struct{}, 10), gone: make(chan error, 10)}
	object := json.RawMessage(`{"type":"object"}`)
	s.mcp.AddTool(&mcp.Tool{Name: "ask", InputSchema: object}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		raw, err := s.askSession(ctx, req.Session, methodSample, jsontext.Value(`{}`))
		w.heard <- answer{raw, err}
		return &mcp.CallToolResult{Content: []mcp.Content{}}, ctx.Err()
	})
	s.mcp.AddTool(&mcp.Tool{Name: "look", InputSchema: object}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, name := range sortedNames(req.Params.InputResponses) {
			w.heard <- answer{raw: rawOf(req.Params.InputResponses[name])}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{}}, nil
	})
	s.mcp.AddTool(&mcp.Tool{Name: "wait", InputSchema: object}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		// A response begins with the first that is said.
		if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p"}); err != nil {
			t.Error(err)
		}
		w.entered <- struct{}{}
		<-ctx.Done()
		w.gone <- context.Cause(ctx)
		return nil, ctx.Err()
	})
	Add(s, Tool{Name: "echo"}, func(context.Context, *Call, struct{}) (string, error) { return "echo", nil })
	w.handler = s.Handler(o)
	return w
}

func sortedNames(m mcp.InputResponseMap) []string {
	return slices.Sorted(maps.Keys(m))
}

// do sends a request with headers of "name: value". Whoever is given the
// response closes its body.
func (w *web) do(ctx context.Context, method, body string, headers ...string) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, w.url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	return res
}

// say sends a POST and reads all of what comes back.
func (w *web) say(body string, headers ...string) (status int, text string) {
	w.t.Helper()
	res := w.do(w.t.Context(), http.MethodPost, body, headers...)
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res.StatusCode, string(all)
}

// session begins one, and returns the header that names it.
func (w *web) session(headers ...string) string {
	w.t.Helper()
	res := w.do(w.t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+bothAbilities+`,"clientInfo":{"name":"t","version":"1"}}}`, headers...)
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		w.t.Fatal(err)
	}
	id := res.Header.Get(wire.SessionHeader)
	if id == "" {
		w.t.Fatalf("%s, and no session", res.Status)
	}
	header := wire.SessionHeader + ": " + id
	if status, text := w.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, append(headers, header)...); status != http.StatusAccepted {
		w.t.Fatalf("initialized: %d %s", status, text)
	}
	return header
}

// stream is a response that goes on.
type stream struct {
	t     testing.TB
	id    string // of the call
	lines *bufio.Scanner
	close context.CancelFunc
}

// call calls a tool, and listens until the test ends or close is called.
func (w *web) call(tool string, headers ...string) *stream {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w.calls++
	res := w.do(ctx, http.MethodPost, `{"jsonrpc":"2.0","id":`+strconv.Itoa(w.calls)+`,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}}}`, headers...)
	w.t.Cleanup(func() {
		cancel()
		res.Body.Close()
	})
	return &stream{w.t, strconv.Itoa(w.calls), bufio.NewScanner(res.Body), cancel}
}

// next is the next message of a stream.
func (s *stream) next() rpc.Message {
	s.t.Helper()
	for s.lines.Scan() {
		if data, ok := strings.CutPrefix(s.lines.Text(), "data: "); ok {
			list, err := rpc.Decode([]byte(data))
			if err != nil || len(list) != 1 {
				s.t.Fatalf("%s: %v", data, err)
			}
			return list[0]
		}
	}
	s.t.Fatalf("the stream has ended: %v", s.lines.Err())
	return rpc.Message{}
}

// modernHeaders are those of a call of a tool.
func modernHeaders(method, name string) []string {
	return []string{wire.VersionHeader + ": 2026-07-28", "Mcp-Method: " + method, "Mcp-Name: " + name}
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + bothAbilities + `}`

// Clients of both eras find the tools under one address.
func TestHandlerEras(t *testing.T) {
	w := newWeb(t, HandlerOptions{}, nil)
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		c, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).
			Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: w.url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.InitializeResult().ProtocolVersion; got != version {
			t.Errorf("%s: speaks %s", version, got)
		}
		r := &room{t: t, client: c}
		r.want("echo", nil, `{"data":"echo"}`)
		if err := c.Close(); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
	if n := len(w.handler.sessions.byID); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

// A legacy client's answers reach the tool as they came.
func TestHandlerSessionAnswers(t *testing.T) {
	w := newWeb(t, HandlerOptions{}, nil)
	id := w.session()
	for _, c := range answers {
		s := w.call("ask", id)
		q := s.next()
		if status, text := w.say(`{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":`+c.raw+`}`, id); status != http.StatusAccepted {
			t.Errorf("%s: %d %s", c.name, status, text)
		}
		if got := <-w.heard; got.err != nil || string(got.raw) != c.raw {
			t.Errorf("%s: %s, %v", c.name, got.raw, got.err)
		}
		if m := s.next(); string(m.ID) != s.id {
			t.Errorf("%s: %+v", c.name, m)
		}
	}
}

// So do the answers in a modern client's retry.
func TestHandlerRetryAnswers(t *testing.T) {
	w := newWeb(t, HandlerOptions{}, nil)
	for _, c := range answers {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{},"inputResponses":{"a":` + c.raw + `,"b":{"action":"decline"}},` + modernMeta + `}}`
		if status, text := w.say(body, modernHeaders("tools/call", "look")...); status != http.StatusOK {
			t.Errorf("%s: %d %s", c.name, status, text)
			continue
		}
		if got := <-w.heard; string(got.raw) != c.raw {
			t.Errorf("%s: %s", c.name, got.raw)
		}
		if got := <-w.heard; string(got.raw) != `{"action":"decline"}` {
			t.Errorf("%s: the second is %s", c.name, got.raw)
		}
	}
}

// Clients of 2025-03-26 may send several messages at once.
func TestHandlerBatch(t *testing.T) {
	w := newWeb(t, HandlerOptions{}, nil)
	id := w.session()
	one, other := w.call("ask", id), `{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"echo","arguments":{}}}`
	q := one.next()
	status, text := w.say(`[{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":{"role":7}},`+other+`]`, id)
	if got := <-w.heard; status != http.StatusOK || !strings.Contains(text, "echo") || string(got.raw) != `{"role":7}` {
		t.Errorf("%d %s; %s, %v", status, text, got.raw, got.err)
	}
}

// What is no request is refused, and says why.
func TestHandlerRefuses(t *testing.T) {
	w := newWeb(t, HandlerOptions{MaxBody: 2000, Origins: []string{"https://example.org"}}, nil)
	id := w.session()
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}`
	modern := modernHeaders("tools/call", "echo")
	for _, c := range []struct {
		name, method, body string
		headers            []string
		status             int
		says               string
	}{
		{"a long body", "POST", strings.Repeat(" ", 2000) + call, nil, 413, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the body is longer than 2000 bytes"}}`},
		{"a modern long body", "POST", strings.Repeat(" ", 2001), modern, 413, `2000 bytes`},
		{"a page of others", "POST", call, []string{id, "Origin: https://example.com"}, 403, ""},
		{"a page of friends", "POST", call, []string{id, "Origin: https://example.org"}, 200, `{\"data\":\"echo\"}`},
		{"a name for this machine", "POST", call, []string{id, "Host: rebound.example"}, 403, ""},
		{"a name for this machine, modern", "POST", call, append(modern, "Host: rebound.example"), 403, ""},
		{"no JSON", "POST", `{`, []string{id}, 400, ""},
		{"no body", "POST", ``, []string{id}, 400, ""},
		{"no session", "POST", call, nil, 200, `"error"`},
		{"an unknown session", "POST", call, []string{wire.SessionHeader + ": x"}, 404, ""},
		{"an unknown session's end", "DELETE", "", []string{wire.SessionHeader + ": x"}, 404, ""},
		{"nobody's end", "DELETE", "", nil, 400, ""},
		{"no session to listen to", "GET", "", nil, 400, ""},
		{"a modern session", "GET", "", modern, 405, ""},
		{"an unknown version", "POST", call, []string{id, wire.VersionHeader + ": 2001-01-01"}, 400, ""},
		{"another method", "PUT", call, []string{id}, 405, ""},
		{"a version without its header", "POST", call[:len(call)-2] + `,` + modernMeta + `}}`, nil, 400, `-32020`},
		{"a header without its version", "POST", call, modern, 400, `-32602`},
		{"a session that claims to be modern", "POST", call[:len(call)-2] + `,` + modernMeta + `}}`, []string{id}, 400, `-32020`},
		{"another media type", "POST", call, []string{id, "Content-Type: text/plain"}, 415, ""},
		{"a nested batch", "POST", `[[{"id":1,"result":{}}]]`, []string{id}, 400, ""},
		{"half a batch", "POST", `[{"id":1,"result":{}}`, []string{id}, 400, ""},
		{"a response of nobody", "POST", `{"jsonrpc":"2.0","id":99,"result":{}}`, []string{id}, 202, ""},
		{"a response without an id", "POST", `{"jsonrpc":"2.0","result":{}}`, []string{id}, 400, ""},
	} {
		res := w.do(t.Context(), c.method, c.body, c.headers...)
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != c.status || !strings.Contains(string(text), c.says) {
			t.Errorf("%s: %s %s, %v; want %d %s", c.name, res.Status, text, err, c.status, c.says)
		}
	}
}

func TestHandlerOriginIsNone(t *testing.T) {
	s, err := NewServer(quiet(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := fmt.Sprint(recover()); !strings.Contains(p, "HandlerOptions.Origins") {
			t.Errorf("panics with %s", p)
		}
	}()
	s.Handler(HandlerOptions{Origins: []string{"example.org"}})
}

// A client that ends its session ends its calls, also those that wait for it.
func TestHandlerDelete(t *testing.T) {
	w := newWeb(t, HandlerOptions{}, nil)
	id, other := w.session(), w.session()
	asking := w.call("ask", id)
	asking.next()
	w.call("wait", id)
	w.call("wait", other)
	<-w.entered
	<-w.entered
	res := w.do(t.Context(), http.MethodDelete, "", id)
	res.Body.Close()
	if res.StatusCode != http.StatusNoContent {
		t.Errorf("ended with %s", res.Status)
	}
	if got := <-w.heard; !errors.Is(got.err, context.Canceled) {
		t.Errorf("the question ended with %s, %v", got.raw, got.err)
	}
	<-w.gone // because of the session's end, or because the SDK noticed that first
	select {
	case why := <-w.gone:
		t.Errorf("another session's call ended for %v", why)
	default:
	}
	if status, _ := w.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, id); status != http.StatusNotFound {
		t.Errorf("the session still answers: %d", status)
	}
}

// Nobody ends somebody else's session, where it is known who is who.
func TestHandlerDeleteOthers(t *testing.T) {
	w := newWeb(t, HandlerOptions{}, knownUsers)
	id := w.session("Authorization: Bearer anna")
	w.call("wait", id, "Authorization: Bearer anna")
	<-w.entered
	res := w.do(t.Context(), http.MethodDelete, "", id, "Authorization: Bearer bert")
	res.Body.Close()
	select {
	case why := <-w.gone:
		t.Errorf("the call ended for %v", why)
	default:
	}
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("ended with %s", res.Status)
	}
	res = w.do(t.Context(), http.MethodDelete, "", id, "Authorization: Bearer anna")
	res.Body.Close()
	<-w.gone
}

// The calls of a client that has not been heard of for long enough end with its
// session, and not before: while it listens it is there.
func TestHandlerSessionTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTools(t, HandlerOptions{SessionTimeout: time.Minute})
		id := w.handle(t.Context(), `"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`, "")
		ctx, hangUp := context.WithCancel(t.Context())
		go w.handle(ctx, `"tools/call","params":{"name":"wait"}`, id)
		<-w.entered
		time.Sleep(time.Hour)
		w.stillWaits("while its client listens")
		hangUp()
		time.Sleep(59 * time.Second)
		w.stillWaits("in time")
		w.handle(t.Context(), `"ping"`, id)
		time.Sleep(59 * time.Second)
		w.stillWaits("after its client was heard of")
		time.Sleep(2 * time.Second)
		if why := <-w.gone; !errors.Is(why, errSessionEnded) {
			t.Errorf("the call ended for %v", why)
		}
		w.handler.Close()
	})
}

// handle has the handler answer a request without a network, and returns the
// session that it begins, if it does.
func (w *web) handle(ctx context.Context, request, session string) (began string) {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":`+request+`}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "*/*")
	r.Header.Set(wire.SessionHeader, session)
	to := httptest.NewRecorder()
	w.handler.ServeHTTP(to, r)
	return to.Header().Get(wire.SessionHeader)
}

func (w *web) stillWaits(when string) {
	w.t.Helper()
	synctest.Wait()
	select {
	case why := <-w.gone:
		w.t.Fatalf("the call ended %s, for %v", when, why)
	default:
	}
}

// To hang up is to cancel, in the modern era.
func TestHandlerClientHangsUp(t *testing.T) {
	w := newWeb(t, HandlerOptions{}, nil)
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{},` + modernMeta + `}}`
	ctx, hangUp := context.WithCancel(t.Context())
	res := w.do(ctx, http.MethodPost, body, modernHeaders("tools/call", "wait")...)
	defer res.Body.Close()
	<-w.entered
	hangUp()
	if why := <-w.gone; !errors.Is(why, context.Canceled) {
		t.Errorf("the call ended for %v", why)
	}
}

// The end of the handler is the end of everything, in both eras.
func TestHandlerClose(t *testing.T) {
	w := newWeb(t, HandlerOptions{}, nil)
	id := w.session()
	asking := w.call("ask", id)
	asking.next()
	w.call("wait", id)
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{},` + modernMeta + `}}`
	res := w.do(t.Context(), http.MethodPost, body, modernHeaders("tools/call", "wait")...)
	defer res.Body.Close()
	<-w.entered
	<-w.entered
	w.handler.Close()
	<-w.heard
	<-w.gone
	<-w.gone
	for _, headers := range [][]string{nil, modernHeaders("tools/call", "wait")} {
		if status, text := w.say(body, headers...); status != http.StatusServiceUnavailable || !strings.Contains(text, "later") {
			t.Errorf("afterwards: %d %s", status, text)
		}
	}
	if status, _ := w.say(body, id); status == http.StatusOK {
		t.Error("the session outlives the handler")
	}
	w.handler.Close() // which does nothing more
}

// There is an end to sessions.
func TestHandlerTooManySessions(t *testing.T) {
	w := newWeb(t, HandlerOptions{}, nil)
	w.session()
	l := &w.handler.sessions
	l.mu.Lock()
	for i := range maxSessions - 1 {
		l.byID[fmt.Sprint(i)] = nil
	}
	l.mu.Unlock()
	status, text := w.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	if status != http.StatusServiceUnavailable || !strings.Contains(text, "too many sessions") {
		t.Errorf("%d %s", status, text)
	}
	l.mu.Lock()
	maps.DeleteFunc(l.byID, func(_ string, s *httpSession) bool { return s == nil })
	l.mu.Unlock()
	w.session()
}

// A body whose answers cannot be carried is refused before anybody reads it
// otherwise, and one without stays the same bytes.
func TestCarriedBody(t *testing.T) {
	for _, same := range []string{
		`{"jsonrpc":"2.0","id":1.5e0,"method":"tools/call","params":{"name":"result"}}`,
		` { "jsonrpc":"2.0", "id":1, "error":{"code":1,"message":"result"}}`,
		`{"result":7}`, `result`, `[["result"]]`, `[`, ``,
	} {
		if got, err := carriedBody([]byte(same)); err != nil || !bytes.Equal(got, []byte(same)) {
			t.Errorf("%s became %s, %v", same, got, err)
		}
	}
	one := `{"jsonrpc":"2.0","id":1,"result":{}}`
	if _, err := carriedBody([]byte("[" + strings.Repeat(one+",", rpc.MaxBatch) + one + "]")); err == nil {
		t.Error("a batch of any length is read")
	}
	got, err := carriedBody([]byte(` [{"jsonrpc":"2.0","id":1,"r\u0065sult":{}} , {"jsonrpc":"2.0","method":"result"}]`))
	want := `[{"jsonrpc":"2.0","id":1,"result":` + string(carried(jsontext.Value(`{}`))) + `},{"jsonrpc":"2.0","method":"result"}]`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}
