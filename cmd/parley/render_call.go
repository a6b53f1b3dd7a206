package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// How much of one value is shown, in characters.
const (
	narrow = 60  // of an argument
	wide   = 240 // of what stands alone
)

// call is what a request or proposal asks for: a tool with its arguments in
// the form in which "parley send" takes them, or a method with its params.
func (r *renderer) call(e *parley.Envelope) string {
	k := parley.SplitKind(e.Kind)
	if parley.IsRedacted(e.Payload) {
		return strings.TrimSpace(clean(cmp.Or(k.Subject, k.Method))) + " " + r.paint.dim("[redacted]")
	}
	if bytes.Equal(e.Payload, droppedPayload) {
		return strings.TrimSpace(clean(cmp.Or(k.Subject, k.Method))) + " " + r.paint.dim("[no longer on record]")
	}
	c, err := parley.ReadCall(k, e.Payload)
	if err != nil {
		// A lazy space lets lies through; show both sides.
		return r.paint.bad("a payload that contradicts its kind ") + clean(e.Kind) + " " + r.cut(clean(compact(e.Payload)), wide)
	}
	if c.Kind.Method == "tools/call" {
		return r.paint.name(clean(c.Kind.Subject)) + r.arguments(parley.Member(c.Params, "arguments"))
	}
	s := r.paint.name(clean(c.Kind.Method))
	if c.Kind.Subject != "" {
		s += " " + r.cut(clean(c.Kind.Subject), wide)
	} else if c.Params != nil {
		s += " " + r.cut(clean(compact(c.Params)), wide)
	}
	return s
}

func (r *renderer) arguments(args jsontext.Value) string {
	if args != nil && args.Kind() != '{' {
		return " " + r.cut(clean(compact(args)), narrow)
	}
	var b strings.Builder
	for name, value := range parley.Members(args) {
		if value.Kind() != '"' {
			fmt.Fprintf(&b, " %s:=%s", bare(name), r.cut(clean(compact(value)), narrow))
			continue
		}
		text, _ := parley.MemberString(args, name)
		fmt.Fprintf(&b, " %s=%s", bare(name), r.cut(bare(text), narrow))
	}
	return b.String()
}

// cut shortens what is long, and says by how much: nobody shall approve what
// they only believe to have seen.
func (r *renderer) cut(s string, most int) string {
	n := utf8.RuneCountInString(s)
	if r.full || n <= most+10 {
		return s
	}
	kept := 0
	for i := range s {
		if kept == most {
			return s[:i] + r.paint.bad(fmt.Sprintf("…(+%d)", n-most))
		}
		kept++
	}
	return s
}

// bare is a text without quotes where it needs none.
func bare(s string) string {
	if s == "" || strings.ContainsAny(s, " \"'\\\t\r\n=") || !isClean(s) {
		return `"` + clean(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)) + `"`
	}
	return s
}

// scalar is a JSON string without its quotes, and any other value as it is.
func scalar(v jsontext.Value) string {
	if v.Kind() == '"' {
		if s, err := jsontext.AppendUnquote(nil, v); err == nil {
			return string(s)
		}
	}
	return compact(v)
}

func compact(v jsontext.Value) string {
	v = v.Clone()
	if v.Compact() != nil {
		return string(v)
	}
	return string(v)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// outcome is what came of a call, for people.
type outcome struct {
	failed bool
	text   string
}

// readOutcome reads the payload of a response. Of a tool's result it takes the
// text blocks, and names the others.
func readOutcome(payload jsontext.Value) outcome {
	if e := parley.Member(payload, "error"); e != nil {
		return outcome{true, errorText(e)}
	}
	result := parley.Member(payload, "result")
	o := outcome{failed: string(parley.Member(result, "isError")) == "true"}
	content := parley.Member(result, "content")
	if content.Kind() == '{' && parley.Member(result, "role") != nil { // a model's reply may be one block
		o.text = blockText(content)
		return o
	}
	if content.Kind() != '[' {
		o.text = compact(result)
		if result == nil {
			o.text = compact(payload)
		}
		return o
	}
	var parts []string
	for block := range parley.Elements(content) {
		parts = append(parts, blockText(block))
	}
	o.text = strings.Join(parts, "\n")
	return o
}

// errorText is what an error says. One that is not as JSON-RPC has it is there as
// it was written: some send a text alone.
func errorText(e jsontext.Value) string {
	text, ok := parley.MemberString(e, "message")
	if !ok {
		return scalar(e)
	}
	if code := parley.Member(e, "code"); code != nil {
		text += fmt.Sprintf(" (JSON-RPC %s)", scalar(code))
	}
	return text
}

func blockText(block jsontext.Value) string {
	typ, _ := parley.MemberString(block, "type")
	if text, ok := parley.MemberString(block, "text"); ok && typ == "text" {
		return text
	}
	if name, ok := parley.MemberString(block, "name"); ok && typ == "tool_use" {
		return "calls " + name + " " + compact(parley.Member(block, "input"))
	}
	for _, name := range []string{"mimeType", "uri"} {
		if s, ok := parley.MemberString(block, name); ok {
			return "(" + typ + ", " + s + ")"
		}
	}
	return "(" + typ + ")"
}
