package fill

import (
	tea "charm.land/bubbletea/v2"

	"github.com/parleyhq/parley/internal/form"
)

// Update takes a message: keys and what is pasted. Others are for whoever shows the
// form.
func (m Model) Update(msg tea.Msg) (Model, tea.Cmd) {
	if m.result != nil {
		return m, nil
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		m.pending, m.note = "", ""
		return m.typed(msg)
	}
	return m, nil
}

func (m Model) key(k tea.KeyPressMsg) (Model, tea.Cmd) {
	name := k.String()
	pending := m.pending
	m.begun, m.pending, m.note = true, "", ""
	switch name {
	case "ctrl+d":
		return m.sure(Decline, pending), nil
	case "esc":
		if m.focus == onReview && len(m.entries) > 0 {
			return m.focusOn(len(m.entries) - 1), nil
		}
		return m.sure(Cancel, pending), nil
	case "pgup":
		return m.scroll(-max(m.bodyHeight()-1, 1)), nil
	case "pgdown":
		return m.scroll(max(m.bodyHeight()-1, 1)), nil
	}
	switch m.focus {
	case onReview:
		return m.reviewKey(name), nil
	case onMessage:
		return m.messageKey(name), nil
	}
	return m.entryKey(name, k)
}

// sure ends the form when the key comes again: whoever asks is told at once.
func (m Model) sure(a, pending Action) Model {
	if a == pending {
		return m.finish(a)
	}
	m.pending = a
	return m
}

func (m Model) messageKey(name string) Model {
	switch name {
	case "up":
		return m.scroll(-1)
	case "down", "space":
		if m.offset+m.bodyHeight() < len(m.message) {
			return m.scroll(1)
		}
		return m.focusOn(0)
	case "tab", "enter":
		return m.focusOn(0)
	case "ctrl+s":
		return m.toReview()
	}
	return m
}

func (m Model) reviewKey(name string) Model {
	switch name {
	case "up":
		return m.scroll(-1)
	case "down", "space":
		return m.scroll(1)
	case "home":
		return m.scroll(-m.offset)
	case "end":
		return m.scroll(len(m.review))
	case "enter", "ctrl+s":
		if m.offset+m.bodyHeight() < len(m.review) {
			m = m.scroll(m.bodyHeight())
			m.note = "there is more of it: read on, then send"
			return m
		}
		return m.finish(Accept)
	case "shift+tab":
		if len(m.entries) > 0 {
			return m.focusOn(len(m.entries) - 1)
		}
	}
	return m
}

func (m Model) entryKey(name string, k tea.KeyPressMsg) (Model, tea.Cmd) {
	e := &m.entries[m.focus]
	switch name {
	case "tab":
		return m.move(1), nil
	case "shift+tab":
		return m.move(-1), nil
	case "ctrl+s":
		return m.toReview(), nil
	case "ctrl+home":
		return m.leave().focusOn(0), nil
	case "ctrl+end":
		return m.leave().focusOn(len(m.entries) - 1), nil
	}
	if e.isTyped() {
		return m.textKey(name, k)
	}
	return m.choiceKey(name, k, e), nil
}

func (m Model) textKey(name string, k tea.KeyPressMsg) (Model, tea.Cmd) {
	switch name {
	case "enter", "down":
		return m.move(1), nil
	case "up":
		return m.move(-1), nil
	case "backspace", "delete", "ctrl+u":
		if e := &m.entries[m.focus]; e.kept {
			e.drop()
			return m, nil
		}
	}
	return m.typed(k)
}

// typed passes something on to the text that has the focus.
func (m Model) typed(msg tea.Msg) (Model, tea.Cmd) {
	if m.focus < 0 || !m.entries[m.focus].isTyped() {
		return m, nil
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	m.entries[m.focus].take(m.input.Value())
	m.loose = false
	return m.inSight(), cmd
}

func (m Model) choiceKey(name string, k tea.KeyPressMsg, e *entry) Model {
	switch name {
	case "up", "down":
		step := map[string]int{"up": -1, "down": 1}[name]
		if at := e.at + step; at < 0 || at >= len(e.choices) {
			return m.move(step)
		}
		e.at += step
	case "home":
		e.at = 0
	case "end":
		e.at = len(e.choices) - 1
	case "space":
		e.toggle()
	case "enter":
		if e.field.Kind != form.Many {
			e.toggle()
		}
		return m.move(1)
	case "backspace", "delete":
		e.drop()
	default:
		if letters := []rune(k.Text); len(letters) == 1 {
			e.jump(letters[0])
		}
		if e.field.Kind == form.YesNo && (name == "y" || name == "n") {
			e.toggle()
		}
	}
	m.loose = false
	return m.inSight()
}

// move goes to the next entry, or the one before; behind the last one, all of it is
// looked at.
func (m Model) move(step int) Model {
	m = m.leave()
	switch to := m.focus + step; {
	case to < 0 && len(m.message) > 0:
		m.input.Blur()
		m.focus, m.offset, m.loose = onMessage, 0, true
		return m
	case to < 0:
		return m
	case to >= len(m.entries):
		return m.toReview()
	default:
		return m.focusOn(to)
	}
}
