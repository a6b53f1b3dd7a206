package store

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// How much is kept of one text, in bytes.
const (
	mostText  = 4 << 10 // of what somebody says
	mostShort = 1 << 10 // of arguments, answers, reasons
	mostValue = 240     // of one argument
	mostName  = 256     // of a tool, a context
)

// keep is the beginning of s, in memory of its own, and how many bytes it lacks.
func keep(s string, most int) (kept string, cut int) {
	if len(s) <= most {
		return strings.Clone(s), 0
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.Clone(s[:end]), len(s) - end
}

func brief(s string, most int) string {
	kept, cut := keep(s, most)
	if cut > 0 {
		return kept + "…"
	}
	return kept
}

// raw is the beginning of a value as it stands.
func raw(v jsontext.Value, most int) string {
	if len(v) > most {
		return brief(string(v[:most+utf8.UTFMax]), most)
	}
	return string(v)
}

// text is a string member, or "".
func text(obj jsontext.Value, name string) string {
	s, _ := parley.MemberString(obj, name)
	return s
}

// call says what is asked for: the tool or method, and what is given to it.
func call(e *parley.Envelope) (title, given string) {
	k := parley.SplitKind(e.Kind)
	c, err := parley.ReadCall(k, e.Payload)
	switch {
	case parley.IsRedacted(e.Payload):
		return firstOf(k.Subject, k.Method), "[redacted]"
	case err != nil:
		return brief(firstOf(k.Subject, k.Method), mostName), "(the payload contradicts the kind) " + raw(e.Payload, mostShort)
	}
	title = brief(firstOf(c.Kind.Subject, c.Kind.Method), mostName)
	switch c.Kind.Method {
	case "tools/call":
		return title, arguments(parley.Member(c.Params, "arguments"))
	case "elicitation/create":
		return title, brief(text(c.Params, "message"), mostShort)
	}
	return title, raw(c.Params, mostShort)
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// arguments are written as "parley send" takes them.
func arguments(v jsontext.Value) string {
	if v.Kind() != '{' {
		return raw(v, mostShort)
	}
	var b strings.Builder
	for name, value := range parley.Members(v) {
		if b.Len() > mostShort {
			b.WriteString(" …")
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(brief(name, mostName))
		if value.Kind() == '"' {
			s, _ := parley.MemberString(v, name)
			b.WriteString("=" + quoted(brief(s, mostValue)))
		} else {
			b.WriteString(":=" + brief(raw(value, mostValue), mostValue))
		}
	}
	return b.String()
}

func quoted(s string) string {
	if s != "" && !strings.ContainsAny(s, " \"'\\\t\r\n=") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(s) + `"`
}

// outcome says what came of a call.
func outcome(payload jsontext.Value) (said string, failed bool) {
	if e := parley.Member(payload, "error"); e != nil {
		return brief(firstOf(text(e, "message"), string(e)), mostShort), true
	}
	result := parley.Member(payload, "result")
	failed = string(parley.Member(result, "isError")) == "true"
	content := parley.Member(result, "content")
	if content.Kind() != '[' {
		return raw(firstValue(result, payload), mostShort), failed
	}
	var b strings.Builder
	for block := range parley.Elements(content) {
		if b.Len() > mostShort {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(blockText(block))
	}
	return brief(b.String(), mostShort), failed
}

func firstValue(a, b jsontext.Value) jsontext.Value {
	if a != nil {
		return a
	}
	return b
}

func blockText(block jsontext.Value) string {
	if s, ok := parley.MemberString(block, "text"); ok {
		return brief(s, mostShort)
	}
	return "(" + brief(strings.TrimSpace(text(block, "type")+" "+firstOf(text(block, "mimeType"), text(block, "uri"))), mostName) + ")"
}

// words are what a payload says to people, whatever its kind.
func words(payload jsontext.Value) string {
	for _, name := range []string{"text", "thought", "decision", "message", "summary"} {
		if s, ok := parley.MemberString(payload, name); ok {
			return s
		}
	}
	if parley.IsRedacted(payload) {
		return "[redacted]"
	}
	return raw(payload, mostShort)
}

// Words are what an envelope says by itself, as its row would.
func Words(e *parley.Envelope) string {
	s := New(1)
	alone := *e
	alone.Seq, alone.Correlation = 0, parley.Correlation{}
	s.Add(&alone)
	if len(s.rows) == 0 {
		return words(e.Payload)
	}
	r := s.rows[0]
	return strings.TrimSpace(r.Title + " " + r.Text)
}
