package openai

import (
	"github.com/openai/openai-go/v3"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// chatReply is a reply as it comes.
type chatReply struct {
	*replying
	meter   *provider.Meter
	stops   stops
	text    []byte
	refusal []byte
	calls   []*coming
	finish  string // how it ended, once it has
}

// coming is a call of which not all may be there.
type coming struct {
	call
	index     int64
	arguments []byte
}

// hear takes a chunk. It is true at a stop sequence: what follows the end of the
// reply is what it costs.
func (r *chatReply) hear(chunk openai.ChatCompletionChunk) (bool, error) {
	if chunk.Model != "" {
		r.model = chunk.Model
	}
	if u := chunk.Usage; u.PromptTokens > 0 || u.CompletionTokens > 0 {
		r.input, r.output = u.PromptTokens, u.CompletionTokens
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 || r.finish != "" {
			continue
		}
		if stopped, err := r.hearDelta(choice.Delta); stopped || err != nil {
			return stopped, err
		}
		r.finish = choice.FinishReason
	}
	return false, nil
}

// hearDelta takes what is new. It is true at a stop sequence.
func (r *chatReply) hearDelta(delta openai.ChatCompletionChunkChoiceDelta) (bool, error) {
	n := len(delta.Content) + len(delta.Refusal)
	for _, c := range delta.ToolCalls {
		n += len(c.Function.Arguments) + len(c.Function.Name) + len(c.ID)
	}
	if err := r.meter.Add(n); err != nil {
		return false, err
	}
	r.refusal = append(r.refusal, delta.Refusal...)
	for _, c := range delta.ToolCalls {
		if err := r.hearCall(c); err != nil {
			return false, err
		}
	}
	return r.hearText(delta.Content), nil
}

// hearText takes a piece of text, and says whether the reply ends in it. A typed
// answer has no stop sequences: its text is JSON.
func (r *chatReply) hearText(text string) bool {
	r.text = append(r.text, text...)
	if r.typed {
		return false
	}
	end, stopped := r.stops.cut(r.text, len(text))
	if r.text = r.text[:end]; stopped {
		r.stop = sampling.StopSequence
	}
	return stopped
}

// hearCall takes a piece of a call. Some endpoints give all calls of a reply one
// index, and each its id.
func (r *chatReply) hearCall(piece openai.ChatCompletionChunkChoiceDeltaToolCall) error {
	c := r.coming(piece.Index)
	if c == nil || piece.ID != "" && c.id != "" && piece.ID != c.id {
		if len(r.calls) == sampling.MaxBlocks {
			return r.c.Garble("the reply has more than %d calls", sampling.MaxBlocks)
		}
		c = &coming{index: piece.Index}
		r.calls = append(r.calls, c)
	}
	if c.id == "" {
		c.id = piece.ID
	}
	if c.name == "" {
		c.name = piece.Function.Name
	}
	c.arguments = append(c.arguments, piece.Function.Arguments...)
	return nil
}

// coming is the last call of an index.
func (r *chatReply) coming(index int64) *coming {
	for i := len(r.calls) - 1; i >= 0; i-- {
		if r.calls[i].index == index {
			return r.calls[i]
		}
	}
	return nil
}

// ended is the reply after its end.
func (r *chatReply) ended() (*sampling.Result, error) {
	r.say(string(r.text))
	if len(r.refusal) > 0 {
		r.say(string(r.refusal))
		r.stop = refused
	}
	if r.stop == "" {
		r.stop = r.stopped()
	}
	for _, c := range r.calls {
		c.call.arguments = string(c.arguments)
		if err := r.call(c.call, r.stop != ""); err != nil {
			return nil, err
		}
	}
	return r.result()
}

// stopped is why the model said no more; "" where it had said all.
func (r *chatReply) stopped() sampling.StopReason {
	switch r.finish {
	case "stop", "tool_calls", "function_call":
		return ""
	case "length":
		return sampling.MaxTokens
	case "content_filter":
		return contentFilter
	}
	return sampling.StopReason(r.c.Clean(r.finish))
}
