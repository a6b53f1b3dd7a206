package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyhq/parley/internal/tui/store"
)

// key takes a key to where keys go. Ctrl-C leaves from everywhere.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name == "ctrl+c" {
		return m.leave()
	}
	m.notice = nil
	switch name {
	case "ctrl+z":
		return tea.Suspend
	case "ctrl+l":
		return tea.ClearScreen
	case "f1":
		m.openKeys()
		return nil
	}
	switch m.focus {
	case onComposer:
		return m.composerKey(k)
	case onFilter:
		return m.filterKey(k)
	case onDecision:
		return m.decisionKey(k)
	case onForm:
		return m.formKey(k)
	case onThreads, onPeople, onQueue, onResults:
		return m.menuKey(name)
	case onBulk:
		return m.bulkKey(k)
	case onPage:
		return m.pageKey(name)
	}
	return m.streamKey(name, k)
}

func (m *Model) streamKey(name string, k tea.KeyPressMsg) tea.Cmd {
	if m.stream.at <= 0 && slices.Contains([]string{"up", "k", "pgup", "ctrl+b", "home", "g"}, name) {
		return m.older()
	}
	if m.navigate(name) {
		return nil
	}
	r := m.stream.current()
	switch name {
	case "enter":
		return m.open(r)
	case "a":
		return m.decideNext(approving)
	case "r":
		return m.decideNext(refusing)
	case "m":
		return m.decideNext(editing)
	case "n":
		return m.decideNext(looking)
	case "e":
		return m.openForm()
	case "i":
		return m.write("")
	case "/":
		return m.write("/")
	case "f":
		m.openFilter()
	case "z", "left", "right":
		if r != nil {
			m.stream.toggle(r.Context)
		}
	case "o":
		m.alone(r)
	case "t":
		m.openMenu(onThreads)
	case "p":
		m.openMenu(onPeople)
	case "q":
		m.openMenu(onQueue)
	case "esc":
		if !m.stream.filter.Empty() {
			m.stream.show(store.Filter{})
		}
	case "?":
		m.openKeys()
	case "v":
		return m.verify()
	case "M":
		m.mouse = !m.mouse
		m.say(map[bool]string{true: "The mouse scrolls and picks. M gives it back to the terminal.", false: "The mouse is the terminal's."}[m.mouse])
	case "ctrl+d":
		return m.leave()
	default:
		if k.Text != "" {
			m.say("i writes to the room, / begins a command, ? shows all keys, Ctrl-C leaves.")
		}
	}
	return nil
}

func (m *Model) navigate(name string) bool {
	switch name {
	case "up", "k":
		m.stream.move(-1)
	case "down", "j":
		m.stream.move(1)
	case "pgup", "ctrl+b":
		m.stream.page(-1)
	case "pgdown", "ctrl+f", "space":
		m.stream.page(1)
	case "home", "g":
		m.stream.oldest()
	case "end", "G":
		m.stream.newest()
	default:
		return false
	}
	return true
}

// alone shows the thread of a row, or everything again.
func (m *Model) alone(r *store.Row) {
	f := m.stream.filter
	if f.Context != "" {
		f.Context = ""
	} else if r != nil {
		f.Context = r.Context
	}
	m.stream.show(f)
}

func (m *Model) openFilter() {
	m.focus = onFilter
	m.filter.set(m.stream.filter.String())
	m.filter.focus(true)
}

// filterKey filters as one types.
func (m *Model) filterKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		if _, err := store.ReadFilter(m.filter.Value()); err != nil {
			m.fail(err)
			return nil
		}
		m.closeFilter()
		return nil
	case "esc":
		m.filter.set("")
		m.stream.show(store.Filter{})
		m.closeFilter()
		return nil
	}
	cmd := m.filter.update(k)
	m.applyFilter()
	return cmd
}

func (m *Model) closeFilter() {
	m.filter.focus(false)
	m.focus = onStream
}

func (m *Model) applyFilter() {
	f, err := store.ReadFilter(m.filter.Value())
	if err != nil {
		m.fail(err)
		return
	}
	m.stream.show(f)
}

// paste goes where text goes.
func (m *Model) paste(p tea.PasteMsg) tea.Cmd {
	switch {
	case m.focus == onComposer:
		return m.composer.update(p)
	case m.focus == onFilter:
		cmd := m.filter.update(p)
		m.applyFilter()
		return cmd
	case m.focus == onDecision && m.decision.step == editing && m.decision.amend != nil:
		return m.decision.amend.page.update(p)
	case m.focus == onDecision && m.decision.step == refusing:
		return m.decision.reject.line.update(p)
	case m.focus == onBulk && m.bulk.given == nil:
		return m.bulk.reject.line.update(p)
	case m.focus == onForm:
		return m.fillPaste(p)
	}
	m.say("Nothing takes text here: i writes to the room.")
	return nil
}

func (m *Model) wheel(msg tea.MouseWheelMsg) {
	by := map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[msg.Button]
	name := map[int]string{-1: "up", 1: "down"}[by]
	switch m.focus {
	case onStream, onComposer, onFilter:
		m.stream.move(by)
	case onPage:
		m.page.key(name, m.body())
	case onDecision:
		m.decision.pager.key(name, m.decisionRoom())
	case onThreads, onPeople, onQueue, onResults:
		m.menu.key(name, m.body())
	case onBulk:
		m.bulk.pager.key(name, m.bulkRoom())
	}
}

// click picks what is clicked at.
func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	if msg.Button != tea.MouseLeft || m.focus != onStream && m.focus != onComposer {
		return nil
	}
	if at, ok := m.stream.rowAt(msg.Y - 1); ok {
		m.stream.at, m.stream.stuck = at, at == len(m.stream.view)-1
		return nil
	}
	if msg.Y == 1+m.body() && len(m.store.Queue()) > 0 {
		return m.decideNext(looking)
	}
	return nil
}

// rowAt is the row at a line of the stream.
func (s *stream) rowAt(line int) (at int, ok bool) {
	if line < 0 || line >= s.height || len(s.view) == 0 {
		return 0, false
	}
	used := -s.topLine
	for i := s.top; i < len(s.view); i++ {
		if used += len(s.lines(i)); line < used {
			return i, true
		}
	}
	return 0, false
}
