package parley

import (
	"slices"
	"strings"
)

// Covers reports whether the set allows everything that c allows. It decides
// who may grant what: a grant may give nothing that its grantor lacks, and a
// wildcard over one's own denial is not covered.
//
// It never says true wrongly. It says false where only several grants together
// would cover c, for a denial, and for what no set can allow.
func (s Capabilities) Covers(c Capability) bool {
	if c.r == nil || c.r.deny || c.GrantsSystem() {
		return false
	}
	covered := false
	for _, own := range s {
		switch {
		case own.r == nil:
		case own.r.deny:
			if own.r.mayDeny(c.r) {
				return false
			}
		case !covered:
			covered = own.r.includes(c.r)
		}
	}
	return covered
}

// includes reports whether the grant r allows all that the grant c does.
func (r *rule) includes(c *rule) bool {
	return r.typ.includes(&c.typ) &&
		r.method.includes(&c.method) &&
		r.subject.includes(&c.subject) &&
		(r.context == nil || c.context != nil && r.context.includes(c.context)) &&
		(r.to == nil || c.to != nil && allIncluded(r.to, c.to)) &&
		(r.params == nil || c.params != nil && r.params.includes(c.params))
}

// includes reports whether every text that c matches is matched by g. A byte
// that no text has stands for whatever a star of c may match: only a star of g
// matches that byte, and such a star matches anything in its place.
func (g *glob) includes(c *glob) bool {
	return matchPieces(g.pieces, strings.Join(c.pieces, "\xff"))
}

func allIncluded(broad, narrow []glob) bool {
	for i := range narrow {
		if !anyIncludes(broad, &narrow[i]) {
			return false
		}
	}
	return true
}

func anyIncludes(broad []glob, g *glob) bool {
	for i := range broad {
		if broad[i].includes(g) {
			return true
		}
	}
	return false
}

// includes reports whether n says yes to every value that c says yes to.
func (n *node) includes(c *node) bool {
	switch {
	case c.form == formAny:
		for _, alternative := range c.any {
			if !n.includes(alternative) {
				return false
			}
		}
		return true
	case n.form == formAny:
		return slices.ContainsFunc(n.any, func(one *node) bool { return one.includes(c) })
	case n.form != c.form:
		return false
	}
	switch n.form {
	case formString:
		return n.text.includes(&c.text) // and so c is as careful with paths: it has the slashes of n
	case formNumber:
		return n.number == c.number
	case formBool:
		return n.truth == c.truth
	case formObject:
		return n.includesMembers(c)
	default:
		return true
	}
}

func (n *node) includesMembers(c *node) bool {
	for i := range n.members {
		m := c.member(n.members[i].name)
		if m == nil || !n.members[i].node.includes(m) {
			return false
		}
	}
	return true
}

// mayDeny reports whether the denial r could match anything that the grant c
// allows. It never says false wrongly.
func (r *rule) mayDeny(c *rule) bool {
	return r.typ.overlaps(&c.typ) &&
		r.method.overlaps(&c.method) &&
		r.subject.overlapsLoosely(&c.subject) &&
		(r.context == nil || c.context == nil || r.context.overlaps(c.context)) &&
		(r.to == nil || c.to == nil || anyOverlaps(r.to, c.to)) &&
		(r.params == nil || c.params == nil || r.params.mayDeny(c.params))
}

func anyOverlaps(a, b []glob) bool {
	for i := range a {
		for j := range b {
			if a[i].overlaps(&b[j]) {
				return true
			}
		}
	}
	return false
}

// overlaps reports whether some text is matched by both patterns.
func (g *glob) overlaps(c *glob) bool { return overlapPieces(g.pieces, c.pieces) }

// overlapsLoosely reports whether g matches, loosely, some text that c matches.
func (g *glob) overlapsLoosely(c *glob) bool {
	if len(c.pieces) == 1 {
		return g.matchLoosely(c.pieces[0])
	}
	return overlapPieces(g.pieces, c.pieces) || overlapPieces(g.loose, loosen(c.pieces))
}

// overlapPieces is exact. Between two patterns that both have a star nothing
// but the anchored ends can disagree: what stands between them in the one finds
// room in a star of the other.
func overlapPieces(p, q []string) bool {
	switch {
	case len(p) == 1:
		return matchPieces(q, p[0])
	case len(q) == 1:
		return matchPieces(p, q[0])
	}
	first, last := p[0], p[len(p)-1]
	otherFirst, otherLast := q[0], q[len(q)-1]
	return (strings.HasPrefix(first, otherFirst) || strings.HasPrefix(otherFirst, first)) &&
		(strings.HasSuffix(last, otherLast) || strings.HasSuffix(otherLast, last))
}

// loosen makes a pattern that matches the canonical form of every text that
// pieces match, and more. After a star a piece may lose the hexadecimal digits
// it starts with to a percent sign before them, and then a slash to a slash
// before it; of a piece that has a percent sign itself nothing is certain.
func loosen(pieces []string) []string {
	loose := make([]string, len(pieces))
	for i, p := range pieces {
		if strings.Contains(p, "%") {
			continue
		}
		if i > 0 {
			p = strings.TrimLeft(p, "0123456789abcdefABCDEF")
			p = strings.TrimLeft(p, `/\`)
		}
		loose[i] = canonicalPath(p)
	}
	return loose
}

// mayDeny reports whether some value that c says yes to leaves n, of a denial,
// at least in doubt.
func (n *node) mayDeny(c *node) bool {
	switch {
	case c.form == formAny:
		return slices.ContainsFunc(c.any, n.mayDeny)
	case n.form == formAny:
		return slices.ContainsFunc(n.any, func(one *node) bool { return one.mayDeny(c) })
	case n.form != c.form:
		return true // of another type
	}
	switch n.form {
	case formString:
		return n.text.mayDenyText(&c.text)
	case formNumber:
		return n.judgeNumber(c.number) != no
	case formBool:
		return n.truth == c.truth
	case formObject:
		return n.mayDenyMembers(c)
	default:
		return true
	}
}

func (g *glob) mayDenyText(c *glob) bool {
	if len(c.pieces) == 1 {
		return g.judge(&spelling{text: c.pieces[0]}) != no
	}
	return g.path > c.path || g.overlapsLoosely(c)
}

func (n *node) mayDenyMembers(c *node) bool {
	for i := range n.members {
		m := c.member(n.members[i].name)
		if m != nil && !n.members[i].node.mayDeny(m) {
			return false
		}
	}
	return true
}
