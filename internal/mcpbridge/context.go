package mcpbridge

import (
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// takeContext takes out of a request of the server's the context that it is to be
// asked in, which is that of the call where it names none. The error is
// invalid_context; what only the room can judge, as the depth, it judges.
func takeContext(params jsontext.Value, call *parley.Context) (within *parley.Context, rest jsontext.Value, err error) {
	raw := metaOf(params, mcp.MetaContext)
	if raw == nil {
		return call, params, nil
	}
	own, err := readContext(raw)
	if err != nil {
		return nil, nil, err
	}
	return mcp.Within(own, call), withoutMeta(params, mcp.MetaContext), nil
}

// readContext reads a context as the one of an envelope is read.
func readContext(raw jsontext.Value) (*parley.Context, error) {
	e, err := parley.Decode(slices.Concat([]byte(`{"kind":"x","context":`), raw, []byte(`}`)), parley.DefaultNesting)
	if err != nil {
		return nil, parley.Errorf(parley.InvalidContext, "%s in _meta: %v", mcp.MetaContext, err)
	}
	return e.Context, e.Context.Check()
}

// withoutMeta takes one member out of _meta, and _meta itself where nothing else
// was in it.
func withoutMeta(params jsontext.Value, key string) jsontext.Value {
	meta := parley.Member(params, "_meta")
	left := mcp.DropMember(meta, key)
	switch {
	case len(left) == len(meta):
		return params
	case len(left) == 2:
		return mcp.DropMember(params, "_meta")
	}
	return mcp.SetMember(params, "_meta", left)
}

// refusal is what the server is told of a question that the room does not take.
func refusal(err error) *jsonrpc.Error {
	e := &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the question could not be asked: " + err.Error()}
	refused, ok := errors.AsType[*parley.Error](err)
	if !ok {
		return e
	}
	e.Data = append(append(jsontext.Value(`{"code":`), mcp.Quote(string(refused.Code))...), '}')
	if refused.Code == parley.InvalidContext || refused.Code == parley.ContextLimit {
		e.Code = jsonrpc.CodeInvalidParams // it is the server that chose the context
	}
	return e
}
