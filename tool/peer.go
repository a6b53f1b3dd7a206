package tool

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// An Ability is what a tool needs somebody for: the caller, or somebody else in
// the room.
type Ability string

// The abilities, by the names of MCP's client capabilities.
const (
	Sampling      Ability = "sampling"       // asks a model
	SamplingTools Ability = "sampling.tools" // asks a model that takes tools, and so every typed answer
	Elicitation   Ability = "elicitation"    // asks a human, by a form
)

// A Peer is who called a tool, as far as a run can ask and tell: the session of
// an MCP client, a client's requests one after the other, a space. Its methods are
// called from several goroutines at once.
type Peer interface {
	// Can reports whether somebody is there who answers what needs the ability.
	Can(Ability) bool
	// Ask puts a question and waits for the answer, which is the method's
	// result as it came. What the other side refused is a [*PeerError].
	Ask(ctx context.Context, q Question) (jsontext.Value, error)
	// Notify tells something about the call: "notifications/message" or
	// "notifications/progress", into which the peer puts the caller's token.
	// It says nothing where nobody wants to hear it.
	Notify(ctx context.Context, method string, params jsontext.Value) error
}

// A Question is what a run asks of its peer.
type Question struct {
	// ID is that of the question: the same question of the same run has it
	// again after a restart. 32 hexadecimal digits.
	ID string
	// Name is the tool's own name for it: a form's key; "" where it has none.
	Name string
	// Method is "sampling/createMessage" or "elicitation/create".
	Method string
	// Params are an object.
	Params jsontext.Value
	// Context is that of the branch that asks, nil outside branches that have a type.
	Context *parley.Context
}

// A PeerError is an error of JSON-RPC: what the other side answered a question
// with, or what a call is answered with instead of a result.
type PeerError struct {
	Code    int64
	Message string
	Data    jsontext.Value // nil for none
}

// Error is the message, and the code behind it.
func (e *PeerError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }
