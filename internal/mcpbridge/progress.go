package mcpbridge

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
)

// maxProgress bounds one progress notification, in bytes; a longer one is
// dropped, since its successor says more.
const maxProgress = 64 << 10

// withToken returns params whose _meta.progressToken is ours, and the token
// that stood there before, or nil. Without a caller's token, and where no
// progress is wanted, params come back as they were. Everything else stays as
// it is, byte for byte.
//
// It is also where params are checked to be one strict JSON object: what
// follows them on the line is ours to write.
func withToken(params jsontext.Value, ours int64, wanted bool) (out, theirs jsontext.Value, err error) {
	if params == nil {
		if !wanted {
			return nil, nil, nil
		}
		params = jsontext.Value(`{}`)
	}
	var meta, token jsonrpc.Field
	empty, emptyMeta := true, true
	for f, err := range jsonrpc.Members(params) {
		if err != nil {
			return nil, nil, badParams(err)
		}
		empty = false
		if f.Name == "_meta" {
			meta = f
		}
	}
	if meta.Value != nil {
		if meta.Value.Kind() != '{' {
			return nil, nil, badParams(errors.New("_meta is not an object"))
		}
		for f, err := range jsonrpc.Members(meta.Value) {
			if err != nil {
				return nil, nil, badParams(err)
			}
			emptyMeta = false
			if f.Name == "progressToken" {
				token = f
			}
		}
	}
	number := strconv.AppendInt(nil, ours, 10)
	switch {
	case token.Value != nil:
		at := meta.Start + token.Start
		return jsonrpc.Splice(params, at, meta.Start+token.End, number), token.Value, nil
	case !wanted:
		return params, nil, nil
	case meta.Value != nil:
		at := meta.Start + 1 // behind the brace
		return jsonrpc.Splice(params, at, at, jsonrpc.Member("progressToken", number, emptyMeta)), nil, nil
	default:
		at := slices.Index(params, '{') + 1
		return jsonrpc.Splice(params, at, at, jsonrpc.Member("_meta", fmt.Appendf(nil, `{"progressToken":%s}`, number), empty)), nil, nil
	}
}

func badParams(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the params are not one strict JSON object: " + err.Error()}
}

// progressToken finds the token of a progress notification: the id of one of
// our calls and where it stands. ok is false where it is none of ours.
func progressToken(params jsontext.Value) (id int64, at jsonrpc.Field, ok bool) {
	for f, err := range jsonrpc.Members(params) {
		if err != nil {
			return 0, jsonrpc.Field{}, false
		}
		if f.Name == "progressToken" {
			at = f
		}
	}
	id, err := strconv.ParseInt(string(at.Value), 10, 64)
	return id, at, err == nil && id > 0
}
