package mcpbridge

import (
	"context"
	"net/http"

	"github.com/parleyhq/parley/internal/jsonrpc"
)

// A link carries messages to one server and back. It hands what arrives to
// the sink that it was made for, from goroutines that it owns.
type link interface {
	// begin starts to hand on what arrives.
	begin()

	// send hands over one message. ctx lives as long as somebody waits for the
	// call's answer. A nil error says no more than that the message is on its
	// way: a call's later failure goes to the sink.
	send(ctx context.Context, m outgoing) error

	// negotiated tells that the handshake is over, and with which version.
	negotiated(version string)

	// close ends the connection, politely at first, and returns when nothing
	// of it is left. It may be called several times.
	close()
}

// outgoing is one message to a server.
type outgoing struct {
	id     int64       // of a call; 0 for everything else
	method string      // of a call
	body   []byte      // encoded, on one line
	header http.Header // what goes with it over HTTP in the modern era; else nil
}

// sink is where a link leaves what it has.
type sink interface {
	// receive takes one message. cause is the id of the call to which the
	// server said that it belongs, or noCause, or anyCause.
	receive(m jsonrpc.Message, cause int64)
	// failCall ends one call.
	failCall(id int64, err error)
	// fail ends everything: the server is gone, err says why.
	fail(err error)
	// stray takes the start of something that is no message.
	stray(text string)
}

const (
	// noCause: the server sent the message outside of any call.
	noCause int64 = 0
	// anyCause: on this link calls and messages share one stream, and only
	// where a single call is in flight can it be told which one is meant.
	anyCause int64 = -1
)
