// Package openai asks models by OpenAI's two APIs, through OpenAI's client:
// responses, and chat completions, which many others offer as well.
//
//	p, err := openai.New(provider.Config{Kind: provider.OpenAIChat, Model: "qwen3", URL: "http://127.0.0.1:8080/v1"})
//	…
//	reply, err := p.Ask(ctx, &sampling.Request{Messages: history, MaxTokens: 400}, nil)
//
// # How a request is told
//
// A typed answer, which is asked for by a tool called __schema__ and no other,
// becomes text.format of type json_schema, or response_format. It is strict
// where the schema keeps to what strict schemas may hold, and the model's own
// endeavour otherwise. What comes back is one call of __schema__; if it is no JSON
// object it stays the text that it is. Such calls in a history are sent as the
// texts that they were, see [provider.Spoken]. Other calls go as calls, also
// those of tools that are not offered: neither API asks for that.
//
// Neither API says which results are errors: their text begins with "Error: ".
// Neither tells which stop sequence it met, responses have none and newer models
// refuse them in chat completions. So a reply is read up to the first of
// them and the stream closed; what a reply costs that ends so is not told.
// Responses have at least 16 tokens, however few are asked for.
//
// Names of tools that the APIs do not take get others on the way, as do ids.
//
// # What an endpoint does not take
//
// Models differ: some have no temperature, want max_completion_tokens where
// others know max_tokens alone, or have no json_schema. A request that is
// refused for one of these is sent again without it, and the [dialect] remembered.
//
// # Concurrency
//
// What New returns may be used by any number of goroutines. What one request
// taught about an endpoint the next ones know.
package openai
