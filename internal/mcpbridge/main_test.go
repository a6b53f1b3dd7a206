package mcpbridge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/filetool"
)

// serverEnv makes the test binary a server instead.
const serverEnv = "PARLEY_TEST_SERVER"

// The servers that the test binary can be.
var servers = map[string]func(){
	"sdk":           func() { _ = sdkServer(nil).Run(context.Background(), &mcp.StdioTransport{}) },
	"raw":           func() { rawServer{os.Stdin, os.Stdout}.run() },
	"asking-legacy": func() { asking(os.Stdin, os.Stdout, false) },
	"asking-modern": func() { asking(os.Stdin, os.Stdout, true) },
	"fearful":       func() { fearful(os.Stdin, os.Stdout) },
	"bad":           func() { bad(os.Stdin, os.Stdout) },
	"hang":          func() { _, _ = io.Copy(io.Discard, os.Stdin) },
	"babble":        babble,
	"canned":        canned,
	"files": func() {
		_ = filetool.Run(context.Background(), os.Getenv("FILES"), &filetool.Options{Version: "1.2.3"})
	},
	"exit":     func() { fmt.Fprintln(os.Stderr, "no licence found"); os.Exit(3) },
	"flood":    flood,
	"stubborn": stubborn,
	"family":   family,
	"child":    child,
}

func TestMain(m *testing.M) {
	if serve, ok := servers[os.Getenv(serverEnv)]; ok {
		serve()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// testServer is a Server that runs the test binary as one.
func testServer(t testing.TB, kind string) Server {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Command: exe, Era: Legacy, Env: map[string]string{
		serverEnv:    kind,
		"GOCOVERDIR": t.TempDir(),         // without it a covered binary complains
		"GORACE":     "atexit_sleep_ms=0", // else it takes a second to end under -race
	}}
}

func open(t testing.TB, s Server, o *Options) *Upstream {
	t.Helper()
	u, err := Connect(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.Close)
	return u
}

// sdkServer is an MCP server by other people's hands. Its tool block ends with
// stop, too.
func sdkServer(stop <-chan struct{}) *mcp.Server {
	rootsChange := make(chan struct{}, 10)
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler: func(_ context.Context, req *mcp.SubscribeRequest) error {
			if req.Params.URI == "test://refused" {
				return errors.New("no such thing")
			}
			return nil
		},
		//lint:ignore SA1019 servers ask for roots, and will for years
		RootsListChangedHandler: func(context.Context, *mcp.RootsListChangedRequest) { rootsChange <- struct{}{} },
		UnsubscribeHandler:      func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	for _, name := range []string{"a", "b", "c"} {
		s.AddResource(&mcp.Resource{Name: name, URI: "test://" + name}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, Text: name}}}, nil
		})
	}
	cancelled := make(chan struct{}, 10)
	type args struct {
		Text string `json:"text,omitempty"`
	}
	tool := func(name string, run func(context.Context, *mcp.CallToolRequest, string) (string, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(ctx context.Context, req *mcp.CallToolRequest, a args) (*mcp.CallToolResult, any, error) {
			text, err := run(ctx, req, a.Text)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, err
		})
	}
	tool("echo", func(_ context.Context, _ *mcp.CallToolRequest, text string) (string, error) { return text, nil })
	tool("die", func(context.Context, *mcp.CallToolRequest, string) (string, error) {
		fmt.Fprintln(os.Stderr, "farewell")
		os.Exit(3)
		return "", nil
	})
	tool("block", func(ctx context.Context, req *mcp.CallToolRequest, _ string) (string, error) {
		//lint:ignore SA1019 servers log, and will for years
		_ = req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "blocking"})
		select {
		case <-ctx.Done():
			cancelled <- struct{}{}
		case <-stop:
		}
		return "", ctx.Err()
	})
	tool("await-cancelled", func(ctx context.Context, _ *mcp.CallToolRequest, _ string) (string, error) {
		select {
		case <-cancelled:
			return "", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	tool("progress", func(ctx context.Context, req *mcp.CallToolRequest, _ string) (string, error) {
		for i := range 3 {
			err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Progress: float64(i), Total: 3,
			})
			if err != nil {
				return "", err
			}
		}
		return "done", nil
	})
	tool("pid", func(context.Context, *mcp.CallToolRequest, string) (string, error) {
		return fmt.Sprint(os.Getpid()), nil
	})
	addAskingTools(s)
	tool("await-roots-changed", func(ctx context.Context, _ *mcp.CallToolRequest, _ string) (string, error) {
		select {
		case <-rootsChange:
			return "changed", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	tool("log", func(ctx context.Context, req *mcp.CallToolRequest, _ string) (string, error) {
		//lint:ignore SA1019 servers log, and will for years
		return "", req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "at work"})
	})
	tool("touch", func(ctx context.Context, _ *mcp.CallToolRequest, uri string) (string, error) {
		return "", s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri})
	})
	tool("grow", func(context.Context, *mcp.CallToolRequest, string) (string, error) {
		tool("leaf", func(context.Context, *mcp.CallToolRequest, string) (string, error) { return "", nil })
		return "", nil
	})
	tool("ping", func(ctx context.Context, req *mcp.CallToolRequest, _ string) (string, error) {
		return "pong", req.Session.Ping(ctx, nil)
	})
	return s
}

