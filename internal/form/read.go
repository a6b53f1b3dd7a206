package form

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Read makes an answer of what a person typed, and checks it: text as it stands,
// where "" in quotes is the empty one; numbers, all digits kept; y, yes, true, n, no
// or false; a choice by its number, its value or its title; several of them
// separated by commas, or the word none. #2 is always a number, and "2" in quotes
// always a value.
//
// The error is an [*AnswerError], also for an empty line: whether that stands for a
// default, or for leaving the field out, is decided by whoever asks.
func (f *Field) Read(text string) (jsontext.Value, error) {
	if !utf8.ValidString(text) {
		return nil, f.wrong("this is no text in UTF-8")
	}
	if strings.TrimSpace(text) == "" {
		return nil, f.wrong("expected %s, got nothing", f.Expected())
	}
	v, err := f.read(text)
	if err != nil {
		return nil, err
	}
	if err := f.Check(v); err != nil {
		return nil, err
	}
	return v, nil
}

func (f *Field) read(text string) (jsontext.Value, error) {
	if f.Kind == Text {
		if text == `""` {
			text = ""
		}
		return quote(text), nil
	}
	text = strings.TrimSpace(text)
	switch f.Kind {
	case YesNo:
		return f.readYesNo(text)
	case One:
		c, err := f.choose(text)
		return quote(c.Value), err
	case Many:
		return f.readMany(text)
	}
	return f.readNumber(text)
}

func (f *Field) readYesNo(text string) (jsontext.Value, error) {
	switch strings.ToLower(text) {
	case "y", "yes", "true":
		return jsontext.Value("true"), nil
	case "n", "no", "false":
		return jsontext.Value("false"), nil
	}
	return nil, f.wrong("expected yes or no, got %s", shown(text))
}

// readNumber takes what JSON takes, and besides a plus, zeros in front, and a
// decimal point without one.
func (f *Field) readNumber(text string) (jsontext.Value, error) {
	s, negative := strings.CutPrefix(text, "-")
	if !negative {
		s = strings.TrimPrefix(s, "+")
	}
	s = strings.TrimLeft(s, "0")
	if s == "" || s[0] < '0' || s[0] > '9' {
		s = "0" + s
	}
	if negative {
		s = "-" + s
	}
	v := jsontext.Value(s)
	typed := strings.TrimLeft(text, "+-")
	if typed == "" || !strings.ContainsAny(typed[:1], ".0123456789") || v.Kind() != '0' || !v.IsValid() {
		return nil, f.wrong("expected %s, got %s", f.Expected(), shown(text))
	}
	if f.Kind == Integer && strings.ContainsAny(s, ".eE") {
		return nil, f.wrong("expected %s in digits alone, got %s", f.Expected(), shown(text))
	}
	return v, nil
}

func (f *Field) readMany(text string) (jsontext.Value, error) {
	var chosen []string
	for _, word := range f.split(text) {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		c, err := f.choose(word)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(chosen, c.Value) {
			chosen = append(chosen, c.Value)
		}
	}
	list := []byte{'['}
	for i, value := range chosen {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, quote(value)...)
	}
	return append(list, ']'), nil
}

// split finds the choices in a line. One that has commas itself is taken for what
// it is, where it stands alone.
func (f *Field) split(text string) []string {
	if _, err := f.choose(text); err == nil {
		return []string{text}
	}
	if strings.EqualFold(text, "none") {
		return nil
	}
	if words := strings.Fields(text); !slices.ContainsFunc(words, func(w string) bool { return !isNumber(w) }) {
		return words
	}
	return strings.Split(text, ",")
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 10, 31)
	return err == nil
}

// choose finds the one choice that somebody means.
func (f *Field) choose(text string) (Choice, error) {
	if v := jsontext.Value(text); v.Kind() == '"' && v.IsValid() {
		return Choice{Value: unquote(v)}, nil // checked with the answer
	}
	if digits, ok := strings.CutPrefix(text, "#"); ok && isNumber(digits) {
		return f.numbered(digits)
	}
	named, several := f.named(text)
	if isNumber(text) {
		byNumber, err := f.numbered(text)
		switch {
		case len(named) == 0:
			return byNumber, err
		case err == nil && (several || named[0] != byNumber):
			return Choice{}, f.wrong("%s may be a number or a choice: #%s is the number, %q the choice", text, text, text)
		}
	}
	switch {
	case len(named) == 0:
		return Choice{}, f.wrong("%s is none of the choices: write the number of one, from 1 to %d", shown(text), len(f.Choices))
	case several:
		return Choice{}, f.wrong("several choices are called %s: write the number of one", shown(text))
	}
	return named[0], nil
}

func (f *Field) numbered(digits string) (Choice, error) {
	n, _ := strconv.Atoi(digits)
	if n < 1 || n > len(f.Choices) {
		return Choice{}, f.wrong("there is no choice %s: they have the numbers from 1 to %d", digits, len(f.Choices))
	}
	return f.Choices[n-1], nil
}

// named are the choices that are called like that: by value, else by title, else
// whatever the case of letters.
func (f *Field) named(text string) (found []Choice, several bool) {
	for _, same := range []func(Choice) bool{
		func(c Choice) bool { return c.Value == text },
		func(c Choice) bool { return c.Title == text },
		func(c Choice) bool { return strings.EqualFold(c.Value, text) || strings.EqualFold(c.Title, text) },
	} {
		for _, c := range f.Choices {
			if same(c) {
				found = append(found, c)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found, len(found) > 1
}
