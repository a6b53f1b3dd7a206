package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/tool/sampling"
)

// DefaultDepth is how deep branches may nest where a tool does not say.
const DefaultDepth = 8

// A Branch is a part of a call with limits, messages and a context of its own.
// The zero value has its parent's limits, begins with its parent's messages, and
// asks in its parent's context.
type Branch struct {
	// Type is that of the context in which the branch asks, such as
	// "reasoning"; "": its parent's.
	Type string
	// Metadata tells more of the context, as a JSON object; nil: nothing.
	Metadata any
	// Fresh begins without messages, and not with its parent's.
	Fresh bool
	// Depth is how deep branches of this one may nest; 0: as deep as the
	// parent allows, which is the most in any case.
	Depth int
	// Tokens is how much the branch may spend on models; 0: what the parent
	// has left, which is the most in any case.
	Tokens int64
}

// Branch runs a part of the call, and returns the part's error. Several may run
// at once. An [*AskError] with OverDepth says that branches nest too deep.
func (c *Call) Branch(ctx context.Context, b Branch, run func(ctx context.Context, c *Call) error) error {
	child, err := c.branch(b)
	if err != nil {
		return err
	}
	return run(ctx, child)
}

func (c *Call) branch(b Branch) (*Call, error) {
	if b.Depth < 0 || b.Tokens < 0 {
		panic(fmt.Sprintf("tool %s: a branch has the limits %d and %d", c.tool.Name, b.Depth, b.Tokens))
	}
	depth := c.depthLeft() - 1
	if depth < 0 {
		return nil, &AskError{Reason: OverDepth, Message: "branches nest deeper than they may"}
	}
	place, err := c.place.branch(c.run, b)
	if err != nil {
		return nil, err
	}
	child := c.child()
	child.place, child.depth = place, depth
	if b.Depth > 0 {
		child.depth = min(depth, b.Depth)
	}
	if b.Tokens > 0 {
		child.purse = newPurse(c.purse, b.Tokens)
	}
	if !b.Fresh {
		child.messages = c.Messages()
	}
	return child, nil
}

// child is a part of the call with the call's own limits and place, and without
// messages.
func (c *Call) child() *Call {
	return &Call{
		tool: c.tool, tier: c.tier, id: c.id, asked: c.asked, parent: c, run: c.run,
		silent: c.silent, place: c.place, depth: c.depthLeft(), purse: c.purse,
	}
}

// depthLeft is how deep branches of the call may nest.
func (c *Call) depthLeft() int {
	switch {
	case c.parent != nil:
		return c.depth
	case c.tool.Depth > 0:
		return c.tool.Depth
	}
	return DefaultDepth
}

// Messages are what the call, or branch, has gathered so far.
func (c *Call) Messages() []sampling.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.messages)
}

// Remember adds messages, mostly an exchange's, to what the call, or branch, has
// gathered, as [sampling.Append] does. What a branch remembers is its own: what
// its parent is to know, the parent remembers.
func (c *Call) Remember(messages ...sampling.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages = sampling.Append(c.messages, messages...)
}

// place is where a branch stands among the contexts. Its zero value is outside of all.
type place struct {
	context *parley.Context // nil: none

	mu       sync.Mutex
	metadata jsontext.Value // that nobody was told yet; guarded by mu
}

// branch is the place of a branch below, in a context of its own where it is to
// have one.
func (p *place) branch(r *run, b Branch) (*place, error) {
	if b.Type == "" && b.Metadata == nil {
		return &place{context: p.context}, nil
	}
	metadata, err := metadataOf(b)
	if err != nil {
		return nil, fmt.Errorf("the metadata of a branch: %w", err)
	}
	c := &parley.Context{Type: b.Type}
	if p.context != nil {
		c.Parent = p.context.ID
	}
	c.ID = r.next("context", []byte(c.Parent), []byte(c.Type), metadata)
	if err := c.Check(); err != nil {
		return nil, err
	}
	return &place{context: c, metadata: metadata}, nil
}

// metadataOf is a branch's metadata as an object; nil where there is none.
func metadataOf(b Branch) (jsontext.Value, error) {
	if b.Metadata == nil {
		return nil, nil
	}
	raw, err := json.Marshal(b.Metadata, json.Deterministic(true))
	if err == nil && jsontext.Value(raw).Kind() != '{' {
		err = errors.New("it is no object")
	}
	return raw, err
}

// mark is the context that a question carries: with the metadata the first time.
func (p *place) mark() *parley.Context {
	if p.context == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := *p.context
	c.Metadata, p.metadata = p.metadata, nil
	return &c
}
