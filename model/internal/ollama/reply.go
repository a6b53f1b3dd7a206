package ollama

import (
	"errors"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/ollama/ollama/api"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// errDone ends a stream after its last line.
var errDone = errors.New("the reply is whole")

// reply is what has come of a reply.
type reply struct {
	config provider.Config
	lines  *lines
	typed  bool // it is to be JSON
	meter  provider.Meter

	text    strings.Builder // not yet in content
	content []sampling.Block
	called  bool
	last    api.ChatResponse
	failed  error
}

// take is told of one line after the other.
func (r *reply) take(said api.ChatResponse) error {
	line, _ := r.lines.taken()
	if r.failed = r.add(said, line); r.failed != nil {
		return r.failed
	}
	if said.Done {
		r.last = said
		return errDone
	}
	return nil
}

func (r *reply) add(said api.ChatResponse, line []byte) error {
	if err := r.count(said); err != nil {
		return err
	}
	r.text.WriteString(said.Message.Content)
	for _, data := range said.Message.Images {
		kind := http.DetectContentType(data)
		if !strings.HasPrefix(kind, "image/") {
			return r.config.Garble("an image of the reply is none that is known")
		}
		r.block(sampling.Image{Data: data, MIMEType: kind})
	}
	if len(said.Message.ToolCalls) > 0 {
		if err := r.calls(line); err != nil {
			return err
		}
	}
	if len(r.content) > sampling.MaxBlocks {
		return r.config.Garble("the reply has more than %d blocks", sampling.MaxBlocks)
	}
	return nil
}

// count knows no lines that say nothing.
func (r *reply) count(said api.ChatResponse) error {
	bytes := len(said.Message.Content)
	for _, data := range said.Message.Images {
		bytes += len(data)
	}
	if bytes == 0 && said.Message.Thinking == "" {
		return nil
	}
	return r.meter.Add(bytes)
}

// calls reads those of a line. The client's have lost digits of their numbers.
func (r *reply) calls(line []byte) error {
	var read struct {
		Message struct {
			ToolCalls []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string         `json:"name"`
					Arguments jsontext.Value `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"message"`
	}
	if err := json.Unmarshal(line, &read); err != nil {
		return r.config.Garble("a call cannot be read: %v", err)
	}
	for _, call := range read.Message.ToolCalls {
		name := call.Function.Name
		if call.Function.Arguments.Kind() == 'n' {
			call.Function.Arguments = nil
		}
		input, ok := provider.Object(string(call.Function.Arguments))
		if !ok || name == "" || len(name) > sampling.MaxName {
			return r.config.Garble("a call has no name, one that is too long, or arguments that are no object")
		}
		if call.ID == "" || len(call.ID) > sampling.MaxName {
			call.ID = provider.CallID()
		}
		if err := r.meter.Add(len(input)); err != nil {
			return err
		}
		r.block(sampling.ToolUse{ID: call.ID, Name: name, Input: input})
		r.called = true
	}
	return nil
}

// block puts a block behind what was said so far.
func (r *reply) block(b sampling.Block) {
	r.flush()
	r.content = append(r.content, b)
}

func (r *reply) flush() {
	if r.text.Len() > 0 {
		r.content = append(r.content, sampling.Text{Text: strings.ToValidUTF8(r.text.String(), "\uFFFD")})
		r.text.Reset()
	}
}

// result is the reply after its last line.
func (r *reply) result() (*sampling.Result, error) {
	result := &sampling.Result{
		Role:       sampling.Assistant,
		Model:      strings.ToValidUTF8(r.last.Model, "\uFFFD"),
		StopReason: stopReason(r.last.DoneReason),
		Meta:       provider.Usage(int64(r.last.PromptEvalCount), int64(r.last.EvalCount)),
	}
	if r.typed && len(r.content) == 0 {
		if answer, ok := provider.Answer(r.text.String()); ok {
			result.Content, result.StopReason = []sampling.Block{answer}, sampling.ToolUseWanted
			return result, nil
		}
	}
	r.flush()
	result.Content = r.content
	if r.called && result.StopReason != sampling.MaxTokens {
		result.StopReason = sampling.ToolUseWanted
	}
	return result, nil
}

func stopReason(reason string) sampling.StopReason {
	switch reason {
	case "stop":
		return sampling.EndTurn
	case "length":
		return sampling.MaxTokens
	}
	return sampling.StopReason(strings.ToValidUTF8(reason, "\uFFFD"))
}
