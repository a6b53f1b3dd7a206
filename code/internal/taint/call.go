package taint

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A call is one call, with what it takes.
type call struct {
	x        *expr
	path     string // of what is called
	receiver *value // before the last dot; nil for none
	args     []argument
	loose    bool // the arguments after some point are not known one by one
}

// An argument is one that a call takes. n is -1 for one with a name.
type argument struct {
	n    int
	name string
	x    *expr
	v    *value
	at   int32
}

// call is what a call gives.
func (e *flow) call(x *expr) *value {
	c := e.arguments(x)
	if r := e.rules.first(c.path, anExit); r != nil && e.holds(r, c) {
		e.s.dead = true
		return nil
	}
	e.sinks(c)
	e.weaknesses(c)
	e.credentials(c)
	e.puts(c)
	v := e.gives(c)
	e.mixes(c)
	e.callbacks(c, &v)
	if r := e.rules.first(c.path+"()", aTypeOf); r != nil {
		v = v.clone()
		v.path = r.args[0]
	}
	e.tells(c, &v)
	return v
}

// arguments looks at what is called, and at what it takes. Functions among the
// arguments come later.
func (e *flow) arguments(x *expr) *call {
	c := &call{x: x}
	callee := x.parts[0]
	if callee.kind == aMember {
		c.receiver = e.eval(callee.parts[0])
		c.path = c.receiver.pathOf() + "." + callee.text
		if f, ok := fieldOf(c.receiver, callee.text); ok && f != nil && f.path != "" {
			c.path = f.path
		}
	} else {
		e.unreferenced(callee, func(v *value) { c.path = v.pathOf() })
	}
	if c.path == "isinstance" || c.path == "issubclass" {
		e.asking++
		defer func() { e.asking-- }()
	}
	n := 0
	for i, p := range x.parts[1:] {
		name := x.name(i)
		a := argument{n: n, name: name, x: p, at: p.at}
		switch {
		case name == "...":
			n = e.spread(c, p, n)
			continue
		case name != "":
			a.n = -1
			e.naming = append(e.naming, ownName+name)
			a.v = e.eval(p)
			e.naming = e.naming[:len(e.naming)-1]
		case p.kind == aFunction:
			a.v = &value{fn: p.fn}
			n++
		default:
			a.v = e.eval(p)
			n++
		}
		c.args = append(c.args, a)
	}
	return c
}

// unreferenced looks at a callee, which is no reference to a thing that stands
// for itself.
func (e *flow) unreferenced(callee *expr, use func(*value)) {
	if callee.kind == aName || callee.kind == aPath {
		if v, ok := e.s.get(callee.text); ok && callee.kind == aName {
			use(v)
			return
		}
		use(&value{path: callee.text})
		return
	}
	use(e.eval(callee))
}

// spread takes a list apart into arguments.
func (e *flow) spread(c *call, p *expr, n int) int {
	v := e.eval(p)
	if v == nil {
		c.loose = true
		return n
	}
	for _, name := range v.order {
		a := argument{n: n, x: p, v: v.fields[name], at: p.at}
		if _, err := strconv.Atoi(name); err != nil {
			a.n, a.name = -1, name
		} else {
			n++
		}
		c.args = append(c.args, a)
	}
	if len(v.order) == 0 || len(v.taints) > 0 {
		c.args = append(c.args, argument{n: n, x: p, v: &value{taints: v.taints}, at: p.at})
		n++
	}
	return n
}

// given is the argument that a rule names: a number, a name, or both with a bar
// between them; nil for none.
func (c *call) given(which string) *argument {
	for i := range c.args {
		a := &c.args[i]
		if a.name != "" && a.name == which || a.n >= 0 && strconv.Itoa(a.n) == which {
			return a
		}
	}
	return nil
}

// option is the value of an argument, of a field of one, or of the receiver.
func (c *call) option(which string) *value {
	if which == "receiver" {
		return c.receiver
	}
	if a := c.given(which); a != nil {
		return a.v
	}
	for _, a := range c.args {
		if f, ok := fieldOf(a.v, which); ok && a.name == "" {
			return f
		}
	}
	return nil
}

// has says whether an option is given at all.
func (c *call) has(which string) bool {
	return c.given(which) != nil || slices.ContainsFunc(c.args, func(a argument) bool {
		_, ok := fieldOf(a.v, which)
		return ok && a.name == ""
	})
}

// holds says whether the conditions of a rule do.
func (e *flow) holds(r *rule, c *call) bool {
	for _, o := range r.ifs {
		if e.met(o, c) == o.not {
			return false
		}
	}
	return true
}

// rule is the first rule about a call whose conditions hold.
func (e *flow) rule(c *call, v verb) *rule {
	for _, r := range e.rules.all(c.path, v) {
		if e.holds(r, c) {
			return r
		}
	}
	return nil
}

