package space

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// mostTried bounds the capabilities that are tried for a hint.
const mostTried = 8

// contextHint tells a sender that the type of the context is all that keeps an
// action from being allowed; "" where it is not.
func (j *judgement) contextHint(caps parley.Capabilities, a parley.Action) string {
	tried := 0
	for i, c := range caps {
		pattern := contextPattern(c)
		if pattern == "" {
			continue
		}
		as, others := a, caps
		if c.Deny() {
			others = slices.Delete(slices.Clone(caps), i, i+1)
		} else {
			as.ContextType = anyOf(pattern)
		}
		if !c.Matches(&as) {
			continue
		}
		if others.Allow(&as) {
			return typeHint(c, pattern, j.e.Context, a.ContextType)
		}
		if tried++; tried == mostTried {
			break
		}
	}
	return ""
}

// contextPattern is the type of context that a capability asks for; "" where it
// asks for none.
func contextPattern(c parley.Capability) string {
	text := c.String()
	if !strings.HasPrefix(text, "{") {
		return ""
	}
	pattern, _ := parley.MemberString(parley.Member(jsontext.Value(text), "context"), "type")
	return pattern
}

// anyOf is a type that a pattern matches.
func anyOf(pattern string) string { return strings.ReplaceAll(pattern, "*", "x") }

func typeHint(c parley.Capability, pattern string, in *parley.Context, typ string) string {
	if c.Deny() {
		return fmt.Sprintf("a capability denies it in a context of type %.200q; this one is of type %.130q", pattern, typ)
	}
	is := fmt.Sprintf("this one is of type %.130q", typ)
	switch {
	case in == nil:
		is = "this envelope is in none"
	case typ == "":
		is = "this one has no type"
	}
	return fmt.Sprintf("a capability of yours asks for a context of type %.200q; %s", pattern, is)
}
