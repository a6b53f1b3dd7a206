package tui

import (
	"time"

	"charm.land/lipgloss/v2"
)

// menu is a list of which one is picked.
type menu struct {
	title string
	empty string // what is said where there is nothing
	items []item
	at    int
	moved time.Time // when what stood under the cursor went
}

type item struct {
	key  string // what is picked
	text string // styled
	note string
}

// keep stands on the item where one stood before, and notes where it is gone.
func (m *menu) keep(items []item, now time.Time) {
	key := m.picked()
	m.items = items
	for i, it := range items {
		if it.key == key && key != "" {
			m.at = i
		}
	}
	m.at = max(0, min(m.at, len(items)-1))
	if key != "" && m.picked() != key {
		m.moved = now
	}
}

func (m *menu) picked() string {
	if m.at >= len(m.items) {
		return ""
	}
	return m.items[m.at].key
}

// key moves, and reports whether the key meant that.
func (m *menu) key(key string, height int) bool {
	switch key {
	case "up", "k":
		m.at--
	case "down", "j":
		m.at++
	case "pgup":
		m.at -= height
	case "pgdown":
		m.at += height
	case "home", "g":
		m.at = 0
	case "end", "G":
		m.at = len(m.items)
	default:
		return false
	}
	m.at = max(0, min(m.at, len(m.items)-1))
	return true
}

func (m *menu) draw(width, height int, cursor bool) []string {
	lines := []string{heading.Render(m.title)}
	if len(m.items) == 0 {
		lines = append(lines, dim.Render(cut(m.empty, width)))
	}
	room := max(1, height-1)
	first := max(0, min(m.at-room/2, len(m.items)-room))
	for i := first; i < len(m.items) && len(lines) < height; i++ {
		it := m.items[i]
		front := "  "
		if cursor && i == m.at {
			front = ask.Render("› ")
		}
		lines = append(lines, front+ends(it.text, dim.Render(it.note), width-lipgloss.Width(front)))
	}
	return rect(lines, height)
}