func (e *flow) met(o condition, c *call) bool {
	if o.op == 0 {
		return o.text[0] == "shell" && c.startsShell()
	}
	if o.arg == "into" {
		return e.named(o.text)
	}
	if c == nil {
		return false
	}
	if o.arg == "has" {
		return slices.ContainsFunc(o.text, c.has)
	}
	v := c.option(o.arg)
	if v == nil {
		return false
	}
	text := strings.ToLower(v.text)
	for _, want := range o.text {
		switch {
		case o.op == ':' && strings.EqualFold(v.path, want),
			o.op == '=' && (v.exact && text == want || lastWord(strings.ToLower(v.path)) == want),
			o.op == '~' && text != "" && strings.Contains(text, want),
			o.op == '^' && strings.HasPrefix(strings.TrimLeft(text, " \n\t("), want):
			return true
		}
	}
	return false
}

// startsShell says whether what is started is a shell that is given a script.
func (c *call) startsShell() bool {
	var words []string
	for _, a := range c.args {
		switch {
		case a.v == nil:
		case a.v.list:
			for _, name := range a.v.order {
				text, _ := a.v.fields[name].literal()
				words = append(words, text)
			}
		default:
			words = append(words, a.v.text)
		}
	}
	shell := slices.IndexFunc(words, func(w string) bool {
		switch w[strings.LastIndexByte(w, '/')+1:] {
		case "sh", "bash", "zsh", "ash", "dash", "ksh", "cmd", "cmd.exe", "powershell", "pwsh":
			return true
		}
		return false
	})
	return shell >= 0 && slices.ContainsFunc(words[shell:], func(w string) bool {
		switch strings.ToLower(w) {
		case "-c", "/c", "-lc", "-ec", "-command":
			return true
		}
		return false
	})
}

// ownName marks names of arguments and of keys, which say all there is to say
// about what they are given to.
const ownName = ":"

// named says whether what is being made goes by a name with one of the words.
func (e *flow) named(words []string) bool {
	for _, name := range slices.Backward(e.naming) {
		name, own := strings.CutPrefix(name, ownName)
		for _, w := range wordsOf(name) {
			if slices.Contains(words, w) {
				return true
			}
		}
		if own {
			return false
		}
	}
	return false
}

// wordsOf are the words of an identifier, in small letters.
func wordsOf(name string) (out []string) {
	start, before := 0, rune(0)
	flush := func(end int) {
		if end > start {
			out = append(out, strings.ToLower(name[start:end]))
		}
		start = end
	}
	for i, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.' || r == ' ':
			flush(i)
			start = i + 1
		case unicode.IsUpper(r) && unicode.IsLower(before):
			flush(i)
		case unicode.IsLower(r) && unicode.IsUpper(before) && i-1 > start:
			flush(i - 1)
		}
		before = r
	}
	flush(len(name))
	return out
}

// taken are the taints that a rule's call takes, by the arguments it names.
func (c *call) taken(r *rule) (out []taint) {
	if r.receiver() || len(r.args) == 0 {
		out = unite(out, c.receiver.all())
	}
	for _, a := range c.args {
		if a.v != nil && a.v.fn == nil && r.takes(a.n, a.name) {
			out = unite(out, a.v.all())
		}
	}
	return out
}

// puts carries out the rules that put one thing into another.
func (e *flow) puts(c *call) {
	for _, r := range e.rules.all(c.path, anInto) {
		from := &rule{args: r.args[:1]}
		taints := c.taken(from)
		text := ""
		if a := c.given(r.args[0]); a != nil && a.v != nil {
			text = a.v.text
		}
		if !e.holds(r, c) {
			continue
		}
		target := c.x.parts[0]
		if to := r.args[1]; to == "receiver" && target.kind == aMember {
			if e.appended(c, target) {
				continue
			}
			e.into(target.parts[0], c.receiver, taints, text)
		} else if a := c.given(to); a != nil {
			e.into(a.x, a.v, taints, "")
		}
	}
}

// mixes is for what changes the order of a list: from then on anything may
// stand anywhere in it.
func (e *flow) mixes(c *call) {
	list, target := c.receiver, c.x.parts[0]
	if list == nil || len(list.order) == 0 || target.kind != aMember || e.rules.first(c.path, aMixer) == nil {
		return
	}
	e.into(target.parts[0], &value{path: list.path, list: true, taints: list.all(), text: list.text}, list.all(), "")
}

// appended puts an argument at the end of a list whose elements are known.
func (e *flow) appended(c *call, target *expr) bool {
	switch target.text {
	case "append", "push":
	default:
		return false
	}
	list := c.receiver
	if list == nil || !list.list || len(list.taints) > 0 || len(list.order)+len(c.args) > maxFields || target.parts[0].kind != aName {
		return false
	}
	for _, a := range c.args {
		if a.n < 0 || list.field(element(len(list.order))) != nil {
			return false
		}
		list = list.with(element(len(list.order)), a.v)
	}
	e.assign(target.parts[0], list, false)
	return true
}

