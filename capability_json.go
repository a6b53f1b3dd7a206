package parley

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of an object form. They keep what one capability may cost the one
// goroutine that holds it against every envelope.
const (
	maxObjectForm     = 16 << 10 // bytes, the "!" of a denial aside
	maxObjectPatterns = 256
	maxParamsDepth    = 32
)

// UnmarshalJSON reads a string or an object. Whatever else stands there, and
// whatever in it has no meaning, is invalid_argument: a capability that was not
// understood must not turn into one that always matches.
func (c *Capability) UnmarshalJSON(data []byte) error {
	parsed, err := parseCapabilityJSON(data)
	if err == nil {
		*c = parsed
	}
	return err
}

// MarshalJSON gives back what was written, blanks aside.
func (c Capability) MarshalJSON() ([]byte, error) {
	switch {
	case c.r == nil:
		return nil, Errorf(InvalidArgument, "the capability is empty")
	case c.r.object != nil:
		return c.r.object.Clone(), nil
	}
	return appendString(nil, c.r.text), nil
}

func parseCapabilityJSON(data []byte) (Capability, error) {
	v, err := readStrictly(data)
	if err != nil {
		return Capability{}, err
	}
	switch v.Kind() {
	case '"':
		s := unquote(v)
		if strings.HasPrefix(strings.TrimSpace(s), "{") {
			return Capability{}, Errorf(InvalidArgument, "the capability is an object inside a string").
				WithHint("write the object itself, without quotation marks around it")
		}
		return ParseCapability(s)
	case '{':
		return parseObjectForm(v)
	}
	return Capability{}, Errorf(InvalidArgument, "a capability is a string or an object, not %s", kindName(v.Kind()))
}

// readStrictly copies one JSON value, compact, out of data that nobody has
// looked at yet: a configuration or a request's body.
func readStrictly(data []byte) (jsontext.Value, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	read, err := dec.ReadValue()
	if err == nil {
		v := read.Clone()
		if _, err = dec.ReadToken(); errors.Is(err, io.EOF) {
			return v, v.Compact()
		}
		if err == nil {
			err = errors.New("something follows it")
		}
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("nothing there")
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) && syntactic.Err != nil {
		return nil, Errorf(InvalidArgument, "the capability is not strict JSON: %v at %q", syntactic.Err, string(syntactic.JSONPointer))
	}
	return nil, Errorf(InvalidArgument, "the capability is not strict JSON: %v", err)
}

func parseObjectForm(v jsontext.Value) (Capability, error) {
	if len(v) > maxObjectForm+len("!") {
		return Capability{}, Errorf(InvalidArgument, "the capability is longer than %d bytes", maxObjectForm)
	}
	r := &rule{text: string(v), object: v}
	var p paramsParser
	for name, value := range members(v) {
		var err error
		switch name {
		case "kind":
			err = r.readKind(value)
		case "params":
			r.params, err = p.object("params", value, 1)
		case "context":
			err = r.readContext(value)
		case "to":
			err = r.readTo(value)
		default:
			err = Errorf(InvalidArgument, "a capability has no member %q", clip(name, 80)).
				WithHint("its members are kind, params, context and to")
		}
		if err != nil {
			return Capability{}, err
		}
	}
	if r.kind == "" {
		return Capability{}, Errorf(InvalidArgument, "the capability has no kind").
			WithHint(`the least is {"kind": "…"}`)
	}
	return Capability{r}, nil
}

func (r *rule) readKind(v jsontext.Value) error {
	if v.Kind() != '"' {
		return mistyped("kind", v, "a string")
	}
	return r.setKind(unquote(v))
}

func (r *rule) readContext(v jsontext.Value) error {
	if v.Kind() != '{' {
		return mistyped("context", v, "an object")
	}
	for name, value := range members(v) {
		if name != "type" {
			return Errorf(InvalidArgument, "context has no member %q, only type", clip(name, 80))
		}
		g, err := readName("context.type", value)
		if err != nil {
			return err
		}
		r.context = &g
	}
	if r.context == nil {
		return Errorf(InvalidArgument, "context has no type")
	}
	return nil
}

