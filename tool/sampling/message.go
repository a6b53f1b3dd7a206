package sampling

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Role is who speaks.
type Role string

// The roles of MCP. A system prompt is a member of [Request].
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// A Message is what one of the two says at a time.
type Message struct {
	Role    Role
	Content []Block
	Meta    jsontext.Value // the object _meta; optional
	Rest    jsontext.Value // an object of the members that this package does not know

	shape shape
}

// A shape is how content stands on the wire. What was made here and not read is
// one block where it can be, since clients before 2025-11-25 read nothing else;
// calls and their results, which those do not know, are a list.
type shape uint8

const (
	natural shape = iota
	one
	list
)

// UserText is a user's message.
func UserText(text string) Message {
	return Message{Role: User, Content: []Block{Text{Text: text}}}
}

// AssistantText is an assistant's message.
func AssistantText(text string) Message {
	return Message{Role: Assistant, Content: []Block{Text{Text: text}}}
}

// Results is a user's message that answers an assistant's calls.
func Results(results ...ToolResult) Message {
	m := Message{Role: User}
	for _, r := range results {
		m.Content = append(m.Content, r)
	}
	return m
}

// ToolUses are the calls in a message.
func (m Message) ToolUses() []ToolUse { return blocksOf[ToolUse](m.Content) }

// ToolResults are the answers to calls in a message.
func (m Message) ToolResults() []ToolResult { return blocksOf[ToolResult](m.Content) }

// Text is all that the message's text blocks say, a line for each.
func (m Message) Text() string {
	var lines []string
	for _, t := range blocksOf[Text](m.Content) {
		lines = append(lines, t.Text)
	}
	return strings.Join(lines, "\n")
}

func blocksOf[B Block](blocks []Block) (found []B) {
	for _, b := range blocks {
		if b, ok := b.(B); ok {
			found = append(found, b)
		}
	}
	return found
}

// UnmarshalJSON reads a message. Errors are a [*DecodeError].
func (m *Message) UnmarshalJSON(data []byte) error {
	raw, err := document(data)
	if err != nil {
		return err
	}
	read, err := readMessage(raw, "")
	if err == nil {
		*m = read
	}
	return err
}

// MarshalJSON writes the message. It fails where a raw value is not JSON.
func (m Message) MarshalJSON() ([]byte, error) { return valid(m.append(nil)) }

func readMessage(raw jsontext.Value, at string) (Message, error) {
	o := open(raw, at)
	m := o.message()
	m.Meta, m.Rest = o.optionalValue("_meta", '{'), o.rest()
	return m, o.err
}

// message reads what a message and a reply have in common.
func (o *object) message() Message {
	m := Message{Role: Role(o.text("role"))}
	if o.err == nil && m.Role != User && m.Role != Assistant {
		o.wrong("role", `expected "user" or "assistant"`)
	}
	if raw := o.value("content", '{', '['); o.err == nil {
		content, as, err := readBlocks(raw, strings.TrimPrefix(o.at+".content", "."))
		m.Content = content
		if as != m.naturalShape() {
			m.shape = as
		}
		o.fail(err)
	}
	return m
}

// naturalShape is how the message is written where nobody wrote it before.
func (m Message) naturalShape() shape {
	if len(m.Content) != 1 {
		return list
	}
	switch m.Content[0].(type) {
	case ToolUse, ToolResult, nil:
		return list
	}
	return one
}

func (m Message) append(dst []byte) []byte {
	o := begin(dst)
	o.message(m)
	o.raw("_meta", m.Meta)
	return o.end(m.Rest)
}

func (o *objectWriter) message(m Message) {
	o.text("role", string(m.Role))
	o.name("content")
	as := m.shape
	if as == natural || len(m.Content) != 1 {
		as = m.naturalShape()
	}
	if as == one {
		o.b = appendBlock(m.Content[0], o.b)
	} else {
		o.b = appendList(o.b, m.Content, appendBlock)
	}
}