func (e *flow) into(target *expr, was *value, taints []taint, text string) {
	switch target.kind {
	case aName, aMember, anIndex:
		if len(taints) == 0 && (was == nil || len(was.taints) == 0) && (was == nil || was.text != "" || was.list) {
			return
		}
		v := was.added(taints).clone()
		v.exact = false
		if v.text == "" {
			v.text = clip(text)
		}
		e.assign(target, v, false)
	}
}

// callbacks follows the functions among the arguments. They get what the
// receiver holds.
func (e *flow) callbacks(c *call, v **value) {
	for _, a := range c.args {
		if a.v == nil || a.v.fn == nil || a.x.kind != aFunction {
			continue
		}
		given := c.receiver.all()
		if e.rules.first(c.path, aSource) != nil {
			given = unite(given, (*v).all())
		}
		if given == nil {
			given = []taint{}
		}
		if r := e.inline(a.v.fn, given); r != nil {
			*v = (*v).added(r.all())
		}
	}
}

// gives is what the call gives, by the first kind of rule that says so.
func (e *flow) gives(c *call) *value {
	out := &value{path: c.path + "()"}
	if r := e.rules.first(c.path, isSame); r != nil && len(c.args) > 0 {
		return c.args[0].v
	}
	if r := e.rules.first(c.path, aSource); r != nil && e.holds(r, c) {
		id, at := e.identity(c)
		return e.hostile(out, sourceKind(r.word), out.path, id, at)
	}
	if r := e.rule(c, aCleaner); r != nil {
		out.taints = cleaned(c.taken(r), r.danger)
		return out
	}
	switch {
	case e.rules.first(c.path, isPlain) != nil || e.plainMap(c) || e.onlyCallback(c):
		return out
	case e.rules.first(c.path, aKeeper) != nil:
		return e.kept(c, out)
	case e.rules.first(c.path, aJoiner) != nil:
		return e.joined(c, out)
	}
	if r := e.rules.first(c.path, aPart); r != nil {
		out.taints = derive(e.s, c.taken(r), e.how(c))
		return out
	}
	if e.rules.first(c.path, isNormal) != nil {
		return e.normalised(c, out)
	}
	if slices.ContainsFunc(e.rules.all(c.path, aSink), func(r *rule) bool { return e.holds(r, c) }) || soundsClean(lastWord(c.path)) {
		return out
	}
	return e.unknown(c, out)
}

// identity tells calls of sources apart: those with the same known arguments
// give the same text, and others another one each time.
func (e *flow) identity(c *call) (uint64, int32) {
	how := e.how(c)
	if how != "" && len(c.args) > 0 {
		return mix(mix(0, c.path), how), c.x.at
	}
	id := mixAt(c.x.at)
	e.s.setCleared(id, 0)
	return id, c.x.at
}

// how says how something was taken out, by the arguments where all are known.
func (e *flow) how(c *call) string {
	var b strings.Builder
	b.WriteString(lastWord(c.path))
	for _, a := range c.args {
		text, ok := a.v.literal()
		if !ok {
			return "at " + strconv.Itoa(int(c.x.at))
		}
		b.WriteString("," + text)
	}
	return b.String()
}

func cleaned(taints []taint, d danger) (out []taint) {
	for _, t := range taints {
		if t.left &^= d; t.left != 0 {
			t.id = mix(t.id, "clean "+strconv.Itoa(int(d)))
			out = append(out, t)
		}
	}
	return out
}

func normal(taints []taint) []taint {
	out := slices.Clone(taints)
	for i := range out {
		out[i].normal = true
	}
	return out
}

// onlyCallback says whether the call gives what a function that stands here
// gives, and nothing else.
func (e *flow) onlyCallback(c *call) bool {
	return e.rules.first(c.path, aMapper) != nil && slices.ContainsFunc(c.args, func(a argument) bool {
		return a.v != nil && a.v.fn != nil && a.x.kind == aFunction
	})
}

// normalised is a path without dots in its middle. One that was begun with a
// slash cannot climb.
func (e *flow) normalised(c *call, out *value) *value {
	out.taints = normal(c.taken(&rule{}))
	for _, a := range c.args {
		if a.v != nil && strings.HasPrefix(a.v.text, "/") {
			out.text = "/"
			for i := range out.taints {
				out.taints[i].rooted = a.v.path == "str" && out.taints[i].composed
			}
		}
	}
	return out
}

