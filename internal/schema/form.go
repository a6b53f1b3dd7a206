package schema

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// A Form is a schema made ready to be held against JSON in one pass, without a
// tree of it. It holds what schemas of Go types say. Anything fits the zero
// Form.
type Form struct {
	kinds    []jsontext.Kind // that are allowed; none: any value
	integer  bool            // a number must have no fraction
	expected string          // in words
	null     bool            // fits too, which the words do not say
	enum     []string
	min, max *float64

	members  []member // of an object
	closed   bool     // there are no other members
	rest     *Form    // what they have to be like; nil: anything fits
	required uint64   // which of members must be there

	items              *Form // of a list; nil: anything fits
	minItems, maxItems *int
}

type member struct {
	name   string
	quoted []byte // as it mostly stands in JSON
	form   *Form
}

// maxMembers is how many members one object may have: required has a bit for
// each.
const maxMembers = 64

// NewForm makes a form of a schema. It fails where the schema says something that
// a form has no place for, and never does for what [Of] makes of types whose
// structs have at most 64 fields.
func NewForm(s *jsonschema.Schema) (*Form, error) {
	if !plain(s) {
		return nil, errors.New("the schema says more than a form can hold")
	}
	f := &Form{
		integer: allows(s, "integer") && !allows(s, "number"),
		min:     s.Minimum, max: s.Maximum, minItems: s.MinItems, maxItems: s.MaxItems,
	}
	for _, t := range types {
		if allows(s, t.name) {
			f.kinds = append(f.kinds, t.kinds...)
		}
	}
	for _, e := range s.Enum {
		if word, ok := e.(string); ok {
			f.enum = append(f.enum, word)
		}
	}
	f.null = len(f.kinds) > 1 && slices.Contains(f.kinds, 'n')
	f.expected = f.inWords()
	var err error
	if s.Items != nil {
		if f.items, err = NewForm(s.Items); err != nil {
			return nil, err
		}
	}
	if err := f.object(s); err != nil {
		return nil, err
	}
	return f, nil
}

// plain says whether a form can hold all that a schema says by itself.
func plain(s *jsonschema.Schema) bool {
	other := *s
	other.Type, other.Types, other.Enum, other.Minimum, other.Maximum = "", nil, nil, nil, nil
	other.Items, other.MinItems, other.MaxItems = nil, nil, nil
	other.Properties, other.PropertyOrder, other.Required, other.AdditionalProperties = nil, nil, nil, nil
	other.Title, other.Description, other.ContentEncoding = "", "", ""
	return reflect.DeepEqual(other, jsonschema.Schema{}) && (s.Enum == nil || ofWords(s))
}

// ofWords says whether an enum is one of strings, with null where that is a type.
func ofWords(s *jsonschema.Schema) bool {
	for _, e := range s.Enum {
		if _, ok := e.(string); !ok && e != nil {
			return false
		}
	}
	null := allows(s, "null") && slices.Contains(s.Enum, nil)
	return s.Type == "string" || len(s.Types) == 2 && allows(s, "string") && null
}

// object fills in what concerns the members of an object.
func (f *Form) object(s *jsonschema.Schema) error {
	if len(s.Properties) > maxMembers {
		return fmt.Errorf("an object has %d members, which is more than %d", len(s.Properties), maxMembers)
	}
	names := s.PropertyOrder
	if len(names) != len(s.Properties) {
		names = slices.Sorted(maps.Keys(s.Properties))
	}
	for _, name := range names {
		m, err := NewForm(s.Properties[name])
		if err != nil {
			return err
		}
		quoted, err := jsontext.AppendQuote(nil, name)
		if err != nil {
			return err
		}
		if slices.Contains(s.Required, name) {
			f.required |= 1 << len(f.members)
		}
		f.members = append(f.members, member{name, quoted, m})
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			return fmt.Errorf("the member %q is required, and has no schema", name)
		}
	}
	return f.others(s.AdditionalProperties)
}

// others fills in what members may be like that have no schema of their own.
func (f *Form) others(rest *jsonschema.Schema) (err error) {
	if f.closed = reflect.DeepEqual(rest, &jsonschema.Schema{Not: &jsonschema.Schema{}}); rest != nil && !f.closed {
		f.rest, err = NewForm(rest)
	}
	return err
}

// Expected is what a value at a place has to be, in words.
func (f *Form) Expected(at jsontext.Pointer) string {
	for token := range at.Tokens() {
		f = f.child(token)
	}
	return f.expected
}

// child is the form of a member or element, or the form itself where there is
// none.
func (f *Form) child(name string) *Form {
	if i := slices.IndexFunc(f.members, func(m member) bool { return m.name == name }); i >= 0 {
		return f.members[i].form
	}
	for _, c := range []*Form{f.rest, f.items} {
		if c != nil {
			return c
		}
	}
	return f
}
