package main

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/form"
	"github.com/parleyhq/parley/internal/tui/asked"
)

// A filling is a form that is being filled in: field after field, and a yes in the
// end. It knows neither the terminal nor the room.
type filling struct {
	*asked.Ask
	at      int                       // the field that is asked for; behind the last one, the yes
	single  bool                      // then back to the end
	answers map[string]jsontext.Value // what was answered
	without map[string]bool           // what was left out
}

// Actions of MCP.
const (
	accept  = "accept"
	decline = "decline"
	dismiss = "cancel"
)

func newFilling(a *asked.Ask) *filling {
	return &filling{Ask: a, answers: map[string]jsontext.Value{}, without: map[string]bool{}}
}

// field is the one that is asked for; nil in the end.
func (f *filling) field() *form.Field {
	if f.at == len(f.fields()) {
		return nil
	}
	return &f.fields()[f.at]
}

// fields are those that are asked for. What is no form has none.
func (f *filling) fields() []form.Field {
	if f.Form == nil {
		return nil
	}
	return f.Form.Fields
}

// take takes a line. An action ends the form; a problem is for the person, who is
// then asked the same again.
func (f *filling) take(text string) (action, problem string) {
	switch word := strings.TrimSpace(text); word {
	case "/decline":
		return decline, ""
	case "/cancel":
		return dismiss, ""
	case "/back":
		return "", f.back()
	}
	if f.field() == nil {
		return f.confirm(strings.ToLower(strings.TrimSpace(text)))
	}
	return "", f.answer(text)
}

func (f *filling) back() (problem string) {
	if f.at == 0 {
		return "this is the first question"
	}
	f.at--
	f.single = false
	return ""
}

func (f *filling) answer(text string) (problem string) {
	field := f.field()
	if strings.TrimSpace(text) == "/skip" {
		return f.skip(field)
	}
	v := f.suggestion()
	if strings.TrimSpace(text) != "" {
		var err error
		if v, err = field.Read(unescaped(text)); err != nil {
			return problemOf(err)
		}
	}
	switch {
	case v != nil:
		f.answers[field.Name] = v
		delete(f.without, field.Name)
		f.next()
		return ""
	case field.Required:
		return "this has to be answered: expected " + field.Expected()
	}
	return f.skip(field)
}

func (f *filling) skip(field *form.Field) (problem string) {
	if field.Required {
		return "this cannot be left out: /decline says no to all of it"
	}
	delete(f.answers, field.Name)
	f.without[field.Name] = true
	f.next()
	return ""
}

func (f *filling) next() {
	f.at++
	if f.single {
		f.at, f.single = len(f.fields()), false
	}
}

// suggestion is what an empty line stands for; nil is leaving the field out.
func (f *filling) suggestion() jsontext.Value {
	field := f.field()
	switch v, ok := f.answers[field.Name]; {
	case ok:
		return v
	case f.without[field.Name]:
		return nil
	}
	return field.Default
}

// confirm takes what is said to the whole.
func (f *filling) confirm(text string) (action, problem string) {
	word, which, _ := strings.Cut(text, " ")
	switch word {
	case "yes", "y", "send":
		if !f.Agreeable() {
			return "", "there is nothing to agree to: write decline or cancel"
		}
		return accept, ""
	case "decline":
		return decline, ""
	case "cancel":
		return dismiss, ""
	case "edit", "e":
		return "", f.edit(strings.TrimSpace(which))
	}
	return "", "write yes, edit, decline or cancel"
}

func (f *filling) edit(which string) (problem string) {
	if len(f.fields()) == 0 {
		return "there is nothing to edit"
	}
	if which == "" {
		f.at = 0
		return ""
	}
	n, err := strconv.Atoi(which)
	if err != nil || n < 1 || n > len(f.fields()) {
		return "the questions have the numbers from 1 to " + strconv.Itoa(len(f.fields()))
	}
	f.at, f.single = n-1, true
	return ""
}

// result is what is sent. For an accepted form the content was checked, field by
// field.
func (f *filling) result(action string) (jsontext.Value, error) {
	m := members{{"action", quote(action)}}
	if action == accept && f.Form != nil { // who agrees to open a link says nothing else
		content, err := f.Form.Content(f.answers)
		if err != nil {
			return nil, err
		}
		m = append(m, argument{"content", content})
	}
	return m.object(), nil
}

// unescaped lets //decline stand for an answer that reads /decline.
func unescaped(text string) string {
	if rest, ok := strings.CutPrefix(text, "/"); ok && strings.HasPrefix(rest, "/") && isCommand(rest) {
		return rest
	}
	return text
}
