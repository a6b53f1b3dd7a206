package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/tui/store"
)

// bell rings for what newly waits for us, where that is wanted. What was there when we
// came rings none, and what is already known none again.
type bell struct {
	on    bool
	after uint64    // what has a later position is news
	rung  time.Time // last
}

// betweenBells is how long it is quiet after a ring, however much comes.
const betweenBells = 2 * time.Second

// ring rings once, if some of what has just arrived waits for us: a proposal on which we
// may decide, or a question.
func (m *Model) ring(arrived []*parley.Envelope) tea.Cmd {
	b := &m.bell
	if !b.on || m.now().Sub(b.rung) < betweenBells || !slices.ContainsFunc(arrived, m.waitsForUs) {
		return nil
	}
	b.rung = m.now()
	return tea.Raw("\a")
}

func (m *Model) waitsForUs(e *parley.Envelope) bool {
	switch kind := parley.SplitKind(e.Kind); {
	case e.Seq <= m.bell.after:
		return false
	case kind.Type == parley.TypeRequest:
		return m.forms.Find(e.ID) != nil
	case kind.Type != parley.TypeProposal || !slices.ContainsFunc(m.store.Queue(), func(w *store.Waiting) bool { return w.ID == e.ID }):
		return false
	default:
		call, reject := m.may(kind, e.From, targets(m.store, e.From, e.To))
		return call || reject
	}
}
