package store

import "time"

// A Row is one thing that happens.
type Row struct {
	N       int // its number, for good
	Version int // grows with every change
	Type    Type
	State   State

	Seq     uint64
	ID      string
	At      time.Time
	From    string
	To      []string // at most mostNamed
	ToMore  int      // that many more
	Kind    string
	Context string // its id; "" is the main one
	On      string // the id that it answers, where that is no part of the row

	Title    string // of a call: the tool or the method
	Text     string // what was said, or the arguments
	Cut      int    // bytes of Text that are not kept
	Markdown bool
	Reason   string // why it is proposed

	By      string // who decided
	Closed  string // the envelope that did
	Amended bool
	Why     string // of a decision
	Answer  string
	Took    time.Duration // until the answer
	Report  string        // the newest on progress

	method string
	ids    []string // envelopes that are part of it
}

// Type says what a row is about.
type Type int

// The types.
const (
	Chat Type = iota
	Call
	Proposal
	Answer // to something that is not kept
	Notice
	Rights // a grant, a revocation and other powers
	Refusal
	Other // of a kind that nobody here knows
	Told  // the console's own word
)

// State is how far a row has come; "" where that means nothing.
type State string

// The states.
const (
	Open      State = "open"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Rejected  State = "rejected"
	Withdrawn State = "withdrawn"
	Expired   State = "expired"
	Cancelled State = "cancelled"
	Lost      State = "gap"
)

// States are those that can be filtered for.
func States() []string {
	var all []string
	for _, s := range []State{Open, Running, Done, Failed, Rejected, Withdrawn, Expired, Cancelled} {
		all = append(all, string(s))
	}
	return all
}

// IDs are the envelopes that are part of it, the first one first.
func (r *Row) IDs() []string { return r.ids }

// Waits reports whether it is a proposal that nobody has decided on.
func (r *Row) Waits() bool { return r.Type == Proposal && r.State == Open }
