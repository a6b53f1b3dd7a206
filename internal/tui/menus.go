package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/safe"
	"github.com/parleyhq/parley/internal/tui/store"
)

// openMenu shows the threads or the people.
func (m *Model) openMenu(of focus) {
	m.focus, m.menuOf = of, of
	m.menu = &menu{}
	m.fillMenu()
}

// fillMenu keeps a list that is open current.
func (m *Model) fillMenu() {
	switch {
	case m.menu == nil:
	case m.menuOf == onThreads:
		m.menu.title, m.menu.empty = "Threads", "None yet."
		m.menu.keep(m.threadItems(m.width), m.now())
	case m.menuOf == onPeople:
		m.menu.title, m.menu.empty = "Here now", "Nobody."
		m.menu.keep(m.peopleItems(m.width), m.now())
	case m.menuOf == onQueue:
		m.chosen.keep(m.listed())
		m.menu.title, m.menu.empty = m.queueTitle(), "Nothing waits for a decision."
		m.menu.keep(m.queueItems(), m.now())
	}
}

func (m *Model) threadItems(width int) []item {
	var list []item
	for _, c := range m.store.Contexts() {
		sign := "▾ "
		if m.stream.folded[c.ID] {
			sign = "▸ "
		}
		name := c.ID
		if c.Type != "" {
			name = c.Type + " " + c.ID
		}
		count := grouped(c.Count)
		switch {
		case width < 40: // beside the stream
			name = c.ID
		case c.Concluded:
			count += " concluded"
		}
		list = append(list, item{c.ID, sign + safe.Line(name, max(8, width-9-len(count))), count})
	}
	return list
}

func (m *Model) peopleItems(width int) []item {
	var list []item
	for _, id := range m.store.People() {
		text := m.stream.name(id)
		if id == m.store.Me {
			text += dim.Render(" (you)")
		}
		n := 0
		for _, t := range m.store.Tools() {
			if t.Participant == id {
				n++
			}
		}
		it := item{key: id, text: text}
		if n > 0 {
			it.note = plural(n, "tool", "tools")
		}
		list = append(list, it)
	}
	return list
}

// mostQueued is how many proposals are listed.
const mostQueued = 500

func (m *Model) queueItems() []item {
	var list []item
	for _, w := range m.listed() {
		list = append(list, item{w.ID, m.mark(w.ID) + m.waitingLine(w), ago(w.Opened, m.now())})
	}
	return list
}

// waitingLine is a proposal in a line: what, by whom, and with what.
func (m *Model) waitingLine(w *store.Waiting) string {
	return bold.Render(safe.Line(w.Title, max(8, m.width/3))) + " by " + m.stream.name(w.From) + dim.Render(" "+safe.Line(w.Sample, max(8, m.width/2)))
}

func (m *Model) menuKey(name string) tea.Cmd {
	if m.menu.key(name, m.body()-2) {
		return nil
	}
	if m.focus == onQueue && m.chooseKey(name) {
		return nil
	}
	key := m.menu.picked()
	switch name {
	case "esc", "t", "p", "q":
		m.closeMenu()
	case "a":
		if m.focus == onQueue && key != "" {
			m.menu = nil
			return m.decide(key, approving)
		}
	case "?":
		m.openKeys()
	case "i":
		m.closeMenu()
		return m.write("")
	case "space", "z", "left", "right":
		if m.focus == onThreads && key != "" {
			m.stream.toggle(key)
			m.fillMenu()
		}
	case "enter", "o":
		return m.pick(key)
	}
	return nil
}

func (m *Model) closeMenu() { m.focus, m.menu = onStream, nil }

// pick does what a list is there for: it shows a thread alone, or what concerns
// somebody, or all of what was found.
func (m *Model) pick(key string) tea.Cmd {
	if key == "" {
		return nil
	}
	f := m.stream.filter
	switch m.focus {
	case onResults:
		m.back = onResults
		return m.readAll(key)
	case onQueue:
		m.menu = nil
		return m.decide(key, looking)
	case onThreads:
		f.Context = key
		delete(m.stream.folded, key)
	case onPeople:
		f.From = key
	}
	m.closeMenu()
	m.stream.show(f)
	return nil
}

// mostFound is how many results of a search are listed.
const mostFound = 200

// search looks for words in what is on record, and lists the newest that have them.
func (m *Model) search(words string) tea.Cmd {
	m.say("Searching…")
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		found, err := m.room.Search(ctx, &client.Query{Text: words, Descending: true, Limit: mostFound})
		return func(m *Model) tea.Cmd {
			m.notice = nil
			if err != nil {
				m.fail(err)
				return nil
			}
			m.stopWriting()
			m.focus, m.menuOf = onResults, onResults
			m.menu = &menu{title: fmt.Sprintf("%s with %q, the newest first", plural(len(found), "message", "messages"), words), empty: "Nothing on record has all of these words."}
			if len(found) == mostFound {
				m.menu.title = fmt.Sprintf("The newest %d with %q", mostFound, words)
			}
			m.menu.title = safe.Line(m.menu.title, m.width)
			for _, e := range found {
				m.menu.items = append(m.menu.items, item{e.ID, m.resultLine(e), fmt.Sprintf("#%d", e.Seq)})
			}
			return nil
		}
	})
}

func (m *Model) resultLine(e *parley.Envelope) string {
	at := dim.Render(e.TS.In(m.stream.zone).Format("01-02 15:04") + " ")
	said := store.Words(e)
	if k := parley.SplitKind(e.Kind); k.Type != parley.KindChat {
		said = strings.TrimPrefix(k.Type, "mcp/") + ": " + said
	}
	return at + m.stream.name(e.From) + " " + safe.Line(said, max(10, m.width))
}

// open shows all of a row: a proposal that waits with what can be done about it.
func (m *Model) open(r *store.Row) tea.Cmd {
	switch {
	case r == nil || r.ID == "":
		return nil
	case r.Context != "" && m.stream.folded[r.Context]:
		m.stream.toggle(r.Context)
		return nil
	case r.Type == store.Proposal && r.State == store.Open:
		return m.decide(r.ID, looking)
	}
	m.back = onStream
	return m.readAll(r.ID)
}
