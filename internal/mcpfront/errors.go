package mcpfront

import (
	"context"
	"errors"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// codeRefused is the JSON-RPC code of what the room refuses; data says why, in
// Parley's own codes.
const codeRefused int64 = -32000

// rpcError is an error as the client is told.
func rpcError(err error) *jsonrpc.Error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*client.RPCError](err); ok {
		return &jsonrpc.Error{Code: e.Code, Message: e.Message, Data: e.Data}
	}
	if e, ok := errors.AsType[*parley.Error](err); ok {
		data, _ := e.MarshalJSON() // never fails
		message := e.Error()
		if e.Hint != "" {
			message += " (" + e.Hint + ")"
		}
		return &jsonrpc.Error{Code: codeRefused, Message: message, Data: data}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &jsonrpc.Error{Code: codeRefused, Message: "cancelled: " + err.Error()}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error()}
}

func invalidParams(message string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

func methodNotFound(method string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + clip(method)}
}

// clip is the start of a text of a client's, for a message about it.
func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// headerMismatch is a header that does not say what the body does.
func headerMismatch(message string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: mcp.CodeHeaderMismatch, Message: message}
}
