package tui

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/store"
)

// bulk are several proposals that are rejected for one reason, one after the other. It
// holds on to those that were chosen when it began, whatever the queue does meanwhile.
type bulk struct {
	items  []*turndown
	reject rejecting
	shown  time.Time // since when it can be read

	given   jsontext.Value // what each is told; nil until it was confirmed
	run     int            // which one it is: what comes back to an earlier one means nothing
	running bool
	stopped bool // what is under way is the last
	over    time.Time
	pager   pager
}

// turndown is one of them.
type turndown struct {
	*store.Waiting
	sendID string // the same for each try: it is sent once
	state  turndownState
	word   string // how it was decided, or why it was not rejected
	tries  int
}

type turndownState int

const (
	waits turndownState = iota
	sending
	turnedDown
	decidedElsewhere
	notTurnedDown
)

// How often one is tried while the gateway asks to wait, and how long that may be.
const (
	mostTries   = 12
	longestWait = 10 * time.Second
)

func newBulk(list []*store.Waiting, now time.Time) *bulk {
	b := &bulk{reject: newRejecting(), shown: now}
	for _, w := range list {
		b.items = append(b.items, &turndown{Waiting: w, sendID: client.NewID()})
	}
	return b
}

func (b *bulk) count(state turndownState) int {
	n := 0
	for _, one := range b.items {
		if one.state == state {
			n++
		}
	}
	return n
}

// next is the one whose turn it is, or nil.
func (b *bulk) next() *turndown {
	i := slices.IndexFunc(b.items, func(one *turndown) bool { return one.state == waits })
	if i < 0 || b.stopped {
		return nil
	}
	return b.items[i]
}

// hear notes what was decided before its turn came, or where the answer was lost.
func (b *bulk) hear(s *store.Store) {
	open := map[string]bool{}
	for _, w := range s.Queue() {
		open[w.ID] = true
	}
	for _, one := range b.items {
		if one.state != sending && one.state != turnedDown {
			one.ended(s, open[one.ID])
		}
	}
}

// ended takes in how a proposal ended, as far as that is known.
func (one *turndown) ended(s *store.Store, open bool) {
	row := s.Find(one.ID)
	known := row != nil && row.Type == store.Proposal && row.State != store.Open
	switch {
	case known && row.State == store.Rejected && row.By == s.Me:
		one.state, one.word = turnedDown, ""
	case known:
		one.state, one.word = decidedElsewhere, howDecided(row)
	case !open:
		one.state, one.word = decidedElsewhere, "no longer open"
	}
}

func howDecided(row *store.Row) string {
	word := "approved"
	switch {
	case row.State == store.Rejected, row.State == store.Withdrawn, row.State == store.Expired:
		word = string(row.State)
	case row.Amended:
		word = "approved with changes"
	}
	if row.By != "" {
		word += " by " + row.By
	}
	return word
}

// openBulk shows what is chosen, to be rejected.
func (m *Model) openBulk() {
	list := m.chosen.of(m.listed())
	if len(list) == 0 {
		m.say("x chooses proposals; R rejects all that are chosen.")
		return
	}
	m.bulk = newBulk(list, m.now())
	m.focus = onBulk
}

func (m *Model) bulkKey(k tea.KeyPressMsg) tea.Cmd {
	b, name := m.bulk, k.String()
	if b.given == nil {
		return m.confirmKey(k)
	}
	if b.pager.key(name, m.bulkRoom()) {
		return nil
	}
	switch {
	case name == "esc" && b.running && !b.stopped:
		m.stopBulk()
	case name == "esc" && m.now().Sub(b.over) >= unread: // not one that was to stop the rest
		m.closeBulk()
	case name == "R" && !b.running:
		return m.bulkAgain()
	case name == "?":
		m.openKeys()
	}
	return nil
}

// confirmKey takes the reason for all of them, and the word to begin.
func (m *Model) confirmKey(k tea.KeyPressMsg) tea.Cmd {
	b := m.bulk
	switch name := k.String(); name {
	case "esc":
		m.closeBulk()
	case "pgup", "pgdown":
		b.pager.key(name, m.bulkRoom())
	case "enter":
		if b.count(waits) == 0 {
			return nil
		}
		if m.now().Sub(b.shown) < unread {
			m.say("This has only just appeared: Enter once more rejects them.")
			return nil
		}
		b.given = b.reject.payload()
		return m.runBulk()
	default:
		return b.reject.key(k)
	}
	return nil
}

func (m *Model) closeBulk() {
	m.bulk.stopped = true
	m.bulk, m.focus = nil, onQueue
	m.fillMenu()
}

// stopBulk leaves out the rest. Where the gateway asked to wait, nothing is under way.
func (m *Model) stopBulk() {
	b := m.bulk
	b.stopped = true
	if b.count(sending) == 0 {
		b.running, b.over = false, m.now()
	}
}

// bulkAgain tries what failed, and what was left out.
func (m *Model) bulkAgain() tea.Cmd {
	b := m.bulk
	for _, one := range b.items {
		if one.state == notTurnedDown {
			one.state, one.word, one.tries = waits, "", 0
		}
	}
	if b.count(waits) == 0 {
		m.say("Nothing is left to reject.")
		return nil
	}
	return m.runBulk()
}

func (m *Model) runBulk() tea.Cmd {
	b := m.bulk
	b.run++
	b.running, b.stopped = true, false
	return m.rejectNext(b, b.run)
}

// rejectNext rejects the next one, unless that is over.
func (m *Model) rejectNext(b *bulk, run int) tea.Cmd {
	if run != b.run || !b.running {
		return nil
	}
	b.hear(m.store)
	one := b.next()
	if one == nil {
		b.running, b.over = false, m.now()
		m.followFailed(b)
		return nil
	}
	one.state = sending
	one.tries++
	m.follow(one)
	e := refusal(one.sendID, one.ID, one.Kind, one.From, b.given)
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		_, err := m.room.Send(ctx, e)
		return func(m *Model) tea.Cmd {
			pause := one.answered(m.store, err)
			if pause == 0 || b.stopped {
				return m.rejectNext(b, run)
			}
			return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
				m.pause(ctx, pause)
				return func(m *Model) tea.Cmd { return m.rejectNext(b, run) }
			})
		}
	})
}

// answered takes in what the gateway said, and how long to wait where it asks for that.
func (one *turndown) answered(s *store.Store, err error) (pause time.Duration) {
	one.state, one.word = turnedDown, ""
	if err == nil {
		return 0
	}
	if !errors.Is(err, client.ErrUnacknowledged) {
		one.sendID = client.NewID() // what was refused is on record under its id
	}
	refused, _ := errors.AsType[*parley.Error](err)
	switch {
	case refused != nil && refused.Code == parley.ProposalClosed:
		s.Decided(one.ID)
		one.ended(s, false)
	case refused != nil && isPassing(refused.Code) && one.tries < mostTries:
		one.state = waits
		return min(longestWait, max(time.Duration(refused.RetryAfterMS)*time.Millisecond, time.Duration(one.tries)*250*time.Millisecond))
	default:
		one.state, one.word = notTurnedDown, beginning(err.Error(), 240)
	}
	return 0
}

// isPassing reports whether a refusal goes by.
func isPassing(code parley.Code) bool {
	return code == parley.RateLimited || code == parley.Unavailable
}
