package ollama

import (
	"testing"

	"github.com/parleyhq/parley/model/internal/providertest"
	"github.com/parleyhq/parley/tool/sampling"
)

// Whatever an endpoint streams, it is a reply or an error.
func FuzzReply(f *testing.F) {
	providertest.FuzzReplies(f, New, "application/x-ndjson", &sampling.Request{
		Messages: []sampling.Message{sampling.UserText("hi")}, MaxTokens: 5, Tools: []sampling.Tool{{Name: "get_weather"}},
	})
}

// Whatever is asked, a strict endpoint takes it, or it is refused before it is sent.
func FuzzRequest(f *testing.F) {
	providertest.FuzzRequests(f, New, strict(f), saidHello)
}
