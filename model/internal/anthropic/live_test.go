package anthropic

import (
	"cmp"
	"os"
	"testing"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/model/internal/providertest"
)

// With PARLEY_LIVE_TESTS=1 the real endpoint is asked, with the key in
// ANTHROPIC_API_KEY, for the model in PARLEY_LIVE_ANTHROPIC_MODEL if there is one.
func TestLive(t *testing.T) {
	key, wanted := providertest.Wanted(t, "ANTHROPIC_API_KEY")
	if !wanted {
		return
	}
	p, err := New(provider.Config{Model: cmp.Or(os.Getenv("PARLEY_LIVE_ANTHROPIC_MODEL"), "claude-haiku-5-5"), Key: key, HTTPClient: providertest.Connection(t)})
	if err != nil {
		t.Fatal(err)
	}
	providertest.Live(t, p)
}
