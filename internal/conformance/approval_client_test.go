package conformance

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// mcpClient is an MCP client of one of the two eras, down to the bytes: so it
// can hang up where it likes. It is one process or session of a participant.
type mcpClient struct {
	url, token string
	modern     bool
	name       func(map[string]any) map[string]any // answers elicitation; nil where it is not declared
	thinks     time.Duration                       // before it answers
	http       *http.Client
	session    string
	lastID     atomic.Int64
}

// newClient comes in; the test ends its connections.
func newClient(t *testing.T, ctx context.Context, url, version string, elicits bool) *mcpClient {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c := &mcpClient{url: url, token: agentToken, modern: version == modern, http: &http.Client{Transport: transport}}
	if elicits {
		c.name = func(map[string]any) map[string]any {
			return map[string]any{"action": "accept", "content": map[string]any{"name": "Ada"}}
		}
	}
	if c.modern {
		return c
	}
	params := map[string]any{"protocolVersion": version, "capabilities": c.capabilities(), "clientInfo": map[string]any{"name": "test", "version": "1"}}
	if _, err := c.send(ctx, "initialize", params); err != nil {
		t.Fatal(err)
	}
	resp, err := c.post(ctx, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}, "")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return c
}

func (c *mcpClient) capabilities() map[string]any {
	if c.name == nil {
		return map[string]any{}
	}
	return map[string]any{"elicitation": map[string]any{}}
}

// reply is what a call is answered.
type reply struct {
	Result *struct {
		ResultType        string
		InputRequests     map[string]json.RawMessage
		RequestState      string
		IsError           bool
		Content           []struct{ Text string }
		StructuredContent struct {
			Status, Proposal, By, Reason, Message string
			Data                                  struct{ Code string }
		}
		Meta map[string]any `json:"_meta"`
	}
	Error *struct {
		Code    int
		Message string
		Data    struct{ Code string }
	}
}

// what is the outcome in one word, where there is one.
func (r *reply) what() string {
	switch {
	case r.Error != nil && r.Error.Data.Code != "":
		return r.Error.Data.Code
	case r.Error != nil && code(r.Error.Message) != "":
		return code(r.Error.Message)
	case r.Error != nil:
		return fmt.Sprintf("error %d: %s", r.Error.Code, r.Error.Message)
	case r.Result == nil:
		return "nothing"
	case r.Result.ResultType == "input_required":
		return "input_required"
	}
	structured := &r.Result.StructuredContent
	if word := cmp.Or(structured.Status, structured.Data.Code); word != "" {
		return word
	}
	if r.Result.IsError {
		return cmp.Or(code(r.text()), r.text())
	}
	return r.text()
}

// code is Parley's code that a text of an error begins with, or "".
func code(text string) string {
	code, _, ok := strings.Cut(text, ": ")
	if !ok || strings.ContainsAny(code, " -") {
		return ""
	}
	return code
}

func (r *reply) text() string {
	switch {
	case r.Error != nil:
		return r.Error.Message
	case r.Result == nil || len(r.Result.Content) == 0:
		return ""
	}
	return r.Result.Content[0].Text
}

// proposal is the one that the reply speaks of, or "".
func (r *reply) proposal() string {
	if r.Result == nil {
		return ""
	}
	id, _ := r.Result.Meta["parley/proposal"].(string)
	return id
}

// call calls a tool, and answers what the server asks meanwhile in its era's
// way, but for input_required, which is returned.
func (c *mcpClient) call(ctx context.Context, tool string, arguments map[string]any, more ...map[string]any) (*reply, error) {
	params := map[string]any{"name": tool, "arguments": arguments}
	for _, m := range more {
		maps.Copy(params, m)
	}
	return c.send(ctx, "tools/call", params)
}

func (c *mcpClient) send(ctx context.Context, method string, params map[string]any) (*reply, error) {
	id := c.lastID.Add(1)
	return c.sendAs(ctx, id, method, params)
}

func (c *mcpClient) sendAs(ctx context.Context, id int64, method string, params map[string]any) (*reply, error) {
	if c.modern {
		params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": modern, "io.modelcontextprotocol/clientCapabilities": c.capabilities()}
	}
	name, _ := params["name"].(string)
	resp, err := c.post(ctx, map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}, name)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if s := resp.Header.Get("Mcp-Session-Id"); s != "" {
		c.session = s
	}
	return c.read(ctx, resp)
}

func (c *mcpClient) post(ctx context.Context, message map[string]any, name string) (*http.Response, error) {
	body, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	if c.modern {
		req.Header.Set("Mcp-Protocol-Version", modern)
		req.Header.Set("Mcp-Method", message["method"].(string))
		if name != "" {
			req.Header.Set("Mcp-Name", name)
		}
	}
	return c.http.Do(req)
}

// read finds the answer in a response of either form.
func (c *mcpClient) read(ctx context.Context, resp *http.Response) (*reply, error) {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		if err != nil {
			return nil, err
		}
		r := new(reply)
		if err := json.Unmarshal(body, r); err != nil {
			return nil, fmt.Errorf("%s: %w in %s", resp.Status, err, body)
		}
		return r, nil
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params map[string]any
			reply
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			return nil, fmt.Errorf("%w in %s", err, data)
		}
		switch {
		case m.Method == "":
			return &m.reply, nil
		case m.ID != nil:
			if err := c.answer(ctx, m.ID, m.Method, m.Params); err != nil {
				return nil, err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return nil, io.ErrUnexpectedEOF
}

// answer answers a request of the server.
func (c *mcpClient) answer(ctx context.Context, id json.RawMessage, method string, params map[string]any) error {
	c.think(ctx)
	m := map[string]any{"jsonrpc": "2.0", "id": id}
	if method == "elicitation/create" && c.name != nil {
		m["result"] = c.name(params)
	} else {
		m["error"] = map[string]any{"code": -32601, "message": "method not found"}
	}
	resp, err := c.post(ctx, m, "")
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// think takes the time that a person takes.
func (c *mcpClient) think(ctx context.Context) {
	if c.thinks == 0 {
		return
	}
	done := time.NewTimer(c.thinks)
	defer done.Stop()
	select {
	case <-done.C:
	case <-ctx.Done():
	}
}

// held is a call that is not answered yet.
type held struct {
	begun chan struct{} // closed when the response begins: a call that waits for approval waits from then on
	done  chan struct{} // closed when reply or err is there
	reply *reply
	err   error
}

// begin makes a call on a goroutine of its own, which ends with ctx.
func begin(ctx context.Context, c *mcpClient, tool string, arguments map[string]any) *held {
	h := &held{begun: make(chan struct{}), done: make(chan struct{})}
	begun := sync.OnceFunc(func() { close(h.begun) })
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: begun})
	go func() {
		defer close(h.done)
		h.reply, h.err = c.call(ctx, tool, arguments)
		begun()
	}()
	return h
}

func (h *held) answer(t *testing.T) *reply {
	t.Helper()
	<-h.done
	if h.err != nil {
		t.Fatal(h.err)
	}
	return h.reply
}

// cancel takes back a request that has the given id, as the first era does.
func (c *mcpClient) cancel(ctx context.Context, id int64) error {
	resp, err := c.post(ctx, map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}}, "")
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
