package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// curiousEnv makes the test binary a server that asks, of the era that it names.
const curiousEnv = "PARLEY_TEST_CURIOUS"

// serveCurious is a server whose one tool asks for a form, and then, knowing
// the first answer, for another form and for a sample at once. Its result tells
// all answers.
func serveCurious(era string) {
	s := mcp.NewServer(&mcp.Implementation{Name: "curious", Version: "1"}, nil)
	tool := actTool("ask", "asks for this and that")
	if era == "modern" {
		s.AddTool(tool, askInRounds)
	} else {
		s.AddTool(tool, askInMidCall)
	}
	_ = s.Run(context.Background(), &mcp.StdioTransport{}) // it ends when nobody speaks to it any more
}

func form(id, about string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: id + " " + about, RequestedSchema: &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}},
	}}
}

//lint:ignore SA1019 servers ask for samples, and will for years
func prompt(id string) *mcp.CreateMessageParams {
	//lint:ignore SA1019 servers ask for samples, and will for years
	return &mcp.CreateMessageParams{MaxTokens: 10, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: id}}}}
}

func filled(r *mcp.ElicitResult) string {
	return strings.TrimSuffix(fmt.Sprintf("%s %v", r.Action, r.Content["name"]), " <nil>")
}

func askInMidCall(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	id := textArgument(req, "id")
	first, err := req.Session.Elicit(ctx, form(id, "first"))
	if err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	var second *mcp.ElicitResult
	var failed error
	all.Go(func() { second, failed = req.Session.Elicit(ctx, form(id, "then "+filled(first))) })
	//lint:ignore SA1019 servers ask for samples, and will for years
	sample, err := req.Session.CreateMessage(ctx, prompt(id))
	all.Wait()
	if err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, failed
	}
	return said(filled(first) + ", " + filled(second) + ", " + sample.Content.(*mcp.TextContent).Text), nil
}

func askInRounds(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	id := textArgument(req, "id")
	answer, _ := req.Params.InputResponses["form"].(*mcp.ElicitResult)
	switch {
	case answer == nil:
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"form": form(id, "first")}}, nil
	case req.Params.RequestState == "":
		first := filled(answer)
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"form": form(id, "then "+first), "model": prompt(id)}, RequestState: first}, nil
	}
	//lint:ignore SA1019 servers ask for samples, and will for years
	sample, _ := req.Params.InputResponses["model"].(*mcp.CreateMessageWithToolsResult)
	if sample == nil {
		return nil, fmt.Errorf("the model's answer is missing")
	}
	return said(req.Params.RequestState + ", " + filled(answer) + ", " + sample.Content[0].(*mcp.TextContent).Text), nil
}

// query is a call whose server asks.
type query struct {
	client, server string // eras
	approved       bool
	action         string // of the one who is asked
}

func (q *query) participant() string {
	return strings.Join([]string{q.client[:4], q.server, map[bool]string{false: "direct", true: "approved"}[q.approved], q.action}, "-")
}

func queries() (list []*query) {
	for _, version := range []string{legacy, modern} {
		for _, server := range []string{"legacy", "modern"} {
			for _, approved := range []bool{false, true} {
				for _, action := range []string{"accept", "decline", "cancel"} {
					list = append(list, &query{version, server, approved, action})
				}
			}
		}
	}
	return list
}

// curiousRoom is a gateway with both servers, a participant for each query, and
// a boss who approves of everything.
func curiousRoom(t *testing.T, list []*query) (url string) {
	t.Helper()
	dir, port := t.TempDir(), freePort(t)
	alone(t, dir)
	server := filepath.Join(dir, "server")
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, server)
	}
	if err != nil {
		t.Fatal(err)
	}
	var conf strings.Builder
	fmt.Fprintf(&conf, "listen: 127.0.0.1:%d\nspaces:\n  room:\n    participants:\n      boss: {token: %s, capabilities: [\"*\"]}\n", port, bossToken)
	for _, q := range list {
		caps := `"mcp/request:*"`
		if q.approved {
			caps = `"mcp/proposal:*", "mcp/withdraw:*"`
		}
		fmt.Fprintf(&conf, "      %s: {token: token-of-%s, capabilities: [%s, \"mcp/response:*\", chat]}\n", q.participant(), q.participant(), caps)
	}
	conf.WriteString("    mcp_servers:\n")
	for _, era := range []string{"legacy", "modern"} {
		fmt.Fprintf(&conf, "      %s: {command: %q, era: %s, env: {%s: %s, GOCOVERDIR: %q}}\n", era, server, era, curiousEnv, era, dir)
	}
	path := filepath.Join(dir, "parley.yaml")
	if err := os.WriteFile(path, []byte(conf.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, program(t), "up", "--config", path)
	return fmt.Sprint("http://127.0.0.1:", port)
}

