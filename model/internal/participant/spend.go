package participant

import (
	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/tool/sampling"
)

// Tokens are counted by what endpoints say. Where they do not, and before they
// do, four bytes of text are one.
const (
	bytesPerToken = 4
	mediaTokens   = 1000 // of a picture or a sound
)

// weigh estimates how many tokens a request's input has.
func weigh(q *sampling.Request) int64 {
	n := length(q.SystemPrompt)
	for _, m := range q.Messages {
		n += weighBlocks(m.Content)
	}
	for _, t := range q.Tools {
		n += length(t.Name) + length(t.Description) + length(string(t.InputSchema))
	}
	return n
}

func weighBlocks(blocks []sampling.Block) (n int64) {
	for _, b := range blocks {
		switch b := b.(type) {
		case sampling.Text:
			n += length(b.Text)
		case sampling.ToolUse:
			n += length(b.Name) + length(string(b.Input))
		case sampling.ToolResult:
			n += weighBlocks(b.Content) + length(string(b.StructuredContent))
		case sampling.Resource:
			n += length(b.Contents.Text)
		case sampling.Image, sampling.Audio:
			n += mediaTokens
		}
	}
	return n
}

func length(text string) int64 { return tokensOf(len(text)) }

func tokensOf(bytes int) int64 { return int64(bytes+bytesPerToken-1) / bytesPerToken }

// used is how many tokens a request and its reply took: as the endpoint says,
// else estimated.
func used(input int64, reply *sampling.Result) int64 {
	var said struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	}
	usage := parley.Member(reply.Meta, "parley/usage")
	if usage == nil || json.Unmarshal(usage, &said) != nil {
		return input + weighBlocks(reply.Content)
	}
	clamp := func(n int64) int64 { return min(max(n, 0), maxTokens) }
	return clamp(said.Input) + clamp(said.Output)
}
