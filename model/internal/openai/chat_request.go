package openai

import (
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// chatRequest is q as chat completions have it.
func chatRequest(c provider.Config, q *sampling.Request, d dialect) (openai.ChatCompletionNewParams, error) {
	r := openai.ChatCompletionNewParams{Model: c.Model}
	if q.SystemPrompt != "" {
		r.Messages = append(r.Messages, openai.SystemMessage(q.SystemPrompt))
	}
	if q.Temperature != nil && !d.noTemperature {
		r.Temperature = param.NewOpt(*q.Temperature)
	}
	if !d.noUsage {
		r.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	switch n := c.Tokens(q); {
	case n > 0 && d.newLimit:
		r.MaxCompletionTokens = param.NewOpt(n)
	case n > 0:
		r.MaxTokens = param.NewOpt(n)
	}
	for i, m := range history(q, d) {
		messages, err := chatMessages(place{c: c, message: i}, m)
		if err != nil {
			return r, err
		}
		r.Messages = append(r.Messages, messages...)
	}
	return r, chatTools(&r, c, q, d)
}

// chatTools puts in what the model may call, or how it is to answer.
func chatTools(r *openai.ChatCompletionNewParams, c provider.Config, q *sampling.Request, d dialect) error {
	all, err := functions(c, q.Tools)
	if err != nil {
		return err
	}
	if _, ok := native(q, d); ok {
		f := &shared.ResponseFormatJSONSchemaParam{}
		f.JSONSchema.Name, f.JSONSchema.Description = all[0].name, optional(all[0].description)
		f.JSONSchema.Strict, f.JSONSchema.Schema = param.NewOpt(all[0].strict), all[0].as("schema")["schema"]
		r.ResponseFormat.OfJSONSchema = f
		return nil
	}
	for _, f := range all {
		t := shared.FunctionDefinitionParam{Name: f.name, Description: optional(f.description)}
		if f.strict { // which is not said in vain: not all endpoints know it
			t.Strict = param.NewOpt(true)
		}
		t.SetExtraFields(f.as("parameters"))
		r.Tools = append(r.Tools, openai.ChatCompletionFunctionTool(t))
	}
	if mode, ok := choice(q); ok {
		r.ToolChoice.OfAuto = param.NewOpt(mode)
	}
	return nil
}

// chatMessages are a message as chat completions have it: each result is a
// message of its own.
func chatMessages(at place, m sampling.Message) ([]openai.ChatCompletionMessageParamUnion, error) {
	if m.Role == sampling.Assistant {
		said, err := chatAssistant(at, m)
		return []openai.ChatCompletionMessageParamUnion{{OfAssistant: said}}, err
	}
	var messages []openai.ChatCompletionMessageParamUnion
	var parts []openai.ChatCompletionContentPartUnionParam
	for i, b := range m.Content {
		at.block = i
		if result, ok := b.(sampling.ToolResult); ok {
			text, err := at.result(result)
			if err != nil {
				return nil, err
			}
			messages = append(messages, openai.ToolMessage(text, provider.Alias(result.ToolUseID, longestID)))
			continue
		}
		part, err := chatPart(at, b)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	switch {
	case len(parts) == 1 && parts[0].OfText != nil: // as endpoints take it that know texts alone
		messages = append(messages, openai.UserMessage(parts[0].OfText.Text))
	case len(parts) > 0:
		messages = append(messages, openai.UserMessage(parts))
	}
	return messages, nil
}

// result is a tool's result: chat completions have texts there, and nothing
// else.
func (p place) result(r sampling.ToolResult) (string, error) {
	text, ok := resultText(r)
	if ok {
		return text, nil
	}
	for i, b := range provider.Content(r) {
		if _, err := p.in(i).spoken(b, "text"); err != nil {
			return "", err
		}
	}
	return text, nil
}

func chatPart(at place, b sampling.Block) (openai.ChatCompletionContentPartUnionParam, error) {
	if url, ok := picture(b); ok {
		return openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: url}), nil
	}
	if data, format, ok := sound(b); ok {
		return openai.InputAudioContentPart(openai.ChatCompletionContentPartInputAudioInputAudioParam{Data: data, Format: format}), nil
	}
	words, err := at.spoken(b, "text, images that are PNG, JPEG, WebP or GIF, and audio that is WAV or MP3")
	return openai.TextContentPart(words), err
}

// chatAssistant is what the assistant has said: its texts, and then its calls.
func chatAssistant(at place, m sampling.Message) (*openai.ChatCompletionAssistantMessageParam, error) {
	said := new(openai.ChatCompletionAssistantMessageParam)
	var texts []openai.ChatCompletionAssistantMessageParamContentArrayOfContentPartUnion
	for i, b := range m.Content {
		at.block = i
		if use, ok := b.(sampling.ToolUse); ok {
			said.ToolCalls = append(said.ToolCalls, chatCall(use))
			continue
		}
		words, err := at.spoken(b, "text, and calls of tools")
		if err != nil {
			return nil, err
		}
		texts = append(texts, openai.ChatCompletionAssistantMessageParamContentArrayOfContentPartUnion{
			OfText: &openai.ChatCompletionContentPartTextParam{Text: words},
		})
	}
	switch {
	case len(texts) == 1:
		said.Content.OfString = param.NewOpt(texts[0].OfText.Text)
	case len(texts) > 1:
		said.Content.OfArrayOfContentParts = texts
	}
	return said, nil
}

func chatCall(use sampling.ToolUse) openai.ChatCompletionMessageToolCallUnionParam {
	return openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
		ID: provider.Alias(use.ID, longestID),
		Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{
			Name: provider.Alias(use.Name, longestName), Arguments: string(provider.Input(use)),
		},
	}}
}
