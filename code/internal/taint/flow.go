package taint

import (
	"context"

	"github.com/parleyhq/parley/tool"
)

// Bounds on how much is done for one file.
const (
	// maxSteps is how many expressions and statements are looked at, each as
	// often as loops ask for it.
	maxSteps = 4 << 20
	// maxFound is how many findings are kept of one file.
	maxFound = 2000
	// maxRounds is how often a loop's body is looked at until nothing new comes
	// of it; in a loop within three others, once.
	maxRounds = 4
)

var errTooMuch = tool.Errorf(tool.TooLarge, "the code has too many paths through nested loops and functions to be followed")

// A flow follows hostile text through one file.
type flow struct {
	ctx   context.Context
	rules *rules
	prog  *program
	found *collector

	s       *state
	fn      *function // that is being followed; nil at the top
	result  *value    // what fn returns
	loops   []*loop
	naming  []string    // what the value that is being made is given to
	waiting []*function // declared, and followed when all that is around them is known
	asking  int         // how many calls are being looked at that only ask what something is
	steps   int
	err     error
}

// A loop is what break and continue need to know, of loops and switches.
type loop struct {
	base      *state
	exits     []*state
	continues []*state
	isSwitch  bool
}

// tick counts one step, and says whether to go on.
func (e *flow) tick() bool {
	if e.err != nil {
		return false
	}
	before := e.steps
	// A name is looked for in one state after the other.
	if e.steps += 1 + e.s.depth/16; e.steps > maxSteps {
		e.err = errTooMuch
	} else if e.steps/4096 != before/4096 {
		e.err = e.ctx.Err()
	}
	return e.err == nil
}

// run follows the whole file.
func (e *flow) run() error {
	e.s = &state{}
	e.scope(e.prog.body)
	return e.err
}

// scope follows a function's body, and then the functions declared in it.
func (e *flow) scope(body []stmt) {
	outer := e.waiting
	e.waiting = nil
	e.block(body)
	base := e.s
	for i := 0; i < len(e.waiting) && e.err == nil; i++ {
		e.s = base.branch()
		e.enter(e.waiting[i], nil)
	}
	e.s, e.waiting = base, outer
}

// enter follows a function with what its parameters hold, those first that are
// given. What it changes stays in the current state.
func (e *flow) enter(fn *function, given []taint) *value {
	if !e.tick() {
		return nil
	}
	saved := *e
	e.fn, e.result, e.loops = fn, nil, nil
	if fn.name != "" {
		e.naming = append(e.naming[:len(e.naming):len(e.naming)], ownName+fn.name)
	}
	e.s.dead = false
	for _, p := range fn.params {
		e.s.declare(p.name, e.parameter(p, given != nil, given))
	}
	e.scope(fn.body)
	result := e.result
	e.fn, e.result, e.loops, e.naming = saved.fn, saved.result, saved.loops, saved.naming
	return result
}

// inline follows a function where it stands: it may be called now or later, so
// what it changes may have happened.
func (e *flow) inline(fn *function, given []taint) *value {
	base := e.s
	e.s = base.branch()
	result := e.enter(fn, given)
	base.mayBe(e.s)
	e.s = base
	return result
}

// parameter is what a parameter holds.
func (e *flow) parameter(p param, called bool, given []taint) *value {
	if r := e.rules.first(p.name, aParam); r != nil && p.typed == "" && len(r.args) > 0 {
		return &value{path: r.args[0]}
	}
	v := &value{path: p.typed}
	switch {
	case p.harmless:
		return v
	case e.fn.route:
		return e.hostile(v, fromRequest, p.name, mixAt(p.at), p.at)
	case called:
		v.taints = derive(e.s, given, "[]")
		for _, t := range v.taints {
			e.s.setCleared(t.id, 0)
		}
		return v
	}
	return e.hostile(v, fromParameter, p.name, mixAt(p.at), p.at)
}

func (e *flow) hostile(v *value, kind sourceKind, name string, id uint64, at int32) *value {
	from := &source{kind, name, at}
	return v.added([]taint{{from: from, id: id, left: byAll, step: &step{nil, at}}})
}

func (e *flow) block(body []stmt) {
	for i := range body {
		if e.s.dead || !e.tick() {
			e.declareRest(body[i:])
			return
		}
		e.stmt(&body[i])
	}
}

// declareRest sees to the functions declared after a return.
func (e *flow) declareRest(body []stmt) {
	for i := range body {
		if body[i].kind == doFunction {
			e.waiting = append(e.waiting, body[i].fn)
		}
	}
}

