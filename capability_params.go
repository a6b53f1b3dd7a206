package parley

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// verdict is what a pattern says of a value. A grant needs yes, a denial is
// content with doubt.
type verdict uint8

const (
	no verdict = iota
	doubt
	yes
)

func verdictOf(ok bool) verdict {
	if ok {
		return yes
	}
	return no
}

// form is the kind of a pattern in params.
type form uint8

const (
	formString form = iota
	formNumber
	formBool
	formNull
	formObject
	formAny // an array: any of these
)

// node is a pattern over one value of params.
type node struct {
	form    form
	text    glob     // formString
	number  string   // formNumber, canonical
	truth   bool     // formBool
	members []member // formObject
	any     []*node  // formAny
}

type member struct {
	name string
	node *node
}

func (n *node) has(name string) bool { return n.member(name) != nil }

func (n *node) member(name string) *node {
	for i := range n.members {
		if n.members[i].name == name {
			return n.members[i].node
		}
	}
	return nil
}

func (r *rule) judgeParams(params jsontext.Value) verdict {
	if params.Kind() != '{' {
		return doubt
	}
	return r.params.judge(params)
}

// judge descends into those members alone that the pattern names.
func (n *node) judge(v jsontext.Value) verdict {
	switch kind := v.Kind(); {
	case kind == '[':
		return n.judgeElements(v)
	case kind == '"':
		return n.judgeText(&spelling{text: unquote(v)})
	case n.form == formAny:
		best := no
		for _, alternative := range n.any {
			best = max(best, alternative.judge(v))
		}
		return best
	case n.form == formNumber && kind == '0':
		return n.judgeNumber(canonicalNumber(v))
	case n.form == formBool && (kind == 't' || kind == 'f'):
		return verdictOf(n.truth == (kind == 't'))
	case n.form == formNull && kind == 'n':
		return yes
	case n.form == formObject && kind == '{':
		return n.judgeMembers(v)
	}
	return doubt // of another type
}

// judgeElements says yes where every element does, and no where none could.
func (n *node) judgeElements(v jsontext.Value) verdict {
	least, most := yes, no
	for el := range elements(v) {
		one := doubt
		if el.Kind() != '[' {
			one = n.judge(el)
		}
		least, most = min(least, one), max(most, one)
	}
	if least == most {
		return least
	}
	return doubt // mixed, or empty
}

func (n *node) judgeMembers(v jsontext.Value) verdict {
	worst, found := yes, 0
	for name, value := range members(v) {
		if m := n.member(name); m != nil {
			worst = min(worst, m.judge(value))
			found++
		}
	}
	if found != len(n.members) {
		worst = min(worst, doubt) // absent
	}
	return worst
}

func (n *node) judgeText(s *spelling) verdict {
	switch n.form {
	case formString:
		return n.text.judge(s)
	case formAny:
		best := no
		for _, alternative := range n.any {
			best = max(best, alternative.judgeText(s))
		}
		return best
	}
	return doubt // of another type
}

func (g *glob) judge(s *spelling) verdict {
	switch {
	case g.misleads(s):
		return doubt
	case g.match(s.text):
		return yes
	case matchPieces(g.loose, s.canonical()):
		return doubt
	}
	return no
}

// judgeNumber compares canonical numbers. Those whose exponents are too long
// for arithmetic, marked x, equal their own spelling and are else in doubt.
func (n *node) judgeNumber(number string) verdict {
	if n.number != number && (strings.HasPrefix(number, "x") || strings.HasPrefix(n.number, "x")) {
		return doubt
	}
	return verdictOf(n.number == number)
}

// misleads reports whether s is a path that programs may resolve to another
// place than g, a path pattern, would read in it.
func (g *glob) misleads(s *spelling) bool {
	switch g.path {
	case slashPath:
		return strings.Contains(s.text, `\`) || s.isDoubtful()
	case anyPath:
		return s.isDoubtful()
	}
	return false
}

// spelling is a string among params, with what is costly to know of a long one
// found out at most once for all the alternatives that it is held against.
type spelling struct {
	text     string
	loose    *string
	doubtful *bool
}

func (s *spelling) canonical() string {
	if s.loose == nil {
		s.loose = new(canonicalPath(s.text))
	}
	return *s.loose
}

func (s *spelling) isDoubtful() bool {
	if s.doubtful == nil {
		s.doubtful = new(isDoubtfulPath(s.text))
	}
	return *s.doubtful
}
