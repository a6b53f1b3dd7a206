package gateway

import (
	"context"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// What came of a call that was approved by a link is told in a word, as long as the
// link's state is: a link that was used may have come to others, who read no result
// by it.
const (
	cameNothing = "running" // no answer so far
	cameResult  = "done"
	cameError   = "failed"
	cameUnknown = "unknown"        // nobody can tell whether it ran
	cameAsking  = "input_required" // the server has asked for more, in the room
)

// outcome says what came of the call that was approved by a link; "" where there is
// none, nobody may be told, or it is no longer on record.
func (a *api) outcome(ctx context.Context, l *approval, p *space.Proposal) string {
	c, holds := a.byLink(l)
	if !holds || l.ended != approvalUsed || p.State != space.Fulfilled && p.State != space.Amended {
		return ""
	}
	answer, err := c.one(ctx, journal.Query{Correlation: p.Closed.ID, Kinds: []string{parley.TypeResponse}})
	switch {
	case err != nil:
		return ""
	case answer != nil:
		return came(answer)
	}
	if call, err := c.one(ctx, journal.Query{ID: p.Closed.ID}); err != nil || call == nil {
		return "" // and its answer is as old
	}
	return cameNothing
}

// came is what an answer says, in a word.
func came(answer *journal.Record) string {
	payload := parley.Member(answer.Body, "payload")
	result, failure := parley.Member(payload, "result"), parley.Member(payload, "error")
	code, _ := parley.MemberString(parley.Member(failure, "data"), "code")
	asking, _ := parley.MemberString(result, "resultType")
	switch {
	case payload == nil || answer.Redacted:
		return "" // nobody can tell any more
	case code == "outcome_unknown":
		return cameUnknown
	case failure != nil || string(parley.Member(result, "isError")) == "true":
		return cameError
	case asking == "input_required":
		return cameAsking
	}
	return cameResult
}
