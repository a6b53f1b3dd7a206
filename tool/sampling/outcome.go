package sampling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Kind is what became of a reply.
type Kind string

// The kinds of outcome.
const (
	// OK: what was wanted is there.
	OK Kind = "ok"
	// OKText: it is there as text, which [SchemaOptions.AcceptText] allows.
	OKText Kind = "ok_text"
	// Invalid: it was given, and does not fit.
	Invalid Kind = "invalid"
	// WrongTool: other tools were called than the one that was wanted.
	WrongTool Kind = "wrong_tool"
	// TextOnly: no tool was called.
	TextOnly Kind = "text_only"
	// Refused: the model would not answer.
	Refused Kind = "refused"
	// Truncated: the reply was cut off at the limit of tokens before what was wanted was there.
	Truncated Kind = "truncated"
	// Silent: the reply says nothing.
	Silent Kind = "silent"
)

// An Outcome is what a reply came to, for a caller who wanted a T. It is made by
// [Schema.Read], [ReadText] or [ReadCalls].
type Outcome[T any] struct {
	Kind     Kind
	Value    T        // the zero T unless the kind is OK or OKText
	Reply    *Result  // as it came
	Problems []string // of Invalid and Truncated: why the value does not fit

	hint   string               // what the model is told before it tries again
	result func(ToolUse) string // what a call of its is answered with then
	closes bool                 // the exchange answers calls itself
}

// Good reports whether what was wanted is there.
func (o Outcome[T]) Good() bool { return o.Kind == OK || o.Kind == OKText }

// Err is nil for a good outcome, and a [*ParseError] for any other.
func (o Outcome[T]) Err() error {
	if o.Good() {
		return nil
	}
	return &ParseError{o.Kind, o.Problems, o.Reply}
}

// A ParseError is about a reply that does not hold what was wanted.
type ParseError struct {
	Kind     Kind
	Problems []string // where the kind is Invalid or Truncated
	Reply    *Result  // as it came
}

var kindWords = map[Kind]string{
	Invalid:   "the model's answer does not fit",
	WrongTool: "the model called another tool than it was to",
	TextOnly:  "the model answered with text where a tool was to be called",
	Refused:   "the model refused to answer",
	Truncated: "the model's answer was cut off at the limit of tokens",
	Silent:    "the model said nothing",
}

// Error says what the matter was, and nothing of the reply but what does not fit.
func (e *ParseError) Error() string {
	text := "sampling: " + kindWords[e.Kind]
	if len(e.Problems) > 0 {
		text += ": " + strings.Join(e.Problems, "; ")
	}
	return text
}

// Read finds a T in a reply: in the first call of [SchemaTool] whose input fits,
// whatever else was called and whyever the model stopped.
func (s *Schema[T]) Read(reply *Result) Outcome[T] {
	o := Outcome[T]{Reply: reply, closes: true}
	if reply == nil {
		o.Reply = new(Result)
	}
	for _, use := range o.Reply.Message().ToolUses() {
		if use.Name != SchemaTool {
			continue
		}
		problems := o.decode(s, use.input())
		if problems == nil {
			o.Kind = OK
			return o
		}
		if o.Problems == nil {
			o.Problems = problems
		}
		o.Kind = Invalid
	}
	if o.Kind == "" && s.acceptText && o.readText(s) {
		return o
	}
	if o.Kind = without(o.Reply, o.Kind); o.Kind == Refused {
		o.Problems = nil
	}
	o.hint, o.result = schemaHint(o.Kind, o.Problems), func(use ToolUse) string {
		if use.Name == SchemaTool {
			return "This answer was not taken."
		}
		return "This tool was not run: only " + SchemaTool + " was to be called."
	}
	return o
}

// decode fills in the value where it fits.
func (o *Outcome[T]) decode(s *Schema[T], raw jsontext.Value) []string {
	v, err := s.Decode(raw)
	if err == nil {
		o.Value, o.Problems = v, nil
		return nil
	}
	return err.(*ValidationError).Problems
}

// readText looks for JSON where there should have been a call. It says whether
// there is some that fits.
func (o *Outcome[T]) readText(s *Schema[T]) bool {
	m := o.Reply.Message()
	if len(m.ToolUses()) > 0 || o.Reply.StopReason.Refusal() {
		return false
	}
	raw := jsontext.Value(unfenced(m.Text()))
	if raw.Kind() != '{' || !raw.IsValid() {
		return false
	}
	if o.Problems = o.decode(s, raw); o.Problems != nil {
		o.Kind = Invalid
		return false
	}
	o.Kind = OKText
	return true
}

