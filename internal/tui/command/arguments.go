package command

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/form"
	"github.com/parleyhq/parley/internal/nearest"
)

// Arguments are the command's arguments as one JSON object, typed by the schema of
// the tool, which may be nil. An object that was typed as such is taken as it stands.
// The error is an [*Error] about the argument.
func (c Command) Arguments(schema jsontext.Value) (jsontext.Value, error) {
	if c.Object != nil {
		return c.Object, nil
	}
	shape := readShape(schema)
	object := []byte{'{'}
	for i, a := range c.Args {
		v, err := shape.value(a)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			object = append(object, ',')
		}
		object = append(append(append(object, quote(a.Name)...), ':'), v...)
	}
	if missing := shape.missing(c.Args); c.Verb != Amend && missing != "" {
		return nil, &Error{Problem: "the argument " + shown(missing) + " is missing", Column: 1, Hint: "add " + spelled(missing) + "=…"}
	}
	return append(object, '}'), nil
}

// missing is the first argument that the tool cannot do without.
func (s *shape) missing(args []Arg) string {
	for _, p := range s.properties {
		if p.required && !slices.ContainsFunc(args, func(a Arg) bool { return a.Name == p.name }) {
			return p.name
		}
	}
	return ""
}

// value is an argument as JSON.
func (s *shape) value(a Arg) (jsontext.Value, error) {
	p := s.property(a.Name)
	if p == nil && s.closed {
		err := errorAt(a, "the tool has no argument %s", shown(a.Name))
		err.Hint = "its arguments are " + s.list()
		if near := nearest.To(a.Name, s.names()); near != "" {
			err.Hint = "did you mean " + spelled(near) + "? " + err.Hint
		}
		return nil, err
	}
	switch {
	case a.JSON != nil:
		return a.JSON, nil
	case a.Bare || p == nil:
		return quote(a.Text), nil
	}
	return s.terms(p).read(a)
}

// read makes of a text what the schema wants.
func (t terms) read(a Arg) (jsontext.Value, error) {
	if len(t.values) > 0 && !t.open {
		return t.choose(a)
	}
	switch {
	case t.is("string") || len(t.types) == 0:
		return quote(a.Text), nil
	case t.is("null") && a.Text == "null":
		return jsontext.Value("null"), nil
	}
	for _, typ := range []struct {
		name string
		kind form.Kind
	}{{"integer", form.Integer}, {"number", form.Number}, {"boolean", form.YesNo}} {
		if field := (&form.Field{Name: a.Name, Kind: typ.kind}); t.is(typ.name) {
			if v, err := field.Read(a.Text); err == nil {
				return v, nil
			}
		}
	}
	for _, typ := range []struct {
		name string
		kind jsontext.Kind
	}{{"object", '{'}, {"array", '['}} {
		if v := jsontext.Value(strings.TrimSpace(a.Text)); t.is(typ.name) && v.Kind() == typ.kind && v.IsValid() {
			return v, nil
		}
	}
	err := errorAt(a, "the argument %s wants %s, got %s", shown(a.Name), t.inWords(), shown(a.Text))
	err.Hint = "write " + spelled(a.Name) + t.example() + "; " + spelled(a.Name) + "==… says a text all the same"
	return nil, err
}

func (t terms) is(typ string) bool { return slices.Contains(t.types, typ) }

func (t terms) example() string {
	for _, typ := range t.types {
		if e, ok := map[string]string{"object": `:={"name": "value"}`, "array": ":=[1, 2]", "boolean": "=true", "integer": "=12", "number": "=1.5", "null": ":=null"}[typ]; ok {
			return e
		}
	}
	return "=…"
}

// choose finds the value that is meant, by what it says.
func (t terms) choose(a Arg) (jsontext.Value, error) {
	for _, v := range t.values {
		if said(v) == a.Text {
			return v, nil
		}
	}
	if t.is("null") && a.Text == "null" {
		return jsontext.Value("null"), nil
	}
	const most = 12
	var all []string
	for _, v := range t.values[:min(len(t.values), most)] {
		all = append(all, spelled(said(v)))
	}
	if more := len(t.values) - most; more > 0 {
		all = append(all, "…")
	}
	err := errorAt(a, "the argument %s cannot be %s", shown(a.Name), shown(a.Text))
	err.Hint = "write one of " + strings.Join(all, ", ")
	return nil, err
}

// said is a string without its quotes, and any other value as it is.
func said(v jsontext.Value) string {
	if v.Kind() == '"' {
		if s, err := jsontext.AppendUnquote(nil, v); err == nil {
			return string(s)
		}
	}
	v = v.Clone()
	_ = v.Compact() // else as it is
	return string(v)
}

func quote(s string) jsontext.Value {
	v, _ := jsontext.AppendQuote(nil, s) // what is no UTF-8 is replaced
	return v
}
