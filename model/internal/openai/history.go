package openai

import (
	"iter"
	"slices"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// history is what was said before, each message with its place. Typed answers
// are calls only where the request offers them as a tool.
func history(q *sampling.Request, d dialect) iter.Seq2[int, sampling.Message] {
	if _, ok := native(q, d); !ok && slices.ContainsFunc(q.Tools, func(t sampling.Tool) bool { return t.Name == sampling.SchemaTool }) {
		return slices.All(q.Messages)
	}
	return provider.Spoken(q.Messages)
}
