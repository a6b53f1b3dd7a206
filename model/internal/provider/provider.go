package provider

import (
	"context"
	"net/http"

	"github.com/parleyhq/parley/tool/sampling"
)

// A Provider asks one model of one endpoint.
type Provider interface {
	// Ask sends a request, once, and returns the reply. progress hears how much
	// of it has come, as it streams, and may be nil. Errors are an [*Error], or
	// the context's.
	Ask(ctx context.Context, q *sampling.Request, progress func(Progress)) (*sampling.Result, error)
}

// Progress is how much of a reply has come so far.
type Progress struct {
	Pieces int // that the endpoint sent it in, mostly a token each
	Bytes  int // of text, and of the input of calls
}

// A Kind is which API an endpoint speaks.
type Kind string

// The kinds of endpoints.
const (
	OpenAI     Kind = "openai"      // OpenAI's responses
	OpenAIChat Kind = "openai-chat" // chat completions, of OpenAI and of all who do as it does
	Anthropic  Kind = "anthropic"
	Ollama     Kind = "ollama"
)

// A Config says which model of which endpoint is asked.
type Config struct {
	Name       string       // as the room sees it, such as "sonnet"
	Kind       Kind         // which API the endpoint speaks
	Model      string       // the endpoint's name of the model
	URL        string       // where the API begins, such as "http://127.0.0.1:8080/v1"; "": the maker's own
	Key        string       // the secret itself; "": none is sent
	MaxTokens  int64        // most that a reply may have; 0: what is asked for
	HTTPClient *http.Client // for the connections; nil: one like http.DefaultClient
}

// Tokens is how many tokens the reply to q may have; 0 where nothing says.
func (c Config) Tokens(q *sampling.Request) int64 {
	switch {
	case c.MaxTokens <= 0:
		return max(q.MaxTokens, 0)
	case q.MaxTokens <= 0:
		return c.MaxTokens
	}
	return min(q.MaxTokens, c.MaxTokens)
}
