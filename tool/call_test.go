package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestRequestID(t *testing.T) {
	r := newRoom(t, Options{Tier: Pro}, func(s *Server) {
		Add(s, Tool{Name: "id"}, func(_ context.Context, call *Call, _ struct{}) (string, error) { return call.RequestID(), nil })
	})
	for _, id := range []string{
		"8b3e5f6c0a2f4ed4a3fb9e0b2f8f8d3a", "a", "trace-1/span:2", "a b", " ", "é日本\U0001f600", `"\<>&`, "\u2028", strings.Repeat("€", 85) + "x",
	} {
		got, failed := r.envelope(r.ask(&mcp.CallToolParams{Name: "id", Meta: mcp.Meta{"request_id": id}}))
		var e struct {
			ID   string `json:"request_id"`
			Data string `json:"data"`
		}
		if err := json.Unmarshal([]byte(got), &e); err != nil || failed || e.ID != id || e.Data != id {
			t.Errorf("%q comes back in %s (%v)", id, got, err)
		}
	}
	for _, c := range []struct {
		given any
		got   string
	}{
		{"", "an empty one"}, {strings.Repeat("x", 257), "a longer one"}, {"a\nb", "one with a control character"},
		{"\x1b[2J", "one with a control character"}, {"\u0085", "one with a control character"},
		{7, "a number"}, {1.5, "a number"}, {true, "true or false"}, {[]int{1}, "a list"}, {args{"a": 1}, "an object"},
	} {
		got, failed := r.envelope(r.ask(&mcp.CallToolParams{Name: "id", Meta: mcp.Meta{"request_id": c.given}}))
		const expected = "a string of 1 to 256 bytes without control characters"
		want := `{"error":{"error":"argument \"_meta.request_id\": expected ` + expected + `, got ` + c.got + `","error_code":"invalid_argument",` +
			`"error_details":{"argument":"_meta.request_id","expected":"` + expected + `","got":"` + c.got + `"}}}`
		if got != want || !failed {
			t.Errorf("%v:\n got %s\nwant %s", c.given, got, want)
		}
	}
	for _, none := range []mcp.Meta{nil, {}, {"request_id": nil}} {
		if got, _ := r.envelope(r.ask(&mcp.CallToolParams{Name: "id", Meta: none})); got != `{"data":"8b3e5f6c0a2f4ed4a3fb9e0b2f8f8d3a"}` {
			t.Errorf("%v: got %s", none, got)
		}
	}
	if a, b := newID(), newID(); a == b || !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(a) {
		t.Errorf("%s, %s", a, b)
	}
}

// What an answer took and saved is in its _meta, for whoever adds it up.
func TestUsage(t *testing.T) {
	usageOf := func(o Options) (u usage, found bool) {
		r := newRoom(t, o, addSeed)
		var saved []any
		var res *mcp.CallToolResult
		for range 2 { // the second is remembered
			res = r.ask(&mcp.CallToolParams{Name: "security_scan", Arguments: args{"path": "a.py"}})
			m, ok := res.Meta[usageKey].(map[string]any)
			if !ok {
				return u, false
			}
			saved = append(saved, m["saved"])
			u = usage{m["profile"].(string), int(m["tokens"].(float64)), int(m["saved"].(float64))}
		}
		if saved[0] != saved[1] {
			t.Errorf("saved %v", saved)
		}
		text, _ := r.envelope(res)
		if u.Tokens != (len(text)+3)/4 {
			t.Errorf("%d tokens for %s", u.Tokens, text)
		}
		return u, true
	}
	minimal, _ := usageOf(Options{Tier: Pro})
	if minimal.Profile != "minimal" || minimal.Saved < 40 || minimal.Saved > 120 {
		t.Errorf("minimal: %+v", minimal)
	}
	debug, _ := usageOf(Options{Tier: Pro, ResponseConfig: configuration(t, `{"global":{"profile":"debug"}}`)})
	if debug.Profile != "debug" || debug.Saved != 0 {
		t.Errorf("debug: %+v", debug)
	}
	filtered, _ := usageOf(Options{Tier: Pro, ResponseConfig: configuration(t, `{"global":{"exclude_empty_arrays":true}}`)})
	if more := filtered.Saved - minimal.Saved; more < 4 || more > 8 {
		t.Errorf("without an empty list of 22 bytes: %+v, without a filter %+v", filtered, minimal)
	}
	if _, found := usageOf(Options{Tier: Pro, NoUsage: true}); found {
		t.Error("it cannot be switched off")
	}
}

