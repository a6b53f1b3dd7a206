package schema

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// refine puts into a schema what the tags of struct fields say beyond their
// type: enum:"go,python", minimum:"1", maximum:"100". It refuses types that the
// codec takes for something else than the schema does.
func (p Purpose) refine(s *jsonschema.Schema, t reflect.Type) error {
	t = Element(t)
	if s == nil {
		return nil
	}
	if slices.Equal(s.Types, []string{"null"}) {
		s.Types = nil // the library's way to allow null beside any value
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return p.refine(s.Items, t.Elem())
	case reflect.Map:
		return p.refine(s.AdditionalProperties, t.Elem())
	case reflect.Struct:
		return p.refineStruct(s, t)
	}
	return nil
}

func (p Purpose) refineStruct(s *jsonschema.Schema, t reflect.Type) error {
	if s.Properties == nil {
		return nil // it has methods of its own
	}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		member := s.Properties[cmp.Or(name, field.Name)]
		if member == nil && !field.Anonymous {
			continue
		}
		if err := checkField(field, name, options); err != nil {
			return fmt.Errorf("the field %s.%s: %w", t, field.Name, err)
		}
		if field.Anonymous {
			continue
		}
		if err := p.refineField(member, field.Tag); err != nil {
			return fmt.Errorf("the field %s.%s: %w", t, field.Name, err)
		}
		if err := p.refine(member, field.Type); err != nil {
			return err
		}
	}
	return nil
}

// checkField refuses what the schema library has no notion of.
func checkField(field reflect.StructField, name, options string) error {
	if field.Anonymous && name != "" {
		return errors.New("it is embedded under a name: give it that name in Go")
	}
	for option := range strings.SplitSeq(options, ",") {
		if option != "" && option != "omitempty" && option != "omitzero" {
			return fmt.Errorf("the option %q of its json tag has no schema", option)
		}
	}
	return nil
}

func (p Purpose) refineField(s *jsonschema.Schema, tag reflect.StructTag) error {
	if s.Items != nil {
		s = s.Items // the tags of a list are about what is in it
	}
	if words, ok := tag.Lookup("enum"); ok {
		if err := p.enum(s, words); err != nil {
			return err
		}
	}
	if err := errors.Join(bound(s, tag, "minimum", &s.Minimum), bound(s, tag, "maximum", &s.Maximum)); err != nil {
		return err
	}
	if s.Minimum != nil && s.Maximum != nil && *s.Minimum > *s.Maximum {
		return fmt.Errorf("there is nothing from %s to %s", tag.Get("minimum"), tag.Get("maximum"))
	}
	return nil
}

// enum allows words, and null where that is one of the types.
func (p Purpose) enum(s *jsonschema.Schema, words string) error {
	if !allows(s, "string") {
		return errors.New("the tag enum is for strings")
	}
	if p.asking {
		s.Type, s.Types = "string", nil
	}
	for word := range strings.SplitSeq(words, ",") {
		s.Enum = append(s.Enum, word)
	}
	if allows(s, "null") {
		s.Enum = append(s.Enum, nil)
	}
	return nil
}

// bound reads a tag that bounds a number.
func bound(s *jsonschema.Schema, tag reflect.StructTag, name string, into **float64) error {
	text, ok := tag.Lookup(name)
	if !ok {
		return nil
	}
	if !allows(s, "integer") && !allows(s, "number") {
		return fmt.Errorf("the tag %s is for numbers", name)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return fmt.Errorf("the tag %s is %q, which is no number", name, text)
	}
	*into = &n
	return nil
}
