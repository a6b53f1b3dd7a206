package mcp

import "github.com/parleyhq/parley"

// MetaContext is the key of _meta, in params of what a server asks, under which
// it says to which line of reasoning the question belongs: a context as an
// envelope has it.
const MetaContext = "parley/context"

// Within is a context of a server's inside the call that it works on: one without
// a parent belongs to the call's own context. Nil of either is none.
func Within(own, call *parley.Context) *parley.Context {
	switch {
	case own == nil:
		return call
	case call == nil, own.Parent != "", own.ID == call.ID:
		return own
	}
	return &parley.Context{ID: own.ID, Type: own.Type, Parent: call.ID, Metadata: own.Metadata}
}
