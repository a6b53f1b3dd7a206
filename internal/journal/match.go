package journal

import (
	"slices"

	"github.com/parleyhq/parley"
)

// Matcher decides whether a record is one that a query asks for, its place
// (After, Before, Limit, Newest) aside. Backends share it, so that all mean
// the same by a query.
type Matcher struct {
	q        Query
	kinds    parley.Capabilities
	words    []string
	contexts map[string]struct{} // where there are more than a few
}

// fewContexts are found faster in a list than in a set.
const fewContexts = 8

// NewMatcher prepares a query: invalid_argument where it cannot be understood.
func NewMatcher(q Query) (*Matcher, error) {
	m := &Matcher{q: q, words: Words(q.Text)}
	if len(q.Contexts) > fewContexts {
		m.contexts = make(map[string]struct{}, len(q.Contexts))
		for _, id := range q.Contexts {
			m.contexts[id] = struct{}{}
		}
	}
	for _, text := range q.Kinds {
		p, err := parseKindPattern(text)
		if err != nil {
			return nil, err
		}
		m.kinds = append(m.kinds, p)
	}
	return m, nil
}

// Header reports whether everything but the body is as the query asks.
func (m *Matcher) Header(r *Record) bool {
	q := &m.q
	return (q.Chain || r.Type == Admitted) &&
		(q.ID == "" || q.ID == r.ID) &&
		(q.From == "" || q.From == r.From) &&
		(q.To == "" || slices.Contains(r.To, q.To)) &&
		(len(q.Contexts) == 0 || m.inContext(r.Context)) &&
		(q.Correlation == "" || slices.Contains(r.Correlations, q.Correlation)) &&
		(q.Since.IsZero() || !r.TS.Before(q.Since)) &&
		(q.Until.IsZero() || r.TS.Before(q.Until)) &&
		m.kind(r)
}

func (m *Matcher) inContext(id string) bool {
	if m.contexts == nil {
		return slices.Contains(m.q.Contexts, id)
	}
	_, in := m.contexts[id]
	return in
}

func (m *Matcher) kind(r *Record) bool {
	if len(m.kinds) == 0 {
		return true
	}
	return m.kindIs(r.Kind) || r.Effective != r.Kind && m.kindIs(r.Effective)
}

func (m *Matcher) kindIs(kind string) bool {
	a := parley.Action{Kind: parley.SplitKind(kind)}
	return slices.ContainsFunc(m.kinds, func(p parley.Capability) bool { return p.Matches(&a) })
}

// Body reports whether the record's text holds all words that are asked for.
func (m *Matcher) Body(r *Record) bool {
	if m.q.Text == "" {
		return true
	}
	if len(m.words) == 0 {
		return false
	}
	missing := make(map[string]bool, len(m.words))
	for _, w := range m.words {
		missing[w] = true
	}
	for w := range RecordWords(r) {
		delete(missing, w)
		if len(missing) == 0 {
			return true
		}
	}
	return false
}

// parseKindPattern reads a pattern of section 4 of the contract. It selects
// what a grant of it would allow, so denials mean nothing here.
func parseKindPattern(text string) (parley.Capability, error) {
	c, err := parley.ParseCapability(text)
	if err != nil {
		return c, err
	}
	if c.Deny() || text[0] == '{' {
		return c, parley.Errorf(parley.InvalidArgument, "%.80q is not a pattern of kinds", text).
			WithHint("write one like chat or mcp/request:tools/call:*")
	}
	return c, nil
}
