package anthropic

import (
	"encoding/base64"
	"encoding/json" // the client's types need it
	"fmt"
	"mime"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// A part is a block as the endpoint takes it.
type part = sdk.ContentBlockParamUnion

// content is what the message at an index says. Behind results stands what results cannot hold.
func (r *request) content(at int, m sampling.Message) (content []part, err error) {
	var behind []part
	for i, b := range m.Content {
		where := fmt.Sprintf("messages[%d].content[%d]", at, i)
		var said, more []part
		switch b := b.(type) {
		case sampling.ToolUse:
			said, err = r.use(where, b)
		case sampling.ToolResult:
			said, more, err = r.toolResult(where, b)
		default:
			said, err = r.block(where, m.Role, b)
		}
		if err != nil {
			return nil, err
		}
		content, behind = append(content, said...), append(behind, more...)
	}
	return append(content, behind...), nil
}

func (r *request) use(where string, use sampling.ToolUse) ([]part, error) {
	input := provider.Input(use)
	if input.Kind() != '{' || !input.IsValid() {
		return nil, r.config.Refuse("%s: the input of the call is no JSON object", where)
	}
	id, name := provider.Alias(use.ID, maxID), provider.Alias(use.Name, maxName)
	return []part{sdk.NewToolUseBlock(id, json.RawMessage(input), name)}, nil
}

// toolResult is a result, and what stands behind all results: an error's may hold
// texts only, and at least one.
func (r *request) toolResult(where string, result sampling.ToolResult) (said, behind []part, err error) {
	block := &sdk.ToolResultBlockParam{ToolUseID: provider.Alias(result.ToolUseID, maxID)}
	for i, b := range provider.Content(result) {
		if silent(b) {
			continue
		}
		inner, err := r.block(fmt.Sprintf("%s.content[%d]", where, i), sampling.User, b)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range inner {
			if result.IsError && c.OfText == nil {
				behind = append(behind, c)
				continue
			}
			block.Content = append(block.Content, sdk.ToolResultBlockParamContentUnion{OfText: c.OfText, OfImage: c.OfImage, OfDocument: c.OfDocument})
		}
	}
	if result.IsError {
		block.IsError = sdk.Bool(true)
		if len(block.Content) == 0 {
			block.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: "The tool failed."}}}
		}
	}
	if len(behind) > 0 {
		behind = slices.Insert(behind, 0, sdk.NewTextBlock("With the error of the call "+block.ToolUseID+" came:"))
	}
	return []part{{OfToolResult: block}}, behind, nil
}

// silent says whether a block is a text that says nothing, which results may hold and the
// endpoint refuses.
func silent(b sampling.Block) bool {
	t, ok := b.(sampling.Text)
	return ok && strings.TrimSpace(t.Text) == ""
}

// block is a block that stands in a message or in a tool's result: mostly one part, and
// two where a file is named first.
func (r *request) block(where string, role sampling.Role, b sampling.Block) ([]part, error) {
	if words, ok := provider.Words(b); ok {
		return []part{sdk.NewTextBlock(words)}, nil
	}
	var parts []part
	ok := false
	switch b := b.(type) {
	case sampling.Image:
		parts, ok = file(b.MIMEType, b.Data)
	case sampling.Resource:
		if parts, ok = file(b.Contents.MIMEType, b.Contents.Blob); ok {
			parts = slices.Insert(parts, 0, sdk.NewTextBlock(label(b)))
		}
	}
	switch {
	case role != sampling.User:
		return nil, r.config.CannotTake(where, b, "text and calls from the assistant")
	case !ok:
		return nil, r.config.CannotTake(where, b, "text, images (JPEG, PNG, GIF, WebP) and PDF, none of them empty")
	}
	return parts, nil
}

// label says which resource the file is that follows.
func label(r sampling.Resource) string {
	words, _ := provider.Words(sampling.Resource{Contents: sampling.Contents{URI: r.Contents.URI, MIMEType: r.Contents.MIMEType}})
	return strings.TrimSpace(words)
}

// file is the part for bytes of a type that the endpoint takes.
func file(kind string, data []byte) ([]part, bool) {
	kind, _, err := mime.ParseMediaType(kind)
	if err != nil || len(data) == 0 {
		return nil, false
	}
	if kind == "image/jpg" { // no type, but a common one
		kind = "image/jpeg"
	}
	switch kind {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return []part{sdk.NewImageBlockBase64(kind, base64.StdEncoding.EncodeToString(data))}, true
	case "application/pdf":
		return []part{sdk.NewDocumentBlock(sdk.Base64PDFSourceParam{Data: base64.StdEncoding.EncodeToString(data)})}, true
	}
	return nil, false
}
