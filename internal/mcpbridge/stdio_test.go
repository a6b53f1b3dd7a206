package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
)

func callTool(ctx context.Context, u *Upstream, name, text string) (jsontext.Value, error) {
	return u.Call(ctx, "tools/call", jsontext.Value(fmt.Sprintf(`{"name":%q,"arguments":{"text":%q}}`, name, text)), nil)
}

func TestSDKServerOverStdio(t *testing.T) { testSDKServer(t, testServer(t, "sdk")) }

// testSDKServer is what holds over every link.
func testSDKServer(t *testing.T, s Server) {
	notes := make(chan string, 100)
	u := open(t, s, &Options{OnNotification: func(_ context.Context, method string, params jsontext.Value) {
		data, _ := parley.MemberString(params, "data")
		notes <- method + " " + data
	}})
	expect := func(t *testing.T, want string) {
		t.Helper()
		for {
			select {
			case got := <-notes:
				if got == want {
					return
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("no %q", want)
			}
		}
	}

	t.Run("handshake", func(t *testing.T) {
		info := u.Info()
		name, _ := parley.MemberString(parley.Member(info.Raw, "serverInfo"), "name")
		if info.Version != "2025-11-25" || name != "test" {
			t.Errorf("got %s, %s", info.Version, info.Raw)
		}
	})
	t.Run("many calls at once", func(t *testing.T) {
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				text := fmt.Sprint("call ", i)
				got, err := callTool(t.Context(), u, "echo", text)
				if err != nil || !strings.Contains(string(got), `"`+text+`"`) {
					t.Errorf("%s: %s, %v", text, got, err)
				}
			})
		}
		wg.Wait()
	})
	t.Run("an error is the server's own", func(t *testing.T) {
		_, err := callTool(t.Context(), u, "no-such-tool", "")
		if rpc, ok := errors.AsType[*jsonrpc.Error](err); !ok || rpc.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("got %v", err)
		}
	})
	t.Run("progress", func(t *testing.T) {
		for _, token := range []string{`"theirs"`, `9007199254740993`, ``} {
			params := `{"name":"progress","_meta":{"x":1}}`
			if token != "" {
				params = `{"name":"progress","_meta":{"progressToken":` + token + `}}`
			}
			var got []string
			_, err := u.Call(t.Context(), "tools/call", jsontext.Value(params), func(p jsontext.Value) {
				at := string(parley.Member(p, "progressToken"))
				if token != "" && at != token {
					t.Errorf("token %s came back as %s", token, at)
				}
				got = append(got, string(parley.Member(p, "progress")))
			})
			if err != nil || strings.Join(got, " ") != "0 1 2" {
				t.Errorf("got %v, %v", got, err)
			}
		}
	})
	t.Run("cancellation", func(t *testing.T) {
		if _, err := u.Call(t.Context(), "logging/setLevel", jsontext.Value(`{"level":"debug"}`), nil); err != nil {
			t.Fatal(err)
		}
		why := errors.New("changed my mind")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		ended := make(chan error)
		go func() {
			_, err := callTool(ctx, u, "block", "")
			ended <- err
		}()
		expect(t, "notifications/message blocking")
		cancel(why)
		if err := <-ended; !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		if got, err := callTool(t.Context(), u, "await-cancelled", ""); err != nil || strings.Contains(string(got), "isError") {
			t.Errorf("the server did not hear of it: %s, %v", got, err)
		}
	})
	t.Run("list_changed", func(t *testing.T) {
		if _, err := callTool(t.Context(), u, "grow", ""); err != nil {
			t.Fatal(err)
		}
		expect(t, "notifications/tools/list_changed ")
	})
	t.Run("the server pings", func(t *testing.T) {
		got, err := callTool(t.Context(), u, "ping", "")
		if err != nil || !strings.Contains(string(got), "pong") {
			t.Errorf("got %s, %v", got, err)
		}
	})
	t.Run("close", func(t *testing.T) {
		ended := make(chan error)
		go func() {
			_, err := callTool(t.Context(), u, "block", "")
			ended <- err
		}()
		expect(t, "notifications/message blocking")
		u.Close()
		if err := <-ended; !errors.Is(err, ErrClosed) || !errors.Is(err, ErrServerGone) {
			t.Errorf("the call ended with %v", err)
		}
		if _, err := callTool(t.Context(), u, "echo", ""); !errors.Is(err, ErrClosed) {
			t.Errorf("a call after that: %v", err)
		}
		if err := u.Notify(t.Context(), "notifications/x", nil); !errors.Is(err, ErrClosed) {
			t.Errorf("a notification after that: %v", err)
		}
		if err := u.Wait(); !errors.Is(err, ErrClosed) {
			t.Errorf("Wait: %v", err)
		}
		u.Close()
	})
}

