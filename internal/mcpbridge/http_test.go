package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
	mcpwords "github.com/parleyhq/parley/internal/mcp"
)

func serveHTTP(t testing.TB, h http.Handler) (*httptest.Server, Server) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		if sdk, ok := h.(*sdkHandler); ok {
			sdk.end()
		}
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv, Server{URL: srv.URL + "/mcp", Era: Legacy}
}

// sdkHandler is an sdkServer over HTTP that can forget everything, as by a
// restart.
type sdkHandler struct {
	options *mcp.StreamableHTTPOptions
	stop    chan struct{}

	mu      sync.Mutex
	servers []*mcp.Server
	http.Handler
}

func newSDKHandler(o *mcp.StreamableHTTPOptions) *sdkHandler {
	h := &sdkHandler{options: o, stop: make(chan struct{})}
	h.restart()
	return h
}

func (h *sdkHandler) restart() {
	s := sdkServer(h.stop)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.servers = append(h.servers, s)
	h.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, h.options)
}

func (h *sdkHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	now := h.Handler
	h.mu.Unlock()
	now.ServeHTTP(w, r)
}

// end ends what a server leaves behind whose clients are gone.
func (h *sdkHandler) end() {
	close(h.stop)
	for _, s := range h.servers {
		for ss := range s.Sessions() {
			ss.Close()
		}
	}
}

func TestSDKServerOverHTTP(t *testing.T) {
	h := newSDKHandler(nil)
	_, at := serveHTTP(t, h)
	testSDKServer(t, at)
	for ss := range h.servers[0].Sessions() {
		t.Errorf("session %s was not ended", ss.ID())
	}
}

func TestSDKServerOverHTTPWithJSON(t *testing.T) {
	_, at := serveHTTP(t, newSDKHandler(&mcp.StreamableHTTPOptions{JSONResponse: true}))
	u := open(t, at, nil)
	got, err := callTool(t.Context(), u, "echo", "hello")
	if err != nil || !strings.Contains(string(got), "hello") {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestServerRestartsOverHTTP(t *testing.T) {
	h := newSDKHandler(nil)
	_, at := serveHTTP(t, h)
	u := open(t, at, nil)
	h.restart() // it knows nothing of the session
	if _, err := callTool(t.Context(), u, "echo", ""); !errors.Is(err, ErrSessionLost) {
		t.Errorf("got %v", err)
	}
	if err := u.Wait(); !errors.Is(err, ErrSessionLost) {
		t.Errorf("Wait: %v", err)
	}
}

func TestHTTPServerDies(t *testing.T) {
	srv, at := serveHTTP(t, newSDKHandler(nil))
	blocking := make(chan struct{}, 1)
	u := open(t, at, &Options{OnNotification: func(context.Context, string, jsontext.Value) { blocking <- struct{}{} }})
	if _, err := u.Call(t.Context(), "logging/setLevel", jsontext.Value(`{"level":"debug"}`), nil); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := callTool(t.Context(), u, "block", "")
		ended <- err
	}()
	<-blocking
	srv.Listener.Close()
	srv.CloseClientConnections()
	if err := <-ended; !errors.Is(err, ErrServerGone) || !strings.Contains(err.Error(), "broke") {
		t.Errorf("got %v", err)
	}
	if _, err := callTool(t.Context(), u, "echo", ""); !errors.Is(err, ErrServerGone) {
		t.Errorf("the next call: %v", err)
	}
	if err := u.Wait(); !strings.Contains(err.Error(), "refused") {
		t.Errorf("Wait: %v", err)
	}
}

// script is a Streamable HTTP server by hand: initialize is answered, and what
// else comes goes to the functions.
type script struct {
	session string
	call    func(w http.ResponseWriter, id, method string, r *http.Request)
	get     func(w http.ResponseWriter, r *http.Request)

	mu   sync.Mutex
	seen []string // method and headers of each request
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	method, _ := parley.MemberString(body, "method")
	id := string(parley.Member(body, "id"))
	s.mu.Lock()
	s.seen = append(s.seen, strings.TrimSpace(fmt.Sprintf("%s %s session=%s version=%s key=%s last=%s", r.Method, method,
		r.Header.Get(mcpwords.SessionHeader), r.Header.Get(mcpwords.VersionHeader), r.Header.Get("X-Key"), r.Header.Get("Last-Event-ID"))))
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodGet && s.get != nil:
		s.get(w, r)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case method == "initialize":
		if s.session != "" {
			w.Header().Set(mcpwords.SessionHeader, s.session)
		}
		reply(w, id, `"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"script","version":"0"}}`)
	case id == "":
		w.WriteHeader(http.StatusAccepted)
	default:
		s.call(w, id, method, r)
	}
}

