package form

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Kind is what can be answered.
type Kind string

// The kinds of MCP's PrimitiveSchemaDefinition.
const (
	Text    Kind = "text"
	Number  Kind = "number"
	Integer Kind = "integer"
	YesNo   Kind = "yes or no"
	One     Kind = "one choice"
	Many    Kind = "choices" // any number of them, within bounds
)

// A Field is one thing that is asked for.
type Field struct {
	Name        string // as it is sent; unique in its form
	Title       string // for people; may be empty
	Description string // may be empty
	Kind        Kind
	Required    bool           // the form cannot be accepted without
	Default     jsontext.Value // what the asker suggests, and fits; nil is none

	Format               Format // of Text; "" is any
	Pattern              string // of Text: a regular expression of ECMA-262 that matches somewhere; "" is none
	MinLength, MaxLength *int64 // of Text, in characters; nil is no bound

	Minimum, Maximum jsontext.Value // of Number and Integer, inclusive; nil is no bound

	Choices            []Choice // of One and Many
	MinItems, MaxItems *int64   // of Many; nil is no bound
}

// A Format narrows a text.
type Format string

// The formats of MCP.
const (
	Email    Format = "email"     // RFC 5321, without a name beside it
	URI      Format = "uri"       // RFC 3986, absolute
	Date     Format = "date"      // RFC 3339, full-date
	DateTime Format = "date-time" // RFC 3339
)

// A Choice is one of those that a field offers.
type Choice struct {
	Value string // as it is sent
	Title string // for people; may be empty
}

// Label is what to call the field: its title, else its name.
func (f *Field) Label() string { return cmp.Or(f.Title, f.Name) }

// Label is what to call the choice: its title, else its value.
func (c Choice) Label() string { return cmp.Or(c.Title, c.Value) }

// Expected is what an answer has to be, in words, such as "an integer from 1 to 9".
// A pattern in it is the asker's, quoted.
func (f *Field) Expected() string {
	switch f.Kind {
	case Integer:
		return "an integer" + f.bounds()
	case Number:
		return "a number" + f.bounds()
	case YesNo:
		return "yes or no"
	case One:
		return "one of " + counted(int64(len(f.Choices)), "choice")
	case Many:
		return cmp.Or(span(f.MinItems, f.MaxItems), "any number") + " of " + counted(int64(len(f.Choices)), "choice")
	}
	return f.textInWords()
}

// bounds are in the words that tools use for their arguments.
func (f *Field) bounds() string {
	switch {
	case f.Minimum != nil && f.Maximum != nil:
		return " from " + string(f.Minimum) + " to " + string(f.Maximum)
	case f.Minimum != nil:
		return " of at least " + string(f.Minimum)
	case f.Maximum != nil:
		return " of at most " + string(f.Maximum)
	}
	return ""
}

func (f *Field) textInWords() string {
	words := map[Format]string{
		Email: "an e-mail address", URI: "a URI such as https://example.com/a",
		Date: "a date such as 2026-03-31", DateTime: "a time such as 2026-03-31T15:04:05Z",
	}
	s := cmp.Or(words[f.Format], "a text")
	if n := span(f.MinLength, f.MaxLength); strings.HasSuffix(" "+n, " 1") {
		s += " of " + n + " character"
	} else if n != "" {
		s += " of " + n + " characters"
	}
	if f.Pattern != "" {
		s += " that matches " + shown(f.Pattern)
	}
	return s
}

// span is "1 to 3", "at least 1", "at most 3", "3", or nothing.
func span(least, most *int64) string {
	switch {
	case least != nil && *least == 0:
		return span(nil, most)
	case least != nil && most != nil && *least == *most:
		return fmt.Sprint(*least)
	case least != nil && most != nil:
		return fmt.Sprintf("%d to %d", *least, *most)
	case least != nil:
		return fmt.Sprintf("at least %d", *least)
	case most != nil:
		return fmt.Sprintf("at most %d", *most)
	}
	return ""
}

// counted is a number of things.
func counted(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