func TestResultsCrossByteForByte(t *testing.T) {
	u := open(t, testServer(t, "raw"), nil)
	if got, want := string(u.Info().Raw), `{"protocolVersion":"2025-06-18","capabilities":{"x":9007199254740993},"serverInfo":{"name":"raw","version":"0"}}`; got != want || u.Info().Version != "2025-06-18" {
		t.Errorf("info %s", got)
	}
	got, err := u.Call(t.Context(), "test/raw", nil, nil)
	if err != nil || string(got) != rawResult {
		t.Errorf("got %s, %v", got, err)
	}

	params := "{\"z\":9007199254740993,\r\n\"a\":1.0,\"_meta\":{\"y\":1E400},\"u\":\"\\u2028\"}"
	got, err = u.Call(t.Context(), "test/echo", jsontext.Value(params), nil)
	if want := strings.ReplaceAll(params, "\r\n", "  "); err != nil || string(parley.Member(got, "params")) != want {
		t.Errorf("got %s, %v", got, err)
	}

	_, err = u.Call(t.Context(), "test/error", nil, nil)
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || rpc.Code != -32000 || rpc.Message != "no" || string(rpc.Data) != `{"n":9007199254740993}` ||
		string(rpc.JSON()) != `{"code":-32000,"message":"no","data":{"n":9007199254740993},"extra":1}` {
		t.Errorf("got %#v", err)
	}
}

func TestServersRequests(t *testing.T) {
	// Ids beyond float64, fractions and escapes come back as they were.
	ids := []string{`"id":9007199254740993,"result":{}`, `"id":1.5,"result":{}`, `"id":"\u0031","result":{}`, `"id":0,"result":{}`, `"id":-7,"result":{}`}
	t.Run("refused by default", func(t *testing.T) {
		u := open(t, testServer(t, "raw"), nil)
		got, err := u.Call(t.Context(), "test/ask", nil, nil)
		for _, want := range append(ids, `"id":"s","error":{"code":-32601`) {
			if err != nil || !strings.Contains(string(got), want) {
				t.Errorf("no %s in %s, %v", want, got, err)
			}
		}
	})
	t.Run("answered", func(t *testing.T) {
		type key struct{}
		u := open(t, testServer(t, "raw"), &Options{
			Capabilities: jsontext.Value(`{"sampling":{}}`),
			OnRequest: func(ctx context.Context, method string, params jsontext.Value) (jsontext.Value, error) {
				if method != "sampling/createMessage" || string(params) != `{"big":9007199254740993}` || ctx.Value(key{}) != "caller" {
					return nil, fmt.Errorf("asked %s %s", method, params)
				}
				return jsontext.Value(`{"n":1.0}`), nil
			},
		})
		got, err := u.Call(context.WithValue(t.Context(), key{}, "caller"), "test/ask", nil, nil)
		for _, want := range append(ids, `"id":"s","result":{"n":1.0}`) {
			if err != nil || !strings.Contains(string(got), want) {
				t.Errorf("no %s in %s, %v", want, got, err)
			}
		}
	})
}

