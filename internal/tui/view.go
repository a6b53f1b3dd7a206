package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/safe"
	"github.com/parleyhq/parley/internal/tui/store"
)

// The screen, from top to bottom: who and where, the stream or what is open in its
// place, what waits for a decision, the line that is written, and what keys do.

// wide is from where people and threads stand beside the stream.
const wide, asideWidth = 100, 28

// View is the screen.
func (m *Model) View() tea.View {
	var lines []string
	var cursor *tea.Cursor
	if !m.leaving {
		lines, cursor = m.screen()
	}
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, m.width, "")
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	v.Cursor = cursor
	v.WindowTitle = m.title()
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// title is what a window or a tab says: how much waits.
func (m *Model) title() string {
	title := "parley " + safe.Line(m.store.Space, 40)
	if n := len(m.store.Queue()); n > 0 {
		title = fmt.Sprintf("(%d) ", n) + title
	}
	return title
}

// screen is the whole of it, and where the cursor stands.
func (m *Model) screen() ([]string, *tea.Cursor) {
	m.see()
	foot, cursor := m.foot()
	room := max(1, m.height-1-len(foot))
	lines := append([]string{m.head()}, rect(m.middle(room), room)...)
	if cursor != nil {
		cursor.Y += len(lines)
	} else {
		cursor = m.middleCursor()
	}
	return rect(append(lines, foot...), m.height), cursor
}

// body is how many lines the middle of the screen has.
func (m *Model) body() int {
	foot, _ := m.foot()
	return max(1, m.height-1-len(foot))
}

// middle is what one looks at.
func (m *Model) middle(height int) []string {
	switch m.focus {
	case onDecision:
		return m.drawDecision(height)
	case onForm:
		return m.drawForm(height)
	case onThreads, onPeople, onQueue, onResults:
		return m.menu.draw(m.width, height, true)
	case onBulk:
		return m.drawBulk(height)
	case onPage:
		return m.page.draw(m.width, height)
	}
	if m.width < wide {
		m.stream.resize(m.width, height)
		return m.stream.draw(m.focus == onStream)
	}
	m.stream.resize(m.width-asideWidth-2, height)
	return beside(m.stream.draw(m.focus == onStream), m.aside(height), m.width-asideWidth-2)
}

// middleCursor is that of an editor in the middle of the screen.
func (m *Model) middleCursor() *tea.Cursor {
	if m.focus == onDecision && m.decision.step == editing && m.decision.amend != nil {
		return below(m.decision.amend.page.area.Cursor(), 2)
	}
	return nil
}

func below(c *tea.Cursor, lines int) *tea.Cursor {
	if c != nil {
		c.Y += lines
	}
	return c
}

// aside are people and threads, where the screen is wide.
func (m *Model) aside(height int) []string {
	people := m.peopleItems(asideWidth)
	half := min(len(people)+1, max(3, height/2))
	lines := (&menu{title: "Here now " + grouped(len(people)), empty: "nobody", items: people}).draw(asideWidth, half, false)
	lines = append(lines, "")
	threads := m.threadItems(asideWidth)
	return append(lines, (&menu{title: "Threads " + grouped(len(threads)), empty: "none yet", items: threads}).draw(asideWidth, height-half-1, false)...)
}

// head says where one is, as whom, and how the connection is.
func (m *Model) head() string {
	left := " " + safe.Line(m.store.Space, 30) + " · you are " + safe.Line(m.store.Me, 30) + " · " + grouped(len(m.store.People())) + " here"
	if m.quiet != "" && m.width >= 70 {
		left += " (" + safe.Line(m.quiet, 30) + ")"
	}
	if f := m.stream.filter; !f.Empty() && m.focus != onFilter {
		left += " · only " + safe.Line(f.String(), 40)
	}
	right := ""
	if n := m.stream.fresh; n > 0 {
		right = plural(n, "new", "new") + " ↓ "
	}
	return bar.Render(pad(ends(left, right+m.linkWord(), m.width-1)+" ", m.width))
}

func (m *Model) linkWord() string {
	if m.link.Phase == client.Waiting {
		word := "connection lost, trying again"
		if m.link.Attempt > 1 && m.width >= 70 {
			word += fmt.Sprintf(" (%d times)", m.link.Attempt)
		}
		if m.width < 60 {
			word = "offline, trying"
		}
		return word
	}
	if m.width < 60 {
		return ""
	}
	return "connected"
}