func reply(w http.ResponseWriter, id, rest string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	fmt.Fprintf(w, "{\n\"jsonrpc\":\"2.0\",\"id\":%s,%s\n}", id, rest)
}

func TestHTTPHeaders(t *testing.T) {
	s := &script{session: "s1", call: func(w http.ResponseWriter, id, _ string, _ *http.Request) { reply(w, id, `"result":`+rawResult) }}
	_, at := serveHTTP(t, s)
	at.Headers = map[string]string{"X-Key": "k", "mcp-session-id": "forged", "MCP-Protocol-Version": "0"}
	u := open(t, at, nil)
	if got, err := u.Call(t.Context(), "test/raw", nil, nil); err != nil || string(got) != rawResult {
		t.Errorf("got %s, %v", got, err)
	}
	u.Close()
	want := []string{
		"POST initialize session= version= key=k last=",
		"GET  session=s1 version=2025-03-26 key=k last=",
		"POST notifications/initialized session=s1 version=2025-03-26 key=k last=",
		"POST test/raw session=s1 version=2025-03-26 key=k last=",
		"DELETE  session=s1 version=2025-03-26 key=k last=",
	}
	if !slices.Equal(s.seen, want) {
		t.Errorf("got\n%s", strings.Join(s.seen, "\n"))
	}
}

