package client

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// JSON-RPC error codes that this package sends.
const (
	CodeInvalidRequest = -32600 // the request's kind contradicts its payload
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603 // the handler failed
	CodeBusy           = -32000 // too many requests wait to be handled
	CodeCancelled      = -32800 // the requester cancelled, or the room was closed
)

// RPCError is a JSON-RPC error: what the one who was asked says went wrong. A
// [Handler] may return one, to choose the code.
type RPCError struct {
	Code    int64
	Message string
	Data    jsontext.Value // any JSON value; nil where absent

	// Raw is the whole error object as somebody wrote it, with members that
	// this type does not know. Where it is set, it is what is sent.
	Raw jsontext.Value
}

// Error is the message with the code.
func (e *RPCError) Error() string { return fmt.Sprintf("%s (JSON-RPC error %d)", e.Message, e.Code) }

// MethodNotFound is what a [Handler] returns for a method that it does not
// serve.
func MethodNotFound(method string) *RPCError {
	return &RPCError{Code: CodeMethodNotFound, Message: "method not found: " + method}
}

// asRPCError makes of a handler's error what the requester is told.
func asRPCError(err error) *RPCError {
	switch err := err.(type) {
	case *RPCError:
		return err
	case *parley.Error:
		data, _ := err.MarshalJSON() // never fails
		return &RPCError{Code: CodeInternal, Message: err.Error(), Data: data}
	}
	return &RPCError{Code: CodeInternal, Message: err.Error()}
}

// encodeParams turns a Go value into JSON. JSON that is given as such is taken
// as it is, byte for byte; nil is no value at all.
func encodeParams(what string, v any) (jsontext.Value, error) {
	raw, ok := v.(jsontext.Value)
	switch {
	case v == nil, ok && raw == nil:
		return nil, nil
	case ok:
		if !raw.IsValid() {
			return nil, parley.Errorf(parley.InvalidArgument, "%s: not valid JSON", what)
		}
		return raw, nil
	}
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, parley.Errorf(parley.InvalidArgument, "%s: cannot be written as JSON: %v", what, err)
	}
	return raw, nil
}

// callPayload is {"jsonrpc","id","method","params"}; a notification has no id.
func callPayload(id, method string, params jsontext.Value) jsontext.Value {
	b := []byte(`{"jsonrpc":"2.0"`)
	if id != "" {
		b = appendString(append(b, `,"id":`...), id)
	}
	return append(appendCall(append(b, ','), method, params), '}')
}

func appendCall(b []byte, method string, params jsontext.Value) []byte {
	b = appendString(append(b, `"method":`...), method)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return b
}

// answerPayload answers the request whose payload is given, under its own raw
// id: whoever reads no envelopes correlates by it.
func answerPayload(request jsontext.Value, member string, value jsontext.Value) jsontext.Value {
	id := parley.Member(request, "id")
	if k := id.Kind(); k != '"' && k != '0' {
		id = jsontext.Value("0")
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(append(b, `,"`+member+`":`...), value...)
	return append(b, '}')
}

func (e *RPCError) encode() jsontext.Value {
	if e.Raw.Kind() == '{' && e.Raw.IsValid() {
		return e.Raw
	}
	b := strconv.AppendInt([]byte(`{"code":`), e.Code, 10)
	b = appendString(append(b, `,"message":`...), e.Message)
	if e.Data.IsValid() {
		b = append(append(b, `,"data":`...), e.Data...)
	}
	return append(b, '}')
}

// readRPCError reads what somebody else wrote, also where it is no more than
// a string.
func readRPCError(v jsontext.Value) *RPCError {
	e := &RPCError{Message: text(v, "message"), Data: parley.Member(v, "data"), Raw: v}
	e.Code = int64(number(v, "code"))
	if e.Message == "" {
		e.Message = string(v)
	}
	return e
}

// withProgressToken asks for progress, by the request's envelope id, unless
// params ask for it in their own way.
func withProgressToken(params jsontext.Value, id string) jsontext.Value {
	meta := parley.Member(params, "_meta")
	switch {
	case params != nil && params.Kind() != '{',
		meta != nil && meta.Kind() != '{',
		parley.Member(meta, "progressToken") != nil:
		return params
	}
	return withMember(params, "_meta", withMember(meta, "progressToken", appendString(nil, id)))
}

// withMember is the object with one member set; nil is an empty one.
func withMember(obj jsontext.Value, name string, value jsontext.Value) jsontext.Value {
	b := append(appendString([]byte{'{'}, name), ':')
	b = append(b, value...)
	for key, v := range parley.Members(obj) {
		if key != name {
			b = append(appendString(append(b, ','), key), ':')
			b = append(b, v...)
		}
	}
	return append(b, '}')
}

func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // invalid UTF-8 is replaced
	return b
}
