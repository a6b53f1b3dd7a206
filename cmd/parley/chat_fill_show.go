package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/form"
)

// How a form looks. What the asker wrote stands behind a bar, or in one line and
// cleaned, so that nothing of it can pass for a question of ours.

const bar = "  | "

func behindBar(text string) []string {
	lines := cleanLines(text)
	for i, line := range lines {
		lines[i] = bar + line
	}
	return lines
}

// introduction is what is said before the first question.
func (f *filling) introduction(p palette) []string {
	head := p.name(clean(f.Request.From)) + p.ask(" asks you") + fmt.Sprintf(" (#%d)", f.Request.Seq)
	if f.Cause != "" {
		head += ", " + f.Cause
	}
	lines := append([]string{head + ":"}, behindBar(cutAt(f.Message, mostOdd))...)
	if n := len(f.fields()); n > 0 {
		lines = append(lines, p.dim(plural(n, "question", "questions")+". /decline says no, /cancel puts it away, /help says more."))
	}
	return append(lines, f.noForm(p)...)
}

// mostOdd is how much is shown of what is no form, in bytes.
const mostOdd = 20_000

// noForm is what is asked where it is no form: a link, or what cannot be shown but as it
// came.
func (f *filling) noForm(p palette) []string {
	switch {
	case f.Form != nil:
		return nil
	case f.Link == nil:
		lines := []string{p.bad("This cannot be shown as a form here: " + clean(f.Unfit.Error())), "What was asked, as it came:"}
		return append(lines, behindBar(cutAt(string(f.Params), mostOdd))...)
	}
	var lines []string
	if f.Link.Host != "" {
		lines = append(lines, "It asks you to open a page of "+p.name(clean(f.Link.Host)))
	}
	lines = append(lines, "The whole link:")
	lines = append(lines, behindBar(cutAt(f.Link.URL, mostOdd))...)
	if f.Link.Problem != "" {
		lines = append(lines, p.bad("This is not to be opened: "+f.Link.Problem+"."))
	}
	for _, doubt := range f.Link.Doubts {
		lines = append(lines, p.bad(clean(doubt)))
	}
	return lines
}

// question is what is asked next.
func (f *filling) question(p palette) []string {
	field := f.field()
	if field == nil {
		return f.summary(p)
	}
	lines := []string{fmt.Sprintf("%s %s: %s", f.number(), p.name(label(field)), clean(f.terms()))}
	if field.Description != "" {
		lines = append(lines, behindBar(field.Description)...)
	}
	for i, c := range field.Choices {
		lines = append(lines, fmt.Sprintf("  %d) %s", i+1, offered(c)))
	}
	return lines
}

// terms are what is expected, and what becomes of an empty line.
func (f *filling) terms() string {
	field := f.field()
	s := field.Expected()
	if field.Required {
		s += ", required"
	} else {
		s += ", may be left out"
	}
	if v := f.suggestion(); v != nil {
		s += " [" + short(v) + "]"
	}
	return s
}

func (f *filling) number() string { return fmt.Sprintf("%d/%d", f.at+1, len(f.fields())) }

// prompt is what stands in front of the line. Whoever agrees sees to whom, however
// much is said above.
func (f *filling) prompt() string {
	field := f.field()
	switch {
	case !f.Agreeable():
		return "decline or cancel? "
	case f.Form == nil:
		return "agree, and tell " + cutAt(clean(f.Request.From), 30) + "? "
	case field == nil:
		return "send it to " + cutAt(clean(f.Request.From), 30) + "? "
	}
	return f.number() + " " + cutAt(clean(field.Label()), 30) + "> "
}

// label names a field to people and, since its title may say anything, by its name.
func label(field *form.Field) string {
	if field.Title == "" || field.Title == field.Name {
		return clean(field.Name)
	}
	return clean(field.Title) + " (" + clean(field.Name) + ")"
}

func offered(c form.Choice) string {
	if c.Title == "" || c.Title == c.Value {
		return clean(c.Value)
	}
	return clean(c.Title) + " (" + clean(c.Value) + ")"
}

// summary is all that will be sent.
func (f *filling) summary(p palette) []string {
	switch {
	case !f.Agreeable():
		return []string{p.dim("decline says no; cancel puts it away; the console in a browser may show it, and take an answer")}
	case f.Form == nil:
		return []string{"Nobody here has checked the link, and nothing here opens it: open it yourself in a browser, if you trust it.", p.dim("yes agrees; decline says no; cancel puts it away")}
	}
	if len(f.fields()) == 0 {
		return []string{"There is nothing to fill in for " + p.name(clean(f.Request.From)) + ": yes agrees, decline says no, cancel puts it away."}
	}
	lines := []string{"This goes to " + p.name(clean(f.Request.From)) + ", and everybody in the room can read it:"}
	for i := range f.Form.Fields {
		field := &f.Form.Fields[i]
		answer := p.dim("left out")
		if v, ok := f.answers[field.Name]; ok {
			answer = clean(string(v))
		}
		lines = append(lines, fmt.Sprintf("  %d %s: %s", i+1, label(field), answer))
	}
	return append(lines, p.dim("yes sends it; edit, or edit 2, changes answers; decline says no; cancel puts it away"))
}

// short is a value as it would be typed, cut.
func short(v jsontext.Value) string {
	if v.Kind() != '[' {
		return cutAt(clean(scalar(v)), narrow)
	}
	var words []string
	for one := range parley.Elements(v) {
		words = append(words, clean(scalar(one)))
	}
	return cutAt(strings.Join(words, ", "), narrow)
}

func cutAt(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

func problemOf(err error) string {
	if a, ok := errors.AsType[*form.AnswerError](err); ok {
		return a.Problem
	}
	return err.Error()
}

// causeOf tells for which call somebody asks, if it is one that was made of them:
// else whoever asks could borrow the trust that another call has.
func causeOf(call *parley.Envelope, asker, me string) string {
	k := parley.SplitKind(call.Kind)
	if k.Type != parley.TypeRequest || !call.Addressed(asker) {
		return ""
	}
	whose := clean(call.From) + "'s"
	if call.From == me {
		whose = "your"
	}
	what := clean(k.Subject)
	if k.Method != "tools/call" || what == "" {
		what = strings.TrimSpace(clean(k.Method) + " " + what)
	}
	return fmt.Sprintf("for %s call of %s (#%d)", whose, what, call.Seq)
}
