package webhook

import (
	"slices"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// Hook is a webhook of one space, as the configuration says.
type Hook struct {
	Space string
	Name  string // unique in the space; lower case letters, digits, dots and dashes
	URL   string // as [CheckURL] takes it

	// Secrets sign what is sent, each for itself: at least one, as [CheckSecret] takes
	// them.
	Secrets []string

	Events []EventType         // which are sent
	Kinds  parley.Capabilities // patterns, of which one has to match what was proposed or refused; none is every kind
	From   []string            // who proposed, or was refused; nobody is everybody

	// Full sends what participants wrote. Otherwise ids, names and kinds leave the
	// house, and nothing else.
	Full bool

	// Approvers are for whom links are made with which they decide on a proposal.
	Approvers []string

	Timeout   time.Duration // of one attempt; [DefaultTimeout] where 0
	Retries   int           // after the first attempt; at most [MostRetries]
	AllowHTTP bool          // plain http also to other machines

	// ProposalTTL is after how long a proposal of the space expires which does not say
	// so itself; 0 where that is not told.
	ProposalTTL time.Duration
}

// How long an attempt may take.
const (
	DefaultTimeout = 15 * time.Second
	LeastTimeout   = time.Second
	MostTimeout    = 30 * time.Second
)

func (h *Hook) takes(t EventType) bool { return slices.Contains(h.Events, t) }

func (h *Hook) takesFrom(id string) bool { return len(h.From) == 0 || slices.Contains(h.From, id) }

func (h *Hook) takesKind(r *journal.Record) bool {
	if len(h.Kinds) == 0 {
		return true
	}
	return slices.ContainsFunc(h.Kinds, func(c parley.Capability) bool {
		return c.Matches(&parley.Action{Kind: parley.SplitKind(r.Effective)}) ||
			r.Kind != r.Effective && c.Matches(&parley.Action{Kind: parley.SplitKind(r.Kind)})
	})
}
