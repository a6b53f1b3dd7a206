package tui

import (
	"slices"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/tui/store"
)

// chosen are the proposals of the queue that are to be rejected at once, by their ids.
type chosen struct {
	ids  map[string]bool
	last string // that was chosen or let go last
}

// keep lets go of what is no longer listed.
func (c *chosen) keep(list []*store.Waiting) {
	if len(c.ids) == 0 {
		return
	}
	listed := map[string]bool{}
	for _, w := range c.of(list) {
		listed[w.ID] = true
	}
	c.ids = listed
}

// of are those of a list that are chosen.
func (c *chosen) of(list []*store.Waiting) []*store.Waiting {
	return filtered(list, func(w *store.Waiting) bool { return c.ids[w.ID] })
}

func filtered(list []*store.Waiting, fits func(w *store.Waiting) bool) []*store.Waiting {
	return slices.DeleteFunc(slices.Clone(list), func(w *store.Waiting) bool { return !fits(w) })
}

// toggle chooses one, or lets it go; upTo all between it and the last one.
func (c *chosen) toggle(list []*store.Waiting, id string, upTo bool) {
	find := func(id string) int {
		return slices.IndexFunc(list, func(w *store.Waiting) bool { return w.ID == id })
	}
	at := find(id)
	from := at
	if last := find(c.last); upTo && last >= 0 {
		from = last
	}
	on := !c.ids[id]
	for _, w := range list[min(at, from) : max(at, from)+1] {
		c.set(w.ID, on)
	}
	c.last = id
}

func (c *chosen) set(id string, on bool) {
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	if on {
		c.ids[id] = true
	} else {
		delete(c.ids, id)
	}
}

func (c *chosen) add(list []*store.Waiting) {
	for _, w := range list {
		c.set(w.ID, true)
	}
}

// alike reports whether two proposals ask the same of the same.
func alike(a, b *store.Waiting) bool { return a.Kind == b.Kind && slices.Equal(a.To, b.To) }

// listed are the proposals that the queue shows.
func (m *Model) listed() []*store.Waiting {
	queue := m.store.Queue()
	return queue[:min(len(queue), mostQueued)]
}

// rejectable are those that we may reject. Our own ones are not listed.
func (m *Model) rejectable() []*store.Waiting {
	return filtered(m.listed(), func(w *store.Waiting) bool {
		_, reject := m.may(parley.SplitKind(w.Kind), w.From, nil)
		return reject
	})
}

// chooseKey chooses in the queue, and reports whether the key meant that.
func (m *Model) chooseKey(name string) bool {
	switch name {
	case "x", "X", "b", "l":
		m.choose(name)
	case "R":
		m.openBulk()
	case "esc":
		if len(m.chosen.ids) == 0 {
			return false
		}
		m.chosen = chosen{}
	default:
		return false
	}
	m.fillMenu()
	return true
}

func (m *Model) choose(name string) {
	if m.now().Sub(m.menu.moved) < unread {
		m.menu.moved = time.Time{}
		m.say("The one that was here has just gone: once more chooses this one.")
		return
	}
	list := m.rejectable()
	at := slices.IndexFunc(list, func(w *store.Waiting) bool { return w.ID == m.menu.picked() })
	if at < 0 {
		m.say("You may not reject this one.")
		return
	}
	switch one := list[at]; name {
	case "b":
		m.chosen.add(filtered(list, func(w *store.Waiting) bool { return w.From == one.From }))
	case "l":
		m.chosen.add(filtered(list, func(w *store.Waiting) bool { return alike(w, one) }))
	default:
		m.chosen.toggle(list, one.ID, name == "X")
	}
}
