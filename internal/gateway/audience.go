package gateway

import (
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// What it costs to find who receives a frame. A matter that was asked for
// before costs nothing beyond the receivers. A new one is held once against
// every group: at most groupsEach of each participant, mostGroups altogether,
// each with patterns of filterBytes, and mostPatterns in all of them. Who brings
// more is woken by every frame, and sorts on its own time.
const (
	groupsEach   = 8
	mostGroups   = 1_024
	mostPatterns = 4_096
	mostMatters  = 256
	filterBytes  = 4 << 10
)

// audience is parked cursors, in groups of those that want the same. Whoever is
// named in to is found by name.
type audience struct {
	everyone *group // whom any frame wakes
	groups   map[string]*group
	list     []*group       // the same in the order in which they came; nil where one is gone
	gone     int            // so many
	patterns int            // of all groups
	brought  map[string]int // groups, by who brought them
	named    map[string]*namesakes
	known    map[matter]*receivers
}

// group is cursors that want the same, their names aside.
type group struct {
	key      string
	filter   *space.Filter
	contexts space.ContextFilter
	by       string // who brought it
	patterns int    // of its filter
	place    int    // in the list
	cursors  int    // that belong to it, parked or not
	members  []*cursor
}

// namesakes are the parked cursors of one participant, those in everyone aside.
type namesakes struct{ cursors []*cursor }

// matter is what a group's filter looks at, contexts aside: of these there may be
// one for each envelope.
type matter struct {
	kind, effective parley.Kind
	gateway         bool // from it
	addressed       bool // to somebody
}

// receivers are the groups that receive a matter, of so many in the list.
type receivers struct {
	groups []*group
	asked  int
}

func newAudience() *audience {
	return &audience{
		everyone: &group{},
		groups:   make(map[string]*group),
		brought:  make(map[string]int),
		named:    make(map[string]*namesakes),
		known:    make(map[matter]*receivers),
	}
}

// groupKey is the same for settings that mean the same; "" for those that let
// everything through.
func groupKey(set space.Settings) string {
	var b strings.Builder
	if set.Directed {
		b.WriteByte('d')
	}
	if set.PresenceOff {
		b.WriteByte('p')
	}
	if !set.Contexts.All() {
		b.WriteByte('c')
		b.WriteString(set.Contexts.String())
	}
	for _, k := range set.Kinds {
		b.WriteByte(0)
		b.WriteString(k.String())
	}
	return b.String()
}

// groupOf is the group that a cursor belongs to, from its first call until
// forget.
func (a *audience) groupOf(c *cursor) *group {
	if c.group != nil {
		return c.group
	}
	g := a.groups[c.key]
	switch {
	case c.key == "", g == nil && a.full(c):
		g = a.everyone
	case g == nil:
		set := c.settings
		set.Contexts = space.ContextFilter{} // held against each envelope, and not against its matter
		g = &group{key: c.key, filter: space.NewFilter("", set), contexts: c.settings.Contexts, by: c.me, patterns: patternsOf(c.settings), place: len(a.list)}
		a.groups[c.key] = g
		a.list = append(a.list, g)
		a.brought[c.me]++
		a.patterns += g.patterns
	}
	c.group = g
	g.cursors++
	return g
}

// full reports whether there is no room for another group, which the cursor
// would bring.
func (a *audience) full(c *cursor) bool {
	return len(a.groups) == mostGroups || a.brought[c.me] == groupsEach || a.patterns+patternsOf(c.settings) > mostPatterns
}

func patternsOf(set space.Settings) int { return len(set.Kinds) + len(set.Contexts.Names()) }

// forget takes a cursor that is not parked out of its group.
func (a *audience) forget(c *cursor) {
	g := c.group
	if g == nil {
		return
	}
	c.group = nil
	if g.cursors--; g.cursors > 0 || g == a.everyone {
		return
	}
	delete(a.groups, g.key)
	a.patterns -= g.patterns
	if a.brought[g.by]--; a.brought[g.by] == 0 {
		delete(a.brought, g.by)
	}
	a.list[g.place] = nil
	if a.gone++; a.gone > len(a.list)/2 {
		a.compact()
	}
}

// compact forgets groups that are gone, and what is known of any.
func (a *audience) compact() {
	list := a.list[:0]
	for _, g := range a.list {
		if g != nil {
			g.place = len(list)
			list = append(list, g)
		}
	}
	clear(a.list[len(list):])
	a.list, a.gone = list, 0
	clear(a.known)
}

// add parks a cursor in a group.
func (a *audience) add(c *cursor, g *group) {
	c.parked, c.index = g, len(g.members)
	g.members = append(g.members, c)
	if g == a.everyone {
		return
	}
	n := a.named[c.me]
	if n == nil {
		n = new(namesakes)
		a.named[c.me] = n
	}
	c.named = len(n.cursors)
	n.cursors = append(n.cursors, c)
}

// remove unparks a cursor.
func (a *audience) remove(c *cursor) {
	g := c.parked
	c.parked = nil
	g.members = swapOut(g.members, c.index, func(o *cursor) { o.index = c.index })
	if g == a.everyone {
		return
	}
	n := a.named[c.me]
	n.cursors = swapOut(n.cursors, c.named, func(o *cursor) { o.named = c.named })
	if len(n.cursors) == 0 {
		delete(a.named, c.me)
	}
}

// swapOut takes one out of a list whose order does not matter; moved is told of
// the one that comes in its place.
func swapOut(list []*cursor, i int, moved func(*cursor)) []*cursor {
	last := len(list) - 1
	list[i] = list[last]
	moved(list[i])
	list[last] = nil
	return list[:last]
}

// take unparks whoever receives an envelope, and appends them to dst.
func (a *audience) take(dst []*cursor, h *space.Header) []*cursor {
	dst = a.takeAll(dst, a.everyone)
	for _, g := range a.receivers(h) {
		if g.contexts.Match(h.Context) {
			dst = a.takeAll(dst, g)
		}
	}
	for _, id := range h.To {
		for n := a.named[id]; n != nil && len(n.cursors) > 0; {
			dst = a.takeOne(dst, n.cursors[len(n.cursors)-1])
		}
	}
	return dst
}

func (a *audience) takeAll(dst []*cursor, g *group) []*cursor {
	for len(g.members) > 0 {
		dst = a.takeOne(dst, g.members[len(g.members)-1])
	}
	return dst
}

func (a *audience) takeOne(dst []*cursor, c *cursor) []*cursor {
	a.remove(c)
	return append(dst, c)
}

// receivers are the groups that receive an envelope, whomever it names and
// whichever its context is.
func (a *audience) receivers(h *space.Header) []*group {
	if len(a.list) == 0 {
		return nil
	}
	m := matter{h.Kind, h.Effective, h.From == parley.GatewayID, len(h.To) > 0}
	r := a.known[m]
	if r == nil {
		if len(a.known) == mostMatters {
			clear(a.known)
		}
		r = new(receivers)
		a.known[m] = r
	}
	for _, g := range a.list[r.asked:] {
		if g != nil && g.filter.Match(h) {
			r.groups = append(r.groups, g)
		}
	}
	r.asked = len(a.list)
	return r.groups
}
