package openai

import (
	"cmp"
	"os"
	"testing"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/model/internal/providertest"
)

// With PARLEY_LIVE_TESTS=1 the real endpoint is asked through both APIs, or the one
// at PARLEY_LIVE_OPENAI_URL, with the key in OPENAI_API_KEY; for the model in
// PARLEY_LIVE_OPENAI_MODEL if there is one.
func TestLive(t *testing.T) {
	key, wanted := providertest.Wanted(t, "OPENAI_API_KEY")
	if !wanted {
		return
	}
	for _, kind := range []provider.Kind{provider.OpenAI, provider.OpenAIChat} {
		t.Run(string(kind), func(t *testing.T) {
			p, err := New(provider.Config{
				Kind: kind, Model: cmp.Or(os.Getenv("PARLEY_LIVE_OPENAI_MODEL"), "gpt-5-mini"), URL: os.Getenv("PARLEY_LIVE_OPENAI_URL"), Key: key,
				HTTPClient: providertest.Connection(t),
			})
			if err != nil {
				t.Fatal(err)
			}
			providertest.Live(t, p)
		})
	}
}
