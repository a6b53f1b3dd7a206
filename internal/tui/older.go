package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyhq/parley/client"
)

// mostOlder is how much of the past is read at once.
const mostOlder = 500

// older reads what happened before the first row, for whoever goes on upwards there.
func (m *Model) older() tea.Cmd {
	first, room := m.store.First(), min(m.store.Room(), mostOlder)
	switch {
	case m.reading:
		return nil
	case first <= 1:
		m.say("This is where the record begins.")
		return nil
	case room < 1:
		m.say("No more is kept here: /search and parley log reach further back.")
		return nil
	}
	m.reading = true
	m.say("Reading what was before…")
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		list, err := m.room.Search(ctx, &client.Query{Before: first, Limit: room, Descending: true})
		return func(m *Model) tea.Cmd {
			m.reading, m.notice = false, nil
			switch {
			case err != nil:
				m.fail(err)
			case m.store.First() != first: // it began anew, or went on so far
			case len(list) == 0:
				m.say("This is where the record begins, or where retention has cut it.")
			default:
				slices.Reverse(list)
				m.store.Before(list)
				m.stream.show(m.stream.filter)
				m.stream.move(-1)
			}
			return nil
		}
	})
}
