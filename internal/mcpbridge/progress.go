package mcpbridge

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
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
	var meta, token field
	empty, emptyMeta := true, true
	for f, err := range members(params) {
		if err != nil {
			return nil, nil, badParams(err)
		}
		empty = false
		if f.name == "_meta" {
			meta = f
		}
	}
	if meta.value != nil {
		if meta.value.Kind() != '{' {
			return nil, nil, badParams(errors.New("_meta is not an object"))
		}
		for f, err := range members(meta.value) {
			if err != nil {
				return nil, nil, badParams(err)
			}
			emptyMeta = false
			if f.name == "progressToken" {
				token = f
			}
		}
	}
	number := strconv.AppendInt(nil, ours, 10)
	switch {
	case token.value != nil:
		at := meta.start + token.start
		return splice(params, at, meta.start+token.end, number), token.value, nil
	case !wanted:
		return params, nil, nil
	case meta.value != nil:
		at := meta.start + 1 // behind the brace
		return splice(params, at, at, member("progressToken", number, emptyMeta)), nil, nil
	default:
		at := slices.Index(params, '{') + 1
		return splice(params, at, at, member("_meta", fmt.Appendf(nil, `{"progressToken":%s}`, number), empty)), nil, nil
	}
}

func badParams(err error) error {
	return &RPCError{Code: CodeInvalidParams, Message: "the params are not one strict JSON object: " + err.Error()}
}

// member writes the first member of an object, which is the last one too
// where the object was empty.
func member(name string, value []byte, last bool) []byte {
	b := append(appendString(nil, name), ':')
	b = append(b, value...)
	if !last {
		b = append(b, ',')
	}
	return b
}

// splice returns a copy of v with [start, end) replaced.
func splice(v jsontext.Value, start, end int, by []byte) jsontext.Value {
	return slices.Concat(v[:start], by, v[end:])
}

// progressToken finds the token of a progress notification: the id of one of
// our calls and where it stands. ok is false where it is none of ours.
func progressToken(params jsontext.Value) (id int64, at field, ok bool) {
	for f, err := range members(params) {
		if err != nil {
			return 0, field{}, false
		}
		if f.name == "progressToken" {
			at = f
		}
	}
	id, err := strconv.ParseInt(string(at.value), 10, 64)
	return id, at, err == nil && id > 0
}