func TestUnknownTool(t *testing.T) {
	r := newRoom(t, Options{}, addSeed)
	_, err := r.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "nobody"})
	if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("got %v", err)
	}
}

// waiting serves a tool that waits until it is let go or its context ends.
func waiting(t *testing.T, timeout time.Duration) (r *room, entered chan string, let chan struct{}) {
	entered, let = make(chan string, 100), make(chan struct{})
	return newRoom(t, Options{}, func(s *Server) {
		Add(s, Tool{Name: "wait", Timeout: timeout}, func(ctx context.Context, c *Call, in struct {
			Name string `json:"name"`
		}) (string, error) {
			entered <- in.Name
			select {
			case <-let:
				return in.Name, nil
			case <-ctx.Done():
				entered <- "gone"
				return "", fmt.Errorf("waiting: %w", ctx.Err())
			}
		})
	}), entered, let
}

// No call waits for another.
func TestCallsRunSideBySide(t *testing.T) {
	r, entered, let := waiting(t, 0)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			name := fmt.Sprint(i)
			r.want("wait", args{"name": name}, `{"data":"`+name+`"}`)
		})
	}
	for range 20 {
		<-entered
	}
	close(let)
	wg.Wait()
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, _ := waiting(t, time.Minute)
		began := time.Now()
		r.want("wait", args{"name": "a"}, `{"error":{"error":"wait did not finish within 1m0s","error_code":"timeout"}}`)
		if took := time.Since(began); took != time.Minute {
			t.Errorf("took %v", took)
		}
	})
}

