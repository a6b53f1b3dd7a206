package form_test

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/form"
)

func Example() {
	f, err := form.Parse(jsontext.Value(`{
		"message": "Which table?",
		"requestedSchema": {
			"type": "object",
			"properties": {
				"people": {"type": "integer", "title": "How many", "minimum": 1, "maximum": 8},
				"seat": {"type": "string", "enum": ["inside", "terrace"]}
			},
			"required": ["people"]
		}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Message)
	answers := map[string]jsontext.Value{}
	typed := []string{"nine", "4", "2"}
	for _, field := range f.Fields {
		for answers[field.Name] == nil {
			fmt.Println(field.Label()+":", typed[0])
			answer, err := field.Read(typed[0])
			typed = typed[1:]
			if err != nil {
				fmt.Println(err)
				continue
			}
			answers[field.Name] = answer
		}
	}
	content, err := f.Content(answers)
	fmt.Println(string(content), err)
	// Output:
	// Which table?
	// How many: nine
	// "people": expected an integer from 1 to 8, got "nine"
	// How many: 4
	// seat: 2
	// {"people":4,"seat":"terrace"} <nil>
}