func (r *rule) readTo(v jsontext.Value) error {
	if v.Kind() != '[' {
		return mistyped("to", v, "an array of strings")
	}
	for el := range elements(v) {
		g, err := readName(fmt.Sprintf("to[%d]", len(r.to)), el)
		if err != nil {
			return err
		}
		r.to = append(r.to, g)
	}
	switch {
	case len(r.to) == 0:
		return Errorf(InvalidArgument, "to is empty and could match nothing")
	case len(r.to) > maxObjectPatterns:
		return Errorf(InvalidArgument, "to has more than %d patterns", maxObjectPatterns)
	}
	return nil
}

// readName reads a pattern over names: of participants, of context types.
func readName(where string, v jsontext.Value) (glob, error) {
	if v.Kind() != '"' {
		return glob{}, mistyped(where, v, "a string")
	}
	s := unquote(v)
	switch {
	case s == "":
		return glob{}, Errorf(InvalidArgument, "%s is empty", where)
	case len(s) > MaxPattern:
		return glob{}, Errorf(InvalidArgument, "%s is longer than %d bytes", where, MaxPattern)
	case s[0] == '!':
		return glob{}, Errorf(InvalidArgument, "%s starts with !, which only a kind may", where).
			WithHint("to deny, write the ! before the kind")
	}
	return compileGlob(s), nil
}

// paramsParser compiles params and counts what it has compiled.
type paramsParser struct{ patterns int }

func (p *paramsParser) object(where string, v jsontext.Value, depth int) (*node, error) {
	if v.Kind() != '{' {
		return nil, mistyped(where, v, "an object")
	}
	if depth > maxParamsDepth {
		return nil, Errorf(InvalidArgument, "params is nested deeper than %d", maxParamsDepth)
	}
	n := &node{form: formObject}
	for name, value := range members(v) {
		m, err := p.value(where+"."+clip(name, 80), value, depth+1)
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, member{name, m})
	}
	return n, nil
}

func (p *paramsParser) value(where string, v jsontext.Value, depth int) (*node, error) {
	if p.patterns++; p.patterns > maxObjectPatterns {
		return nil, Errorf(InvalidArgument, "params has more than %d patterns", maxObjectPatterns)
	}
	switch v.Kind() {
	case '{':
		return p.object(where, v, depth)
	case '[':
		return p.alternatives(where, v, depth)
	case '"':
		s := unquote(v)
		if len(s) > MaxPattern {
			return nil, Errorf(InvalidArgument, "%s is longer than %d bytes", where, MaxPattern)
		}
		return &node{form: formString, text: compileGlob(s)}, nil
	case '0':
		return &node{form: formNumber, number: canonicalNumber(v)}, nil
	case 'n':
		return &node{form: formNull}, nil
	}
	return &node{form: formBool, truth: v.Kind() == 't'}, nil
}

func (p *paramsParser) alternatives(where string, v jsontext.Value, depth int) (*node, error) {
	n := &node{form: formAny}
	for el := range elements(v) {
		at := fmt.Sprintf("%s[%d]", where, len(n.any))
		if el.Kind() == '[' {
			return nil, Errorf(InvalidArgument, "%s is an array inside an array", at).
				WithHint("an array in a pattern means any of these; arrays among values need no pattern of their own")
		}
		one, err := p.value(at, el, depth)
		if err != nil {
			return nil, err
		}
		n.any = append(n.any, one)
	}
	if len(n.any) == 0 {
		return nil, Errorf(InvalidArgument, "%s is an empty array and could match nothing", where)
	}
	return n, nil
}

func mistyped(where string, v jsontext.Value, want string) error {
	return Errorf(InvalidArgument, "%s is %s in a capability, not %s", where, kindName(v.Kind()), want)
}
