package tool

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// line is a transport that remembers its connection, and whose clients' answers
// reach the tools as they came (carry.go).
type line struct {
	mcp.Transport
	conn mcp.Connection
	// over is called, perhaps several times, when the connection ends, before
	// any call hears of it; nil: nobody wants to know.
	over func()
}

func (l *line) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := l.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	l.conn = carrying{conn, l.over}
	return l.conn, nil
}

type carrying struct {
	mcp.Connection
	over func()
}

// Close ends the connection.
func (c carrying) Close() error {
	c.ends()
	return c.Connection.Close()
}

func (c carrying) ends() {
	if c.over != nil {
		c.over()
	}
}

// Read is the client's next message. One that cannot be read is answered here:
// an error of Read would end the connection, and with it all calls.
func (c carrying) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := c.Connection.Read(ctx)
		if err != nil {
			c.ends()
			return nil, err
		}
		out, err := carriedIn(msg)
		if err == nil {
			return out, nil
		}
		if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
			refusal := &jsonrpc.Response{ID: req.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}}
			if err := c.Write(ctx, refusal); err != nil {
				return nil, err
			}
		}
	}
}

// overKey is what a request's context says by whether its connection has ended: a
// func() bool.
type overKey struct{}

// over says whether a request ended with its connection.
func over(request context.Context) bool {
	is, known := request.Value(overKey{}).(func() bool)
	return known && is()
}
