package openai

import (
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// leastOutput is the least that responses may be bounded to, in tokens.
const leastOutput = 16

// responsesRequest is q as responses have it. Nothing of it is stored there: the
// history is the asker's.
func responsesRequest(c provider.Config, q *sampling.Request, d dialect) (responses.ResponseNewParams, error) {
	r := responses.ResponseNewParams{Model: c.Model, Store: param.NewOpt(false)}
	if q.SystemPrompt != "" {
		r.Instructions = param.NewOpt(q.SystemPrompt)
	}
	if n := c.Tokens(q); n > 0 {
		r.MaxOutputTokens = param.NewOpt(max(n, leastOutput))
	}
	if q.Temperature != nil && !d.noTemperature {
		r.Temperature = param.NewOpt(*q.Temperature)
	}
	for i, m := range history(q, d) {
		items, err := inputItems(place{c: c, message: i}, m)
		if err != nil {
			return r, err
		}
		r.Input.OfInputItemList = append(r.Input.OfInputItemList, items...)
	}
	return r, responsesTools(&r, c, q, d)
}

// responsesTools puts in what the model may call, or how it is to answer.
func responsesTools(r *responses.ResponseNewParams, c provider.Config, q *sampling.Request, d dialect) error {
	all, err := functions(c, q.Tools)
	if err != nil {
		return err
	}
	if _, ok := native(q, d); ok {
		f := responses.ResponseFormatTextJSONSchemaConfigParam{Name: all[0].name, Strict: param.NewOpt(all[0].strict), Description: optional(all[0].description)}
		f.SetExtraFields(all[0].as("schema"))
		r.Text.Format.OfJSONSchema = &f
		return nil
	}
	for _, f := range all {
		t := responses.FunctionToolParam{Name: f.name, Strict: param.NewOpt(f.strict), Description: optional(f.description)}
		t.SetExtraFields(f.as("parameters"))
		r.Tools = append(r.Tools, responses.ToolUnionParam{OfFunction: &t})
	}
	if mode, ok := choice(q); ok {
		r.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptions(mode))
	}
	return nil
}

func optional(text string) param.Opt[string] {
	if text == "" {
		return param.Opt[string]{}
	}
	return param.NewOpt(text)
}

// inputItems are a message as items: texts and pictures that follow each other
// are one, and each call and each result is one.
func inputItems(at place, m sampling.Message) ([]responses.ResponseInputItemUnionParam, error) {
	if m.Role == sampling.Assistant {
		return outputItems(at, m)
	}
	var items []responses.ResponseInputItemUnionParam
	var parts responses.ResponseInputMessageContentListParam
	for i, b := range m.Content {
		at.block = i
		if result, ok := b.(sampling.ToolResult); ok {
			item, err := callOutput(at, result)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
			continue
		}
		part, err := inputPart(at, b)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		items = append(items, responses.ResponseInputItemParamOfMessage(parts, responses.EasyInputMessageRoleUser))
	}
	return items, nil
}

const responsesTake = "text, and images that are PNG, JPEG, WebP or GIF"

func inputPart(at place, b sampling.Block) (responses.ResponseInputContentUnionParam, error) {
	if url, ok := picture(b); ok {
		image := responses.ResponseInputContentParamOfInputImage(responses.ResponseInputImageDetailAuto)
		image.OfInputImage.ImageURL = param.NewOpt(url)
		return image, nil
	}
	words, err := at.spoken(b, responsesTake)
	return responses.ResponseInputContentParamOfInputText(words), err
}

// outputItems are what the assistant has said. A text of its own is a string:
// the parts of input are the user's, and those of output have ids that we do not
// know.
func outputItems(at place, m sampling.Message) ([]responses.ResponseInputItemUnionParam, error) {
	var items []responses.ResponseInputItemUnionParam
	for i, b := range m.Content {
		at.block = i
		if use, ok := b.(sampling.ToolUse); ok {
			items = append(items, responses.ResponseInputItemParamOfFunctionCall(
				string(provider.Input(use)), provider.Alias(use.ID, longestID), provider.Alias(use.Name, longestName)))
			continue
		}
		words, err := at.spoken(b, "text, and calls of tools")
		if err != nil {
			return nil, err
		}
		items = append(items, responses.ResponseInputItemParamOfMessage(words, responses.EasyInputMessageRoleAssistant))
	}
	return items, nil
}

// callOutput is a tool's result: a text, or a list where there are pictures.
func callOutput(at place, r sampling.ToolResult) (responses.ResponseInputItemUnionParam, error) {
	id := param.NewOpt(provider.Alias(r.ToolUseID, longestID))
	if text, ok := resultText(r); ok {
		item := responses.ResponseInputItemParamOfFunctionCallOutput(text)
		item.OfFunctionCallOutput.CallID = id
		return item, nil
	}
	var parts responses.ResponseFunctionCallOutputItemListParam
	if r.IsError {
		parts = append(parts, outputText(failed))
	}
	for i, b := range provider.Content(r) {
		if url, ok := picture(b); ok {
			parts = append(parts, responses.ResponseFunctionCallOutputItemUnionParam{OfInputImage: &responses.ResponseInputImageContentParam{ImageURL: param.NewOpt(url)}})
			continue
		}
		words, err := at.in(i).spoken(b, responsesTake)
		if err != nil {
			return responses.ResponseInputItemUnionParam{}, err
		}
		parts = append(parts, outputText(words))
	}
	item := responses.ResponseInputItemParamOfFunctionCallOutput(parts)
	item.OfFunctionCallOutput.CallID = id
	return item, nil
}

func outputText(words string) responses.ResponseFunctionCallOutputItemUnionParam {
	return responses.ResponseFunctionCallOutputItemUnionParam{OfInputText: &responses.ResponseInputTextContentParam{Text: words}}
}
