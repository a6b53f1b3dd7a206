package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// types are those of JSON Schema, in the order in which they are told.
var types = []struct {
	name, words string
	kinds       []jsontext.Kind
}{
	{"string", "a string", []jsontext.Kind{'"'}},
	{"integer", "an integer", []jsontext.Kind{'0'}},
	{"number", "a number", []jsontext.Kind{'0'}},
	{"boolean", "true or false", []jsontext.Kind{'t', 'f'}},
	{"array", "a list", []jsontext.Kind{'['}},
	{"object", "an object", []jsontext.Kind{'{'}},
	{"null", "null", []jsontext.Kind{'n'}},
}

// KindInWords is what a value is, such as "a list", or "no JSON".
func KindInWords(k jsontext.Kind) string {
	for _, t := range types {
		if t.name != "integer" && slices.Contains(t.kinds, k) {
			return t.words
		}
	}
	return "no JSON"
}

// inWords is what is expected, such as "an integer from 1 to 9".
func (f *Form) inWords() string {
	if len(f.enum) > 0 {
		return "one of " + quoted(f.enum)
	}
	var words []string
	for _, t := range types {
		told := (t.name != "null" || !f.null) && (t.kinds[0] != '0' || (t.name == "integer") == f.integer)
		if told && slices.Contains(f.kinds, t.kinds[0]) {
			words = append(words, t.words)
		}
	}
	text := cmp.Or(strings.Join(words, " or "), "a value")
	if f.min != nil && f.max != nil {
		return text + " from " + number(*f.min) + " to " + number(*f.max)
	} else if f.min != nil {
		return text + " of at least " + number(*f.min)
	} else if f.max != nil {
		return text + " of at most " + number(*f.max)
	}
	return text
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// quoted is for people, and bounded.
func quoted(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > 256 {
			b.WriteString("…")
			break
		}
		b.WriteString(strconv.Quote(name))
	}
	return b.String()
}
