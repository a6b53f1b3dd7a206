package fill

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/form"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/tui/safe"
)

// An entry is one field with its answer.
type entry struct {
	field   *form.Field
	choices []form.Choice  // yes and no, where that is the question
	value   jsontext.Value // what will be sent; nil leaves the field out
	problem string         // why the answer does not fit; "" where it does

	typed string // of texts and numbers
	kept  bool   // the suggestion cannot be typed, and stays until something is

	at     int          // the choice that the cursor is on
	chosen map[int]bool // of choices
}

var yesNo = []form.Choice{{Value: "true", Title: "yes"}, {Value: "false", Title: "no"}}

func newEntry(f *form.Field) entry {
	e := entry{field: f, choices: f.Choices, value: f.Default, chosen: map[int]bool{}}
	if f.Kind == form.YesNo {
		e.choices = yesNo
	}
	switch {
	case f.Default == nil:
	case e.isTyped():
		e.suggest()
	default:
		e.choose(f.Default)
	}
	return e
}

func (e *entry) isTyped() bool { return e.choices == nil }

// suggest puts the default in place as it would be typed, or keeps it as it is.
func (e *entry) suggest() {
	typed := said(e.field.Default)
	if typed == "" {
		typed = `""`
	}
	v, err := e.field.Read(typed)
	if err == nil && string(v) == string(e.field.Default) && safe.OneLine(typed) == typed && len(typed) < maxTyped {
		e.typed = typed
	} else {
		e.kept = true
	}
}

// choose marks the choices that are in a value.
func (e *entry) choose(v jsontext.Value) {
	wanted := map[string]bool{}
	if v.Kind() == '[' {
		for one := range jsonrpc.Values(v) {
			wanted[said(one)] = true
		}
	} else {
		wanted[said(v)] = true
	}
	for i, c := range e.choices {
		if wanted[c.Value] {
			e.chosen[i] = true
			if len(e.chosen) == 1 {
				e.at = i
			}
		}
	}
}

// said is a string without its quotes, and any other value as it is.
func said(v jsontext.Value) string {
	if s, err := jsontext.AppendUnquote(nil, v); err == nil && v.Kind() == '"' {
		return string(s)
	}
	return string(v)
}

// take takes over what the person has typed so far.
func (e *entry) take(typed string) {
	if typed == e.typed {
		return
	}
	e.typed, e.kept = typed, false
	if e.problem != "" { // it goes away as soon as it is solved
		e.settle()
	}
}

// toggle takes the choice at the cursor, or puts it back.
func (e *entry) toggle() {
	on := !e.chosen[e.at]
	if e.field.Kind != form.Many {
		clear(e.chosen)
		on = true
	}
	if on {
		e.chosen[e.at] = true
	} else {
		delete(e.chosen, e.at)
	}
	e.settleChoices()
}

// drop leaves the field out again.
func (e *entry) drop() {
	clear(e.chosen)
	e.kept, e.typed, e.value, e.problem = false, "", nil, ""
}

// settle makes the value of what was entered, and says what is wrong with it.
func (e *entry) settle() {
	if !e.isTyped() || e.kept {
		return
	}
	e.problem, e.value = "", nil
	if strings.TrimSpace(e.typed) == "" {
		return
	}
	v, err := e.field.Read(e.typed)
	if err != nil {
		e.problem = problemOf(err)
		return
	}
	e.value = v
}

func (e *entry) settleChoices() {
	e.problem = ""
	var chosen []jsontext.Value
	for i, c := range e.choices {
		if e.chosen[i] && e.field.Kind == form.YesNo {
			chosen = append(chosen, jsontext.Value(c.Value))
		} else if e.chosen[i] {
			v, _ := jsontext.AppendQuote(nil, c.Value)
			chosen = append(chosen, v)
		}
	}
	switch {
	case e.field.Kind == form.Many:
		list := []byte{'['}
		for i, v := range chosen {
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, v...)
		}
		e.value = append(list, ']')
		if err := e.field.Check(e.value); err != nil {
			e.problem = problemOf(err)
		}
	case len(chosen) > 0:
		e.value = chosen[0]
	}
}

// check reports whether the answer can be sent.
func (e *entry) check() bool {
	if e.problem != "" {
		return false
	}
	if e.value == nil && e.field.Required && e.field.Kind == form.Many {
		e.settleChoices() // none of them is an answer, where none may be
	}
	if e.value == nil && e.field.Required {
		e.problem = "this has to be answered: expected " + e.field.Expected()
	}
	return e.problem == ""
}

// jump goes to the next choice whose name begins with a letter.
func (e *entry) jump(letter rune) {
	for step := range e.choices {
		i := (e.at + 1 + step) % len(e.choices)
		for _, first := range e.choices[i].Label() {
			if unicode.ToLower(first) == unicode.ToLower(letter) {
				e.at = i
				return
			}
			break
		}
	}
}

// shown is the answer in one line, safe.
func (e *entry) shown(width int) string {
	switch {
	case e.isTyped() && e.kept:
		return safe.Line(said(e.value), width)
	case e.isTyped():
		return safe.Line(e.typed, width)
	}
	var names []string
	for i, c := range e.choices {
		if e.chosen[i] && len(names) < width { // each has a column at least
			names = append(names, safe.Line(c.Label(), width))
		}
	}
	if len(names) == 0 && e.value != nil {
		return safe.Line("none", width)
	}
	return safe.Line(strings.Join(names, ", "), width)
}

// label names a field to people and, since its title may say anything, by its name,
// which is there also where the title has to be cut.
func label(f *form.Field, width int) string {
	if f.Title == "" || f.Title == f.Name {
		return safe.Line(f.Name, width)
	}
	name := " (" + safe.Line(f.Name, max(width/2-3, 1)) + ")"
	return safe.Line(f.Title, max(width-safe.Width(name), 1)) + name
}

func offered(c form.Choice) string {
	if c.Title == "" || c.Title == c.Value || slices.Contains(yesNo, c) {
		return safe.OneLine(c.Label())
	}
	return safe.OneLine(c.Title) + " (" + safe.OneLine(c.Value) + ")"
}

func problemOf(err error) string {
	if a, ok := errors.AsType[*form.AnswerError](err); ok {
		return a.Problem
	}
	return err.Error()
}
