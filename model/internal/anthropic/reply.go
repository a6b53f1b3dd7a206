package anthropic

import (
	"bytes"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// reply is what has come of a reply.
type reply struct {
	config provider.Config
	asked  *request
	meter  provider.Meter

	begun, ended  bool
	model         string
	stop          sdk.StopReason
	input, output int64 // tokens
	pieces        []*piece
}

// piece is a block of a reply.
type piece struct {
	kind     string
	id, name string       // of a call
	begin    string       // of a call: the input that it began with, if any
	said     bytes.Buffer // a text, or the input of a call
}

// take is told of one event after the other.
func (r *reply) take(e sdk.MessageStreamEventUnion) error {
	if !r.begun && e.Type != "message_start" {
		return r.config.Garble("the stream begins with %q, and not with message_start", e.Type)
	}
	switch e.Type {
	case "message_start":
		if r.begun {
			return r.config.Garble("the stream begins twice")
		}
		r.begun, r.model = true, e.Message.Model
		r.spent(e.Message.Usage.InputTokens, e.Message.Usage.CacheCreationInputTokens, e.Message.Usage.CacheReadInputTokens)
		r.output = e.Message.Usage.OutputTokens
	case "content_block_start":
		return r.start(e)
	case "content_block_delta":
		return r.delta(e)
	case "message_delta":
		r.stop = e.Delta.StopReason
		if e.Usage.JSON.InputTokens.Valid() {
			r.spent(e.Usage.InputTokens, e.Usage.CacheCreationInputTokens, e.Usage.CacheReadInputTokens)
		}
		r.output = e.Usage.OutputTokens
	case "message_stop":
		r.ended = true
	}
	return nil // the maker asks for patience with events of new types
}

// spent is told what the request came to, what was cached included.
func (r *reply) spent(tokens ...int64) {
	r.input = 0
	for _, n := range tokens {
		r.input += min(max(n, 0), 1<<60/3)
	}
}

func (r *reply) start(e sdk.MessageStreamEventUnion) error {
	block := e.ContentBlock
	if e.Index != int64(len(r.pieces)) {
		return r.config.Garble("block %d begins where %d comes next", e.Index, len(r.pieces))
	}
	if len(r.pieces) == sampling.MaxBlocks {
		return r.config.Garble("the reply has more than %d blocks", sampling.MaxBlocks)
	}
	p := &piece{kind: block.Type}
	r.pieces = append(r.pieces, p)
	switch block.Type {
	case "text":
		return r.add(p, block.Text)
	case "tool_use":
		p.id, p.name = block.ID, r.asked.names.Original(block.Name)
		if p.begin = block.JSON.Input.Raw(); p.begin == "{}" {
			p.begin = "" // so it always is, and the input follows
		}
		if p.id == "" || p.name == "" || len(p.id) > sampling.MaxName || len(p.name) > sampling.MaxName {
			return r.config.Garble("block %d is a call without an id or a name, or with one that is too long", e.Index)
		}
		return r.add(nil, p.begin)
	case "thinking", "redacted_thinking":
		return nil
	}
	return r.config.Garble("block %d is of the type %q, which nobody asked for", e.Index, block.Type)
}

func (r *reply) delta(e sdk.MessageStreamEventUnion) error {
	if e.Index < 0 || e.Index >= int64(len(r.pieces)) {
		return r.config.Garble("a piece belongs to block %d, which has not begun", e.Index)
	}
	p := r.pieces[e.Index]
	switch d := e.Delta; {
	case d.Type == "text_delta" && p.kind == "text":
		return r.add(p, d.Text)
	case d.Type == "input_json_delta" && p.kind == "tool_use":
		return r.add(p, d.PartialJSON)
	case d.Type == "text_delta", d.Type == "input_json_delta":
		return r.config.Garble("a %s belongs to block %d, which is of the type %q", d.Type, e.Index, p.kind)
	}
	return nil
}

// add counts what has come, and keeps it where there is a piece that it belongs to.
func (r *reply) add(p *piece, said string) error {
	if said == "" {
		return nil
	}
	if p != nil {
		p.said.WriteString(said)
	}
	return r.meter.Add(len(said))
}

// result is the reply after its last event.
func (r *reply) result() (*sampling.Result, error) {
	result := &sampling.Result{Role: sampling.Assistant, Model: valid(r.model), StopReason: stopReason(r.stop), Meta: provider.Usage(r.input, r.output)}
	for i, p := range r.pieces {
		b, err := r.block(i, p)
		if err != nil {
			return nil, err
		}
		if b != nil {
			result.Content = append(result.Content, b)
		}
	}
	called := len(result.Message().ToolUses()) > 0
	if r.asked.typed && !called && !result.StopReason.Refusal() {
		// A model that cannot be forced may say it in words.
		if answer, ok := provider.Answer(result.Message().Text()); ok {
			result.Content, called = []sampling.Block{answer}, true
		}
	}
	// A forced call may come with the other reason, and an answer that was none
	// has become a text.
	switch {
	case called && result.StopReason == sampling.EndTurn:
		result.StopReason = sampling.ToolUseWanted
	case !called && result.StopReason == sampling.ToolUseWanted:
		result.StopReason = sampling.EndTurn
	}
	return result, nil
}

// block is what a piece comes to: nil where nothing.
func (r *reply) block(i int, p *piece) (sampling.Block, error) {
	said := valid(p.said.String())
	if p.kind != "tool_use" {
		if said == "" {
			return nil, nil
		}
		return sampling.Text{Text: said}, nil
	}
	if said == "" {
		said = valid(p.begin)
	}
	input, ok := provider.Object(said)
	// A limit or a sequence, or somebody who refuses, may have cut the last call
	// off, also before its input began.
	cut := r.stop != sdk.StopReasonToolUse && r.stop != sdk.StopReasonEndTurn
	switch {
	case cut && (!ok || said == "" && i == len(r.pieces)-1):
		return nil, nil
	case ok:
		return sampling.ToolUse{ID: p.id, Name: p.name, Input: input}, nil
	case r.asked.typed:
		return sampling.Text{Text: said}, nil // what it is worth is for the asker to judge
	}
	return nil, r.config.Garble("the input of block %d, a call of %q, is no JSON object", i, p.name)
}

func stopReason(stop sdk.StopReason) sampling.StopReason {
	switch stop {
	case sdk.StopReasonEndTurn:
		return sampling.EndTurn
	case sdk.StopReasonStopSequence:
		return sampling.StopSequence
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return sampling.MaxTokens
	case sdk.StopReasonToolUse:
		return sampling.ToolUseWanted
	}
	return sampling.StopReason(valid(string(stop))) // among others, "refusal"
}

// valid is text as JSON can hold it.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