// unfenced is what stands between the code fences of a text that is nothing else, or the text.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	inner, opened := strings.CutPrefix(text, "```")
	inner, closed := strings.CutSuffix(inner, "```")
	_, inner, lines := strings.Cut(inner, "\n") // behind the language
	if !opened || !closed || !lines {
		return text
	}
	return strings.TrimSpace(inner)
}

// without is the kind of a reply that does not hold what was wanted. found is
// Invalid where something was there that does not fit, else "".
func without(reply *Result, found Kind) Kind {
	m := reply.Message()
	switch {
	case reply.StopReason.Refusal():
		return Refused
	case reply.StopReason.CutOff():
		return Truncated
	case found != "":
		return found
	case len(m.ToolUses()) > 0:
		return WrongTool
	case len(m.tidy().Content) == 0:
		return Silent
	}
	return TextOnly
}

func schemaHint(kind Kind, problems []string) string {
	again := "Call the tool " + SchemaTool
	switch kind {
	case Invalid:
		return "Your answer does not fit its schema:\n- " + strings.Join(problems, "\n- ") + "\n" + again + " again, with an answer that fits."
	case Truncated:
		return "Your answer was cut off at the limit of tokens. " + again + " again, with a shorter answer."
	case WrongTool:
		return again + ", and no other, with your answer."
	}
	return "That was no call. " + again + " with your answer."
}

// ReadText takes a reply for what it says, for a caller who offered no tools.
// Value is its text, which is empty for a picture. A reply that was cut
// off at the limit of tokens is one: how far it came is for the caller to judge.
func ReadText(reply *Result) Outcome[string] {
	o := Outcome[string]{Reply: reply}
	if reply == nil {
		o.Reply = new(Result)
	}
	m := o.Reply.Message()
	o.Kind = without(o.Reply, "")
	if said := len(m.tidy().Content) > 0 && len(m.ToolUses()) == 0; said && (o.Kind == TextOnly || o.Kind == Truncated) {
		o.Kind, o.Value = OK, m.Text()
		return o
	}
	o.hint = "Answer with text, without calling a tool."
	o.result = func(ToolUse) string { return "There is no such tool." }
	return o
}

// ReadCalls finds the calls in a reply, for a caller who offered tools and wants
// at least one of them called. A call of a tool that was not offered makes it a
// WrongTool.
func ReadCalls(asked Request, reply *Result) Outcome[[]ToolUse] {
	o := Outcome[[]ToolUse]{Reply: reply}
	if reply == nil {
		o.Reply = new(Result)
	}
	offered := func(use ToolUse) bool {
		return slices.ContainsFunc(asked.Tools, func(t Tool) bool { return t.Name == use.Name })
	}
	calls := o.Reply.Message().tidy().ToolUses()
	stranger := slices.ContainsFunc(calls, func(use ToolUse) bool { return !offered(use) })
	if len(calls) > 0 && !stranger {
		o.Kind, o.Value = OK, calls
		return o
	}
	var names []string
	for _, t := range asked.Tools {
		names = append(names, t.Name)
	}
	o.Kind = without(o.Reply, "")
	o.hint = "Call at least one of the tools " + quoted(names) + ", and no other."
	if o.Kind == Truncated {
		o.hint = "Your reply was cut off at the limit of tokens. " + o.hint
	}
	o.result = func(use ToolUse) string {
		if offered(use) {
			return "This tool was not run, since another call of the same reply could not be."
		}
		return fmt.Sprintf("There is no tool %q.", clip(use.Name, 64))
	}
	return o
}

// Retry is what to send next after sent did not get what was wanted: the reply,
// for each of its calls a result that is an error, and what was wrong
// with it as the user's words. After a reply that says nothing, it is sent
// once more. It returns false where there is nothing to be gained: after a good
// outcome, and after a refusal.
func (o Outcome[T]) Retry(sent []Message) (next []Message, again bool) {
	if o.Good() || o.Kind == Refused {
		return nil, false
	}
	m := o.Reply.Message().tidy()
	if len(m.Content) == 0 {
		return sent, true
	}
	added := []Message{m}
	if uses := m.ToolUses(); len(uses) > 0 {
		var results []ToolResult
		for _, use := range uses {
			results = append(results, ToolResult{ToolUseID: use.ID, Content: []Block{Text{Text: o.result(use)}}, IsError: true})
		}
		added = append(added, Results(results...))
	}
	return Append(sent, append(added, UserText(o.hint))...), true
}