func (e *flow) stmt(s *stmt) {
	switch s.kind {
	case doExpr:
		e.eval(s.value)
	case doAssign:
		e.assignment(s)
	case doIf:
		e.choice(s)
	case doLoop:
		e.loop(s)
	case doSwitch:
		e.cases(s)
	case doTry:
		e.try(s)
	case doBlock:
		base := e.s
		e.s = base.branch()
		e.block(s.body)
		base.become(e.s)
		e.s = base
	case doFunction:
		e.waiting = append(e.waiting, s.fn)
		e.s.set(s.fn.name, nil)
	case doReturn:
		v := e.eval(s.value)
		e.returned(s, v)
		e.result = join(e.result, v)
		e.s.dead = true
	case doLeave:
		e.eval(s.value)
		e.s.dead = true
	case doBreak:
		if l := e.innermost(false); l != nil {
			l.exits = append(l.exits, e.since(l.base))
		}
		e.s.dead = true
	case doContinue:
		if l := e.innermost(true); l != nil {
			l.continues = append(l.continues, e.since(l.base))
		}
		e.s.dead = true
	}
}

// since is what changed on top of base, as one state; the copy has its price.
func (e *flow) since(base *state) *state {
	s := e.s.since(base)
	e.steps += 8 * (len(s.vars) + len(s.clear))
	return s
}

func (e *flow) innermost(onlyLoops bool) *loop {
	for i := len(e.loops) - 1; i >= 0; i-- {
		if !onlyLoops || !e.loops[i].isSwitch {
			return e.loops[i]
		}
	}
	return nil
}

// on follows body in a branch of base where facts hold.
func (e *flow) on(base *state, facts []fact, body []stmt) *state {
	e.s = base.branch()
	e.s.learn(facts)
	e.block(body)
	out := e.s
	e.s = base
	return out
}

func (e *flow) choice(s *stmt) {
	cond := e.eval(s.value)
	base := e.s
	var yes, no []fact
	if cond != nil {
		yes, no = cond.yes, cond.no
	}
	then := e.on(base, yes, s.body)
	other := e.on(base, no, s.other)
	base.merge(then, other)
}

func (e *flow) loop(s *stmt) {
	base := e.s
	l := &loop{base: base}
	e.loops = append(e.loops, l)
	rounds := maxRounds
	if len(e.loops) > 3 {
		rounds = 1
	}
	var no []fact
	for range rounds {
		e.s = base.branch()
		no = e.round(s)
		body := e.s
		news := false
		for _, c := range l.continues {
			news = base.mayBe(c) || news
		}
		l.continues = nil
		if !body.dead {
			news = base.mayBe(body) || news
		}
		if !news || e.err != nil {
			break
		}
	}
	e.loops = e.loops[:len(e.loops)-1]
	e.s = base
	if s.value != nil && s.from == nil && isTrue(s.value) {
		base.merge(l.exits...)
		return
	}
	end := e.on(base, no, s.other)
	base.merge(append(l.exits, end)...)
}

// round follows a loop once, and says what holds when it ends.
func (e *flow) round(s *stmt) (no []fact) {
	if s.from != nil {
		e.bind(s.targets, e.eval(s.from))
		e.block(s.body)
		return nil
	}
	if s.after {
		e.block(s.body)
	}
	if cond := e.eval(s.value); cond != nil {
		no = cond.no
		e.s.learn(cond.yes)
	}
	if !s.after {
		e.block(s.body)
	}
	return no
}

// bind gives a loop's names what is in the value that it goes through.
func (e *flow) bind(targets []*expr, from *value) {
	v := e.item(from)
	for _, t := range targets {
		e.assign(t, v, true)
	}
}

// item is any of the things in a value.
func (e *flow) item(from *value) *value {
	if from == nil {
		return nil
	}
	var v *value
	for i, name := range from.order {
		if i == 0 {
			v = from.fields[name]
		} else {
			v = join(v, from.fields[name])
		}
	}
	taints := derive(e.s, from.taints, "[]")
	for _, t := range taints {
		e.s.setCleared(t.id, 0)
	}
	return v.vague().added(taints)
}

func isTrue(x *expr) bool {
	switch x.text {
	case "True", "true", "1":
		return x.kind == aNumber
	}
	return false
}

