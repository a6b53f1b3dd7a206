package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// verify walks the record's hash chain, and says whether it holds.
func (m *Model) verify() tea.Cmd {
	m.say("Verifying the record…")
	if m.verifying {
		return nil
	}
	m.verifying = true
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		holds, err := m.room.Verify(ctx)
		return func(m *Model) tea.Cmd {
			m.verifying = false
			if err != nil {
				m.fail(err)
			} else {
				m.say(holds)
			}
			return nil
		}
	})
}
