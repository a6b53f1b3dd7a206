package load

import (
	"context"
	"net"
)

// Protocol is a way of speaking to one kind of server. Its methods are called
// from many goroutines.
type Protocol interface {
	// Receive opens the receiving connection number i of a run. When it
	// returns, the server will send it every message that is sent from then on.
	Receive(ctx context.Context, t Target, i int) (*Stream, error)

	// Send opens the sending connection number i.
	Send(ctx context.Context, t Target, i int) (*Feed, error)
}

// protocols are those that a job may name.
var protocols = map[string]Protocol{
	"floor":   floor{},
	"mqtt":    mqtt{},
	"nats":    nats{},
	"nats-ws": nats{websocket: true},
	"parley":  parleyProtocol{},
	"redis":   redis{},
	"ws":      broadcaster{},
}

// Target is the server that is spoken to. It is part of a job, so all of it is
// JSON.
type Target struct {
	Protocol string `json:"protocol"`      // a key of protocols
	Address  string `json:"address"`       // host:port
	TLS      bool   `json:"tls,omitempty"` // speak TLS, with the certificates of the system
	Size     int    `json:"size"`          // bytes of a message as it is received, framing apart

	// Space, Tokens and what follows are Parley's own. Connection i uses the
	// token i modulo their number.
	Space  string   `json:"space,omitempty"`
	Tokens []string `json:"tokens,omitempty"`
	Query  string   `json:"query,omitempty"` // further parameters of receiving connections
	Work   string   `json:"work,omitempty"`  // what senders send: see the constants
	To     string   `json:"to,omitempty"`    // whom calls are addressed to
}

// Stream is the receiving side of a connection.
type Stream struct {
	Conn  net.Conn
	Early []byte // what was read behind the handshake

	// Next measures the first frame of b, which is never empty. Size is the
	// frame's whole length, which may be more than there is of it yet; 0 where
	// that cannot be told without more bytes. Where the frame is a message, to
	// be counted, body is where the message begins in it; else body is -1.
	// An error ends the connection.
	Next func(b []byte) (size, body int, err error)

	// Control, which may be nil, is given every whole frame that is no message.
	// What it returns is written to Conn: a pong for a ping.
	Control func(frame []byte) (reply []byte, err error)
}

// Feed is the sending side of a connection.
type Feed struct {
	// Append appends one message as it goes over the wire. The stamp, written
	// by AppendStamp, must stand once in what receivers get; it fills the rest
	// up to Target.Size with anything. Only one goroutine calls it.
	Append func(dst []byte, stamp int64) []byte

	// Stream is what comes back: it is read so that the server need not hold
	// it back. Messages in it are answers: one for each message sent, with its
	// stamp, where a protocol acknowledges, else none. Conn is written to.
	Stream

	// Check, which may be nil, says of an answer what the server refused.
	Check func(answer []byte) error
}

// What senders of Parley send.
const (
	WorkBroadcast = ""     // chats to everybody; answers are acknowledgements
	WorkCall      = "call" // calls of the tool echo; answers are its results
)