// plainMap is map(int, list) and list.map(Number).
func (e *flow) plainMap(c *call) bool {
	if lastWord(c.path) != "map" {
		return false
	}
	for _, a := range c.args {
		if a.v == nil || a.v.path == "" {
			continue
		}
		if r := e.rules.first(a.v.path, aCleaner); r != nil && r.danger == byAll || e.rules.first(a.v.path, isPlain) != nil {
			return true
		}
	}
	return false
}

// kept is the same text, or the same list.
func (e *flow) kept(c *call, out *value) *value {
	r := e.rules.first(c.path, aKeeper)
	var only *value
	n := 0
	if r.receiver() || len(r.args) == 0 && c.receiver != nil && c.receiver.exact {
		only, n = c.receiver, 1
	}
	for _, a := range c.args {
		if a.v != nil && r.takes(a.n, a.name) {
			only = a.v
			n++
		}
	}
	if n == 1 && only != nil {
		v := only.clone()
		v.path = out.path
		return v.passed(c.x.at)
	}
	out.taints = c.taken(r)
	out.list = true
	return out.passed(c.x.at)
}

// joined is a text made of what the call takes.
func (e *flow) joined(c *call, out *value) *value {
	r := e.rules.first(c.path, aJoiner)
	parts := []*value{}
	if r.receiver() || len(r.args) == 0 {
		parts = append(parts, c.receiver.inText())
	}
	for _, a := range c.args {
		if r.takes(a.n, a.name) {
			parts = append(parts, a.v.inText())
		}
	}
	v := e.compose(parts)
	v.path, v.exact = out.path, false
	if len(v.taints) > 0 && len(parts) > 1 {
		v.taints = compound(v.taints)
	}
	if e.rules.first(c.path, isNormal) != nil {
		v.taints = normal(v.taints)
	}
	return v.passed(c.x.at)
}

// inText is the value with the texts in it in a row.
func (v *value) inText() *value {
	if v == nil || !v.list || len(v.order) == 0 {
		return v
	}
	c := v.clone()
	for _, name := range v.order {
		if f := v.fields[name]; f != nil {
			c.text = clip(c.text + f.text + " ")
		}
	}
	return c
}

// unknown is what a function gives of which nothing is known: a method something
// of its object, and with less confidence something of what it takes.
func (e *flow) unknown(c *call, out *value) *value {
	how := e.how(c)
	out.taints = derive(e.s, c.receiver.all(), how)
	for _, a := range c.args {
		if a.v == nil || a.v.fn != nil {
			continue
		}
		more := derive(e.s, a.v.all(), how)
		if r := e.rules.first(a.v.path, aCarrier); r != nil {
			more = e.hostile(nil, sourceKind(r.word), a.v.path, mixAt(a.at), a.at).taints
		}
		for i := range more {
			more[i].doubt++
		}
		out.taints = unite(out.taints, more)
	}
	return out.passed(c.x.at)
}

// soundsClean says whether a function is by its name one that makes text
// harmless. A name is a promise, and no proof.
func soundsClean(name string) bool {
	for _, w := range wordsOf(name) {
		switch w {
		case "escape", "escaped", "sanitize", "sanitise", "sanitized", "sanitised", "sanitizer", "quote", "quoted",
			"validate", "validated", "safe", "purify", "hash", "digest", "len", "length", "count", "size", "exists":
			return true
		}
	}
	return strings.HasPrefix(strings.ToLower(name), "escape")
}

// tells is what the answer of a call says about what it took.
func (e *flow) tells(c *call, v **value) {
	set := func(yes, no []fact) {
		if len(yes)+len(no) > 0 {
			n := (*v).clone()
			n.yes, n.no = yes, no
			*v = n
		}
	}
	if r := e.rules.first(c.path, aGuard); r != nil && e.holds(r, c) {
		set(facts(c.taken(r), r.danger), nil)
	}
	if r := e.rules.first(c.path, aRefusal); r != nil {
		set(nil, facts(c.taken(r), r.danger))
	}
	if r := e.rules.first(c.path, aCheck); r != nil && e.holds(r, c) {
		if proven := facts(c.taken(r), r.danger); !e.prog.errors {
			e.s.learn(proven)
		} else if len(proven) > 0 {
			n := (*v).clone()
			n.proven = proven
			*v = n
		}
	}
	if r := e.rules.first(c.path, aPrefix); r != nil {
		if told := prefixed(c.option(r.args[0]), c.option(r.args[1])); told != nil {
			set(told.yes, told.no)
		}
	}
	if r := e.rules.first(c.path, aContains); r != nil {
		told := within(c.option(r.args[0]), c.option(r.args[1]))
		set(told.yes, told.no)
	}
	if r := e.rules.first(c.path, aMatch); r != nil {
		pattern, known := c.option(r.args[1]).literal()
		if !known || strict(pattern, slices.Contains(r.args, "whole")) {
			set(facts(c.option(r.args[0]).all(), byAll), nil)
		}
	}
}
