package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
)

// bulkRoom is how many lines of the list are seen.
func (m *Model) bulkRoom() int { return m.body() - 1 }

func (m *Model) drawBulk(height int) []string {
	b := m.bulk
	m.layoutBulk()
	left := heading.Render("Reject " + plural(len(b.items), "proposal", "proposals"))
	right := ""
	if below := b.pager.below(height - 1); below > 0 {
		right = dim.Render(fmt.Sprintf("↓%d", below))
	}
	return append([]string{ends(left, right, m.width)}, b.pager.draw(height-1)...)
}

// layoutBulk is a line for each, and what went wrong with it below.
func (m *Model) layoutBulk() {
	b := m.bulk
	b.pager.lines = nil
	for _, one := range b.items {
		b.pager.lines = append(b.pager.lines, m.bulkLines(one)...)
	}
}

func (m *Model) bulkLines(one *turndown) []string {
	lines := []string{ends(m.waitingLine(one.Waiting), one.badge(), m.width)}
	if one.word == "" {
		return lines
	}
	said, _ := fold("→ "+one.word, m.width-2, 3)
	for _, line := range said {
		if one.state == notTurnedDown {
			line = bad.Render(line)
		}
		lines = append(lines, "  "+line)
	}
	return lines
}

func (one *turndown) badge() string {
	switch one.state {
	case sending:
		return note.Render("[sending]")
	case turnedDown:
		return bad.Render("[rejected]")
	case decidedElsewhere:
		return dim.Render("[decided]")
	case notTurnedDown:
		return ask.Render("[not rejected]")
	}
	return ""
}

// follow brings one into sight.
func (m *Model) follow(one *turndown) {
	b := m.bulk
	if b == nil {
		return
	}
	at := 0
	for _, other := range b.items {
		if other == one {
			break
		}
		at += len(m.bulkLines(other))
	}
	if room := m.bulkRoom(); at < b.pager.at || at >= b.pager.at+room {
		b.pager.at = at - room/2
	}
}

// followFailed brings the first one into sight that was not rejected.
func (m *Model) followFailed(b *bulk) {
	if i := slices.IndexFunc(b.items, func(one *turndown) bool { return one.state == notTurnedDown }); i >= 0 {
		m.follow(b.items[i])
	}
}

// bulkFoot says how far it has come, and which keys there are.
func (m *Model) bulkFoot() (lines []string, cursor *tea.Cursor) {
	b := m.bulk
	lines = append(lines, m.notice...)
	if b.given == nil {
		drawn := append(b.reject.draw(m.width), cut(m.confirmHint(), m.width))
		cursor = below(b.reject.line.area.Cursor(), len(lines)+1)
		return append(lines, drawn...), cursor
	}
	for _, line := range m.bulkBar() {
		lines = append(lines, cut(line, m.width))
	}
	return lines, nil
}

func (m *Model) confirmHint() string {
	n := m.bulk.count(waits)
	these := map[bool]string{true: "it", false: "these " + grouped(n)}[n == 1]
	switch {
	case n == 0:
		return "None of them is open any more · Esc back"
	case m.width < 60:
		return "Enter rejects " + these + " · Tab · Esc"
	}
	return "Enter rejects " + these + " · Tab another reason · PgDn reads on · Esc back"
}

func (m *Model) bulkBar() []string {
	b := m.bulk
	over := fmt.Sprintf("%s of %s", grouped(len(b.items)-b.count(waits)-b.count(sending)), grouped(len(b.items)))
	switch {
	case b.running && b.stopped:
		return []string{note.Render("Stopping after this one: " + over), "Esc back"}
	case b.running:
		return []string{note.Render("Rejecting: " + over), "Esc stops the rest"}
	}
	said, _ := fold(b.result(), m.width, 4)
	if b.count(notTurnedDown)+b.count(waits) > 0 {
		return append(said, "R tries the rest again · Esc back")
	}
	return append(said, "Esc back")
}

// result is what became of all of them.
func (b *bulk) result() string {
	text := plural(b.count(turnedDown), "is rejected.", "are rejected.")
	if n := b.count(decidedElsewhere); n > 0 {
		text += " " + plural(n, "was decided by others meanwhile.", "were decided by others meanwhile.")
	}
	if n := b.count(notTurnedDown); n > 0 {
		text += " " + plural(n, "is not rejected: see why above.", "are not rejected: see why above.")
	}
	if n := b.count(waits); n > 0 {
		text += " " + plural(n, "was left out.", "were left out.")
	}
	return text
}

// queueTitle says how many wait, or are chosen.
func (m *Model) queueTitle() string {
	if n := len(m.chosen.ids); n > 0 {
		return fmt.Sprintf("%s chosen, of %s that wait", grouped(n), grouped(len(m.store.Queue())))
	}
	return "Waiting for a decision, the oldest first"
}

func (m *Model) queueHint() string {
	n := len(m.chosen.ids)
	switch {
	case n == 0:
		return "Enter that one · x choose · Esc back"
	case m.width < 75:
		return fmt.Sprintf("R reject %s · x X b l · Esc none", grouped(n))
	}
	return fmt.Sprintf("R reject %s · x one · X up to it · b all by them · l alike · Esc none", grouped(n))
}

// mark says whether one is chosen, where some are.
func (m *Model) mark(id string) string {
	switch {
	case len(m.chosen.ids) == 0:
		return ""
	case m.chosen.ids[id]:
		return ask.Render("✓ ")
	}
	return "  "
}
