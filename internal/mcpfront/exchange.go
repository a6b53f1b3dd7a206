package mcpfront

import (
	"context"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// caller is a client as far as calls depend on it: a session or, where there
// are none, what one request tells of itself.
type caller struct {
	seat    *seat
	place   Place
	target  string         // the participant of a pass-through; "" in the shared endpoint
	version string         // of the protocol
	caps    jsontext.Value // what the client declares; nil for nothing that a server could use
	session *session       // nil in the stateless era
}

func (c *caller) modern() bool { return c.session == nil }

// exchange is one request of a client, until it is answered.
type exchange struct {
	*caller
	front *Front
	msg   jsonrpc.Message

	w    http.ResponseWriter
	http context.Context // ends when the client's connection does
	out  *outlet

	mu       sync.Mutex
	pumping  bool // events are being sent
	finished bool // the answer is there
	pump     sync.WaitGroup

	refusal   error    // of the room, where the answer tells of it as a tool's result
	delivered []func() // to be done once the client has its answer
	hands     string   // the proposal whose outcome the answer is, or ""
}

// say sends the client a notification that belongs to the request.
func (x *exchange) say(method string, params jsontext.Value) {
	x.emit(jsonrpc.EncodeRequest(nil, method, params), false)
}

// emit sends the client a message before its answer. It does not wait.
func (x *exchange) emit(msg []byte, keep bool) {
	x.out.put(msg, keep)
	x.begin()
}

// begin makes the response one of events, so that it can stay open.
func (x *exchange) begin() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.pumping || x.finished {
		return
	}
	x.pumping = true
	if x.session != nil {
		x.session.keep(x.out)
	}
	claim := x.out.claim()
	x.pump.Go(func() { _ = x.out.follow(x.http, x.w, 0, claim) }) // a client that is gone may resume
}

// finish sends the answer, as JSON where nothing went before it.
func (x *exchange) finish(answer []byte, status int) {
	defer x.seat.handOver(x.hands)()
	x.mu.Lock()
	x.finished = true
	pumping := x.pumping
	x.mu.Unlock()
	if pumping {
		x.out.finish(answer, x.taken)
		x.pump.Wait()
		return
	}
	x.out.finish(nil, nil) // what comes now belongs to nobody
	err := writeJSON(x.w, status, answer)
	if err != nil || len(x.delivered) == 0 {
		return
	}
	// What goes on record as fetched must have left before.
	if x.http.Err() == nil && http.NewResponseController(x.w).Flush() == nil {
		x.taken()
	}
}

func (x *exchange) taken() {
	for _, then := range x.delivered {
		then()
	}
}

// progressToken is what the client wants reports under; nil where it wants none.
func (x *exchange) progressToken() jsontext.Value {
	return member(member(x.msg.Params, "_meta"), mcp.MetaProgressToken)
}

// wantsLog reports whether the client wants what servers log: in the stateless
// era only where the request says so.
func (x *exchange) wantsLog() bool {
	return !x.modern() || member(member(x.msg.Params, "_meta"), mcp.MetaLogLevel) != nil
}