func TestOddAnswers(t *testing.T) {
	u := open(t, testServer(t, "raw"), nil)
	for _, c := range []struct{ method, want string }{
		{"test/null-error", `{}`},
		{"test/batch", `{"in":"a batch"}`},
		{"test/garbage", `{"after":"garbage"}`},
	} {
		if got, err := u.Call(t.Context(), c.method, nil, nil); err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v", c.method, got, err)
		}
	}
	for _, method := range []string{"test/duplicate", "test/utf8", "test/neither"} {
		if got, err := u.Call(t.Context(), method, nil, nil); !errors.Is(err, ErrBadAnswer) {
			t.Errorf("%s: got %s, %v", method, got, err)
		}
	}
	for _, params := range []string{`[]`, `1`, `{`, `{"a":1,"a":2}`, `{"_meta":1}`, `{}}`, `{},"method":"x"`} {
		_, err := u.Call(t.Context(), "test/echo", jsontext.Value(params), nil)
		if rpc, ok := errors.AsType[*jsonrpc.Error](err); !ok || rpc.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("params %s: %v", params, err)
		}
	}
}

func TestServerDies(t *testing.T) {
	for _, c := range []struct{ kind, method, params, want string }{
		{"sdk", "tools/call", `{"name":"die","arguments":{}}`, "has ended (exit status 3): farewell"},
		{"raw", "test/close", `{}`, "has closed its output"},
		{"raw", "test/long", `{}`, "a message of the MCP server is too long: more than 65536 bytes"},
	} {
		t.Run(c.method, func(t *testing.T) {
			u := open(t, testServer(t, c.kind), &Options{MaxMessage: 64 << 10})
			var wg sync.WaitGroup
			for range 10 { // all of them hear of it
				wg.Go(func() {
					_, err := u.Call(t.Context(), "test/unanswered", nil, nil)
					if _, rpc := errors.AsType[*jsonrpc.Error](err); !rpc && !errors.Is(err, ErrServerGone) {
						t.Errorf("another call ended with %v", err)
					}
				})
			}
			_, err := u.Call(t.Context(), c.method, jsontext.Value(c.params), nil)
			if !errors.Is(err, ErrServerGone) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
			wg.Wait()
			<-u.Done()
			if err := u.Wait(); !strings.Contains(err.Error(), c.want) {
				t.Errorf("Wait: %v", err)
			}
		})
	}
}

func TestServerThatReadsNoMore(t *testing.T) {
	u := open(t, testServer(t, "raw"), &Options{Grace: 50 * time.Millisecond})
	if _, err := u.Call(t.Context(), "test/deaf", nil, nil); err != nil {
		t.Fatal(err)
	}
	for {
		if err := u.Notify(t.Context(), "notifications/x", nil); err != nil {
			break
		}
	}
	if err := u.Wait(); !errors.Is(err, ErrServerGone) {
		t.Errorf("got %v", err)
	}
}

