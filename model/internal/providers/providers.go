// Package providers makes a provider of any kind.
//
//	p, err := providers.New(provider.Config{Kind: provider.Ollama, Model: "llama3.2"})
//
// It stands above the adapters, one package for each API, and what they have in
// common, package provider, below them.
//
// # Concurrency
//
// It keeps nothing: New may be called from any goroutine.
package providers

import (
	"fmt"

	"github.com/parleyhq/parley/model/internal/anthropic"
	"github.com/parleyhq/parley/model/internal/ollama"
	"github.com/parleyhq/parley/model/internal/openai"
	"github.com/parleyhq/parley/model/internal/provider"
)

// New is a provider for what c says. It connects to nothing. It fails where c
// does not say enough, and for a kind that is none.
func New(c provider.Config) (provider.Provider, error) {
	switch c.Kind {
	case provider.OpenAI, provider.OpenAIChat:
		return openai.New(c)
	case provider.Anthropic:
		return anthropic.New(c)
	case provider.Ollama:
		return ollama.New(c)
	}
	return nil, fmt.Errorf("%q is no kind of endpoint: there are %s, %s, %s and %s", c.Clean(string(c.Kind)),
		provider.OpenAI, provider.OpenAIChat, provider.Anthropic, provider.Ollama)
}
