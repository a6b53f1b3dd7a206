package tool

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parleyhq/parley/tool/sampling"
)

// Call is one call of a tool, as its function sees it: who asks for how much.
//
// All methods may be called from several goroutines. They concern what the tool
// declares: to ask for a feature or limit that it does not declare is a mistake
// of the program, and panics.
type Call struct {
	tool  *Tool
	tier  Tier
	id    string
	asked bool // the caller gave the id

	run    *run   // whom it asks, and what was answered
	parent *Call  // of a branch; nil: this is the call itself
	depth  int    // how deep branches of this one may nest
	purse  *purse // what it may spend on models; nil: what it likes
	place  *place // among the contexts
	silent string // the phase that cannot ask; "" is none

	mu       sync.Mutex
	hints    []Hint             // of the call itself; guarded by mu
	messages []sampling.Message // guarded by mu
}

// NewCall makes a call without a server: for tests, and for programs that call
// a tool's function themselves. It has nobody to ask; see [NewAskingCall].
func NewCall(t Tool, tier Tier, requestID string) *Call {
	c := &Call{tool: &t, tier: tier, id: requestID, asked: requestID != ""}
	c.open(new(run))
	return c
}

// NewAskingCall is [NewCall] with somebody to ask. What the tool needs is not
// looked at first.
func NewAskingCall(t Tool, tier Tier, requestID string, peer Peer) *Call {
	c := NewCall(t, tier, requestID)
	c.open(&run{peer: peer, id: newHandle()})
	return c
}

// open makes a call ready to ask by a run.
func (c *Call) open(r *run) {
	c.run, c.place = r, &r.root
	if c.tool.Tokens > 0 {
		c.purse = newPurse(nil, c.tool.Tokens)
	}
}

// whole is the call that a branch is of.
func (c *Call) whole() *Call {
	for c.parent != nil {
		c = c.parent
	}
	return c
}

// Tier is what the caller is entitled to.
func (c *Call) Tier() Tier { return c.tier }

// RequestID is the caller's name for the call, or one that was made.
func (c *Call) RequestID() string { return c.id }

// Has says whether the caller's tier has a feature.
func (c *Call) Has(feature string) bool { return c.tier.Covers(c.feature(feature).Tier) }

// Require is nil where the caller's tier has all the features. Otherwise it is
// an [*Error] with upgrade_required and a hint for each that is missing.
func (c *Call) Require(features ...string) error {
	missing := c.missing(features)
	if len(missing) == 0 {
		return nil
	}
	needed, names := Community, make([]string, len(missing))
	for i, h := range missing {
		names[i] = h.Feature
		if h.Tier.Covers(needed) {
			needed = h.Tier
		}
	}
	e := Errorf(UpgradeRequired, "%s: the %s tier is needed, this is %s", strings.Join(names, ", "), needed, c.tier)
	e.Hints = missing
	return e
}

// Hint tells of each of the features that the caller's tier does not have, in
// the hints of an answer that does without them.
func (c *Call) Hint(features ...string) { c.tell(c.missing(features)...) }

// Clamp is how much of a limit the caller gets who asked for so much: the wish,
// or what the tier allows where that is less, which a hint then says. A wish of
// 0 or less is none: it gets the limit, without a hint. The answer is 0 only
// where there is neither a wish nor a limit.
func (c *Call) Clamp(limit string, asked int) int {
	l := c.limit(limit)
	most := l.at(c.tier)
	if asked <= 0 || most == 0 {
		return max(asked, most, 0)
	}
	if asked > most {
		c.tell(Hint{
			Feature: l.Name,
			Tier:    l.enough(c.tier, asked),
			Reason:  fmt.Sprintf("%s was clamped from %d to %d, the most that the %s tier has", l.Name, asked, most, c.tier),
		})
	}
	return min(asked, most)
}

// Hints are those that were given so far.
func (c *Call) Hints() []Hint {
	c = c.whole()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.hints)
}

func (c *Call) tell(hints ...Hint) {
	c = c.whole()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hints = withHints(c.hints, hints...)
}

// missing makes a hint for each feature that the tier does not have.
func (c *Call) missing(features []string) (hints []Hint) {
	for _, name := range features {
		if f := c.feature(name); !c.tier.Covers(f.Tier) {
			hints = withHints(hints, f.hint())
		}
	}
	return hints
}

func (c *Call) feature(name string) *Feature {
	i := slices.IndexFunc(c.tool.Features, func(f Feature) bool { return f.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("tool %s declares no feature %q", c.tool.Name, name))
	}
	return &c.tool.Features[i]
}

func (c *Call) limit(name string) *Limit {
	i := slices.IndexFunc(c.tool.Limits, func(l Limit) bool { return l.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("tool %s declares no limit %q", c.tool.Name, name))
	}
	return &c.tool.Limits[i]
}