// rawServer answers byte for byte what a test is about.
type rawServer struct {
	in  io.Reader
	out io.Writer
}

const rawResult = `{"z":9007199254740993,"a":1.0,"n":-0,"e":1E400,"s":"\u00e9\/","unknown":{"deep":[ 1 , 2 ]},"content":[]}`

func (s rawServer) run() {
	lines := newScanner(s.in)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		method, _ := parley.MemberString(jsontext.Value(line), "method")
		id := string(parley.Member(jsontext.Value(line), "id"))
		reply := func(rest string) { fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", id, rest) }
		switch method {
		case "initialize":
			reply(`"result":{"protocolVersion":"2025-06-18","capabilities":{"x":9007199254740993},"serverInfo":{"name":"raw","version":"0"}}`)
		case "server/discover":
			reply(`"error":{"code":-32601,"message":"what?"}`)
		case "test/raw":
			reply(`"result":` + rawResult)
		case "test/echo":
			reply(`"result":` + line)
		case "test/error":
			reply(`"error":{"code":-32000,"message":"no","data":{"n":9007199254740993},"extra":1}`)
		case "test/null-error":
			reply(`"result":{},"error":null`)
		case "test/duplicate":
			reply(`"result":{"a":1,"a":2}`)
		case "test/utf8":
			reply(`"result":"` + "\xff" + `"`)
		case "test/neither":
			reply(`"answer":1`)
		case "test/batch":
			fmt.Fprintf(s.out, `[{"jsonrpc":"2.0","method":"notifications/message","params":{}},{"jsonrpc":"2.0","id":%s,"result":{"in":"a batch"}}]`+"\n", id)
		case "test/long":
			reply(`"result":"` + strings.Repeat("x", 1<<20) + `"`)
		case "test/garbage":
			fmt.Fprint(s.out, "\n  \nlistening…\n{\"jsonrpc\":\n[]\n[1]\nnull\n{}\n{\"id\":true}\n{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n{\"method\":\"\"}\n\x00\xff\n")
			reply(`"result":{"after":"garbage"}`)
		case "test/ask":
			s.ask(lines, id)
		case "test/close":
			os.Stdout.Close()
		case "test/deaf":
			reply(`"result":{}`)
			os.Stdin.Close()
			<-time.After(time.Hour) // until it is killed
		}
	}
}

func newScanner(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 32<<20)
	return s
}

// ask makes requests with ids that are hard to keep, and answers with what it got.
func (s rawServer) ask(lines *bufio.Scanner, id string) {
	ids := []string{`9007199254740993`, `1.5`, `"\u0031"`, `0`, `-7`}
	for _, id := range ids {
		fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"method":"ping"}`+"\n", id)
	}
	fmt.Fprint(s.out, `{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"big":9007199254740993}}`+"\n")
	var got []string
	for range len(ids) + 1 {
		lines.Scan()
		got = append(got, lines.Text())
	}
	fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"result":[%s]}`+"\n", id, strings.Join(got, ","))
}

func babble() {
	for {
		if _, err := fmt.Println("bla bla"); err != nil {
			return
		}
	}
}

func flood() {
	line := strings.Repeat("no ", 3000) + "\x1b[31m\n"
	for range 1000 {
		fmt.Fprint(os.Stderr, line)
	}
	rawServer{os.Stdin, os.Stdout}.run()
}

// stubborn does not end by itself.
func stubborn() {
	signal.Ignore(syscall.SIGTERM)
	rawServer{os.Stdin, os.Stdout}.run()
	<-time.After(time.Hour)
}

// family has a child, as npx does. When told to die it leaves the child alone.
func family() {
	exe, _ := os.Executable()
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), serverEnv+"=child")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, os.Stdout, os.Stderr
	if cmd.Start() != nil {
		os.Exit(4)
	}
	rawServer{os.Stdin, os.Stdout}.run()
}

// child keeps a connection open as long as it lives.
func child() {
	signal.Ignore(syscall.SIGTERM)
	conn, err := net.Dial("tcp", os.Getenv("CHILD_CALLS"))
	if err != nil {
		os.Exit(5)
	}
	fmt.Fprintln(conn, "here")
	_, _ = io.Copy(io.Discard, conn)
	<-time.After(time.Hour)
}
