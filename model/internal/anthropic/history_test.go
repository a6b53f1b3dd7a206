package anthropic

import (
	"net/http"
	"testing"

	"pgregory.net/rapid"

	"github.com/parleyhq/parley/model/internal/providertest"
)

// Whatever a run has gathered, of this model's answers, of others' and of
// people's, is a history that a strict endpoint takes.
func TestHistories(t *testing.T) {
	endpoint := providertest.Serve(t, strict(t), func(int) (providertest.Response, bool) { return saidHello, true }, nil)
	p, err := New(endpoint.Config())
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		reply, err := p.Ask(t.Context(), providertest.Conversation(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		if reply.Message().Text() != "Hello!" {
			t.Fatalf("the reply is %+v", reply)
		}
	})
}

// Several goroutines may ask one model.
func TestAtOnce(t *testing.T) { providertest.AtOnce(t, New, strict(t), saidHello) }

var saidHello = providertest.Response{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: []byte(hello)}
