// Package schema makes JSON Schemas of Go types, for arguments that are read
// into them, for answers that are written of them, and for what a model is asked
// for, and holds JSON against them.
//
//	type Input struct {
//		Path     string `json:"path" jsonschema:"the file"`
//		Language string `json:"language,omitempty" enum:"go,python"`
//		Lines    int    `json:"lines,omitempty" minimum:"1" maximum:"500"`
//	}
//	s, err := schema.Of(reflect.TypeFor[Input](), schema.Reading)
//
//	form, err := schema.NewForm(s)
//	raw, err = form.Check(raw, func(f schema.Fault) error { … })
//
// A [Form] is what values are held against, without a tree being built of them.
// It says what does not fit and where; whoever asked finds the words, since
// one tells a client of an argument, and the other a model of its answer.
//
// A schema never promises what the codec does not hold to: types and tags that
// the two would understand differently are refused, with the field's name.
//
// # Concurrency
//
// Everything here can be used by any number of goroutines at once. A schema that
// was made belongs to the caller.
package schema
