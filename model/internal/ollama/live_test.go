package ollama

import (
	"os"
	"testing"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/model/internal/providertest"
)

// With PARLEY_LIVE_TESTS=1 a real endpoint is asked for the model in
// PARLEY_LIVE_OLLAMA_MODEL: the one in PARLEY_LIVE_OLLAMA_URL with the key in
// OLLAMA_API_KEY, or the one of this machine.
func TestLive(t *testing.T) {
	model, wanted := providertest.Wanted(t, "PARLEY_LIVE_OLLAMA_MODEL")
	if !wanted {
		return
	}
	p, err := New(provider.Config{Model: model, URL: os.Getenv("PARLEY_LIVE_OLLAMA_URL"), Key: os.Getenv("OLLAMA_API_KEY"), HTTPClient: providertest.Connection(t)})
	if err != nil {
		t.Fatal(err)
	}
	providertest.Live(t, p)
}
