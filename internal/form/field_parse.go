package form

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// parseField reads the schema of one field.
func parseField(name string, raw jsontext.Value, at string) (*Field, error) {
	o, err := open(raw, at)
	if err != nil {
		return nil, err
	}
	f := &Field{Name: name}
	if f.Title, err = o.text("title", MaxTitle); err != nil {
		return nil, err
	}
	if f.Description, err = o.text("description", MaxDescription); err != nil {
		return nil, err
	}
	if err := o.without(anyType...); err != nil {
		return nil, err
	}
	if err := f.parseType(o); err != nil {
		return nil, err
	}
	return f, f.parseDefault(o)
}

// anyType are the keywords of JSON Schema that narrow or replace what the type
// says, and have no place in MCP's forms.
var anyType = []string{"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "not", "if", "const"}

func (f *Field) parseType(o *object) error {
	typ, err := o.text("type", MaxTitle)
	if err != nil {
		return err
	}
	switch typ {
	case "string":
		return f.parseString(o)
	case "number", "integer":
		f.Kind = Kind(typ)
		return f.parseNumber(o)
	case "boolean":
		f.Kind = YesNo
		return o.without("enum", "oneOf")
	case "array":
		f.Kind = Many
		return f.parseMany(o)
	case "object":
		return o.wrong("type", "an object inside of a form cannot be filled in: MCP's forms are flat (%s#requested-schema)", specification)
	}
	return o.wrong("type", "expected \"string\", \"number\", \"integer\", \"boolean\" or \"array\", got %s", o.given("type"))
}

func (f *Field) parseString(o *object) (err error) {
	if o.has("enum") || o.has("oneOf") {
		f.Kind = One
		return f.parseOne(o)
	}
	f.Kind = Text
	format, err := o.text("format", MaxTitle)
	if err != nil {
		return err
	}
	f.Format = Format(format)
	if !slices.Contains([]Format{"", Email, URI, Date, DateTime}, f.Format) {
		return o.wrong("format", "expected \"email\", \"uri\", \"date\" or \"date-time\", got %s", shown(format))
	}
	if f.Pattern, err = o.text("pattern", MaxDescription); err != nil {
		return err
	}
	if f.MinLength, err = o.count("minLength"); err != nil {
		return err
	}
	if f.MaxLength, err = o.count("maxLength"); err != nil {
		return err
	}
	return o.ordered("minLength", f.MinLength, f.MaxLength)
}

// ordered refuses bounds that nothing lies between.
func (o *object) ordered(least string, low, high *int64) error {
	if low != nil && high != nil && *low > *high {
		return o.wrong(least, "%d is above the upper bound, %d", *low, *high)
	}
	return nil
}

func (f *Field) parseNumber(o *object) (err error) {
	if err := o.without("enum", "oneOf", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"); err != nil {
		return err
	}
	if f.Minimum, err = o.number("minimum"); err != nil {
		return err
	}
	if f.Maximum, err = o.number("maximum"); err != nil {
		return err
	}
	if f.Minimum != nil && f.Maximum != nil && decimalOf(f.Minimum).compare(decimalOf(f.Maximum)) > 0 {
		return o.wrong("minimum", "%s is above the upper bound, %s", f.Minimum, f.Maximum)
	}
	return nil
}

// parseOne reads a choice: with titles in oneOf, or in enumNames as older servers
// have them, or without.
func (f *Field) parseOne(o *object) (err error) {
	if o.has("oneOf") {
		if err := o.without("enum"); err != nil {
			return err
		}
		f.Choices, err = titled(o, "oneOf")
		return err
	}
	if f.Choices, err = untitled(o); err != nil {
		return err
	}
	names, err := o.texts("enumNames", MaxChoices, MaxTitle)
	if err != nil {
		return err
	}
	if o.has("enumNames") && len(names) != len(f.Choices) {
		return o.wrong("enumNames", "there are %d names for %s", len(names), counted(int64(len(f.Choices)), "choice"))
	}
	for i, name := range names {
		f.Choices[i].Title = name
	}
	return nil
}

func (f *Field) parseMany(o *object) error {
	if err := o.without("enum", "oneOf", "prefixItems", "contains", "unevaluatedItems"); err != nil {
		return err
	}
	raw, _ := o.get("items")
	items, err := open(raw, o.at+".items")
	if err != nil {
		return err
	}
	if f.Choices, err = parseItems(items); err != nil {
		return err
	}
	if f.MinItems, err = o.count("minItems"); err != nil {
		return err
	}
	if f.MaxItems, err = o.count("maxItems"); err != nil {
		return err
	}
	if f.MinItems != nil && *f.MinItems > int64(len(f.Choices)) {
		return o.wrong("minItems", "%d are wanted of %s", *f.MinItems, counted(int64(len(f.Choices)), "choice"))
	}
	return o.ordered("minItems", f.MinItems, f.MaxItems)
}

func parseItems(items *object) ([]Choice, error) {
	if items.has("anyOf") {
		if err := items.without("enum", "oneOf", "$ref", "allOf", "not", "if", "const"); err != nil {
			return nil, err
		}
		return titled(items, "anyOf")
	}
	if err := items.without(anyType...); err != nil {
		return nil, err
	}
	if typ, err := items.text("type", MaxTitle); err != nil {
		return nil, err
	} else if typ != "string" || !items.has("enum") {
		return nil, refuse(items.at, "expected an enum of strings, or anyOf with a const and a title each: a list of anything else cannot be filled in")
	}
	return untitled(items)
}

// untitled reads an enum of strings.
func untitled(o *object) ([]Choice, error) {
	values, err := o.texts("enum", MaxChoices, MaxTitle)
	if err != nil {
		return nil, err
	}
	choices := make([]Choice, len(values))
	for i, v := range values {
		choices[i].Value = v
	}
	return choices, o.distinct("enum", choices)
}

// titled reads choices that are told as schemas, of a const and a title each.
func titled(o *object, keyword string) ([]Choice, error) {
	var choices []Choice
	err := o.each(keyword, MaxChoices, func(raw jsontext.Value) error {
		entry, err := open(raw, o.at+"."+keyword)
		if err != nil {
			return err
		}
		if !entry.has("const") {
			return refuse(entry.at, "an alternative without a const is no choice: MCP's have a const and a title each (%s#requested-schema)", specification)
		}
		var c Choice
		if c.Value, err = entry.text("const", MaxTitle); err != nil {
			return err
		}
		c.Title, err = entry.text("title", MaxTitle)
		choices = append(choices, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return choices, o.distinct(keyword, choices)
}

func (o *object) distinct(keyword string, choices []Choice) error {
	if len(choices) == 0 {
		return o.wrong(keyword, "there is nothing to choose from")
	}
	seen := make(map[string]bool, len(choices))
	for _, c := range choices {
		if seen[c.Value] {
			return o.wrong(keyword, "%s is given twice", shown(c.Value))
		}
		seen[c.Value] = true
	}
	return nil
}

// parseDefault takes what the asker suggests. Null is how some generators of
// schemas say that there is nothing.
func (f *Field) parseDefault(o *object) error {
	v, ok := o.get("default")
	if !ok || v.Kind() == 'n' {
		return nil
	}
	if err := f.Check(v); err != nil {
		return o.wrong("default", "%s", err.(*AnswerError).Problem)
	}
	f.Default = v
	return nil
}
