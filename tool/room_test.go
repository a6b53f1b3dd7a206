package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// room is a server and a client of the SDK, with MCP between them.
type room struct {
	t      *testing.T
	server *Server
	client *mcp.ClientSession
	log    *safeLog
}

// newRoom serves what add declares. Ids count up, and each call takes 27 ms.
func newRoom(t *testing.T, o Options, add func(*Server)) *room {
	t.Helper()
	r := &room{t: t, log: new(safeLog)}
	o = quiet(o)
	o.Log = slog.New(slog.NewTextHandler(r.log, nil))
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	r.server = s
	s.now = ticking(27 * time.Millisecond)
	s.newID = func() string { return "8b3e5f6c0a2f4ed4a3fb9e0b2f8f8d3a" }
	add(s)
	r.connect()
	return r
}

func (r *room) connect() { r.connectAs("") }

// connectAs connects a client of a version of MCP; empty: the newest.
func (r *room) connectAs(version string) {
	r.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	here, there := mcp.NewInMemoryTransports()
	done := make(chan error, 1)
	go func() { done <- r.server.Serve(ctx, there) }()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, here, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		r.t.Fatal(err)
	}
	r.client = client
	r.t.Cleanup(func() {
		client.Close()
		stop()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
	})
}

// ticking is a clock that is step later each time that it is read.
func ticking(step time.Duration) func() time.Time {
	var mu sync.Mutex
	now := time.Unix(0, 0)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(step)
		return now
	}
}

// safeLog is a log that several goroutines write.
type safeLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

type args = map[string]any

// ask calls a tool and returns the whole result.
func (r *room) ask(params *mcp.CallToolParams) *mcp.CallToolResult {
	r.t.Helper()
	res, err := r.client.CallTool(r.t.Context(), params)
	if err != nil {
		r.t.Fatalf("%s: %v", params.Name, err)
	}
	return res
}

// call calls a tool and returns its envelope, which stands in the result twice.
func (r *room) call(name string, a any) (envelope string, failed bool) {
	r.t.Helper()
	return r.envelope(r.ask(&mcp.CallToolParams{Name: name, Arguments: a}))
}

func (r *room) envelope(res *mcp.CallToolResult) (envelope string, failed bool) {
	r.t.Helper()
	if len(res.Content) != 1 {
		r.t.Fatalf("%d contents", len(res.Content))
	}
	text := res.Content[0].(*mcp.TextContent).Text
	structured, err := json.Marshal(res.StructuredContent)
	if err != nil {
		r.t.Fatal(err)
	}
	if !sameJSON(r.t, text, string(structured)) {
		r.t.Errorf("the text is %s, the structured content %s", text, structured)
	}
	return text, res.IsError
}

func sameJSON(t testing.TB, a, b string) bool {
	t.Helper()
	var x, y any
	for text, v := range map[string]*any{a: &x, b: &y} {
		if err := json.Unmarshal([]byte(text), v); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if a == b {
		return true
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}

// want calls a tool and compares the envelope byte for byte.
func (r *room) want(name string, a any, envelope string) {
	r.t.Helper()
	if got, _ := r.call(name, a); got != envelope {
		r.t.Errorf("%s %v:\n got %s\nwant %s", name, a, got, envelope)
	}
}

// configuration writes a response_config.json and returns its path.
func configuration(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "response_config.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func asJSON(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
