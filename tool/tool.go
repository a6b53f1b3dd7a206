package tool

import (
	"context"
	"time"
)

// A Tool is what a tool is called, what it may do at which tier, and how long.
type Tool struct {
	// Name is how it is called: 1 to 64 letters, digits, "_" and "-".
	Name string
	// Title is for people; it may be empty.
	Title string
	// Description tells a model when to use it and what comes back.
	Description string
	// Version is the tool's own, in the way of semantic versioning; empty means
	// the server's.
	Version string
	// Features are what some tiers have and others have not.
	Features []Feature
	// Limits are numbers that grow with the tier.
	Limits []Limit
	// Capabilities are told in the answer, behind "envelope-v1".
	Capabilities []string
	// Annotations say what a call does to the world.
	Annotations Annotations
	// Timeout is when the context of a call ends; 0 means that only its caller
	// ends it. The function has to heed its context: nothing else stops it.
	Timeout time.Duration

	// Needs are what the caller, or the room, must be able to do: where it is
	// not, the function is not begun. A function can ask only for what its tool
	// needs.
	Needs []Ability
	// Depth is how deep branches may nest; 0: DefaultDepth.
	Depth int
	// Tokens is how many tokens all questions to models of one call may take,
	// input and output together; 0: no bound.
	Tokens int64
	// Elicits are the keys of the forms that the function may ask for; nil: any.
	Elicits []string
}

// Annotations are MCP's hints on what a tool does. The zero value says that a
// tool may change and destroy things anywhere, which is what MCP assumes of one
// that says nothing.
type Annotations struct {
	ReadOnly    bool // changes nothing
	Additive    bool // adds, but overwrites and removes nothing
	Idempotent  bool // twice does no more than once
	ClosedWorld bool // stays within what the server serves
}

// A Func does a tool's work. An error is best an [*Error]; see there.
type Func[In, Out any] = func(ctx context.Context, call *Call, in In) (Out, error)
