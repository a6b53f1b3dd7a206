package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tallyEnv makes the test binary an MCP server: it holds the address of the tally.
const tallyEnv = "PARLEY_TEST_TALLY"

// runTally counts how often each call's tool has acted. The servers are processes
// of their own, which come and go; it stays.
type runTally struct {
	url string

	mu      sync.Mutex
	runs    map[string]int
	pid     map[string]int           // of the process that acted last
	held    map[string]chan struct{} // calls whose tool does not end until that is closed
	changed chan struct{}            // closed with every run, and made anew
}

func newTally(t *testing.T) *runTally {
	y := &runTally{runs: map[string]int{}, pid: map[string]int{}, held: map[string]chan struct{}{}, changed: make(chan struct{})}
	s := httptest.NewServer(http.HandlerFunc(y.ran))
	y.url = s.URL
	t.Cleanup(func() {
		for _, id := range y.ids() {
			y.release(id)
		}
		s.Close()
	})
	return y
}

func (y *runTally) ids() (ids []string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for id := range maps.Keys(y.held) {
		ids = append(ids, id)
	}
	return ids
}

// ran is told by a tool that it acts, and answers once the tool may end.
func (y *runTally) ran(w http.ResponseWriter, r *http.Request) {
	id := r.FormValue("id")
	y.mu.Lock()
	y.runs[id]++
	y.pid[id], _ = strconv.Atoi(r.FormValue("pid"))
	wait := y.held[id]
	close(y.changed)
	y.changed = make(chan struct{})
	y.mu.Unlock()
	if wait == nil {
		return
	}
	select {
	case <-wait:
	case <-r.Context().Done():
	}
}

// hold keeps the tool of a call from ending.
func (y *runTally) hold(id string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.held[id] = make(chan struct{})
}

func (y *runTally) release(id string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if wait := y.held[id]; wait != nil {
		close(wait)
		delete(y.held, id)
	}
}

// count is how often a call's tool has acted.
func (y *runTally) count(id string) int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.runs[id]
}

// began waits until a call's tool acts, and tells the process that does.
func (y *runTally) began(t *testing.T, ctx context.Context, id string) (pid int) {
	t.Helper()
	for {
		y.mu.Lock()
		n, pid, changed := y.runs[id], y.pid[id], y.changed
		y.mu.Unlock()
		if n > 0 {
			return pid
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%s: the tool did not run: %v", id, context.Cause(ctx))
		}
	}
}

// serveApproved is the MCP server that the test binary is, in both eras. Its
// tools tell the tally that they act, and that is all they do.
func serveApproved(tally string) {
	s := mcp.NewServer(&mcp.Implementation{Name: "approved", Version: "1"}, nil)
	act := func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		id := textArgument(req, "id")
		if err := tell(ctx, tally, id); err != nil {
			return nil, err
		}
		return said("did " + id), nil
	}
	s.AddTool(actTool("act", "acts"), act)
	s.AddTool(actTool("shifty", "acts, for now"), act)
	s.AddTool(actTool("redefine", "gives shifty another description: the id"), func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddTool(actTool("shifty", textArgument(req, "id")), act)
		return said("redefined"), nil
	})
	s.AddTool(actTool("ask", "acts once it knows for whom"), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		id := textArgument(req, "id")
		answer, _ := req.Params.InputResponses["whom"].(*mcp.ElicitResult)
		if answer == nil {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"whom": &mcp.ElicitParams{
				Message:         "for whom?",
				RequestedSchema: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}}},
			}}, RequestState: "asked for " + id}, nil
		}
		if err := tell(ctx, tally, id); err != nil {
			return nil, err
		}
		return said(fmt.Sprintf("did %s for %v", id, answer.Content["name"])), nil
	})
	_ = s.Run(context.Background(), &mcp.StdioTransport{}) // it ends when nobody speaks to it any more
}

func actTool(name, description string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: description, InputSchema: &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{"id": {Type: "string"}}, Required: []string{"id"},
	}}
}

func textArgument(req *mcp.CallToolRequest, name string) string {
	var m map[string]any
	_ = json.Unmarshal(req.Params.Arguments, &m) // the SDK has held it against the schema
	s, _ := m[name].(string)
	return s
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// tell tells the tally of a run, and returns when the tool may end.
func tell(ctx context.Context, tally, id string) error {
	form := url.Values{"id": {id}, "pid": {strconv.Itoa(os.Getpid())}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, tally+"?"+form.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
