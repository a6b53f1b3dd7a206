package excerpt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/tokens"
)

// Text is an answer as text. The zero value is an empty one.
type Text struct {
	all    string
	hidden int // bytes of images and the like, as they were sent
}

// Whole is a text as it is.
func Whole(s string) Text { return Text{all: s} }

// Of is the text of a response's payload; ok is false where that holds no answer,
// as one that was redacted. A result of tools/call is its blocks with an empty line
// between them, and its structured content as JSON, but for what a block says
// already; of an image, a sound or a file only what it is. Any other result and an
// error is JSON.
func Of(method string, payload jsontext.Value) (text Text, ok bool) {
	result := parley.Member(payload, "result")
	switch {
	case result.Kind() == '{' && method == "tools/call":
		return ofResult(result), true
	case result != nil:
		return Text{all: string(result)}, true
	}
	failure := parley.Member(payload, "error")
	return Text{all: string(failure)}, failure != nil
}

func ofResult(result jsontext.Value) Text {
	var c composer
	content := parley.Member(result, "content")
	if content != nil && content.Kind() != '[' {
		c.part(string(content))
	}
	for block := range parley.Elements(content) {
		c.block(block)
	}
	if s := parley.Member(result, "structuredContent"); s != nil && !c.says(s) {
		c.part(string(c.abridged(s)))
	}
	return Text{all: c.text.String(), hidden: c.hidden}
}

// composer puts the text of a result together.
type composer struct {
	text   strings.Builder
	parts  int
	hidden int
	said   map[string]bool // blocks of text
}

func (c *composer) part(text string) {
	if c.parts++; c.parts > 1 {
		c.text.WriteString("\n\n")
	}
	c.text.WriteString(text)
}

func (c *composer) block(v jsontext.Value) {
	kind, _ := parley.MemberString(v, "type")
	switch text, ok := parley.MemberString(v, "text"); {
	case kind == "text" && ok:
		c.part(text)
		if c.said == nil {
			c.said = map[string]bool{}
		}
		c.said[text] = true
	case kind == "image", kind == "audio":
		c.describe(kind, v, "data")
	case kind == "resource":
		c.resource(parley.Member(v, "resource"))
	default:
		c.part(string(v))
	}
}

func (c *composer) resource(v jsontext.Value) {
	uri, _ := parley.MemberString(v, "uri")
	what := "resource " + clip(uri)
	if text, ok := parley.MemberString(v, "text"); ok {
		c.part("[" + what + "]\n" + text)
		return
	}
	c.describe(what, v, "blob")
}

// describe says what stands where no text is.
func (c *composer) describe(what string, v jsontext.Value, data string) {
	mime, _ := parley.MemberString(v, "mimeType")
	size := len(parley.Member(v, data))
	c.hidden += size
	c.part(fmt.Sprintf("[%s, %s: %d bytes in base64, not shown]", what, clip(mime), size))
}

// says reports whether a part is the same JSON: the specification asks servers
// to send structured content as text, too.
func (c *composer) says(structured jsontext.Value) bool {
	if len(c.said) == 0 {
		return false
	}
	want := canonical(structured)
	for text := range c.said {
		if got := canonical(jsontext.Value(text)); got != nil && string(got) == string(want) {
			return true
		}
	}
	return false
}

// abridged is structured content without the texts that stand in a block already:
// many servers give {"result": TEXT}, or {"content": TEXT}, beside the text.
func (c *composer) abridged(structured jsontext.Value) jsontext.Value {
	if structured.Kind() != '{' {
		return structured
	}
	b, changed := jsontext.Value{'{'}, false
	for name, v := range parley.Members(structured) {
		if text, ok := mcp.Unquote(v); ok && len(text) > len(asAbove) && c.said[text] {
			v, changed = mcp.Quote(asAbove), true
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, mcp.Quote(name)...), ':'), v...)
	}
	if !changed {
		return structured
	}
	return append(b, '}')
}

const asAbove = "(the text above)"

// canonical is JSON in the one form that equal JSON has, but for numbers, which
// stay as they are; nil for what is no JSON.
func canonical(v jsontext.Value) jsontext.Value {
	v = v.Clone()
	if v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		return nil
	}
	return v
}

// clip is a server's word for something, short and on one line.
func clip(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:boundary(s, most)] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// String is all of the text.
func (t Text) String() string { return t.all }

// Hidden is how many bytes of the answer the text only describes.
func (t Text) Hidden() int { return t.hidden }

// Characters is how many the text has: code points of Unicode.
func (t Text) Characters() int { return utf8.RuneCountInString(t.all) }

// Lines is how many the text has; what follows the last line break is one,
// unless it is nothing.
func (t Text) Lines() int {
	n := strings.Count(t.all, "\n")
	if t.all != "" && !strings.HasSuffix(t.all, "\n") {
		n++
	}
	return n
}

// Tokens is how many the answer has, and how they were counted. What is not text
// counts by its bytes.
func (t Text) Tokens() (n int, how string) {
	n = tokens.Count(t.all)
	how = tokens.Name
	if len(t.all) > tokens.MostExact {
		how = byBytes
	}
	if t.hidden > 0 {
		n += (t.hidden + 3) / 4
		if how != byBytes {
			how += " and " + byBytes
		}
	}
	return n, how
}

const byBytes = "bytes/4"
