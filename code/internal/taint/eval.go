package taint

import "slices"

// eval is what an expression gives.
func (e *flow) eval(x *expr) *value {
	if x == nil || !e.tick() {
		return nil
	}
	switch x.kind {
	case aLiteral:
		return &value{path: "str", text: clip(x.text), exact: true}
	case aPattern:
		return &value{path: "regexp", text: clip(x.text), exact: true}
	case aNumber:
		return &value{text: x.text, exact: true}
	case aPath:
		return e.give(&value{path: x.text, imported: true}, x.at)
	case aName:
		if v, ok := e.s.get(x.text); ok {
			if v != nil && v.imported {
				e.reference(x, v)
			}
			return v
		}
		return e.reference(x, e.give(&value{path: x.text}, x.at))
	case aMember:
		return e.reference(x, e.member(e.eval(x.parts[0]), x.text, x.at))
	case anIndex:
		return e.index(x)
	case aCall:
		return e.call(x)
	case aText:
		return e.compose(e.evalAll(x.parts))
	case aList:
		return e.container(x)
	case aFunction:
		e.inline(x.fn, nil)
		return &value{fn: x.fn}
	case anAssignment:
		v := e.eval(x.parts[1])
		e.assign(x.parts[0], v, false)
		return v
	case anEach:
		return e.each(x)
	}
	return e.logic(x)
}

func (e *flow) evalAll(parts []*expr) []*value {
	out := make([]*value, len(parts))
	for i, p := range parts {
		out[i] = e.eval(p)
	}
	return out
}

// logic is what conditions and choices give.
func (e *flow) logic(x *expr) *value {
	switch x.kind {
	case aChoice:
		if len(x.parts) == 3 { // the condition, then what it chooses from
			return e.conditional(x)
		}
		var v *value
		for i, p := range x.parts {
			if one := e.eval(p); i == 0 {
				v = one
			} else {
				v = join(v, one)
			}
		}
		return v
	case aComparison:
		return compare(x.text, e.eval(x.parts[0]), e.eval(x.parts[1]))
	case aNot:
		v := e.eval(x.parts[0])
		if v == nil || len(v.yes)+len(v.no) == 0 {
			return nil
		}
		return &value{yes: v.no, no: v.yes}
	case anAnd, anOr:
		return e.both(x)
	default:
		e.evalAll(x.parts)
		return nil
	}
}

func (e *flow) conditional(x *expr) *value {
	cond := e.eval(x.parts[0])
	base := e.s
	var out [2]*value
	for i, known := range [][]fact{cond.truths(true), cond.truths(false)} {
		e.s = base.branch()
		e.s.learn(known)
		out[i] = e.s.settle(e.eval(x.parts[1+i]))
		base.mayBe(&state{up: base, vars: e.s.vars, depth: base.depth + 1})
	}
	e.s = base
	return join(out[0], out[1])
}

func (v *value) truths(yes bool) []fact {
	switch {
	case v == nil:
		return nil
	case yes:
		return v.yes
	}
	return v.no
}

// both is a && b or a || b: b is only looked at where a holds, or does not.
func (e *flow) both(x *expr) *value {
	left := e.eval(x.parts[0])
	base := e.s
	e.s = base.branch()
	e.s.learn(left.truths(x.kind == anAnd))
	right := e.eval(x.parts[1])
	base.mayBe(&state{up: base, vars: e.s.vars, depth: base.depth + 1})
	e.s = base
	v := join(left.vague(), right).clone()
	if x.kind == anAnd {
		v.yes = append(append([]fact(nil), left.truths(true)...), right.truths(true)...)
		v.no = common(left.truths(false), right.truths(false))
	} else {
		v.no = append(append([]fact(nil), left.truths(false)...), right.truths(false)...)
		v.yes = common(left.truths(true), right.truths(true))
	}
	return v
}

// member is v.name.
func (e *flow) member(v *value, name string, at int32) *value {
	if f, ok := fieldOf(v, name); ok {
		return f
	}
	out := &value{path: v.pathOf() + "." + name}
	if v != nil {
		if len(v.taints) > 0 && e.rules.first(out.path, isPlain) == nil {
			out.taints = derive(e.s, v.taints, "."+name)
		}
		if typed, ok := e.prog.fields[out.path]; ok {
			out.path = typed
		}
		if r := e.rules.first(out.path, aCleaner); r != nil && len(out.taints) > 0 {
			out.taints = cleaned(out.taints, r.danger)
		}
	}
	return e.give(out, at)
}

func fieldOf(v *value, name string) (*value, bool) {
	if v == nil {
		return nil, false
	}
	f, ok := v.fields[name]
	return f, ok
}

