package config

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Bounds of one capability in the object form.
const (
	maxCapability = 64 << 10
	maxCapLevels  = 32
)

// capabilities reads a list of patterns and objects.
func (r *reader) capabilities(v value, enforcement Enforcement) parley.Capabilities {
	var caps parley.Capabilities
	for _, item := range r.items(v) {
		c, ok := r.capability(item)
		switch {
		case !ok:
		case c.NeedsStrict() && enforcement == Lazy:
			r.fail(item, "leave params out, or write enforcement: strict", "params needs a strict space, since a lazy one reads no payload")
		case c.GrantsSystem():
			r.fail(item, "leave it out: only the gateway sends system/*", "system/* cannot be granted")
		default:
			caps = append(caps, c)
		}
	}
	return caps
}

func (r *reader) capability(v value) (c parley.Capability, ok bool) {
	switch {
	case !v.written(), v.kind != mapNode:
		text, ok := r.pattern(v)
		if !ok {
			return c, false
		}
		c, err := parley.ParseCapability(text)
		return c, r.admit(v, err)
	case v.size > maxCapability || v.levels > maxCapLevels:
		r.fail(v, "", "%s is too large for a capability", v.title())
		return c, false
	}
	data, ok := r.json(nil, v)
	if !ok {
		return c, false
	}
	return c, r.admit(v, c.UnmarshalJSON(data))
}

// pattern is a pattern's text. A number cannot be meant.
func (r *reader) pattern(v value) (string, bool) {
	switch {
	case !v.written():
		r.fail(v, `write a pattern, as "chat" or "mcp/*"`, "%s is empty", v.title())
	case v.kind != stringNode:
		r.fail(v, `write a pattern in quotes, as "mcp/*"`, "%s is %s, and should be a pattern", v.title(), v.kind)
	default:
		return v.node.text, true
	}
	return "", false
}

// admit turns the root package's refusal of a capability into a problem.
func (r *reader) admit(v value, err error) bool {
	if err == nil {
		return true
	}
	message, hint := err.Error(), ""
	if e, ok := errors.AsType[*parley.Error](err); ok {
		message, hint = e.Message, e.Hint
	}
	r.fail(v, hint, "%s", strings.TrimSpace(message))
	return false
}

// json writes a value as JSON, in which the object form is defined.
func (r *reader) json(b []byte, v value) ([]byte, bool) {
	if !v.written() {
		return append(b, "null"...), true
	}
	switch v.kind {
	case stringNode:
		return r.jsonText(b, v, v.node.text)
	case mapNode:
		return r.jsonObject(b, v)
	case listNode:
		return r.jsonArray(b, v)
	}
	text := jsontext.Value(strings.ToLower(v.node.text)) // True is a truth value in YAML
	if !text.IsValid() {
		r.fail(v, "write it as JSON does, as 16 or 1.5, or put it into quotes", "%s is a number that only YAML knows", v.title())
		return b, false
	}
	return append(b, text...), true
}

func (r *reader) jsonText(b []byte, v value, text string) ([]byte, bool) {
	quoted, err := jsontext.AppendQuote(b, text)
	if err != nil {
		r.fail(v, "", "%s is not valid UTF-8", v.title())
		return b, false
	}
	return quoted, true
}

func (r *reader) jsonObject(b []byte, v value) ([]byte, bool) {
	b = append(b, '{')
	ok := true
	for i, member := range r.all(v) {
		if i > 0 {
			b = append(b, ',')
		}
		var named, valued bool
		b, named = r.jsonText(b, member, member.name)
		b, valued = r.json(append(b, ':'), member)
		ok = ok && named && valued
	}
	return append(b, '}'), ok
}

func (r *reader) jsonArray(b []byte, v value) ([]byte, bool) {
	b = append(b, '[')
	ok := true
	for i, item := range r.items(v) {
		if i > 0 {
			b = append(b, ',')
		}
		var valued bool
		b, valued = r.json(b, item)
		ok = ok && valued
	}
	return append(b, ']'), ok
}
