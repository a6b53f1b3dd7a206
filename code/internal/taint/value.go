package taint

import (
	"maps"
	"slices"
	"strconv"
)

// Bounds on what is remembered of one value. Beyond them things are thrown
// together, which may cost a finding its precision and never makes one vanish.
const (
	maxTaints = 6
	maxFields = 24
	maxNested = 3
	maxText   = 200
)

// sourceKind is where hostile text comes from.
type sourceKind string

const (
	fromRequest     sourceKind = "request"     // what came over a network
	fromProgram     sourceKind = "arguments"   // the program's own arguments
	fromEnvironment sourceKind = "environment" // environment variables
	fromInput       sourceKind = "input"       // what somebody types
	fromParameter   sourceKind = "parameter"   // of a function, whose callers are not looked at
	fromArchive     sourceKind = "archive"     // names of files in an archive
)

// A source is a place where hostile text enters.
type source struct {
	kind sourceKind
	name string
	at   int32
}

// A taint is hostile text in a value.
type taint struct {
	from *source
	// id says which text it is: two values with the same id hold the same text,
	// so that a check of the one holds for the other.
	id       uint64
	left     danger // what it may still do
	composed bool   // it is part of a larger text
	normal   bool   // as a path it has no ".." but at its head
	rooted   bool   // as a path it begins with "/" and has no ".."
	doubt    uint8  // how many calls of unknown functions it went through
	step     *step
}

// A step is a place on the way, linked to the one before it.
type step struct {
	before *step
	at     int32
}

func (t taint) through(at int32) taint {
	if t.step == nil || t.step.at != at {
		t.step = &step{t.step, at}
	}
	return t
}

// A fact is what a condition tells: the text id cannot do these things.
type fact struct {
	id    uint64
	clear danger
}

// A value is what is known of a value. It is never changed; nil is a value of
// which nothing is known, and which is harmless.
type value struct {
	path     string  // what it is, in dotted names: "flask.request", "net/http.Request"
	taints   []taint // of all of it, but for its fields
	fields   map[string]*value
	order    []string // of the fields, as they came
	imported bool     // it is what an import names
	list     bool     // it is a container
	text     string   // the literal text in it, cut
	exact    bool     // text is all there is
	fn       *function
	yes      []fact // what holds where it is true
	no       []fact // what holds where it is false
	proven   []fact // what holds where the call that gave it did not fail

	nested int     // how many levels of fields there are
	every  []taint // what all gave, once it was asked
	asked  bool
}

func (v *value) pathOf() string {
	if v == nil || v.path == "" {
		return "?"
	}
	return v.path
}

func (v *value) literal() (string, bool) {
	if v == nil {
		return "", false
	}
	return v.text, v.exact
}

func (v *value) field(name string) *value {
	if v == nil {
		return nil
	}
	return v.fields[name]
}

// all are the taints of the value and of everything in it.
func (v *value) all() []taint {
	if v == nil {
		return nil
	}
	if v.asked {
		return v.every
	}
	out := v.taints
	for _, name := range v.order {
		out = unite(out, v.fields[name].all())
	}
	v.every, v.asked = out, true
	return out
}

func (v *value) clone() *value {
	if v == nil {
		return &value{}
	}
	c := *v
	c.every, c.asked = nil, false
	return &c
}

// with is the value with a field set.
func (v *value) with(name string, f *value) *value {
	c := v.clone()
	_, there := c.fields[name]
	if !there && len(c.fields) >= maxFields || f != nil && f.nested >= maxNested {
		c.taints = unite(c.taints, f.all())
		return c
	}
	if f != nil {
		c.nested = max(c.nested, f.nested+1)
	}
	c.fields = maps.Clone(c.fields)
	if c.fields == nil {
		c.fields = map[string]*value{}
	}
	if !there {
		c.order = append(slices.Clip(c.order), name)
	}
	c.fields[name] = f
	return c
}

// added is the value with taints added.
func (v *value) added(taints []taint) *value {
	if len(taints) == 0 {
		return v
	}
	c := v.clone()
	c.taints = unite(c.taints, taints)
	c.exact = false
	return c
}

// unite is both, each text once. The result may be a itself.
func unite(a, b []taint) []taint {
	if len(a) == 0 {
		return b
	}
	shared := false
	for _, t := range b {
		i := slices.IndexFunc(a, func(o taint) bool { return o.id == t.id })
		switch {
		case i >= 0 && a[i].left|t.left == a[i].left && (a[i].composed || !t.composed) && (!a[i].normal || t.normal):
			continue
		case i < 0 && len(a) >= maxTaints:
			continue
		}
		if !shared {
			a, shared = slices.Clone(a), true
		}
		if i < 0 {
			a = append(a, t)
			continue
		}
		a[i].left |= t.left
		a[i].composed = a[i].composed || t.composed
		a[i].normal = a[i].normal && t.normal
	}
	return a
}

// join is a value that is the one or the other. It is a itself where b adds
// nothing.
func join(a, b *value) *value {
	switch {
	case a == b:
		return a
	case a == nil:
		return b.vague()
	case b == nil:
		return a.vague()
	}
	out, changed := a, false
	edit := func() {
		if !changed {
			out, changed = a.clone(), true
		}
	}
	if taints := unite(a.taints, b.taints); len(taints) != len(a.taints) || len(taints) > 0 && &taints[0] != &a.taints[0] {
		edit()
		out.taints = taints
	}
	if a.path != b.path && a.path != "" {
		edit()
		out.path = ""
	}
	if a.exact && (!b.exact || a.text != b.text) {
		edit()
		out.exact = false
	}
	if len(a.yes)+len(a.no) > 0 {
		edit()
		out.yes, out.no = nil, nil
	}
	for _, name := range b.order {
		old, there := out.fields[name]
		f := b.fields[name]
		if there {
			f = join(old, f)
		}
		if !there || f != old {
			out, changed = out.with(name, f), true
		}
	}
	return out
}

// vague is the value where it is only one of several.
func (v *value) vague() *value {
	if v == nil || !v.exact && len(v.yes)+len(v.no) == 0 {
		return v
	}
	c := v.clone()
	c.exact, c.yes, c.no = false, nil, nil
	return c
}

// element is the name of a list's nth field.
func element(i int) string { return strconv.Itoa(i) }

// mix makes an id out of another.
func mix(id uint64, name string) uint64 {
	id ^= 14695981039346656037
	for i := range len(name) {
		id = (id ^ uint64(name[i])) * 1099511628211
	}
	return (id ^ id>>29) * 0x9e3779b97f4a7c15
}

func mixAt(at int32) uint64 { return mix(uint64(at)+1, "at") }

func clip(text string) string { return text[:min(len(text), maxText)] }
