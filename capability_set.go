package parley

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Capabilities is what one participant may send. Order does not count: a
// denial wins over any number of grants, wherever it stands.
type Capabilities []Capability

// ParseCapabilities compiles a list of patterns and stops at the first that is
// wrong.
func ParseCapabilities(patterns ...string) (Capabilities, error) {
	set := make(Capabilities, 0, len(patterns))
	for _, p := range patterns {
		c, err := ParseCapability(p)
		if err != nil {
			return nil, err
		}
		set = append(set, c)
	}
	return set, nil
}

// AppendJSON appends the set as a JSON array of what was written.
func (s Capabilities) AppendJSON(dst []byte) []byte {
	dst = append(dst, '[')
	for i, c := range s {
		if i > 0 {
			dst = append(dst, ',')
		}
		raw, _ := c.MarshalJSON() // what was parsed marshals
		dst = append(dst, raw...)
	}
	return append(dst, ']')
}

// Allow reports whether the set lets its owner send a. An empty set allows
// nothing, and no set allows system/* or a SUBJECT that [CheckSubject] refuses.
func (s Capabilities) Allow(a *Action) bool { return s.extent(a, false) == Always }

// Extent says for how many params of a call a set allows it.
type Extent int

// The extents, from less to more.
const (
	Never     Extent = iota // whatever the params are
	Sometimes               // it depends on the params, or may
	Always                  // whatever the params are
)

// Extent says whether the set lets its owner send a, whose Params are not known
// yet and are not looked at: what a list of calls goes by. Where it is Never,
// [Capabilities.Allow] is false whatever the params turn out to be, and where it
// is Always, Allow is true.
func (s Capabilities) Extent(a *Action) Extent { return s.extent(a, true) }

// extent is the one decision. Where the params are known it is Never or Always.
func (s Capabilities) extent(a *Action, unknown bool) Extent {
	if strings.HasPrefix(a.Kind.Type, systemPrefix) || hasDotSubject(a.Kind) {
		return Never
	}
	subject := meantSubject(a.Kind)
	granted, most := Never, Always
	for _, c := range s {
		switch {
		case c.r == nil:
		case c.r.deny:
			switch c.r.denial(a, false, unknown) {
			case Always:
				return Never
			case Sometimes:
				most = Sometimes
			}
		case granted < Always:
			granted = max(granted, c.r.grant(a, subject, unknown))
		}
	}
	return min(granted, most)
}

// CheckParams refuses, with kind_mismatch, params that have a member whose name
// equals one that a capability for this kind looks at but for case (section 3
// of the contract): a server that ignores case would read what the capability
// did not see.
func (s Capabilities) CheckParams(a *Action) error {
	for _, c := range s {
		if c.r == nil || c.r.params == nil || !c.r.speaksOf(a.Kind) {
			continue
		}
		if err := c.r.params.checkNames("params", a.Params); err != nil {
			return err
		}
	}
	return nil
}

// speaksOf reports whether the kind's pattern could be about k.
func (r *rule) speaksOf(k Kind) bool {
	return r.typ.match(k.Type) && r.method.match(k.Method) && r.deniesSubject(k)
}

func (n *node) checkNames(where string, v jsontext.Value) error {
	switch {
	case n.form == formAny:
		for _, alternative := range n.any {
			if err := alternative.checkNames(where, v); err != nil {
				return err
			}
		}
	case n.form != formObject:
	case v.Kind() == '[':
		for el := range elements(v) {
			if el.Kind() != '{' {
				continue
			}
			if err := n.checkNames(where, el); err != nil {
				return err
			}
		}
	case v.Kind() == '{':
		return n.checkMembers(where, v)
	}
	return nil
}

func (n *node) checkMembers(where string, v jsontext.Value) error {
	for name, value := range members(v) {
		for i := range n.members {
			m := &n.members[i]
			if name == m.name {
				if err := m.node.checkNames(where+"."+name, value); err != nil {
					return err
				}
			} else if strings.EqualFold(name, m.name) && !n.has(name) {
				return caseMismatch(where, name, m.name)
			}
		}
	}
	return nil
}
