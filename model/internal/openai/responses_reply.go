package openai

import (
	"cmp"
	"maps"
	"slices"

	"github.com/openai/openai-go/v3/responses"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// responsesReply is a reply as it comes. What is kept of it are the outputs: the
// events that tell of one by pieces are followed by one that has it whole, and
// the last event has all of them.
type responsesReply struct {
	*replying
	meter   *provider.Meter
	stops   stops
	outputs map[int64]*output // by output_index
}

// An output is one item of the reply: a message, or a call.
type output struct {
	texts   []string
	refusal bool
	call    *call
	coming  []byte // the text, until all of it is there
	whole   bool
}

// hear takes an event. It is true after the last one.
func (r *responsesReply) hear(e responses.ResponseStreamEventUnion) (bool, error) {
	switch e.Type {
	case "response.created":
		r.model = string(e.Response.Model)
	case "response.output_text.delta":
		return r.hearText(e.OutputIndex, e.Delta)
	case "response.refusal.delta", "response.function_call_arguments.delta":
		return false, r.meter.Add(len(e.Delta))
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		return false, r.meter.Add(0)
	case "response.output_item.done":
		return false, r.hearItem(e.OutputIndex, e.Item)
	case "response.completed", "response.incomplete":
		return true, r.hearEnd(e.Response)
	case "response.failed":
		return true, failure{Message: e.Response.Error.Message, Type: string(e.Response.Error.Code)}.inStream(r.c)
	case "error":
		return true, failure{Message: e.Message, Type: e.Code}.inStream(r.c)
	}
	return false, nil
}

// at is the output of an index.
func (r *responsesReply) at(index int64) (*output, error) {
	o, ok := r.outputs[index]
	if !ok {
		if len(r.outputs) == sampling.MaxBlocks {
			return nil, r.c.Garble("the reply has more than %d outputs", sampling.MaxBlocks)
		}
		o = new(output)
		r.outputs[index] = o
	}
	return o, nil
}

// hearText takes a piece of text, and ends the reply at a stop sequence. A typed
// answer has none: its text is JSON.
func (r *responsesReply) hearText(index int64, text string) (bool, error) {
	o, err := r.at(index)
	if err != nil {
		return false, err
	}
	if err := r.meter.Add(len(text)); err != nil || o.whole {
		return false, err
	}
	o.coming = append(o.coming, text...)
	if r.typed {
		return false, nil
	}
	end, stopped := r.stops.cut(o.coming, len(text))
	o.coming = o.coming[:end]
	if stopped {
		r.stop = sampling.StopSequence
	}
	return stopped, nil
}

// hearItem takes an output that is whole.
func (r *responsesReply) hearItem(index int64, item responses.ResponseOutputItemUnion) error {
	o, err := r.at(index)
	if err != nil {
		return err
	}
	*o = outputOf(item)
	return nil
}

// outputOf keeps of an item what is said by it. How a model reasons, and what
// the endpoint does by itself, is none of that.
func outputOf(item responses.ResponseOutputItemUnion) output {
	o := output{whole: true}
	switch item.Type {
	case "message":
		for _, c := range item.Content {
			o.texts = append(o.texts, cmp.Or(c.Text, c.Refusal))
			o.refusal = o.refusal || c.Type == "refusal"
		}
	case "function_call":
		c := item.AsFunctionCall()
		o.call = &call{id: c.CallID, name: c.Name, arguments: c.Arguments}
	}
	return o
}

// hearEnd takes the last event, which has the reply once more.
func (r *responsesReply) hearEnd(end responses.Response) error {
	if len(end.Output) > sampling.MaxBlocks {
		return r.c.Garble("the reply has more than %d outputs", sampling.MaxBlocks)
	}
	if len(end.Output) > 0 {
		clear(r.outputs)
	}
	for i, item := range end.Output {
		if err := r.hearItem(int64(i), item); err != nil {
			return err
		}
	}
	r.model = string(end.Model)
	r.input, r.output = end.Usage.InputTokens, end.Usage.OutputTokens
	switch end.IncompleteDetails.Reason {
	case "max_output_tokens":
		r.stop = sampling.MaxTokens
	case "content_filter":
		r.stop = contentFilter
	}
	return nil
}

// ended is the reply after the last event, or after a stop sequence.
func (r *responsesReply) ended() (*sampling.Result, error) {
	for _, index := range slices.Sorted(maps.Keys(r.outputs)) {
		if err := r.put(r.outputs[index]); err != nil {
			return nil, err
		}
	}
	return r.result()
}

func (r *responsesReply) put(o *output) error {
	if o.refusal {
		r.stop = refused
	}
	if !o.whole {
		r.say(string(o.coming))
	}
	for _, text := range o.texts {
		r.say(text)
	}
	if o.call == nil {
		return nil
	}
	return r.call(*o.call, r.stop != "")
}
