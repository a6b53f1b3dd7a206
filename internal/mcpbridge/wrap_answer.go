package mcpbridge

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/response"
)

// theirs is what a server's tool answered, taken apart.
type theirs struct {
	failed     bool           // isError
	structured jsontext.Value // nil where there is none
	blocks     []block
	rest       int // bytes of the other members
}

// block is one of a result's blocks of content.
type block struct {
	raw    jsontext.Value
	isText bool
	text   string
	used   bool // it is told in the envelope, so that it need not stand beside it
}

// takeApart reads a result. It is nil for what is no tool's result.
func takeApart(result jsontext.Value) *theirs {
	content := parley.Member(result, "content")
	if result.Kind() != '{' || content != nil && content.Kind() != '[' {
		return nil
	}
	t := &theirs{failed: string(parley.Member(result, "isError")) == "true"}
	if s := parley.Member(result, "structuredContent"); s != nil && s.Kind() != 'n' {
		t.structured = s
	}
	t.rest = len(result) - len(content) - len(t.structured)
	for raw := range parley.Elements(content) {
		b := block{raw: raw}
		if kind, _ := parley.MemberString(raw, "type"); kind == "text" {
			b.text, b.isText = parley.MemberString(raw, "text")
		}
		t.blocks = append(t.blocks, b)
	}
	return t
}

// answer is what there is to tell of it.
func (t *theirs) answer(tool, version string) *response.Answer {
	a := &response.Answer{Tool: tool, Version: version, Tier: response.Community}
	if t.failed {
		a.Error = t.err()
	}
	a.Data = t.data()
	return a
}

// data is the structured content, else what the texts say. Blocks that it tells
// are marked as used.
func (t *theirs) data() jsontext.Value {
	if t.structured != nil {
		all := sayings(t.structured)
		for i := range t.blocks {
			b := &t.blocks[i]
			b.used = b.used || b.isText && all.repeated(b.text)
		}
		return t.structured
	}
	var values []jsontext.Value
	for i := range t.blocks {
		if b := &t.blocks[i]; b.isText && !b.used {
			b.used = true
			values = append(values, valueOf(b.text))
		}
	}
	switch len(values) {
	case 0:
		return nil
	case 1:
		return values[0]
	}
	return array(values)
}

func array(values []jsontext.Value) jsontext.Value {
	all := jsontext.Value{'['}
	for i, v := range values {
		if i > 0 {
			all = append(all, ',')
		}
		all = append(all, v...)
	}
	return append(all, ']')
}

// valueOf is a text as data: the object or array that it is from its first
// character to its last, else a string. A file of JSON that a tool has read ends
// with a line break, and stays the text that it is, to the last blank.
func valueOf(text string) jsontext.Value {
	if v := jsontext.Value(text); isWhole(text) && v.IsValid() {
		return v
	}
	return mcp.Quote(text)
}

func isWhole(text string) bool {
	n := len(text)
	return n >= 2 && (text[0] == '{' && text[n-1] == '}' || text[0] == '[' && text[n-1] == ']')
}

// said is what structured content says, to find texts that say the same. It is
// made once for all of them, so that no number of them costs much.
type said map[string]bool

// A key is a value's canonical JSON or a text, told apart by what it begins with.
const jsonKey, textKey = "j", "t"

// sayings are the whole of it, and what each of its members holds.
func sayings(structured jsontext.Value) said {
	all := said{}
	all.json(structured)
	for _, v := range parley.Members(structured) {
		switch v.Kind() {
		case '"':
			if text, ok := mcp.Unquote(v); ok {
				all[textKey+text] = true
			}
		case '{', '[':
			all.json(v)
		default:
			all[textKey+string(v)] = true
		}
	}
	return all
}

// json notes a value. What has no canonical form would be like all else that has
// none.
func (all said) json(v jsontext.Value) {
	if same := canonical(v); same != nil {
		all[jsonKey+string(same)] = true
	}
}

// repeated says whether a text is one of them.
func (all said) repeated(text string) bool {
	if all[textKey+text] {
		return true
	}
	whole := strings.TrimSpace(text)
	return isWhole(whole) && all[jsonKey+string(canonical(jsontext.Value(whole)))]
}

