package providers

import (
	"testing"

	"github.com/parleyhq/parley/model/internal/provider"
)

func TestNew(t *testing.T) {
	for _, kind := range []provider.Kind{provider.OpenAI, provider.OpenAIChat, provider.Anthropic, provider.Ollama} {
		if p, err := New(provider.Config{Kind: kind, Model: "m"}); err != nil || p == nil {
			t.Errorf("%s: %v, %v", kind, p, err)
		}
		if _, err := New(provider.Config{Kind: kind}); err == nil {
			t.Errorf("%s: there is a provider without a model", kind)
		}
	}
	const want = `"OpenAI" is no kind of endpoint: there are openai, openai-chat, anthropic and ollama`
	if _, err := New(provider.Config{Kind: "OpenAI", Model: "m"}); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
