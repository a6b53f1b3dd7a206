package store

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parleyhq/parley"
)

// A Context is a thread.
type Context struct {
	ID, Type, Parent string
	Count            int // envelopes that came by
	Last             uint64
	Concluded        bool // by its newest envelope but for summaries
}

// Context is one by its id, or nil.
func (s *Store) Context(id string) *Context { return s.contexts[id] }

// Contexts are the threads, that with the newest envelope first.
func (s *Store) Contexts() []*Context {
	list := make([]*Context, 0, len(s.contexts))
	for _, c := range s.contexts {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *Context) int { return cmp.Or(cmp.Compare(b.Last, a.Last), strings.Compare(a.ID, b.ID)) })
	return list
}

func (s *Store) count(e *parley.Envelope) {
	if e.Context == nil {
		return
	}
	c := s.contexts[e.Context.ID]
	if c == nil {
		if len(s.contexts) >= mostContexts {
			s.forgetContexts()
		}
		c = &Context{ID: strings.Clone(e.Context.ID), Type: brief(e.Context.Type, mostName), Parent: strings.Clone(e.Context.Parent)}
		s.contexts[c.ID] = c
	}
	c.Count++
	c.Last = e.Seq
	if !sumsUp(e) {
		c.Concluded = e.Kind == conclusion
	}
}

const conclusion = "conclusion"

// sumsUp reports whether an envelope is a summary of its thread, by the rule of the
// record, internal/journal, which a terminal does without: it takes the place of no
// decision.
func sumsUp(e *parley.Envelope) bool {
	of, _ := parley.MemberString(e.Context.Metadata, "summary_of")
	return e.Kind == conclusion && of == e.Context.ID
}

// forgetContexts drops the tenth that was quiet for longest.
func (s *Store) forgetContexts() {
	list := s.Contexts()
	for _, c := range list[len(list)-mostContexts/10:] {
		delete(s.contexts, c.ID)
	}
}