func TestHTTPAnswers(t *testing.T) {
	stream := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, text)
	}
	s := &script{}
	s.call = func(w http.ResponseWriter, id, method string, r *http.Request) {
		switch method {
		case "events":
			stream(w, ": hello\n\nid: 1\r\ndata:\r\n\r\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":"+id+",\"result\":"+rawResult+"}\n\n")
		case "unterminated":
			stream(w, "data: {\"jsonrpc\":\"2.0\",\"id\":"+id+",\"result\":{}}")
		case "garbage-event":
			stream(w, "data: what\n\nnonsense\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":"+id+",\"result\":{}}\n\n")
		case "cut":
			stream(w, "data: {\"jsonrpc\"\n\n")
		case "resumable":
			stream(w, "retry: 1\nid: 7\ndata:\n\n")
		case "endless-event":
			stream(w, "data: "+strings.Repeat("x", 100<<10))
		case "long":
			reply(w, id, `"result":"`+strings.Repeat("x", 100<<10)+`"`)
		case "accepted":
			w.WriteHeader(http.StatusAccepted)
		case "html":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		case "duplicate":
			reply(w, id, `"result":{"a":1,"a":2}`)
		case "refused":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"headers"}}`)
		case "busy":
			http.Error(w, "later\x1b[31m", http.StatusServiceUnavailable)
		case "stateless-404":
			http.NotFound(w, r)
		case "elsewhere":
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		case "as-get":
			http.Redirect(w, r, "/mcp/", http.StatusFound)
		case "slash":
			if r.URL.Path == "/mcp" {
				http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
			} else {
				reply(w, id, `"result":{}`)
			}
		}
	}
	lastID := ""
	s.get = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") == "" {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		stream(w, "id: 8\ndata: {\"jsonrpc\":\"2.0\",\"id\":"+lastID+",\"result\":{\"last\":\""+r.Header.Get("Last-Event-ID")+"\"}}\n\n")
	}
	_, at := serveHTTP(t, s)
	u := open(t, at, &Options{MaxMessage: 64 << 10})
	for _, c := range []struct {
		method, want string
		err          error
		text         string
	}{
		{method: "events", want: rawResult},
		{method: "unterminated", want: `{}`},
		{method: "garbage-event", want: `{}`},
		{method: "slash", want: `{}`},
		{method: "resumable", want: `{"last":"7"}`},
		{method: "cut", err: ErrServerGone, text: "connection broke before the answer"},
		{method: "endless-event", err: ErrBadAnswer, text: "too long"},
		{method: "long", err: ErrBadAnswer, text: "more than 65536 bytes"},
		{method: "accepted", err: ErrBadAnswer, text: "without one"},
		{method: "html", err: ErrBadAnswer, text: "not JSON-RPC"},
		{method: "duplicate", err: ErrBadAnswer, text: "duplicate"},
		{method: "refused", text: "headers (JSON-RPC -32020)"},
		{method: "busy", text: "HTTP status 503: later[31m"},
		{method: "stateless-404", text: "HTTP status 404"},
		{method: "elsewhere", text: "HTTP status 307: it redirects elsewhere"},
		{method: "as-get", text: "HTTP status 302"},
	} {
		t.Run(c.method, func(t *testing.T) {
			lastID = fmt.Sprint(u.lastID + 1)
			got, err := u.Call(t.Context(), c.method, nil, nil)
			switch {
			case c.text == "" && (err != nil || string(got) != c.want):
				t.Errorf("got %s, %v", got, err)
			case c.text != "" && (err == nil || !strings.Contains(err.Error(), c.text) || c.err != nil && !errors.Is(err, c.err)):
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
	select {
	case <-u.Done():
		t.Error("the server is gone:", u.Wait())
	default:
	}
}

func TestHTTPListening(t *testing.T) {
	// The stream breaks once; what comes after that is not missed.
	gets := 0
	s := &script{session: "s1"}
	s.get = func(w http.ResponseWriter, r *http.Request) {
		gets++
		switch gets {
		case 1:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "retry: 1\nid: a\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/one\"}\n\n")
		case 2:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/two-after-%s\"}\n\n", r.Header.Get("Last-Event-ID"))
		default:
			http.NotFound(w, r) // the session is over
		}
	}
	_, at := serveHTTP(t, s)
	var got []string
	u := open(t, at, &Options{OnNotification: func(_ context.Context, method string, _ jsontext.Value) { got = append(got, method) }})
	if err := u.Wait(); !errors.Is(err, ErrSessionLost) {
		t.Errorf("Wait: %v", err)
	}
	if want := []string{"notifications/one", "notifications/two-after-a"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestHTTPCallIsCancelled(t *testing.T) {
	started, told, aborted := make(chan string, 1), make(chan string, 1), make(chan struct{})
	s := &script{}
	s.call = func(_ http.ResponseWriter, id, _ string, r *http.Request) {
		started <- id
		<-r.Context().Done()
		close(aborted)
	}
	_, at := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if method, _ := parley.MemberString(body, "method"); method == "notifications/cancelled" {
			told <- string(parley.Member(parley.Member(body, "params"), "requestId"))
		}
		s.ServeHTTP(w, r)
	}))
	u := open(t, at, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := u.Call(ctx, "test/block", nil, nil)
		ended <- err
	}()
	id := <-started
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := <-told; got != id {
		t.Errorf("call %s was to be cancelled, the server heard of %s", id, got)
	}
	<-aborted
}

func TestHTTPHandshakeFails(t *testing.T) {
	for _, c := range []struct {
		name, message, hint string
		handler             http.HandlerFunc
	}{
		{"not allowed", "HTTP status 401: who are you", "Authorization", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "who are you", http.StatusUnauthorized)
		}},
		{"wrong path", "HTTP status 404", "/mcp", http.NotFound},
		{"another protocol", `no common protocol version: it speaks "1999"`, "2025-11-25", func(w http.ResponseWriter, _ *http.Request) {
			reply(w, "1", `"result":{"protocolVersion":"1999"}`)
		}},
		{"no answer", "did not answer initialize within 300ms", "", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, at := serveHTTP(t, c.handler)
			_, err := Connect(t.Context(), at, &Options{HandshakeTimeout: 300 * time.Millisecond})
			e, ok := errors.AsType[*parley.Error](err)
			if !ok || e.Code != parley.Unavailable || !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzWithToken(f *testing.F) {
	f.Add(`{}`, true)
	f.Add(` {"_meta":{ "progressToken":"a" , "x":1}, "b":9007199254740993 }`, true)
	f.Add(`{"_meta":{}}`, true)
	f.Add(`{"a":{"_meta":{"progressToken":1}}}`, false)
	f.Fuzz(func(t *testing.T, in string, wanted bool) {
		out, theirs, err := withToken(jsontext.Value(in), 42, wanted)
		if err != nil {
			return
		}
		if !out.IsValid() {
			t.Fatalf("%s became %s", in, out)
		}
		token := string(parley.Member(parley.Member(out, "_meta"), "progressToken"))
		if (wanted || theirs != nil) != (token == "42") {
			t.Fatalf("%s became %s", in, out)
		}
		if theirs != nil { // put back, all is as it was
			back := strings.Replace(string(out), token, string(theirs), 1)
			if !strings.Contains(in, string(theirs)) || len(back) != len(in) {
				t.Fatalf("%s became %s, and %s", in, out, back)
			}
		}
	})
}
