package mcp

// The functions of this file take JSON that was decoded strictly before.

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
)

// SetMember returns obj with one member set to value, and every other byte as
// it was. What is no object comes back unchanged.
func SetMember(obj jsontext.Value, name string, value jsontext.Value) jsontext.Value {
	start, end, last := parley.Locate(obj, name)
	switch {
	case last < 0:
		return obj
	case end > 0:
		return jsonrpc.Splice(obj, start, end, value)
	}
	member := append(append(jsonrpc.AppendString(nil, name), ':'), value...)
	if last == 0 {
		return append(append(jsontext.Value{'{'}, member...), '}')
	}
	return jsonrpc.Splice(obj, last, last, append([]byte{','}, member...))
}

// AddMember is [SetMember] where there is no such member yet.
func AddMember(obj jsontext.Value, name string, value jsontext.Value) jsontext.Value {
	if _, end, last := parley.Locate(obj, name); last < 0 || end > 0 {
		return obj
	}
	return SetMember(obj, name, value)
}

// DropMember returns obj without one member.
func DropMember(obj jsontext.Value, name string) jsontext.Value {
	if parley.Member(obj, name) == nil {
		return obj
	}
	out := jsontext.Value{'{'}
	for key, value := range parley.Members(obj) {
		if key == name {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(jsonrpc.AppendString(out, key), ':'), value...)
	}
	return append(out, '}')
}

// SetMeta returns params or a result with one member of _meta set. Nil params
// become an object.
func SetMeta(obj jsontext.Value, key string, value jsontext.Value) jsontext.Value {
	if obj == nil {
		obj = jsontext.Value(`{}`)
	}
	inner := parley.Member(obj, "_meta")
	if inner.Kind() != '{' {
		inner = jsontext.Value(`{}`)
	}
	return SetMember(obj, "_meta", SetMember(inner, key, value))
}

// Quote is a string as JSON.
func Quote(s string) jsontext.Value { return jsonrpc.AppendString(nil, s) }

// Unquote is the text of a JSON string; false for any other value.
func Unquote(v jsontext.Value) (text string, ok bool) {
	if v.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err == nil
}
