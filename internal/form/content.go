package form

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Content is what is sent for a form that was filled in: an object with the answers
// in the form's order. What is optional may be missing; no default is put in its
// place. The error is an [*AnswerError] for the first answer that does not fit, is
// missing, or belongs to no field.
func (f *Form) Content(answers map[string]jsontext.Value) (jsontext.Value, error) {
	content := []byte{'{'}
	known := 0
	for i := range f.Fields {
		field := &f.Fields[i]
		v, ok := answers[field.Name]
		if !ok {
			if field.Required {
				return nil, field.wrong("expected %s, got nothing", field.Expected())
			}
			continue
		}
		known++
		if err := field.Check(v); err != nil {
			return nil, err
		}
		if len(content) > 1 {
			content = append(content, ',')
		}
		content = append(append(append(content, quote(field.Name)...), ':'), v...)
	}
	if known < len(answers) {
		return nil, f.stranger(answers)
	}
	return append(content, '}'), nil
}

// stranger names an answer that belongs to no field.
func (f *Form) stranger(answers map[string]jsontext.Value) error {
	rest := map[string]bool{}
	for name := range answers {
		rest[name] = true
	}
	for i := range f.Fields {
		delete(rest, f.Fields[i].Name)
	}
	least := ""
	for name := range rest {
		if least == "" || name < least {
			least = name
		}
	}
	return &AnswerError{least, fmt.Sprintf("there is no such field among the %d of the form", len(f.Fields))}
}
