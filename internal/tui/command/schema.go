package command

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/tui/safe"
)

// What is looked at of a schema.
const (
	maxSchema     = 4 << 20 // bytes; a larger one is not looked at
	maxProperties = 1_000
	maxValues     = 1_000         // of one property
	maxParts      = 64            // schemas that make up one, by reference and otherwise
	maxPath       = 16            // elements of a reference
	maxRead       = 4 * maxSchema // bytes, in all
)

// A shape is what a tool wants to be called with, as far as that is known.
type shape struct {
	root       jsontext.Value
	properties []property // required ones first
	closed     bool       // there are no others
	unread     int        // bytes that may still be looked at
}

type property struct {
	name     string
	required bool
	schema   jsontext.Value
}

// terms are what the schema of one property says.
type terms struct {
	types       []string
	values      []jsontext.Value // of enum and const
	open        bool             // other values fit as well
	description string
	byDefault   jsontext.Value // nil is none
}

func readShape(root jsontext.Value) *shape {
	s := &shape{}
	if len(root) > maxSchema || root.Kind() != '{' {
		return s
	}
	s.root, s.unread = root, maxRead
	seen, required := map[string]bool{}, map[string]bool{}
	s.parts(root, func(part jsontext.Value, only bool) {
		for name, schema := range parley.Members(parley.Member(part, "properties")) {
			if !seen[name] && len(s.properties) < maxProperties {
				seen[name] = true
				s.properties = append(s.properties, property{name: name, schema: schema})
			}
		}
		for name := range parley.Elements(parley.Member(part, "required")) {
			if only && len(required) < maxProperties {
				required[said(name)] = true
			}
		}
	})
	for i := range s.properties {
		s.properties[i].required = required[s.properties[i].name]
	}
	slices.SortStableFunc(s.properties, func(a, b property) int {
		return cmp.Compare(rank(a.required), rank(b.required))
	})
	s.closed = s.closesItself()
	return s
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// closesItself reports whether the schema says that there is nothing but what it
// names. Where it is made of several, that is for the tool to say.
func (s *shape) closesItself() bool {
	if string(parley.Member(s.root, "additionalProperties")) != "false" || parley.Member(s.root, "patternProperties") != nil {
		return false
	}
	return len(s.properties) < maxProperties && s.unread > 0
}

// parts goes over the schemas that make up one: itself, what it refers to, all of
// allOf, and the alternatives, of which only one has to hold.
func (s *shape) parts(schema jsontext.Value, visit func(part jsontext.Value, only bool)) {
	type part struct {
		schema jsontext.Value
		only   bool
	}
	waiting := []part{{schema, true}}
	for n := 0; len(waiting) > 0 && n < maxParts && s.unread > 0; n++ {
		p := waiting[0]
		waiting = waiting[1:]
		s.unread -= len(p.schema)
		if p.schema.Kind() != '{' {
			continue
		}
		visit(p.schema, p.only)
		if ref, ok := parley.MemberString(p.schema, "$ref"); ok {
			waiting = append(waiting, part{s.resolve(ref), p.only})
		}
		for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
			for one := range parley.Elements(parley.Member(p.schema, keyword)) {
				if len(waiting) < maxParts {
					waiting = append(waiting, part{one, p.only && keyword == "allOf"})
				}
			}
		}
	}
}

// resolve finds what is referred to, if it is within the schema.
func (s *shape) resolve(ref string) jsontext.Value {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	pointer, err := url.PathUnescape(pointer)
	names := strings.Split(pointer, "/")
	if err != nil || names[0] != "" || len(names) > maxPath {
		return nil
	}
	s.unread -= len(s.root)
	v := s.root
	for _, name := range names[1:] {
		v = parley.Member(v, strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
	}
	return v
}

func (s *shape) property(name string) *property {
	i := slices.IndexFunc(s.properties, func(p property) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return &s.properties[i]
}

func (s *shape) names() []string {
	all := make([]string, len(s.properties))
	for i, p := range s.properties {
		all[i] = p.name
	}
	return all
}

// list names a few of the arguments.
func (s *shape) list() string {
	const most = 12
	all := s.names()
	for i, name := range all[:min(len(all), most)] {
		all[i] = spelled(name)
	}
	switch {
	case len(all) == 0:
		return "none"
	case len(all) > most:
		all = append(all[:most:most], "…")
	}
	return strings.Join(all, ", ")
}

// terms reads the schema of a property.
func (s *shape) terms(p *property) (t terms) {
	s.parts(p.schema, func(part jsontext.Value, only bool) {
		before := len(t.values)
		t.add(part)
		if !only && len(t.values) == before && saysType(part) && string(parley.Member(part, "type")) != `"null"` {
			t.open = true
		}
	})
	return t
}

// saysType reports whether a schema stands for itself.
func saysType(part jsontext.Value) bool {
	for _, keyword := range []string{"$ref", "allOf", "anyOf", "oneOf"} {
		if parley.Member(part, keyword) != nil {
			return false
		}
	}
	return true
}

func (t *terms) add(part jsontext.Value) {
	typ := parley.Member(part, "type")
	if typ.Kind() == '"' {
		t.addType(said(typ))
	}
	for one := range parley.Elements(typ) {
		t.addType(said(one))
	}
	if v := parley.Member(part, "const"); v != nil {
		t.values = append(t.values, v)
	}
	for v := range parley.Elements(parley.Member(part, "enum")) {
		if len(t.values) < maxValues {
			t.values = append(t.values, v)
		}
	}
	if v := parley.Member(part, "default"); t.byDefault == nil && v != nil {
		t.byDefault = v
	}
	if v := parley.Member(part, "description"); t.description == "" && v.Kind() == '"' {
		t.description = beginning(v)
	}
}

// maxTypes is how many types JSON Schema has.
const maxTypes = 7

func (t *terms) addType(typ string) {
	if len(t.types) < maxTypes && !t.is(typ) {
		t.types = append(t.types, typ)
	}
}

// beginning is the first line of a text, safe and of bounded length, without reading
// all of it.
func beginning(v jsontext.Value) string {
	const most = 1024 // bytes
	if len(v) > most {
		cut := v[:most]
		for i := range 12 { // not within an escape
			if short := append(slices.Clone(cut[:len(cut)-i]), '"'); short.IsValid() {
				v = short
				break
			}
		}
	}
	return safe.Line(firstLine(said(v)), maxLabel)
}

func firstLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return text
}

// inWords is what is expected.
func (t terms) inWords() string {
	words := make([]string, 0, len(t.types))
	for _, typ := range t.types {
		word, ok := map[string]string{
			"string": "a text", "integer": "an integer", "number": "a number", "boolean": "true or false",
			"object": "an object", "array": "a list", "null": "null",
		}[typ]
		if ok {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return "something else"
	}
	return strings.Join(words, " or ")
}