// give adds what the tables know of a thing: that it is a source, and its type.
func (e *flow) give(v *value, at int32) *value {
	if r := e.rules.first(v.path, aSource); r != nil && len(v.taints) == 0 {
		v = e.hostile(v, sourceKind(r.word), v.path, mix(0, v.path), at)
	}
	if r := e.rules.first(v.path, aTypeOf); r != nil {
		v = v.clone()
		v.path = r.args[0]
	}
	return v
}

// index is v[key].
func (e *flow) index(x *expr) *value {
	v, key := e.eval(x.parts[0]), e.eval(x.parts[1])
	if text, ok := key.literal(); ok {
		if f, ok := fieldOf(v, text); ok {
			return f
		}
		if v == nil || len(v.taints) == 0 {
			return e.give(&value{path: v.pathOf() + "[]"}, x.at)
		}
		return e.give(&value{path: v.pathOf() + "[]", taints: derive(e.s, v.taints, "."+text)}, x.at)
	}
	inside := v.all()
	if len(inside) > 0 {
		id := "[?]"
		if k := x.parts[1]; k.kind == aName {
			id = "[" + k.text + "]"
		}
		return &value{path: v.pathOf() + "[]", taints: derive(e.s, inside, id)}
	}
	return &value{path: v.pathOf() + "[]", yes: facts(key.all(), byAll)}
}

// container is a list, or a dictionary.
func (e *flow) container(x *expr) *value {
	v := &value{list: true, path: x.text}
	for i, p := range x.parts {
		name := x.name(i)
		if name != "" {
			e.naming = append(e.naming, ownName+name)
		}
		one := e.eval(p)
		switch name {
		case "":
			v = v.with(element(i), one)
			continue
		case "*": // all that is in another one
			if one != nil {
				for _, k := range one.order {
					v = v.with(k, one.fields[k])
				}
				v = v.added(one.taints)
			}
		case "?": // under a key that is not known
			v = v.added(one.all())
		default:
			v = v.with(name, one)
		}
		e.naming = e.naming[:len(e.naming)-1]
	}
	if x.text != "" {
		e.made(x, v)
	}
	return v
}

// made is for what must not be made: a configuration that checks nothing.
func (e *flow) made(x *expr, v *value) {
	c := &call{path: x.text, x: x}
	for i, p := range x.parts {
		if name := x.name(i); name != "" {
			c.args = append(c.args, argument{n: -1, name: name, x: p, v: v.fields[name], at: p.at})
		}
	}
	e.sinks(c)
	for _, r := range e.rules.all(x.text, isWeak) {
		if e.holds(r, c) {
			e.weak(r, x.at, x.text)
		}
	}
}

// each is what a comprehension gives.
func (e *flow) each(x *expr) *value {
	base := e.s
	e.s = base.branch()
	e.bind(x.targets, e.eval(x.parts[0]))
	if cond := e.eval(x.parts[1]); cond != nil {
		e.s.learn(cond.yes)
	}
	v := e.s.settle(e.eval(x.parts[2]))
	e.s = base
	return (&value{list: true}).added(v.all())
}

// compose is a text made of others.
func (e *flow) compose(parts []*value) *value {
	out := &value{path: "str"}
	composed := false
	for i, p := range parts {
		out.taints = unite(out.taints, below(p.all(), i > 0))
		if p != nil {
			out.text = clip(out.text + p.text)
			composed = composed || p.text != ""
		}
	}
	if len(parts) == 1 && parts[0] != nil && parts[0].exact {
		out.exact = true
	}
	if composed && len(out.taints) > 0 {
		out.taints = compound(out.taints)
	}
	return out
}

// below are the taints of what stands after something else in a text: a path
// that begins with a slash and has no dots stays there.
func below(taints []taint, after bool) (out []taint) {
	if !after || !slices.ContainsFunc(taints, func(t taint) bool { return t.rooted }) {
		return taints
	}
	for _, t := range taints {
		if t.rooted {
			t.left &^= byPath
		}
		out = append(out, t)
	}
	return out
}

func compound(taints []taint) []taint {
	out := make([]taint, len(taints))
	for i, t := range taints {
		t.composed, t.normal, t.rooted = true, false, false
		out[i] = t
	}
	return out
}

// derive are the taints of what was taken out of a text: another text.
func derive(s *state, taints []taint, how string) []taint {
	if len(taints) == 0 {
		return nil
	}
	out := make([]taint, 0, len(taints))
	for _, t := range taints {
		if t.left &^= s.cleared(t.id); t.left == 0 {
			continue
		}
		t.id = mix(t.id, how)
		out = append(out, t)
	}
	return out
}
