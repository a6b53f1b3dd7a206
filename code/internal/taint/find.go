package taint

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A hit is a fault before it is told.
type hit struct {
	is         Type
	cwe        string
	severity   Level
	confidence Level
	at         int32
	sink       string
	taint      *taint // nil for what is no flow
	function   string
}

// A collector keeps one hit for each place and type: the surest.
type collector struct {
	hits map[hitKey]*hit
	full bool
}

type hitKey struct {
	cwe string
	at  int32
}

func (c *collector) add(h hit) {
	key := hitKey{h.cwe, h.at}
	if old, ok := c.hits[key]; ok {
		if h.confidence > old.confidence {
			*old = h
		}
		return
	}
	if len(c.hits) >= maxFound {
		c.full = true
		return
	}
	c.hits[key] = &h
}

func (c *collector) sorted() []*hit {
	out := make([]*hit, 0, len(c.hits))
	for _, h := range c.hits {
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b *hit) int {
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.cwe, b.cwe))
	})
	return out
}

// sinks looks for hostile text that reaches a sink of a call.
func (e *flow) sinks(c *call) {
	for _, r := range e.rules.all(c.path, aSink) {
		if !e.holds(r, c) {
			continue
		}
		if r.receiver() {
			e.reach(r, c.receiver.all(), c.x.at, c.shown())
		}
		for _, a := range c.args {
			if a.v != nil && a.v.fn == nil {
				e.reach(r, e.exposed(r, a), a.at, c.shown())
			}
		}
	}
}

// shown is the name of what is called: as the tables know it, or where they do
// not know what stands before the dot as the file has it.
func (c *call) shown() string {
	if !strings.HasPrefix(c.path, "?") || c.x.kind != aCall {
		return c.path
	}
	return dotted(c.x.parts[0], 0)
}

// dotted is an expression of names and dots; "?" stands for anything else.
func dotted(x *expr, depth int) string {
	switch {
	case x == nil || depth > 4:
	case x.kind == aName || x.kind == aPath:
		return x.text
	case x.kind == aMember:
		return dotted(x.parts[0], depth+1) + "." + x.text
	case x.kind == aCall:
		return dotted(x.parts[0], depth+1) + "()"
	}
	return "?"
}

// exposed are the taints of an argument that a sink is about: "0" all of it,
// "0!" unless it is a container, "0.text" the field of a container.
func (e *flow) exposed(r *rule, a argument) []taint {
	if r.takes(a.n, a.name) {
		return a.v.all()
	}
	for _, spec := range r.args {
		which, field, _ := strings.Cut(spec, ".")
		bare := strings.TrimSuffix(which, "!")
		if bare != a.name && (a.n < 0 || bare != strconv.Itoa(a.n)) {
			continue
		}
		switch {
		case field != "" && a.v.list:
			return a.v.field(field).all()
		case field == "" && bare != which && !a.v.list:
			return a.v.all()
		}
	}
	return nil
}

// reach tells of the surest of the taints that may still do harm.
func (e *flow) reach(r *rule, taints []taint, at int32, path string) {
	h := hazardOf(r.danger)
	var best *hit
	for _, t := range taints {
		if t.left&^e.s.cleared(t.id)&r.danger == 0 {
			continue
		}
		level := max(Low, h.confidence(t)-Level(r.maybe))
		if best == nil || level > best.confidence {
			t = t.through(at)
			best = &hit{is: h.is, cwe: h.cwe, severity: h.severity, confidence: level, at: at, sink: path, taint: &t}
		}
	}
	if best != nil {
		e.tell(*best)
	}
}

func (e *flow) tell(h hit) {
	if e.fn != nil {
		h.function = e.fn.name
	}
	e.found.add(h)
}

// assigned is for places that must not be given hostile text: x.innerHTML.
func (e *flow) assigned(t *expr, base, v *value) {
	path := base.pathOf() + "." + t.text + "="
	c := &call{args: []argument{{v: v}}}
	for _, r := range e.rules.all(path, aSink) {
		if e.holds(r, c) {
			e.reach(r, e.exposed(r, argument{v: v}), t.at, strings.TrimSuffix(path, "="))
		}
	}
}

// returned is for what a function called by a web framework returns.
func (e *flow) returned(s *stmt, v *value) {
	if e.fn == nil || !e.fn.route || v == nil || v.list {
		return
	}
	app, _ := e.s.get(e.fn.app)
	c := &call{args: []argument{{v: v}}, receiver: app}
	for _, r := range e.rules.all("return", aSink) {
		if e.holds(r, c) {
			e.reach(r, v.all(), s.at, "return")
		}
	}
}

// weaknesses are things that should not be called at all.
func (e *flow) weaknesses(c *call) {
	for _, r := range e.rules.all(c.path, isWeak) {
		if e.holds(r, c) {
			e.weak(r, c.x.parts[0].at, c.path)
		}
	}
}

// reference is for things that should not even be named: hmac.new(k, m, md5).
func (e *flow) reference(x *expr, v *value) *value {
	if v == nil || len(v.taints) > 0 || v.path == "" || e.asking > 0 {
		return v
	}
	for _, r := range e.rules.all(v.path, isWeak) {
		if !slices.ContainsFunc(r.ifs, func(o condition) bool { return !o.not }) && e.holds(r, nil) {
			e.weak(r, x.at, v.path)
		}
	}
	return v
}

// credentials are literals that a call takes as a secret.
func (e *flow) credentials(c *call) {
	r := e.rules.first(c.path, aSecret)
	if r == nil {
		return
	}
	for _, a := range c.args {
		if text, ok := a.v.literal(); ok && a.x.kind == aLiteral && r.takes(a.n, a.name) {
			if level := secretFor("password", text); level > 0 {
				e.tell(hit{is: HardcodedSecret, cwe: "CWE-798", severity: High, confidence: level, at: a.at, sink: c.path})
			}
		}
	}
}

func (e *flow) weak(r *rule, at int32, path string) {
	severity := Medium
	if r.word == "CWE-295" || r.word == "CWE-327" {
		severity = High
	}
	e.tell(hit{is: WeakCrypto, cwe: r.word, severity: severity, confidence: max(Low, High-Level(r.maybe)), at: at, sink: path})
}