// foot is everything below the middle, and where the cursor stands in it.
func (m *Model) foot() (lines []string, cursor *tea.Cursor) {
	switch m.focus {
	case onDecision:
		return m.decisionFoot()
	case onBulk:
		return m.bulkFoot()
	}
	lines = append(m.strip(), m.drawOffered()...)
	switch m.focus {
	case onStream, onComposer:
		if m.composer.area.Focused() {
			cursor = below(m.composer.area.Cursor(), len(lines))
		}
		lines = append(lines, m.composer.draw(m.width)...)
		if cursor != nil { // its height may have changed by being drawn
			cursor = below(m.composer.area.Cursor(), len(lines)-m.composer.area.Height())
		}
	case onFilter:
		drawn := m.filter.draw(m.width)
		cursor = below(m.filter.area.Cursor(), len(lines))
		lines = append(lines, drawn...)
	}
	lines = append(lines, m.notice...)
	return append(lines, dim.Render(cut(m.hint(), m.width))), cursor
}

func (m *Model) decisionFoot() (lines []string, cursor *tea.Cursor) {
	d := m.decision
	lines = append(lines, m.notice...)
	if d.step == refusing {
		drawn := m.refuseBar()
		cursor = below(d.reject.line.area.Cursor(), len(lines)+1)
		return append(lines, drawn...), cursor
	}
	m.layoutDecision()
	room := m.height - 1 - len(lines) - len(m.decisionBar(0)) - len(m.decisionTop())
	for _, line := range m.decisionBar(room) {
		lines = append(lines, cut(line, m.width))
	}
	return lines, nil
}

// strip says what waits for us.
func (m *Model) strip() []string {
	var lines []string
	press := func(key string) string {
		switch m.focus {
		case onStream:
			return "press " + key
		case onComposer, onFilter:
			return "press Esc, then " + key
		case onForm: // where Esc is an answer
			return "Ctrl-R, then " + key
		}
		return "Esc, then " + key
	}
	if w, call, reject := m.waiting(); w != nil {
		lines = append(lines, m.waitingStrip(w, call, reject, press))
	}
	if len(m.forms) > 0 && m.focus != onForm {
		f := m.forms[0]
		noun, verb := f.Noun(), map[bool]string{true: "fill it in", false: "answer"}[f.Form != nil]
		count := plural(len(m.forms), noun+" waits", noun+"s wait")
		text := fmt.Sprintf(" %s: %s asks you something — %s to %s", count, safe.Line(f.Request.From, 24), press("e"), verb)
		if m.width < 64 {
			text = fmt.Sprintf(" %s — %s", count, press("e"))
		}
		lines = append(lines, alert.Render(pad(text, m.width)))
	}
	return lines
}

// waitingStrip says what waits for a decision, and which key leads to it.
func (m *Model) waitingStrip(w *store.Waiting, call, reject bool, press func(key string) string) string {
	from := safe.Line(w.From, 24)
	if other := m.store.LooksLike(w.From); other != "" {
		from += " (≠ " + safe.Line(other, 24) + ")"
	}
	one, several, title := "proposal waits", "proposals wait", safe.Line(w.Title, max(10, m.width/4))
	if m.width < 64 {
		one, several, title = "waits", "wait", safe.Line(w.Title, 16)
	} else {
		title += " by " + from
	}
	count := len(m.store.Queue())
	if !call && !reject {
		return dim.Render(cut(fmt.Sprintf(" %s for others: %s", plural(count, one, several), title), m.width))
	}
	key, verb := "a", " to approve"
	if !call {
		key, verb = "r", " to reject"
	}
	text, keys := fmt.Sprintf(" %s: %s", plural(count, one, several), title), " — "+press(key)
	if m.width >= 64 {
		keys += verb
	}
	const also = ", r to reject"
	if call && reject && m.focus == onStream && m.width >= max(80, lipgloss.Width(text+keys+also)) {
		keys += also
	}
	return alert.Render(pad(cut(text, m.width-lipgloss.Width(keys))+keys, m.width))
}

// hint says what keys do here.
func (m *Model) hint() string {
	switch m.focus {
	case onComposer:
		if m.within != nil {
			return "in " + safe.Line(m.within.ID, 30) + " · Enter sends · Tab completes · Esc back"
		}
		if m.width < 64 {
			return "Enter sends · Tab completes · Esc back"
		}
		return "Enter sends · Alt-Enter new line · Tab completes · Esc back · Ctrl-C leaves"
	case onFilter:
		return "words, from:ID kind:KIND in:THREAD state:STATE · Enter keeps · Esc clears"
	case onThreads:
		return "Enter that one alone · z fold · Esc back"
	case onPeople:
		return "Enter what concerns them · Esc back"
	case onQueue:
		return m.queueHint()
	case onResults:
		return "Enter all of it · Esc back"
	case onPage:
		return "↑↓ PgUp PgDn read · Esc back"
	case onForm:
		return m.formHint()
	}
	if m.width < 64 {
		return "i write · / command · ? keys"
	}
	return "i write · / command · Enter open · f filter · t threads · p people · ? keys"
}
