package main

import (
	"bufio"
	"context"
	"net/http"
	"os/exec"
	"regexp"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var urlIn = regexp.MustCompile(`url=(\S+)`)

// startHTTP starts the program with -http. stop ends it, as Ctrl-C does, and
// fails the test where it does not end well.
func startHTTP(t *testing.T, ctx context.Context) (url string, stop func()) {
	t.Helper()
	cmd := exec.CommandContext(ctx, program(t, "tictactoe"), "-http", "127.0.0.1:0")
	cmd.Dir = t.TempDir()
	cmd.Env = environment(cmd.Dir)
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	lines.Scan()
	found := urlIn.FindStringSubmatch(lines.Text())
	stop = func() {
		t.Helper()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		for lines.Scan() {
			t.Log(lines.Text())
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
	}
	if found == nil {
		stop()
		t.Fatalf("it said %q", lines.Text())
	}
	return found[1], stop
}

// connectHTTP connects a client of a version of MCP.
func connectHTTP(t *testing.T, ctx context.Context, url, version string, c *mcp.Client) *mcp.ClientSession {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	s, err := c.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: transport},
		MaxRetries: -1, // a server that has ended does not come back
	}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // the server may be gone
	return s
}

// Clients of both eras play over HTTP, at one address.
func TestHTTP(t *testing.T) {
	ctx := patient(t)
	url, stop := startHTTP(t, ctx)
	defer stop()
	for _, version := range []string{legacy, modern} {
		for name, g := range everyClientPlays {
			t.Run(version+"/"+name, func(t *testing.T) {
				p := g.players()
				g.check(t, p, play(t, ctx, connectHTTP(t, ctx, url, version, sdkClient(p, g)), p, g.arguments()))
			})
		}
	}
}

// The program ends when it is told to, also while a game waits for its human.
func TestEndInTheMiddle(t *testing.T) {
	for _, version := range []string{legacy, modern} {
		t.Run(version, func(t *testing.T) {
			ctx := patient(t)
			url, stop := startHTTP(t, ctx)
			asked := make(chan struct{})
			c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					close(asked)
					<-ctx.Done()
					return nil, ctx.Err()
				},
				//lint:ignore SA1019 servers ask for samples, and will for years
				CreateMessageWithToolsHandler: func(context.Context, *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
					return nil, context.Canceled
				},
			})
			s := connectHTTP(t, ctx, url, version, c)
			calling, hangUp := context.WithCancel(ctx)
			ended := make(chan error, 1)
			go func() {
				_, err := s.CallTool(calling, &mcp.CallToolParams{Name: declaration.Name, Arguments: jsontext.Value(`{"first":"human"}`)})
				ended <- err
			}()
			<-asked
			stop()
			hangUp()
			if err := <-ended; err == nil {
				t.Error("a game that was not played has a result")
			}
		})
	}
}
