package digest

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// Text is what an envelope says, on one line: the words where it holds words,
// the call where it is one, and else its payload as it is.
func Text(rec *journal.Record) string {
	if rec.Redacted {
		return "(redacted)"
	}
	payload := parley.Member(rec.Body, "payload")
	if payload == nil {
		return ""
	}
	return oneLine(said(parley.SplitKind(rec.Effective).Type, payload))
}

func said(typ string, payload jsontext.Value) string {
	switch typ {
	case parley.TypeRequest, parley.TypeProposal:
		return call(payload)
	case parley.TypeResponse:
		return result(payload)
	case parley.TypeReject:
		return joined(": ", words(payload, "reason"), words(payload, "message"))
	}
	if text := Words(payload); text != "" {
		return text
	}
	return compact(payload)
}

// Words are what a payload says in words, as they are: under the name that comes
// first of text, thought, decision, message and summary. Without any it is "".
func Words(payload jsontext.Value) string {
	for _, name := range [...]string{"text", "thought", "decision", "message", "summary"} {
		if text := words(payload, name); text != "" {
			return text
		}
	}
	return ""
}

// call is METHOD and its params; of a tool its name and arguments.
func call(payload jsontext.Value) string {
	method, params := words(payload, "method"), parley.Member(payload, "params")
	if name := words(params, "name"); method == "tools/call" && name != "" {
		return joined(" ", name, compact(parley.Member(params, "arguments")))
	}
	return joined(" ", method, compact(params))
}

// result is the text of a tool's result, or why there is none.
func result(payload jsontext.Value) string {
	if problem := parley.Member(payload, "error"); problem != nil {
		if text := words(problem, "message"); text != "" {
			return "error: " + text
		}
		return "error: " + compact(problem)
	}
	value := parley.Member(payload, "result")
	var texts []string
	for block := range parley.Elements(parley.Member(value, "content")) {
		if text := words(block, "text"); text != "" {
			texts = append(texts, text)
		}
	}
	switch {
	case value == nil:
		return compact(payload)
	case len(texts) == 0:
		return compact(value)
	case string(parley.Member(value, "isError")) == "true":
		return "error: " + strings.Join(texts, " ")
	}
	return strings.Join(texts, " ")
}

func words(obj jsontext.Value, name string) string {
	if obj.Kind() != '{' {
		return ""
	}
	text, _ := parley.MemberString(obj, name)
	return text
}

func joined(with, a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + with + b
}

func compact(v jsontext.Value) string {
	v = v.Clone()
	_ = v.Compact() // what was admitted is valid
	return string(v)
}

// oneLine makes of all blanks single ones, and leaves out what controls a
// terminal.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
