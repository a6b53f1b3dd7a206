package jsonrpc

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Codes of JSON-RPC 2.0.
const (
	CodeParseError     int64 = -32700
	CodeInvalidRequest int64 = -32600
	CodeMethodNotFound int64 = -32601
	CodeInvalidParams  int64 = -32602
	CodeInternal       int64 = -32603
)

// Error is a JSON-RPC error object.
type Error struct {
	Code    int64
	Message string
	Data    jsontext.Value // nil where absent

	// Raw is the whole error object as it was sent, with members that
	// this type does not know; nil in an error of our own making.
	Raw jsontext.Value
}

// Error is "MESSAGE (JSON-RPC CODE)".
func (e *Error) Error() string {
	return e.Message + " (JSON-RPC " + strconv.FormatInt(e.Code, 10) + ")"
}

// JSON is the error object for the wire: Raw where there is one.
func (e *Error) JSON() jsontext.Value {
	if e.Raw != nil {
		return e.Raw
	}
	b := strconv.AppendInt([]byte(`{"code":`), e.Code, 10)
	b = AppendString(append(b, `,"message":`...), e.Message)
	if e.Data != nil {
		b = append(append(b, `,"data":`...), e.Data...)
	}
	return append(b, '}')
}

// ReadError takes apart an error object. Whatever is not as JSON-RPC says
// is left empty; Raw has it.
func ReadError(raw jsontext.Value) *Error {
	e := &Error{Raw: raw}
	for f, err := range Members(raw) {
		if err != nil {
			break
		}
		switch f.Name {
		case "code":
			e.Code, _ = strconv.ParseInt(string(f.Value), 10, 64)
		case "message":
			s, _ := jsontext.AppendUnquote(nil, f.Value)
			e.Message = string(s)
		case "data":
			e.Data = f.Value
		}
	}
	return e
}
