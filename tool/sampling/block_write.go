package sampling

import "github.com/go-json-experiment/json/jsontext"

func (b Text) append(dst []byte) []byte {
	o := begin(dst)
	o.text("type", b.BlockType())
	o.text("text", b.Text)
	return o.endBlock(b.Extra)
}

func (b Image) append(dst []byte) []byte {
	return appendMedia(dst, b.BlockType(), b.Data, b.MIMEType, b.Extra)
}

func (b Audio) append(dst []byte) []byte {
	return appendMedia(dst, b.BlockType(), b.Data, b.MIMEType, b.Extra)
}

func appendMedia(dst []byte, kind string, data []byte, mimeType string, extra Extra) []byte {
	o := begin(dst)
	o.text("type", kind)
	o.base64("data", data)
	o.text("mimeType", mimeType)
	return o.endBlock(extra)
}

func (b Resource) append(dst []byte) []byte {
	o := begin(dst)
	o.text("type", b.BlockType())
	o.name("resource")
	o.b = b.Contents.append(o.b)
	return o.endBlock(b.Extra)
}

func (c Contents) append(dst []byte) []byte {
	o := begin(dst)
	o.text("uri", c.URI)
	o.optional("mimeType", c.MIMEType)
	if c.Blob != nil {
		o.base64("blob", c.Blob)
	} else {
		o.text("text", c.Text)
	}
	o.raw("_meta", c.Meta)
	return o.end(c.Rest)
}

func (b ResourceLink) append(dst []byte) []byte {
	o := begin(dst)
	o.text("type", b.BlockType())
	o.text("uri", b.URI)
	o.text("name", b.Name)
	o.optional("title", b.Title)
	o.optional("description", b.Description)
	o.optional("mimeType", b.MIMEType)
	if b.Size != nil {
		o.integer("size", *b.Size)
	}
	o.raw("icons", b.Icons)
	return o.endBlock(b.Extra)
}

func (b ToolUse) append(dst []byte) []byte {
	o := begin(dst)
	o.text("type", b.BlockType())
	o.text("id", b.ID)
	o.text("name", b.Name)
	o.raw("input", b.input())
	return o.endBlock(b.Extra)
}

// input is the arguments, an object in any case.
func (b ToolUse) input() jsontext.Value {
	if b.Input == nil {
		return jsontext.Value("{}")
	}
	return b.Input
}

func (b ToolResult) append(dst []byte) []byte {
	o := begin(dst)
	o.text("type", b.BlockType())
	o.text("toolUseId", b.ToolUseID)
	o.name("content")
	o.b = appendList(o.b, b.Content, appendBlock)
	o.raw("structuredContent", b.StructuredContent)
	if b.IsError {
		o.raw("isError", jsontext.Value("true"))
	}
	return o.endBlock(b.Extra)
}

func (u Unknown) append(dst []byte) []byte { return appendRaw(dst, u.Raw) }

func appendBlock(b Block, dst []byte) []byte {
	if b == nil {
		return append(dst, broken)
	}
	return b.append(dst)
}