// What an error is called that comes of the end of time does not matter, unless
// the tool says what it means.
func TestTimeoutUnderOtherNames(t *testing.T) {
	for name, c := range map[string]struct {
		wait bool
		err  error
		want string
	}{
		"a killed command":       {true, errors.New("signal: killed"), `{"error":"late did not finish within 1m0s","error_code":"timeout"}`},
		"the tool's own":         {true, Errorf(DependencyUnavailable, "no answer"), `{"error":"no answer","error_code":"dependency_unavailable"}`},
		"another deadline":       {false, context.DeadlineExceeded, `{"error":"late did not finish in time","error_code":"timeout"}`},
		"in time, for no reason": {false, errors.New("signal: killed"), `{"error":"internal error","error_code":"internal_error"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRoom(t, Options{}, func(s *Server) {
					Add(s, Tool{Name: "late", Timeout: time.Minute}, func(ctx context.Context, _ *Call, _ struct{}) (int, error) {
						if c.wait {
							<-ctx.Done()
						}
						return 0, c.err
					})
				})
				r.want("late", nil, `{"error":`+c.want+`}`)
			})
		})
	}
}

// What was finished after its time is not thrown away.
func TestLateResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, Options{}, func(s *Server) {
			Add(s, Tool{Name: "late", Timeout: time.Minute}, func(ctx context.Context, _ *Call, _ struct{}) (int, error) {
				<-ctx.Done()
				return 7, nil
			})
		})
		r.want("late", nil, `{"data":7}`)
	})
}

// A call that its caller cancelled stops its function, and others go on.
func TestCancelledCall(t *testing.T) {
	r, entered, let := waiting(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := r.client.CallTool(ctx, &mcp.CallToolParams{Name: "wait", Arguments: args{"name": "a"}})
		done <- err
	}()
	<-entered
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := <-entered; got != "gone" {
		t.Errorf("%q instead of an end", got)
	}
	close(let)
	r.want("wait", args{"name": "b"}, `{"data":"b"}`)
	r.server.Wait()
	if log := r.log.String(); strings.Contains(log, "a tool failed") {
		t.Errorf("a cancelled call is no fault of the tool:\n%s", log)
	}
}

// What a cancelled call answers is the protocol's error, and no envelope.
func TestCancelledCallHasNoEnvelope(t *testing.T) {
	serve, d := handler(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	d.body = bodyOf(d, func(context.Context, *Call, scanInput) (scanOutput, error) {
		cancel()
		return scanOutput{}, Errorf(Timeout, "gave up")
	})
	if res, err := serve(ctx, scanRequest()); res != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", res, err)
	}
}

// The end of the server ends the contexts of calls, and waits for them.
func TestServeWaitsForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered, let := make(chan bool), make(chan bool)
		s, err := NewServer(quiet(Options{}))
		if err != nil {
			t.Fatal(err)
		}
		Add(s, Tool{Name: "slow"}, func(ctx context.Context, _ *Call, _ struct{}) (int, error) {
			entered <- true
			<-ctx.Done()
			<-let // it still has to clean up
			return 0, ctx.Err()
		})
		ctx, stop := context.WithCancel(t.Context())
		here, there := mcp.NewInMemoryTransports()
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx, there) }()
		client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		go client.CallTool(t.Context(), &mcp.CallToolParams{Name: "slow"})
		<-entered
		stop()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("Serve ended before its call: %v", err)
		default:
		}
		close(let) // which it only waits for once its context has ended
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Whoever leaves while somebody else's call runs waits for nobody, and holds up
// nobody.
func TestOneClientLeaves(t *testing.T) {
	r, entered, let := waiting(t, 0)
	here, there := mcp.NewInMemoryTransports()
	left := make(chan error)
	go func() { left <- r.server.Serve(t.Context(), there) }()
	leaver, err := mcp.NewClient(&mcp.Implementation{Name: "leaver", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { r.want("wait", args{"name": "a"}, `{"data":"a"}`) })
	<-entered
	leaver.Close()
	if err := <-left; err != nil {
		t.Error(err)
	}
	wg.Go(func() { r.want("wait", args{"name": "b"}, `{"data":"b"}`) })
	<-entered
	idle := make(chan bool)
	go func() {
		r.server.Wait() // while which others may call, too
		close(idle)
	}()
	wg.Go(func() { r.want("wait", args{"name": "c"}, `{"data":"c"}`) })
	<-entered
	close(let)
	wg.Wait()
	<-idle
}

// A function that does not heed its context runs on when its call is cancelled,
// and the end waits for it.
func TestServeWaitsForCancelledCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered, let := make(chan bool), make(chan bool)
		s, err := NewServer(quiet(Options{}))
		if err != nil {
			t.Fatal(err)
		}
		Add(s, Tool{Name: "deaf"}, func(context.Context, *Call, struct{}) (int, error) {
			entered <- true
			<-let
			return 0, nil
		})
		here, there := mcp.NewInMemoryTransports()
		var returned atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := s.Serve(t.Context(), there); err != nil {
				t.Error(err)
			}
			returned.Store(true)
		})
		client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() { client.CallTool(ctx, &mcp.CallToolParams{Name: "deaf"}) })
		<-entered
		cancel()
		synctest.Wait()
		client.Close()
		synctest.Wait()
		if returned.Load() {
			t.Error("Serve ended before its call")
		}
		close(let)
		wg.Wait()
	})
}

// The SDK's HTTP handler serves the same server.
func TestOverHTTP(t *testing.T) {
	s, err := NewServer(quiet(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	addSeed(s)
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.MCP() }, nil))
	defer s.Wait()
	defer web.Close()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	r := &room{t: t, server: s, client: client}
	r.want("security_scan", args{"path": "a.py"}, `{"data":{"risk_level":"high","vulnerabilities":[]}}`)
	r.want("security_scan", args{"path": ""}, `{"error":{"error":"the path is empty","error_code":"invalid_path"}}`)
}
