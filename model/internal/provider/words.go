package provider

import (
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool/sampling"
)

// Words are what a block tells a model that reads: a text, or a resource's text
// and a link with what they are. It is false for all that cannot be read, and
// for a resource that holds bytes.
func Words(b sampling.Block) (string, bool) {
	switch b := b.(type) {
	case sampling.Text:
		return b.Text, true
	case sampling.Resource:
		return "Resource " + named(b.Contents.URI, b.Contents.MIMEType) + ":\n" + b.Contents.Text, b.Contents.Blob == nil
	case sampling.ResourceLink:
		return linked(b), true
	}
	return "", false
}

func named(uri, mime string) string {
	if mime == "" {
		return uri
	}
	return uri + " (" + mime + ")"
}

func linked(l sampling.ResourceLink) string {
	lines := []string{"Link to a resource: " + named(l.URI, l.MIMEType), l.Name, l.Title, l.Description}
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n")
}

// Content is what a tool's result says to a model: its blocks. Structured
// content stands there as text already; where none does, it comes first.
func Content(r sampling.ToolResult) []sampling.Block {
	if len(r.StructuredContent) == 0 {
		return r.Content
	}
	for _, b := range r.Content {
		if _, ok := Words(b); ok {
			return r.Content
		}
	}
	return append([]sampling.Block{sampling.Text{Text: string(r.StructuredContent)}}, r.Content...)
}

// Spoken is a history without calls of sampling.SchemaTool, for requests that do
// not offer it as a tool. An answer that was such a call becomes a text of the
// assistant's, which is what it was to a model with a way of its own for typed
// answers: many endpoints refuse calls of tools that are not offered, or a user
// who speaks right after a result. What a result says beyond
// sampling.Acknowledgement becomes a text of the user's.
//
// A message that calls other tools as well stays as it is. With each message
// comes its index in the history.
func Spoken(history []sampling.Message) iter.Seq2[int, sampling.Message] {
	return func(yield func(int, sampling.Message) bool) {
		answered := false
		for i, m := range history {
			if answered && len(m.ToolResults()) > 0 {
				m = sampling.Message{Role: sampling.User, Content: objections(m, i == len(history)-1)}
			}
			if answered = answers(m); answered {
				m = sampling.Message{Role: sampling.Assistant, Content: said(m)}
			}
			if len(m.Content) > 0 && !yield(i, m) {
				return
			}
		}
	}
}

// answers says whether all calls of a message, of which there are some, are
// typed answers.
func answers(m sampling.Message) bool {
	uses := m.ToolUses()
	for _, use := range uses {
		if use.Name != sampling.SchemaTool {
			return false
		}
	}
	return m.Role == sampling.Assistant && len(uses) > 0
}

func said(m sampling.Message) []sampling.Block {
	blocks := make([]sampling.Block, 0, len(m.Content))
	for _, b := range m.Content {
		if use, ok := b.(sampling.ToolUse); ok {
			b = sampling.Text{Text: string(Input(use))}
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// objections are what the results of typed answers say. The last message of a
// history says something in any case.
func objections(results sampling.Message, last bool) []sampling.Block {
	var blocks []sampling.Block
	for _, r := range results.ToolResults() {
		for _, b := range Content(r) {
			if text, ok := b.(sampling.Text); ok && !last && strings.TrimSpace(text.Text) == sampling.Acknowledgement {
				continue
			}
			blocks = append(blocks, b)
		}
	}
	if last && len(blocks) == 0 {
		return []sampling.Block{sampling.Text{Text: sampling.Acknowledgement}}
	}
	return blocks
}

// Input is the input of a call: an object, the empty one where there is none.
func Input(use sampling.ToolUse) jsontext.Value {
	if len(use.Input) == 0 {
		return jsontext.Value(`{}`)
	}
	return use.Input
}