// canonical is a value in the one spelling that equal values share; nil for what
// is not JSON. Integers stay as they are: two long ids are not one because they
// are the same floating-point number.
func canonical(v jsontext.Value) jsontext.Value {
	v = v.Clone()
	if v.Canonicalize(jsontext.CanonicalizeRawInts(false)) != nil {
		return nil
	}
	return v
}

// maxErrorMessage is how long the message of an error may be, in bytes. What is
// longer is data.
const maxErrorMessage = 512

// err is the error that a failed tool gives, or an internal one where it gives
// none of ours.
func (t *theirs) err() *response.Error {
	said := t.structured
	if said == nil {
		said = t.onlyObject()
	}
	for _, at := range []jsontext.Value{said, parley.Member(said, "error")} {
		if code, ok := codeIn(at); ok {
			return &response.Error{Code: code, Message: t.message(at, code), Details: detailsIn(at)}
		}
	}
	for i := range t.blocks {
		if b := &t.blocks[i]; b.isText {
			if e := readRefusal(b.text); e != nil {
				b.used = len(e.Message) <= maxErrorMessage
				e.Message = clipText(e.Message)
				return e
			}
			break // only the first may begin with a code
		}
	}
	return &response.Error{Code: response.InternalError, Message: "the server's tool failed and gave none of the codes; data is what it says of that"}
}

// onlyObject is the object that a result's only text is.
func (t *theirs) onlyObject() (object jsontext.Value) {
	for _, b := range t.blocks {
		if !b.isText {
			continue
		}
		if object != nil {
			return nil
		}
		if object = valueOf(b.text); object.Kind() != '{' {
			return nil
		}
	}
	return object
}

// codeIn is the code in a member that is made for it.
func codeIn(object jsontext.Value) (response.Code, bool) {
	for _, name := range []string{"error_code", "code"} {
		if text, ok := parley.MemberString(object, name); ok && response.Code(text).Known() {
			return response.Code(text), true
		}
	}
	return "", false
}

// message is the text beside a code.
func (t *theirs) message(at jsontext.Value, code response.Code) string {
	for _, name := range []string{"message", "error"} {
		if text, ok := parley.MemberString(at, name); ok && text != "" {
			return clipText(text)
		}
	}
	for _, b := range t.blocks {
		if b.isText && !isWhole(strings.TrimSpace(b.text)) {
			return clipText(b.text)
		}
	}
	return strings.ReplaceAll(string(code), "_", " ")
}

// maxErrorDetails is how long the details of an error may be, in bytes of JSON.
const maxErrorDetails = 4 << 10

func detailsIn(object jsontext.Value) jsontext.Value {
	if v := parley.Member(object, "error_details"); len(v) <= maxErrorDetails {
		return v
	}
	return nil
}

// readRefusal reads "code: message", as programs of this module write it. A text
// without a code of ours at its very beginning is none.
func readRefusal(text string) *response.Error {
	code, message, ok := strings.Cut(text, ": ")
	if !ok || !response.Code(code).Known() {
		return nil
	}
	return &response.Error{Code: response.Code(code), Message: message}
}

// clipText cuts a message, between characters.
func clipText(text string) string {
	if len(text) <= maxErrorMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxErrorMessage-len("…")], "") + "…"
}

// deepest is how deep brackets nest in a value; a text or a number is 0 deep.
func deepest(v jsontext.Value) (most int) {
	depth := 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			i = jsonrpc.EndOfString(v, i)
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most
}

// beside are the blocks that the envelope does not tell, as the end of a list.
func (t *theirs) beside() (list []byte) {
	for _, b := range t.blocks {
		if !b.used {
			list = append(append(list, ','), b.raw...)
		}
	}
	return list
}

// content is a text block and what stands beside it.
func (t *theirs) content(text string) jsontext.Value {
	list := jsonrpc.AppendString([]byte(`[{"type":"text","text":`), text)
	return append(append(append(list, '}'), t.beside()...), ']')
}
