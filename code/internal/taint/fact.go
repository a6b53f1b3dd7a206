package taint

import "strings"

// facts say that the texts cannot do what is clear.
func facts(taints []taint, clear danger) []fact {
	if len(taints) == 0 {
		return nil
	}
	out := make([]fact, len(taints))
	for i, t := range taints {
		out[i] = fact{t.id, clear}
	}
	return out
}

// common is what both say.
func common(a, b []fact) (out []fact) {
	for _, x := range a {
		for _, y := range b {
			if x.id == y.id && x.clear&y.clear != 0 {
				out = append(out, fact{x.id, x.clear & y.clear})
			}
		}
	}
	return out
}

// compare is what a comparison tells: who is equal to something known, or one of
// known things, is known.
func compare(op string, a, b *value) *value {
	if v := compareAnswer(op, a, b); v != nil {
		return v
	}
	switch op {
	case "==":
		return &value{yes: equal(a, b)}
	case "!=":
		return &value{no: equal(a, b)}
	case "in":
		return within(b, a)
	case "not in":
		v := within(b, a)
		return &value{yes: v.no, no: v.yes}
	}
	return nil
}

func equal(a, b *value) []fact {
	left, right := a.all(), b.all()
	switch {
	case len(left) > 0 && len(right) == 0:
		return facts(left, byAll)
	case len(right) > 0 && len(left) == 0:
		return facts(right, byAll)
	}
	return nil
}

// compareAnswer is for answers that say yes by a number, or are compared with
// true and false: indexOf(x) !== -1.
func compareAnswer(op string, a, b *value) *value {
	if a == nil || b == nil || len(a.yes)+len(a.no) == 0 || !b.exact {
		return nil
	}
	no := &value{yes: a.no, no: a.yes}
	switch op + b.text {
	case "==-1", "<0", "==0", "==false", "==False", "isFalse", "!=true":
		return no
	case "!=-1", ">=0", ">-1", "==true", "==True", "isTrue", "!=false", "!=0", ">0":
		return a
	}
	if op == "==" && (b.text == "null" || b.text == "None" || b.text == "nil") {
		return no
	}
	if op == "!=" && (b.text == "null" || b.text == "None" || b.text == "nil") {
		return a
	}
	return nil
}

// within is what it tells that a whole has a part.
func within(whole, part *value) *value {
	text, literal := part.literal()
	switch {
	case len(whole.all()) > 0 && literal && leadsOut(text):
		return &value{no: facts(whole.all(), byPath)}
	case len(whole.all()) == 0 && len(part.all()) > 0:
		return &value{yes: facts(part.all(), byAll)}
	}
	return &value{}
}

// leadsOut says whether a path must have this in it to leave its folder.
func leadsOut(text string) bool {
	return text != "" && len(text) <= 4 && strings.Trim(text, `./\`) == ""
}

// prefixed is what it tells that a text has a prefix.
func prefixed(text, prefix *value) *value {
	if p, ok := prefix.literal(); ok && strings.HasPrefix(p, "..") {
		return &value{no: facts(text.all(), byPath)}
	}
	var normal []taint
	for _, t := range text.all() {
		if t.normal {
			normal = append(normal, t)
		}
	}
	if p, ok := prefix.literal(); ok && len(p) < 2 || len(prefix.all()) > 0 {
		return nil
	}
	return &value{yes: facts(normal, byPath)}
}

// strict says whether a regular expression holds for the whole of a text and
// leaves no room for anything.
func strict(pattern string, anchored bool) bool {
	if !anchored && !(strings.HasPrefix(pattern, "^") || strings.HasPrefix(pattern, `\A`)) {
		return false
	}
	if !anchored && !strings.HasSuffix(pattern, "$") && !strings.HasSuffix(pattern, `\z`) && !strings.HasSuffix(pattern, `\Z`) {
		return false
	}
	for _, loose := range []string{".*", ".+", `\S*`, `\S+`, "[^"} {
		if strings.Contains(pattern, loose) {
			return false
		}
	}
	return true
}
