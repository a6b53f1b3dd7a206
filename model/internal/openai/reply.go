package openai

import (
	"slices"
	"strings"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// The stop reasons of replies that somebody would not give: the model itself,
// or who stands between.
const (
	refused       sampling.StopReason = "refusal"
	contentFilter sampling.StopReason = "content_filter"
)

// A call is a call of a tool as it came.
type call struct {
	id, name, arguments string
}

// A replying puts a reply together.
type replying struct {
	c             provider.Config
	names         provider.Names
	typed         bool // the text is a typed answer
	model         string
	input, output int64               // tokens; 0 where nobody says
	stop          sampling.StopReason // "" is a reply that came to its end
	blocks        []sampling.Block
	ids           map[string]bool
}

func newReplying(c provider.Config, q *sampling.Request, d dialect) *replying {
	_, typed := native(q, d)
	return &replying{c: c, names: provider.NamesOf(q.Tools, longestName), typed: typed, ids: map[string]bool{}}
}

// say adds a text.
func (r *replying) say(text string) {
	if text = strings.ToValidUTF8(text, "\uFFFD"); text != "" {
		r.blocks = append(r.blocks, sampling.Text{Text: text})
	}
}

// call adds a call. Where the reply did not come to its end, a call whose
// arguments are no JSON was cut off, and is none.
func (r *replying) call(c call, cutOff bool) error {
	name := r.names.Original(c.name)
	input, ok := provider.Object(c.arguments)
	switch {
	case cutOff && (!ok || strings.TrimSpace(c.arguments) == ""):
		return nil
	case name == "" || len(name) > sampling.MaxName || strings.ToValidUTF8(name, "") != name:
		return r.c.Garble("the model calls a tool by no name, or by one that is none")
	case !ok && name == sampling.SchemaTool:
		r.say(c.arguments) // for the asker to judge
		return nil
	case !ok:
		return r.c.Garble("the model calls %s with arguments that are no JSON object", name)
	}
	r.blocks = append(r.blocks, sampling.ToolUse{ID: r.id(c.id), Name: name, Input: input})
	return nil
}

// id is the id of a call: as it came, where that is an id and no other call's.
func (r *replying) id(came string) string {
	if came == "" || len(came) > sampling.MaxName || r.ids[came] || strings.ToValidUTF8(came, "") != came {
		came = provider.CallID()
	}
	r.ids[came] = true
	return came
}

// result is the reply, once all of it is there.
func (r *replying) result() (*sampling.Result, error) {
	if r.typed && !r.stop.Refusal() {
		r.answer()
	}
	called := slices.ContainsFunc(r.blocks, func(b sampling.Block) bool { return b.BlockType() == "tool_use" })
	switch {
	case r.stop != "":
	case called:
		r.stop = sampling.ToolUseWanted
	default:
		r.stop = sampling.EndTurn
	}
	if size(r.blocks) > provider.MaxReply || len(r.blocks) > sampling.MaxBlocks {
		return nil, r.c.Garble("the reply is longer than %d MiB, or has more than %d blocks", provider.MaxReply>>20, sampling.MaxBlocks)
	}
	return &sampling.Result{
		Role: sampling.Assistant, Content: r.blocks, Model: r.answering(), StopReason: r.stop,
		Meta: provider.Usage(r.input, r.output),
	}, nil
}

// answer makes a call of a typed answer that is JSON.
func (r *replying) answer() {
	if use, ok := provider.Answer(sampling.Message{Content: r.blocks}.Text()); ok {
		r.blocks = []sampling.Block{use}
	}
}

func size(blocks []sampling.Block) (n int) {
	for _, b := range blocks {
		switch b := b.(type) {
		case sampling.Text:
			n += len(b.Text)
		case sampling.ToolUse:
			n += len(b.Input)
		}
	}
	return n
}

// answering is the model that has answered, or that was asked where the endpoint
// does not say.
func (r *replying) answering() string {
	if model := r.c.Clean(r.model); model != "" {
		return model
	}
	return r.c.Model
}
