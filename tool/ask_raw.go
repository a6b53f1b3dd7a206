package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// askSession sends a request of ours to a client of 2025-11-25 or before, and
// waits for its answer: the params go out, and the result comes back, byte for
// byte (carry.go). ctx is that of the call that asks, by which the SDK finds the
// stream to send on; its end cancels the request at the client.
//
// An error of the client's is a [*PeerError].
func (s *Server) askSession(ctx context.Context, ss *mcp.ServerSession, method string, params jsontext.Value) (jsontext.Value, error) {
	ctx = context.WithValue(ctx, rawParamsKey{}, &rawParams{method: method, raw: params})
	var result any
	var err error
	switch method {
	case methodSample:
		//lint:ignore SA1019 what MCP retires is what clients of today answer
		result, err = ss.CreateMessageWithTools(ctx, &mcp.CreateMessageWithToolsParams{})
	case methodElicit:
		// Without a schema the SDK neither judges what the human filled in nor
		// adds to it.
		result, err = ss.Elicit(ctx, &mcp.ElicitParams{})
	default:
		return nil, fmt.Errorf("a client is not asked for %s", method)
	}
	if err != nil {
		return nil, peerError(err)
	}
	return rawOf(result), nil
}

// codeRejected is the SDK's own, for what its transport did not send. It looks
// like an answer.
const codeRejected = -32005

// peerError tells what the client answered from what happened on the way.
func peerError(err error) error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok && e.Code != codeRejected {
		return &PeerError{Code: e.Code, Message: e.Message, Data: jsontext.Value(e.Data)}
	}
	return err
}

// rawParams are params that are sent as they are.
type rawParams struct {
	mcp.ParamsBase
	method string
	raw    jsontext.Value
}

func (p *rawParams) MarshalJSON() ([]byte, error) { return p.raw, nil }

type rawParamsKey struct{}

// sendRaw is a middleware that sends the params which a context carries instead
// of the SDK's, whose types have no place for all that MCP knows.
func sendRaw(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		params, _ := ctx.Value(rawParamsKey{}).(*rawParams)
		ss, _ := req.GetSession().(*mcp.ServerSession)
		if params == nil || ss == nil || params.method != method {
			return next(ctx, method, req)
		}
		return next(ctx, method, &mcp.ServerRequest[*rawParams]{Session: ss, Params: params, Extra: req.GetExtra()})
	}
}
