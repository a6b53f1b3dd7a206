package mcpbridge

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON-RPC codes that the bridge itself uses.
const (
	CodeInvalidRequest int64 = -32600
	CodeMethodNotFound int64 = -32601
	CodeInvalidParams  int64 = -32602
	CodeInternal       int64 = -32603
)

// ErrServerGone is what every call gets that was in flight when the server
// died, and every call after that; over HTTP also a call whose own connection
// broke, while the next may fare better. The error that wraps it says why.
// Whether the server had begun to act on the call is not known.
var ErrServerGone = errors.New("the MCP server is gone")

// ErrSessionLost is an [ErrServerGone] of a server over HTTP that refused a
// call because it knows nothing of our session, as after its restart. It has
// not looked at the call, which may be made again on the next connection.
var ErrSessionLost = fmt.Errorf("%w: it has ended our session", ErrServerGone)

// ErrClosed is an [ErrServerGone] that we caused by [Upstream.Close].
var ErrClosed = fmt.Errorf("%w: the bridge has closed it", ErrServerGone)

// gone is an ErrServerGone and its reason.
func gone(why error) error { return &goneError{why} }

type goneError struct{ why error }

func (e *goneError) Error() string   { return ErrServerGone.Error() + ": " + e.why.Error() }
func (e *goneError) Unwrap() []error { return []error{ErrServerGone, e.why} }

// ErrBadAnswer is the failure of one call whose answer could not be relayed:
// it was too long, or no strict JSON, or no answer at all. The server may well
// have acted on the call.
var ErrBadAnswer = errors.New("the MCP server's answer cannot be relayed")

// RPCError is an error that a server answered with, or that we answer one of
// its requests with.
type RPCError struct {
	Code    int64
	Message string
	Data    jsontext.Value // nil where absent

	// Raw is the whole error object as the server sent it, with members that
	// this type does not know; nil in an error of our own making.
	Raw jsontext.Value
}

// Error is "MESSAGE (JSON-RPC CODE)".
func (e *RPCError) Error() string {
	return e.Message + " (JSON-RPC " + strconv.FormatInt(e.Code, 10) + ")"
}

// JSON is the error object for the wire: Raw where there is one.
func (e *RPCError) JSON() jsontext.Value {
	if e.Raw != nil {
		return e.Raw
	}
	b := strconv.AppendInt([]byte(`{"code":`), e.Code, 10)
	b = appendString(append(b, `,"message":`...), e.Message)
	if e.Data != nil {
		b = append(append(b, `,"data":`...), e.Data...)
	}
	return append(b, '}')
}

// readRPCError takes apart an error object. Whatever is not as JSON-RPC says
// is left empty; Raw has it.
func readRPCError(raw jsontext.Value) *RPCError {
	e := &RPCError{Raw: raw}
	for f, err := range members(raw) {
		if err != nil {
			break
		}
		switch f.name {
		case "code":
			e.Code, _ = strconv.ParseInt(string(f.value), 10, 64)
		case "message":
			s, _ := jsontext.AppendUnquote(nil, f.value)
			e.Message = string(s)
		case "data":
			e.Data = f.value
		}
	}
	return e
}

// HTTPError is the failure of one call because of the status that the server's
// HTTP side answered with.
type HTTPError struct {
	Status int    // as 503
	Detail string // the start of the body where it is text; may be empty
}

func (e *HTTPError) Error() string {
	s := fmt.Sprintf("the MCP server answered with HTTP status %d", e.Status)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}
