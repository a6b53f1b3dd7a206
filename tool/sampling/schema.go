package sampling

import (
	stdjson "encoding/json" // the schema library's
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parleyhq/parley/internal/schema"
)

// SchemaTool is the name of the tool that a model answers with where a typed
// answer is wanted. No other tool can have it.
const SchemaTool = "__schema__"

// SchemaOptions are those of [NewSchema]. The zero value works.
type SchemaOptions struct {
	// Schema is a JSON Schema (2020-12) of type object, for what Go's types cannot say.
	// Nil: it is made from T, its json and jsonschema tags, and the tags
	// enum:"a,b", minimum:"0" and maximum:"8".
	Schema jsontext.Value
	// Description tells the model what the answer is for. "": only that it is to
	// answer with it.
	Description string
	// AcceptText takes a reply without calls whose text is JSON that fits, also
	// between code fences. False: such a reply is TextOnly.
	AcceptText bool
}

// A Schema asks a model for a T, and reads its reply. It can be used for any
// number of requests.
type Schema[T any] struct {
	tool       Tool
	form       *schema.Form         // nil: the schema says more than a form can hold
	library    *jsonschema.Resolved // used where there is no form
	acceptText bool
	asking     formSchema
}

// NewSchema makes a schema for T, which has to be a struct or a map: a tool's
// input is an object. It fails where JSON Schema cannot describe T, or describes it
// otherwise than T is written as JSON.
func NewSchema[T any](options SchemaOptions) (*Schema[T], error) {
	s, raw, err := schemaOf(reflect.TypeFor[T](), options.Schema)
	if err != nil {
		return nil, fmt.Errorf("sampling: the schema of %s: %w", reflect.TypeFor[T](), err)
	}
	made := &Schema[T]{acceptText: options.AcceptText}
	made.form, _ = schema.NewForm(s) // what no form can hold is the library's
	if made.library, err = s.Resolve(nil); err != nil {
		return nil, fmt.Errorf("sampling: the schema of %s: %w", reflect.TypeFor[T](), err)
	}
	if err := made.agrees(); err != nil {
		return nil, err
	}
	about := options.Description
	if about == "" {
		about = "Give the answer by calling this tool."
	}
	made.tool = Tool{Name: SchemaTool, Description: about, InputSchema: raw}
	return made, nil
}

// JSON is the schema as it is sent.
func (s *Schema[T]) JSON() jsontext.Value { return s.tool.InputSchema }

// agrees holds the zero T against the schema: its values may be out of bounds,
// but they have the types that replies will need.
func (s *Schema[T]) agrees() error {
	if s.form == nil {
		return nil
	}
	zero := reflect.New(schema.Element(reflect.TypeFor[T]()))
	data, err := json.Marshal(zero.Interface())
	if err != nil {
		return fmt.Errorf("sampling: %s cannot be written as JSON: %w", reflect.TypeFor[T](), err)
	}
	if _, found := examine(s.form, data); found.types != "" {
		return fmt.Errorf("sampling: %s is not written as its schema says: %s", reflect.TypeFor[T](), found.types)
	}
	return nil
}

// schemaOf makes the schema of what t is as JSON, or reads a given one.
func schemaOf(t reflect.Type, given jsontext.Value) (*jsonschema.Schema, jsontext.Value, error) {
	s, raw := new(jsonschema.Schema), given
	if given != nil {
		if !given.IsValid() {
			return nil, nil, syntaxOf(given)
		}
		if err := stdjson.Unmarshal(given, s); err != nil {
			return nil, nil, err
		}
	} else {
		var err error
		if s, err = schema.Of(schema.Element(t), schema.Asking); err != nil {
			return nil, nil, err
		}
		if raw, err = stdjson.Marshal(s); err != nil {
			return nil, nil, err
		}
	}
	if s.Type != "object" {
		return nil, nil, fmt.Errorf("a tool's input is an object: put what is none into a member of a struct")
	}
	return s, raw, nil
}

// Request makes of what is asked what is to be sent: [SchemaTool] comes first in its
// tools, and a tool has to be used. It refuses a request whose messages do not
// go together, and one with a tool of that name, with [ErrReservedTool].
func (s *Schema[T]) Request(asked Request) (Request, error) {
	if err := asked.Check(); err != nil {
		return Request{}, err
	}
	if err := CheckTools(asked.Tools); err != nil {
		return Request{}, err
	}
	sent := asked
	sent.Tools = slices.Concat([]Tool{s.tool}, asked.Tools)
	sent.ToolChoice = ToolChoice{Mode: Required}
	return sent, nil
}

// ErrReservedTool is about a tool of one's own that is called [SchemaTool].
var ErrReservedTool = fmt.Errorf("sampling: the name %s is reserved for typed answers: give the tool another name", SchemaTool)

// CheckTools refuses tools that no request should offer: a reserved name, an empty
// one, or two of one name.
func CheckTools(tools []Tool) error {
	seen := map[string]bool{}
	for i, t := range tools {
		switch {
		case t.Name == SchemaTool:
			return ErrReservedTool
		case t.Name == "":
			return fmt.Errorf("sampling: tools[%d] has no name", i)
		case seen[t.Name]:
			return fmt.Errorf("sampling: two tools are called %q", clip(t.Name, 64))
		}
		seen[t.Name] = true
	}
	return nil
}

// Decode reads a T that somebody has given. The error is a [*ValidationError].
func (s *Schema[T]) Decode(raw jsontext.Value) (T, error) {
	var t T
	raw, problems := s.validate(raw)
	if len(problems) > 0 {
		return t, &ValidationError{problems}
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		var none T
		return none, &ValidationError{[]string{line(err.Error())}}
	}
	return t, nil
}

// validate returns raw with integers as Go reads them, or what is wrong with it.
func (s *Schema[T]) validate(raw jsontext.Value) (jsontext.Value, []string) {
	if s.form != nil {
		raw, found := examine(s.form, raw)
		return raw, found.problems
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, []string{line(err.Error())}
	}
	if err := s.library.Validate(tree); err != nil {
		return nil, []string{line(err.Error())}
	}
	return raw, nil
}

// A ValidationError says what does not fit a schema, one line for each value,
// for people and for the model that is to try again.
type ValidationError struct {
	Problems []string // at most 8, each of bounded length
}

// Error is all of the problems in one line.
func (e *ValidationError) Error() string {
	return "sampling: the answer does not fit its schema: " + strings.Join(e.Problems, "; ")
}
