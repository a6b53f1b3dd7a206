package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyhq/parley"
)

// queued is a console whose queue shows n proposals, all of them chosen and about to be
// rejected.
func queued(t *testing.T, n int) *played {
	p := newPlayed(t, 80, 24)
	for i := range n {
		p.happens(fmt.Sprintf(`{"id":"aaaaaaaa-%d","from":"agent","to":["files"],"kind":"mcp/proposal:tools/call:x","payload":{"method":"tools/call","params":{"name":"x"}}}`, i))
	}
	for _, name := range []string{"q", "b", "R"} {
		p.key(name)
	}
	p.now = p.now.Add(time.Second)
	return p
}

// begins presses a key, and gives back what Bubble Tea would do aside.
func (p *played) begins(code rune) tea.Cmd {
	_, cmd := p.m.Update(tea.KeyPressMsg{Code: code})
	return cmd
}

// goesOn does the next step alone.
func (p *played) goesOn(cmd tea.Cmd) tea.Cmd {
	p.t.Helper()
	if cmd == nil {
		p.t.Fatal("nothing is done")
	}
	_, next := p.m.Update(cmd())
	return next
}

func (p *played) wants(words ...string) {
	p.t.Helper()
	frame := p.frame()
	for _, word := range words {
		if !strings.Contains(frame, word) {
			p.t.Errorf("the screen does not say %q:\n%s", word, frame)
		}
	}
}

// One is rejected after the other, how far that is is shown, and Esc stops the rest.
func TestBulkIsStopped(t *testing.T) {
	p := queued(t, 4)
	cmd := p.begins(tea.KeyEnter)
	p.wants("Rejecting: 0 of 4", "[sending]", "Esc stops the rest")
	cmd = p.goesOn(cmd)
	p.wants("Rejecting: 1 of 4")
	if p.begins(tea.KeyEscape); len(p.room.sent) != 1 {
		t.Errorf("%d are sent", len(p.room.sent))
	}
	p.wants("Stopping after this one: 1 of 4")
	if cmd = p.goesOn(cmd); cmd != nil || len(p.room.sent) != 2 {
		t.Errorf("%d are sent, and more to come: %t", len(p.room.sent), cmd != nil)
	}
	p.begins(tea.KeyEscape) // meant to stop it, and late
	p.wants("2 are rejected. 2 were left out.", "R tries the rest again")
	p.key("R")
	p.wants("4 are rejected.")
	if len(p.room.sent) != 4 {
		t.Errorf("%d are sent", len(p.room.sent))
	}
	p.key("esc")
	p.wants("Nothing waits for a decision.")
}

// Who is asked to wait waits, as long as the gateway says, and not beyond Esc.
func TestBulkWaits(t *testing.T) {
	p := queued(t, 2)
	var pauses []time.Duration
	p.m.pause = func(_ context.Context, d time.Duration) bool {
		pauses = append(pauses, d)
		return true
	}
	p.room.refusal = &parley.Error{Code: parley.RateLimited, Message: "slower", RetryAfterMS: 1_500}
	if p.key("enter"); fmt.Sprint(pauses) != "[1.5s]" || len(p.room.sent) != 2 {
		t.Errorf("the pauses are %v, and %d are sent", pauses, len(p.room.sent))
	}
	p.wants("2 are rejected.")

	p = queued(t, 2)
	p.room.refusal = &parley.Error{Code: parley.RateLimited, Message: "slower", RetryAfterMS: 1_500}
	cmd := p.goesOn(p.begins(tea.KeyEnter)) // the pause
	p.begins(tea.KeyEscape)
	p.wants("0 are rejected. 2 were left out.")
	p.m.pause = func(context.Context, time.Duration) bool { return true }
	if p.goesOn(cmd); len(p.room.sent) != 0 {
		t.Errorf("%d are sent", len(p.room.sent))
	}
}

// Who always asks to wait is given up.
func TestBulkGivesUp(t *testing.T) {
	one := &turndown{tries: mostTries}
	if pause := one.answered(nil, parley.Errorf(parley.Unavailable, "later")); pause != 0 || one.state != notTurnedDown {
		t.Errorf("after %d tries it is %d, and waits for %v", one.tries, one.state, pause)
	}
}

// What was not rejected is in sight in the end, with the reason.
func TestBulkShowsWhatFailed(t *testing.T) {
	p := queued(t, 60)
	p.room.refusal = parley.Errorf(parley.CapabilityViolation, "you may not")
	p.key("enter")
	p.wants("→ capability_violation: you may not", "59 are rejected. 1 is not rejected")
}

// What others decided is told as theirs, and where that is seen only later, then.
func TestBulkTellsOfOthers(t *testing.T) {
	p := queued(t, 1)
	p.room.refusal = parley.Errorf(parley.ProposalClosed, "it is closed")
	p.key("enter")
	p.wants("no longer open", "0 are rejected. 1 was decided by others meanwhile.")
	p.happens(`{"id":"r","from":"boss","to":["files"],"kind":"mcp/request:tools/call:x","correlation_id":"aaaaaaaa-0","payload":{"jsonrpc":"2.0","id":"r","method":"tools/call","params":{"name":"x"}}}`)
	p.wants("approved by boss")
}

// What stands under the cursor is chosen, not what has just come in its place.
func TestQueueMovesUnderTheKeys(t *testing.T) {
	p := queued(t, 3)
	p.key("esc") // back to the queue
	p.key("esc") // none is chosen
	p.happens(`{"id":"w","from":"agent","kind":"mcp/withdraw:tools/call:x","correlation_id":"aaaaaaaa-0","payload":{}}`)
	p.key("quick+x")
	p.wants("has just gone: once more chooses this one", "Waiting for a decision")
	p.key("quick+x")
	p.wants("1 chosen, of 2 that wait")
}