func TestHandshakeFails(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	notExecutable := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(notExecutable, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		server        Server
		code          parley.Code
		message, hint string
	}{
		{"nothing", Server{}, parley.InvalidConfig, "needs a command or a url", "write"},
		{"both", Server{Command: "x", URL: "http://127.0.0.1/mcp"}, parley.InvalidConfig, "a command and a url", "leave one"},
		{"no URL", Server{URL: "localhost:80"}, parley.InvalidConfig, "not one of http or https", "in full"},
		{"no such command", Server{Command: "no-such-command"}, parley.Unavailable, "the command no-such-command was not found", "PATH"},
		{"no npx", Server{Command: missing + "/npx"}, parley.Unavailable, "was not found", "install Node.js"},
		{"no such folder", Server{Command: "true", Dir: missing}, parley.Unavailable, "is not there", "dir"},
		{"not executable", Server{Command: notExecutable}, parley.Unavailable, "may not be executed", "chmod"},
		{"it hangs", testServer(t, "hang"), parley.Unavailable, "did not answer initialize within 500ms", "npx downloads"},
		{"it babbles", testServer(t, "babble"), parley.Unavailable, `what is not JSON-RPC, as "bla bla"`, "what it says"},
		{"it ends", testServer(t, "exit"), parley.Unavailable, "has ended (exit status 3): no licence found", "what it says"},
		{"nobody listens", Server{URL: "http://127.0.0.1:1/mcp?key=secret"}, parley.Unavailable, "http://127.0.0.1:1/mcp could not be reached: dial tcp", "it runs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &Options{Grace: 50 * time.Millisecond}
			if c.name == "it hangs" {
				o.HandshakeTimeout = 500 * time.Millisecond
			}
			u, err := Connect(t.Context(), c.server, o)
			if err == nil {
				u.Close()
				t.Fatal("it connects")
			}
			e, ok := errors.AsType[*parley.Error](err)
			if !ok || e.Code != c.code || !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) || strings.Contains(e.Message, "secret") {
				t.Errorf("got %v; %s", err, e.Hint)
			}
		})
	}
	t.Run("the caller gives up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		if _, err := Connect(ctx, testServer(t, "hang"), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestStderr(t *testing.T) {
	var lines, left, bytes atomic.Int64
	u := open(t, testServer(t, "flood"), &Options{OnStderr: func(line string) {
		lines.Add(1)
		bytes.Add(int64(len(line)))
		if strings.HasSuffix(line, " lines left out)") {
			left.Add(1)
		}
		if strings.ContainsRune(line, '\x1b') {
			t.Errorf("%q", line)
		}
	}})
	if _, err := u.Call(t.Context(), "test/raw", nil, nil); err != nil {
		t.Fatal(err)
	}
	u.Close()
	if n := lines.Load(); n < stderrBurst || n > 1000 || bytes.Load() > n*stderrLine || left.Load() == 0 {
		t.Errorf("%d lines, %d bytes, %d notes of what was left out", n, bytes.Load(), left.Load())
	}
}

// One hop, without the room: the server answers at once.
func BenchmarkCall(b *testing.B) {
	u := open(b, testServer(b, "raw"), nil)
	params := jsontext.Value(`{"name":"echo","arguments":{"text":"hello"},"_meta":{"progressToken":1}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := u.Call(b.Context(), "test/raw", params, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func TestEnvironmentIsNotInherited(t *testing.T) {
	t.Setenv("YOU_TOKEN", "secret")
	t.Setenv("LC_TIME", "C")
	env := strings.Join(Server{Env: map[string]string{"A": "1", "HOME": "/elsewhere"}}.environ(), "\n")
	if strings.Contains(env, "secret") || !strings.Contains(env, "LC_TIME=C") || !strings.Contains(env, "PATH=") ||
		!strings.Contains(env, "A=1") || strings.Count(env, "HOME=") != 1 {
		t.Errorf("got %s", env)
	}
}

// Whatever a server's command has started ends with it, whether it is closed,
// does not want to end, or dies.
func TestNothingRemains(t *testing.T) {
	start := func(t *testing.T, kind string) (u *Upstream, child net.Conn) {
		t.Helper()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		s := testServer(t, kind)
		s.Env["CHILD_CALLS"] = l.Addr().String()
		u = open(t, s, &Options{Grace: 50 * time.Millisecond})
		if kind == "family" {
			if child, err = l.Accept(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { child.Close() })
		}
		return u, child
	}
	gone := func(t *testing.T, child net.Conn) {
		t.Helper()
		child.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.Copy(io.Discard, child); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("the server's child lives on")
		}
	}
	t.Run("closed", func(t *testing.T) {
		u, child := start(t, "family")
		u.Close()
		gone(t, child)
	})
	t.Run("dies", func(t *testing.T) {
		u, child := start(t, "family")
		u.link.(*stdio).cmd.Process.Kill()
		if err := u.Wait(); !errors.Is(err, ErrServerGone) || !strings.Contains(err.Error(), "signal: killed") {
			t.Errorf("got %v", err)
		}
		gone(t, child)
	})
	t.Run("stubborn", func(t *testing.T) {
		u, _ := start(t, "stubborn")
		u.Close()
		if exit := u.link.(*stdio).exit; exit == nil || exit.Error() != "signal: killed" {
			t.Errorf("it ended with %v", exit)
		}
	})
}
