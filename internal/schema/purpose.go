package schema

import (
	"encoding"
	stdjson "encoding/json" // its RawMessage is JSON, too
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// A Purpose is what a schema is for. It is one of [Reading], [Writing] and
// [Asking].
type Purpose struct {
	// The methods by which a type reads or writes itself. The schema library
	// looks at fields instead, and would describe a netip.Addr as an object.
	json, text []reflect.Type
	asking     bool
}

var (
	// Reading describes what a type can be read from.
	Reading = Purpose{
		json: []reflect.Type{reflect.TypeFor[json.UnmarshalerFrom](), reflect.TypeFor[json.Unmarshaler]()},
		text: []reflect.Type{reflect.TypeFor[encoding.TextUnmarshaler]()},
	}
	// Writing describes what is written of a type.
	Writing = Purpose{
		json: []reflect.Type{reflect.TypeFor[json.MarshalerTo](), reflect.TypeFor[json.Marshaler]()},
		text: []reflect.Type{reflect.TypeFor[encoding.TextAppender](), reflect.TypeFor[encoding.TextMarshaler]()},
	}
	// Asking describes what a model is to give: what fields say, since methods
	// could not be told, and of an enum only its words, without null.
	Asking = Purpose{asking: true}
)

// find puts the schemas of t, and of the types that t is made of, into own,
// where they are not what their kinds suggest.
func (p Purpose) find(t reflect.Type, own map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) {
	t = Element(t)
	if seen[t] {
		return
	}
	seen[t] = true
	has := func(i reflect.Type) bool { return t.Implements(i) || reflect.PointerTo(t).Implements(i) }
	switch {
	case t.Kind() == reflect.Interface, t == reflect.TypeFor[time.Time]():
	case t == reflect.TypeFor[jsontext.Value](), t == reflect.TypeFor[stdjson.RawMessage](), slices.ContainsFunc(p.json, has):
		own[t] = &jsonschema.Schema{} // it may be anything
	case slices.ContainsFunc(p.text, has):
		own[t] = &jsonschema.Schema{Type: "string"}
	default:
		p.findBelow(t, own, seen)
	}
}

func (p Purpose) findBelow(t reflect.Type, own map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 {
			p.find(t.Elem(), own, seen)
		} else if !p.asking || t.Name() == "" { // a type of its own may have methods
			own[t] = &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
		}
	case reflect.Map:
		p.find(t.Elem(), own, seen)
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(t) {
			p.find(field.Type, own, seen)
		}
	}
}
