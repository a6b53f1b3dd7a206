package mcp

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
)

// SetMember returns obj with one member set to value, and every other byte as
// it was. What is no object comes back unchanged.
func SetMember(obj jsontext.Value, name string, value jsontext.Value) jsontext.Value {
	at, last, ok := find(obj, name)
	switch {
	case !ok:
		return obj
	case at.Value != nil:
		return jsonrpc.Splice(obj, at.Start, at.End, value)
	}
	member := append(append(jsonrpc.AppendString(nil, name), ':'), value...)
	if last == 0 {
		return append(append(jsontext.Value{'{'}, member...), '}')
	}
	return jsonrpc.Splice(obj, last, last, append([]byte{','}, member...))
}

// AddMember is [SetMember] where there is no such member yet.
func AddMember(obj jsontext.Value, name string, value jsontext.Value) jsontext.Value {
	if at, _, ok := find(obj, name); !ok || at.Value != nil {
		return obj
	}
	return SetMember(obj, name, value)
}

// DropMember returns obj without one member.
func DropMember(obj jsontext.Value, name string) jsontext.Value {
	out, dropped := jsontext.Value{'{'}, false
	for f, err := range jsonrpc.Members(obj) {
		if err != nil {
			return obj
		}
		if f.Name == name {
			dropped = true
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(jsonrpc.AppendString(out, f.Name), ':'), f.Value...)
	}
	if !dropped {
		return obj
	}
	return append(out, '}')
}

// SetMeta returns params or a result with one member of _meta set. Nil params
// become an object.
func SetMeta(obj jsontext.Value, key string, value jsontext.Value) jsontext.Value {
	if obj == nil {
		obj = jsontext.Value(`{}`)
	}
	meta, _, ok := find(obj, "_meta")
	if !ok {
		return obj
	}
	inner := jsontext.Value(`{}`)
	if meta.Value.Kind() == '{' {
		inner = meta.Value
	}
	return SetMember(obj, "_meta", SetMember(inner, key, value))
}

// find looks for a member of an object. last is where the last member ends, 0
// in an empty object; ok is false for what is no object.
func find(obj jsontext.Value, name string) (at jsonrpc.Field, last int, ok bool) {
	for f, err := range jsonrpc.Members(obj) {
		if err != nil {
			return at, 0, false
		}
		last = f.End
		if f.Name == name {
			at = f
		}
	}
	return at, last, true
}

// Quote is a string as JSON.
func Quote(s string) jsontext.Value { return jsonrpc.AppendString(nil, s) }
