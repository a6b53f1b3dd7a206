package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// bench is a gateway over a journal in memory, and what clients it needs.
type harness struct {
	t       testing.TB
	g       *Gateway
	journal *journal.Memory
	url     string
	client  *http.Client
}

// demo is a space in which everybody may do nearly everything.
func demo(people ...string) Space {
	s := Space{Rules: space.Rules{Name: "demo", Participants: map[string]parley.Capabilities{}}, Participants: map[string]Participant{}}
	for _, id := range people {
		s.Rules.Participants[id] = parley.Capabilities{
			parley.MustCapability("mcp/*"), parley.MustCapability("chat"), parley.MustCapability("note"), parley.MustCapability("end-*"),
			parley.MustCapability("capability/*"), parley.MustCapability("space/*"),
		}
		s.Participants[id] = Participant{Tokens: []TokenHash{sha256.Sum256([]byte("token-" + id))}}
	}
	return s
}

// serve starts a gateway on loopback.
func serve(t testing.TB, opts Options) *harness {
	t.Helper()
	h := start(t, opts)
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = Server(h.g.Handler())
	srv.Start()
	t.Cleanup(srv.Close)
	h.url, h.client = srv.URL, srv.Client()
	return h
}

// start starts a gateway that nothing listens for.
func start(t testing.TB, opts Options) *harness {
	t.Helper()
	h := &harness{t: t}
	if opts.Journal == nil {
		h.journal = journal.NewMemory(journal.MemoryOptions{Epoch: "e1"})
		opts.Journal = h.journal
		t.Cleanup(func() { h.journal.Close() })
	}
	if opts.Spaces == nil {
		opts.Spaces = []Space{demo("ann", "bob", "cy")}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.NewTextHandler(logOf(t), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	g, err := New(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	h.g = g
	t.Cleanup(func() {
		if err := g.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return h
}

// memory starts a gateway behind pipes, as a synctest bubble needs it.
func memory(t testing.TB, opts Options) *harness {
	t.Helper()
	h := start(t, opts)
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := Server(h.g.Handler())
	done := make(chan struct{})
	go func() { defer close(done); srv.Serve(l) }()
	transport := &http.Transport{DialContext: l.dial}
	t.Cleanup(func() { srv.Close(); transport.CloseIdleConnections(); <-done })
	h.url, h.client = "http://parley.localhost", &http.Client{Transport: transport}
	return h
}

type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	a, b := net.Pipe()
	select {
	case p.conns <- b:
		return a, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// testWriter is a test's log for as long as the test runs: whoever served a
// connection that was taken over may have something to say after that.
type testWriter struct {
	t     testing.TB
	mu    sync.Mutex
	ended bool
}

func logOf(t testing.TB) *testWriter {
	w := &testWriter{t: t}
	t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ended = true
	})
	return w
}

func (w *testWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.t.Helper()
		w.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// peer is a connected client.
type peer struct {
	t       testing.TB
	ws      *websocket.Conn
	welcome *parley.Envelope
}

func (h *harness) dial(id, query string) (*websocket.Conn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	u := strings.Replace(h.url, "http", "ws", 1) + "/ws?topic=demo&" + query
	ws, res, err := websocket.Dial(ctx, u, &websocket.DialOptions{
		HTTPClient: h.client,
		HTTPHeader: http.Header{"Authorization": {"Bearer token-" + id}},
	})
	if ws != nil {
		ws.SetReadLimit(-1)
	}
	return ws, res, err
}

// join connects, and reads the welcome.
func (h *harness) join(id, query string) *peer {
	h.t.Helper()
	ws, _, err := h.dial(id, query)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { ws.CloseNow() })
	p := &peer{t: h.t, ws: ws}
	p.welcome = p.next()
	if p.welcome.Kind != parley.KindWelcome {
		h.t.Fatalf("first came %s, not the welcome", p.welcome.Kind)
	}
	return p
}

func (p *peer) send(text string) {
	p.t.Helper()
	if err := p.ws.Write(context.Background(), websocket.MessageText, []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

// next is what comes next.
func (p *peer) next() *parley.Envelope {
	p.t.Helper()
	e, err := p.read()
	if err != nil {
		p.t.Fatal(err)
	}
	return e
}

func (p *peer) read() (*parley.Envelope, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, data, err := p.ws.Read(ctx)
	if err != nil {
		return nil, err
	}
	return parley.Decode(data, 0)
}

// until skips what comes before the first envelope of that kind.
func (p *peer) until(kind string) *parley.Envelope {
	p.t.Helper()
	for {
		if e := p.next(); e.Kind == kind {
			return e
		}
	}
}

// closed reads until the connection is closed, and returns the code.
func (p *peer) closed() websocket.StatusCode {
	p.t.Helper()
	for {
		if _, err := p.read(); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// field is a member of a payload, by its path.
func field(t testing.TB, e *parley.Envelope, path ...string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(e.Payload, &v); err != nil {
		t.Fatal(err)
	}
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func chat(text string) string {
	b, _ := json.Marshal(text)
	return `{"kind":"chat","payload":{"text":` + string(b) + `}}`
}

// textLog logs everything as text.
func textLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
