package ollama

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/parleyhq/parley/model/internal/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The cases of testdata: what is asked, what the endpoint answers, what comes of it.
func TestCases(t *testing.T) {
	providertest.Run(t, "testdata", New, strict(t))
}

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

const hello = `{"model":"model-1","created_at":"2026-01-02T03:04:05.6789Z","message":{"role":"assistant","content":"Hello!"},"done":false}
{"model":"model-1","created_at":"2026-01-02T03:04:05.7Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":2}
`

// Several goroutines may ask one model.
func TestAtOnce(t *testing.T) { providertest.AtOnce(t, New, strict(t), saidHello) }

var saidHello = providertest.Response{Status: 200, Header: http.Header{"Content-Type": {"application/x-ndjson"}}, Body: []byte(hello)}
