package mcpstdio

import (
	"context"
	"sync"

	"github.com/parleyhq/parley/internal/jsonrpc"
)

// maxCalls is how many requests of a client may be under way.
const maxCalls = 256

// call is one request of the client.
type call struct {
	part
	key     string
	version string   // of a protocol without sessions; "" within one
	opens   *session // what initialize begins

	ctx    context.Context // ends when nobody wants the answer any more
	cancel context.CancelFunc

	acknowledged bool // a subscription was; belongs to the call's goroutine
	asked        bool // for the tools' headers; likewise
}

func (c *call) is(method string) bool { return c.msg.Method == method }

// isStream is for what lasts as long as the client wants.
func (c *call) isStream() bool { return c.version != "" && c.is("subscriptions/listen") }

// calls are the requests under way, by key.
type calls struct {
	mu   sync.Mutex
	list map[string]*call
}

// begin takes a call in, or says why not.
func (t *calls) begin(c *call) *jsonrpc.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.list[c.key] != nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a request with the id " + string(c.msg.ID) + " is under way already"}
	case len(t.list) == maxCalls:
		return &jsonrpc.Error{Code: codeRelay, Message: "too many requests are under way", Data: codeData("rate_limited")}
	}
	if t.list == nil {
		t.list = map[string]*call{}
	}
	t.list[c.key] = c
	return nil
}

// end reports whether the call was under way until now.
func (t *calls) end(c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list[c.key] != c {
		return false
	}
	delete(t.list, c.key)
	return true
}

func (t *calls) find(key string) *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[key]
}
