package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/safe"
	"github.com/parleyhq/parley/internal/tui/store"
)

// How many notices are read in search of what a tool was when its call was proposed.
const (
	noticesAtOnce = 50
	mostSearches  = 20
)

// isOutdated reports whether a tool had another definition when its call was proposed:
// an approval is for one definition, and the gateway refuses any other. It is the first
// notice of the tool after the proposal that tells which one it had.
func (m *Model) isOutdated(ctx context.Context, e *parley.Envelope, tool *Listed) bool {
	if len(e.To) != 1 || tool.Notice <= e.Seq {
		return false
	}
	q := client.Query{Kind: parley.KindNotice, After: e.Seq, Before: tool.Notice + 1, Limit: noticesAtOnce}
	for range mostSearches {
		notices, err := m.room.Search(ctx, &q)
		if err != nil || len(notices) == 0 {
			return false // the gateway judges in any case
		}
		for _, n := range notices {
			if before, ok := store.Previous(n, tool.Participant, tool.Name); ok {
				return before != "" && before != tool.Digest
			}
		}
		q.After = notices[len(notices)-1].Seq
	}
	return false
}

// redefined is told of each envelope: where it says that the tool of the proposal on the
// screen is not what it was, nobody approves it by a key that was meant for the other.
func (m *Model) redefined(e *parley.Envelope) tea.Cmd {
	d := m.decision
	if d == nil || e.Kind != parley.KindNotice || parley.Member(e.Payload, "tools") == nil {
		return nil
	}
	if _, ok := store.Previous(e, d.to, d.call.Kind.Subject); !ok && d.loaded {
		return nil
	}
	if d.step == approving && !d.sending {
		d.step = looking
	} else if d.step == comparing && !d.sending {
		m.stepBack()
	}
	if d.loaded {
		m.say("The definition of " + safe.Line(d.title(), 40) + " has just changed.")
	}
	return m.load(d)
}