func (e *flow) cases(s *stmt) {
	subject := e.eval(s.value)
	base := e.s
	l := &loop{base: base, isSwitch: true}
	e.loops = append(e.loops, l)
	var ends []*state
	var falling *state
	fallback := false
	for i := range s.clauses {
		c := &s.clauses[i]
		fallback = fallback || c.fallback
		e.s = base.branch()
		e.s.learn(e.matched(subject, c))
		if falling != nil {
			in := base.branch()
			in.merge(e.s.since(base), falling.since(base))
			in.dead = false
			e.s = in
		}
		e.block(c.body)
		if falling = nil; c.falls && !e.s.dead {
			falling = e.s
			continue
		}
		ends = append(ends, e.s.since(base).killed(e.s.dead))
	}
	if falling != nil {
		ends = append(ends, falling.since(base))
	}
	e.loops = e.loops[:len(e.loops)-1]
	e.s = base
	if !fallback {
		ends = append(ends, base.branch())
	}
	base.merge(append(ends, l.exits...)...)
}

func (s *state) killed(dead bool) *state {
	s.dead = dead
	return s
}

// matched is what holds in a clause: the subject is one of things that are
// known.
func (e *flow) matched(subject *value, c *clause) []fact {
	if len(c.values) == 0 || c.fallback {
		return nil
	}
	for _, x := range c.values {
		if v := e.eval(x); len(v.all()) > 0 {
			return nil
		}
	}
	return facts(subject.all(), byAll)
}

func (e *flow) try(s *stmt) {
	base := e.s
	body := e.on(base, nil, s.body)
	ends := []*state{body}
	for i := range s.clauses {
		e.s = base.branch()
		e.s.mayBe(body.since(base))
		e.block(s.clauses[i].body)
		ends = append(ends, e.s)
	}
	e.s = base
	if len(s.clauses) == 0 && body.dead {
		e.s = base.branch()
		e.s.mayBe(body.since(base))
		e.block(s.other)
		e.s = base
		base.dead = true
		return
	}
	base.merge(ends...)
	dead := base.dead
	base.dead = false
	e.block(s.other)
	base.dead = base.dead || dead
}

func (e *flow) assignment(s *stmt) {
	for _, t := range s.targets {
		e.naming = append(e.naming, nameOf(t))
	}
	v := e.eval(s.value)
	e.naming = e.naming[:len(e.naming)-len(s.targets)]
	for _, t := range s.targets {
		if s.adds {
			e.assign(t, e.compose([]*value{e.eval(t), v}), false)
			continue
		}
		e.assign(t, v, s.declare)
	}
}

// nameOf is the last name in what is assigned to.
func nameOf(t *expr) string {
	switch t.kind {
	case aName, aMember:
		return t.text
	case anError:
		return ""
	case anIndex:
		if key := t.parts[1]; key.kind == aLiteral {
			return key.text
		}
		return nameOf(t.parts[0])
	}
	return ""
}

// assign puts a value into what a target names.
func (e *flow) assign(t *expr, v *value, declare bool) {
	if t == nil || !e.tick() {
		return
	}
	switch t.kind {
	case aName:
		v = v.passed(t.at)
		if declare {
			e.s.declare(t.text, v)
		} else {
			e.s.set(t.text, v)
		}
	case aMember:
		base := e.eval(t.parts[0])
		e.assigned(t, base, v)
		e.assign(t.parts[0], base.with(t.text, v.passed(t.at)), false)
	case anIndex:
		base := e.eval(t.parts[0])
		if key, ok := e.eval(t.parts[1]).literal(); ok {
			e.assign(t.parts[0], base.with(key, v.passed(t.at)), false)
		} else if len(v.all()) > 0 {
			e.assign(t.parts[0], base.added(v.all()), false)
		}
	case aList:
		e.unpack(t, v, declare)
	case anError:
		failed := &value{path: "error"}
		if v != nil {
			failed.no = v.proven
		}
		e.assign(t.parts[0], failed, declare)
	case aChoice: // a name with a value for where there is none
		e.assign(t.parts[0], join(v, e.eval(t.parts[1])), declare)
	}
}

// unpack gives the parts of a pattern the parts of a value.
func (e *flow) unpack(t *expr, v *value, declare bool) {
	for i, p := range t.parts {
		name := t.name(i)
		switch {
		case name == "*":
			e.assign(p, v, declare)
			continue
		case name == "":
			name = element(i)
		}
		e.assign(p, e.member(v, name, p.at), declare)
	}
}

// passed is the value with a place on its way added.
func (v *value) passed(at int32) *value {
	if v == nil || len(v.taints) == 0 {
		return v
	}
	c := v.clone()
	c.taints = make([]taint, len(v.taints))
	for i, t := range v.taints {
		c.taints[i] = t.through(at)
	}
	return c
}
