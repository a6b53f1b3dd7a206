package sampling

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
)

// readBlocks reads content that is one block or a list of them.
func readBlocks(raw jsontext.Value, at string) ([]Block, shape, error) {
	if raw.Kind() == '{' {
		b, err := readBlock(raw, at)
		return []Block{b}, one, err
	}
	blocks, err := readList(raw, at, MaxBlocks, readBlock)
	return blocks, list, err
}

// readList reads each element of a list, and refuses more than most.
func readList[T any](raw jsontext.Value, at string, most int, read func(jsontext.Value, string) (T, error)) ([]T, error) {
	all := []T{}
	for v, err := range jsonrpc.Values(raw) {
		if err != nil {
			return nil, syntax(at, err)
		}
		if len(all) == most {
			return nil, &DecodeError{Where: at, Problem: "more than " + itoa(most) + " elements"}
		}
		one, err := read(v, at+"["+itoa(len(all))+"]")
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// readBlock reads one block of a message.
func readBlock(raw jsontext.Value, at string) (Block, error) {
	o := open(raw, at)
	o.block = o.text("type")
	var b Block
	switch o.block {
	case "text":
		b = Text{Text: o.text("text"), Extra: o.extra()}
	case "image":
		b = Image{Data: o.base64("data"), MIMEType: o.text("mimeType"), Extra: o.extra()}
	case "audio":
		b = Audio{Data: o.base64("data"), MIMEType: o.text("mimeType"), Extra: o.extra()}
	case "resource":
		b = Resource{Contents: o.contents(), Extra: o.extra()}
	case "resource_link":
		b = o.resourceLink()
	case "tool_use":
		b = ToolUse{ID: o.label("id"), Name: o.label("name"), Input: o.value("input", '{'), Extra: o.extra()}
	case "tool_result":
		b = o.toolResult()
	default:
		b = Unknown{Type: o.block, Raw: raw}
	}
	return b, o.err
}

// readInner reads one block of a tool's result, where calls and their results
// have no place.
func readInner(raw jsontext.Value, at string) (Block, error) {
	b, err := readBlock(raw, at)
	if err != nil {
		return nil, err
	}
	if t := b.BlockType(); t == "tool_use" || t == "tool_result" {
		return nil, &DecodeError{Where: at, Block: t, Problem: "a tool's result cannot hold it"}
	}
	return b, nil
}

func (o *object) extra() Extra {
	return Extra{o.optionalValue("annotations", '{'), o.optionalValue("_meta", '{'), o.rest()}
}

func (o *object) contents() Contents {
	in := open(o.value("resource", '{'), o.at+".resource")
	in.block = o.block
	c := Contents{URI: in.text("uri"), MIMEType: in.optional("mimeType")}
	switch blob, text := in.has("blob"), in.has("text"); {
	case blob && text:
		in.wrong("blob", "a text or a blob, not both")
	case blob:
		c.Blob = in.base64("blob")
	default:
		c.Text = in.text("text")
	}
	c.Meta, c.Rest = in.optionalValue("_meta", '{'), in.rest()
	o.fail(in.err)
	return c
}

func (o *object) resourceLink() ResourceLink {
	return ResourceLink{
		URI:         o.text("uri"),
		Name:        o.text("name"),
		Title:       o.optional("title"),
		Description: o.optional("description"),
		MIMEType:    o.optional("mimeType"),
		Size:        o.size("size"),
		Icons:       o.optionalValue("icons", '['),
		Extra:       o.extra(),
	}
}

func (o *object) toolResult() ToolResult {
	b := ToolResult{
		ToolUseID:         o.label("toolUseId"),
		StructuredContent: o.optionalValue("structuredContent"),
		IsError:           o.flag("isError"),
	}
	if raw := o.value("content", '['); o.err == nil {
		content, err := readList(raw, o.at+".content", MaxBlocks, readInner)
		b.Content = slices.Clip(content)
		o.fail(err)
	}
	b.Extra = o.extra()
	return b
}
