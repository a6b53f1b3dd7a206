package sampling

import "github.com/go-json-experiment/json/jsontext"

// A Block is one piece of a message's content: [Text], [Image], [Audio],
// [Resource], [ResourceLink], [ToolUse], [ToolResult] or, for a type that is none
// of these, [Unknown].
type Block interface {
	// BlockType is the block's type on the wire, such as "tool_use".
	BlockType() string
	// append writes the block as JSON.
	append(dst []byte) []byte
}

// Extra is what blocks of every type may have. All of it is optional, and kept
// as it was written.
type Extra struct {
	Annotations jsontext.Value // an object: audience, priority, lastModified
	Meta        jsontext.Value // the object _meta
	Rest        jsontext.Value // an object of all members that this package does not know
}

// Text is what somebody says.
type Text struct {
	Text string
	Extra
}

// Image is a picture.
type Image struct {
	Data     []byte // on the wire in base64
	MIMEType string
	Extra
}

// Audio is a sound.
type Audio struct {
	Data     []byte // on the wire in base64
	MIMEType string
	Extra
}

// Resource is a resource with what is in it.
type Resource struct {
	Contents Contents
	Extra
}

// Contents are what is in a resource: a text, or bytes where Blob is not nil.
type Contents struct {
	URI      string
	MIMEType string // optional
	Text     string
	Blob     []byte         // on the wire in base64
	Meta     jsontext.Value // optional
	Rest     jsontext.Value // an object of the members that this package does not know
}

// ResourceLink says where a resource is.
type ResourceLink struct {
	URI         string
	Name        string
	Title       string         // optional
	Description string         // optional
	MIMEType    string         // optional
	Size        *int64         // in bytes; optional
	Icons       jsontext.Value // a list; optional
	Extra
}

// ToolUse is an assistant's wish to have a tool called.
type ToolUse struct {
	ID    string         // by which the [ToolResult] finds it; unique in a history
	Name  string         // of the tool
	Input jsontext.Value // the arguments, an object; nil is an empty one
	Extra
}

// ToolResult is the answer to a [ToolUse].
type ToolResult struct {
	ToolUseID         string
	Content           []Block        // of every type but ToolUse and ToolResult
	StructuredContent jsontext.Value // optional
	IsError           bool
	Extra
}

// Unknown is a block of a type that this package does not know.
type Unknown struct {
	Type string
	Raw  jsontext.Value // the whole block
}

// BlockType is "text".
func (Text) BlockType() string { return "text" }

// BlockType is "image".
func (Image) BlockType() string { return "image" }

// BlockType is "audio".
func (Audio) BlockType() string { return "audio" }

// BlockType is "resource".
func (Resource) BlockType() string { return "resource" }

// BlockType is "resource_link".
func (ResourceLink) BlockType() string { return "resource_link" }

// BlockType is "tool_use".
func (ToolUse) BlockType() string { return "tool_use" }

// BlockType is "tool_result".
func (ToolResult) BlockType() string { return "tool_result" }

// BlockType is the type that the block came with.
func (u Unknown) BlockType() string { return u.Type }
