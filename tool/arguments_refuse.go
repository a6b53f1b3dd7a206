package tool

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/schema"
)

// An argumentError is the error_details of an argument that does not fit.
type argumentError struct {
	Argument string `json:"argument,omitempty"`
	Expected string `json:"expected"`
	Got      string `json:"got"`
}

// refused is about the first argument that does not fit.
func refused(f schema.Fault) error {
	name := argumentName(f.At)
	switch f.What {
	case schema.Unknown:
		return Errorf(InvalidArgument, "unknown argument %q; there are %s", name, f.Expected).
			WithDetails(argumentError{name, f.Expected, "an unknown name"})
	case schema.Missing:
		if name != "" {
			name += "."
		}
		name += f.Names[0]
		return Errorf(InvalidArgument, "argument %q is missing: expected %s", name, f.Expected).
			WithDetails(argumentError{name, f.Expected, "nothing"})
	case schema.Length:
		return refuseArgument(name, f.Expected, strconv.Itoa(f.Length))
	case schema.Bounds:
		return refuseArgument(name, f.Expected, "another "+strings.TrimPrefix(schema.KindInWords(f.Got.Kind()), "a "))
	}
	return refuseArgument(name, f.Expected, schema.KindInWords(f.Got.Kind()))
}

func refuseArgument(name, expected, got string) *Error {
	what := "the arguments"
	if name != "" {
		what = "argument " + strconv.Quote(name)
	}
	return Errorf(InvalidArgument, "%s: expected %s, got %s", what, expected, got).
		WithDetails(argumentError{name, expected, got})
}

// argumentName is how a place in the arguments is told: options.depth, edits.2.
func argumentName(p jsontext.Pointer) string {
	return cut(strings.Join(slices.Collect(p.Tokens()), "."), 100)
}

// malformed turns a decoder's error into one that quotes nothing.
func malformed(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	name := ""
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		name = argumentName(e.JSONPointer)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return Errorf(InvalidArgument, "argument %q is given twice", name).
			WithDetails(argumentError{name, "one value", "two"})
	}
	return refuseArgument(name, "JSON in UTF-8", "something else")
}

// unfit is about a value that has the right form, and that the Go type does not
// take all the same.
func (f *form) unfit(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return malformed(err)
	}
	return refuseArgument(argumentName(e.JSONPointer), f.Expected(e.JSONPointer)+" that fits", "another one")
}