// approveAll fulfils every proposal until the test ends.
func approveAll(t *testing.T, ctx context.Context, url string) {
	t.Helper()
	proposals := make(chan *parley.Envelope, 100)
	boss, err := client.Dial(ctx, url, &client.Options{Token: bossToken, Space: "room", RetryDial: true, OnArrival: func(e *parley.Envelope) {
		if parley.SplitKind(e.Kind).Type == parley.TypeProposal {
			proposals <- e
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for e := range proposals {
			call, err := client.NewFulfilment(e)
			if err == nil {
				_, err = boss.Send(ctx, call)
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	t.Cleanup(func() {
		boss.Close()
		close(proposals)
		all.Wait()
	})
}

// bearer shows a token with each request.
type bearer struct {
	token string
	next  *http.Transport
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// connect connects a client of other people's making, which answers as the query
// says, and refuses what another one is to answer.
func (q *query) connect(t *testing.T, ctx context.Context, url string) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			id, about, _ := strings.Cut(req.Params.Message, " ")
			if id != q.participant() {
				return nil, fmt.Errorf("%s was asked what %s is to answer", q.participant(), id)
			}
			r := &mcp.ElicitResult{Action: q.action}
			if q.action == "accept" {
				r.Content = map[string]any{"name": "[" + about + "]"}
			}
			return r, nil
		},
		//lint:ignore SA1019 servers ask for samples, and will for years
		CreateMessageHandler: func(_ context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			//lint:ignore SA1019 servers ask for samples, and will for years
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "for " + req.Params.Messages[0].Content.(*mcp.TextContent).Text}}, nil
		},
	})
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	s, err := c.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: url + "/mcp/room/" + q.server, HTTPClient: &http.Client{Transport: bearer{"token-of-" + q.participant(), transport}},
	}, &mcp.ClientSessionOptions{ProtocolVersion: q.client})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if got := s.InitializeResult().ProtocolVersion; got != q.client {
		t.Fatalf("the client speaks %s, want %s", got, q.client)
	}
	return s
}

func (q *query) want() string {
	name := q.participant()
	if q.action != "accept" {
		return fmt.Sprintf("%s, %s, for %s", q.action, q.action, name)
	}
	return fmt.Sprintf("accept [first], accept [then accept [first]], for %s", name)
}

// What a server asks in the course of a call, several things at once and one
// after the other, is answered by the caller's client: in every combination of
// eras, for calls made directly and for approved ones.
func TestQuestions(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	list := queries()
	url := curiousRoom(t, list)
	for _, server := range []string{"legacy", "modern"} {
		until(t, ctx, server+" is there", func() bool {
			c := &mcpClient{url: url + "/mcp/room/" + server, token: bossToken, modern: true, http: http.DefaultClient}
			tools, err := listTools(ctx, c)
			return err == nil && len(tools) == 1
		})
	}
	approveAll(t, ctx, url)
	t.Run("all", func(t *testing.T) {
		for _, q := range list {
			t.Run(q.participant(), func(t *testing.T) {
				t.Parallel()
				s := q.connect(t, ctx, url)
				r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"id": q.participant()}})
				if err != nil {
					t.Fatal(err)
				}
				text, _ := json.Marshal(r.Content)
				if len(r.Content) != 1 || r.IsError {
					t.Fatalf("answered %s", text)
				}
				if got := r.Content[0].(*mcp.TextContent).Text; got != q.want() {
					t.Errorf("answered %q, want %q", got, q.want())
				}
			})
		}
	})
	http.DefaultClient.CloseIdleConnections()
}
