package openai

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/model/internal/providertest"
	"github.com/parleyhq/parley/tool/sampling"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The cases of testdata: what is asked, what the endpoint answers, what comes of
// it.
func TestCases(t *testing.T) {
	for _, k := range kinds(t) {
		t.Run(k.name, func(t *testing.T) { providertest.Run(t, "testdata/"+k.name, k.make, k.check) })
	}
}

// A kind is one of the two APIs, for what holds for both.
type kind struct {
	name  string
	make  func(provider.Config) (provider.Provider, error) // with the URL of a host
	check providertest.Check
	hello string // a stream
}

func kinds(t testing.TB) []kind {
	return []kind{
		{"responses", of(provider.OpenAI), strictResponses(t), `event: response.completed
data: {"type":"response.completed","response":{"model":"model-1","output":[{"type":"message","content":[{"type":"output_text","text":"Hello!"}]}]}}

`},
		{"chat", of(provider.OpenAIChat), strictChat(t), `data: {"model":"model-1","choices":[{"index":0,"delta":{"content":"Hello!"},"finish_reason":"stop"}]}

data: [DONE]

`},
	}
}

func of(kind provider.Kind) func(provider.Config) (provider.Provider, error) {
	return func(c provider.Config) (provider.Provider, error) {
		c.Kind = kind
		if c.URL != "" {
			c.URL += "/v1"
		}
		return New(c)
	}
}

func streamed(body string) providertest.Response {
	return providertest.Response{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: []byte(body)}
}

// each answers every request with the same.
func each(r providertest.Response) func(int) (providertest.Response, bool) {
	return func(int) (providertest.Response, bool) { return r, true }
}

func question() *sampling.Request {
	return &sampling.Request{Messages: []sampling.Message{sampling.UserText("hi")}, MaxTokens: 50}
}

// Whatever a run has gathered, of this model's answers, of others' and of
// people's, is a history that a strict endpoint takes. Chat completions have no
// pictures in results, and say so.
func TestHistories(t *testing.T) {
	for _, k := range kinds(t) {
		t.Run(k.name, func(t *testing.T) {
			endpoint := providertest.Serve(t, k.check, each(streamed(k.hello)), nil)
			p, err := k.make(endpoint.Config())
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(t *rapid.T) {
				q := providertest.Conversation(t)
				reply, err := p.Ask(t.Context(), q, nil)
				if failed, ok := errors.AsType[*provider.Error](err); ok && k.name == "chat" && pictured(q) && strings.HasSuffix(failed.Message, "this endpoint takes text") {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if reply.Message().Text() != "Hello!" {
					t.Fatalf("the reply is %+v", reply)
				}
			})
		})
	}
}

// pictured says whether a result holds a picture.
func pictured(q *sampling.Request) bool {
	for _, m := range q.Messages {
		for _, r := range m.ToolResults() {
			for _, b := range r.Content {
				if b.BlockType() == "image" {
					return true
				}
			}
		}
	}
	return false
}

// What an endpoint does not take is not sent again by the next request.
func TestDialectIsRemembered(t *testing.T) {
	refused := providertest.Response{Status: 400, Header: http.Header{"Content-Type": {"application/json"}},
		Body: []byte(`{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model.","type":"invalid_request_error","param":"temperature","code":null}}`)}
	for _, k := range kinds(t) {
		t.Run(k.name, func(t *testing.T) {
			endpoint := providertest.Serve(t, k.check, func(n int) (providertest.Response, bool) {
				if n == 0 {
					return refused, true
				}
				return streamed(k.hello), n < 3
			}, nil)
			p, err := k.make(endpoint.Config())
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				q := question()
				q.Temperature = new(0.5)
				if _, err := p.Ask(t.Context(), q, nil); err != nil {
					t.Fatal(err)
				}
			}
			for i, body := range endpoint.Sent() {
				if got := strings.Contains(string(body), "temperature"); got != (i == 0) {
					t.Errorf("request %d: %s", i, body)
				}
			}
		})
	}
}

// An asker whose own words come back in an error does not teach the endpoint's
// dialect to others.
func TestAskersTeachNothing(t *testing.T) {
	echoed := providertest.Response{Status: 400, Header: http.Header{"Content-Type": {"application/json"}},
		Body: []byte(`{"error":{"message":"Invalid name: 'temperature, stream_options: unsupported'","type":"invalid_request_error","param":null,"code":null}}`)}
	for _, k := range kinds(t) {
		t.Run(k.name, func(t *testing.T) {
			var good atomic.Bool
			endpoint := providertest.Serve(t, k.check, func(int) (providertest.Response, bool) {
				if good.Load() {
					return streamed(k.hello), true
				}
				return echoed, true
			}, nil)
			p, err := k.make(endpoint.Config())
			if err != nil {
				t.Fatal(err)
			}
			q := question()
			q.Temperature = new(0.5)
			if _, err := p.Ask(t.Context(), q, nil); err == nil || !strings.HasPrefix(err.Error(), "invalid: Invalid name") {
				t.Fatalf("got %v", err)
			}
			good.Store(true)
			if _, err := p.Ask(t.Context(), q, nil); err != nil {
				t.Fatal(err)
			}
			sent := endpoint.Sent()
			if last := sent[len(sent)-1]; !bytes.Equal(last, sent[0]) {
				t.Errorf("sent was %s", last)
			}
		})
	}
}

// Several may ask at once.
func TestAtOnce(t *testing.T) {
	refused := providertest.Response{Status: 400, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"error":{"message":"temperature: not supported"}}`)}
	for _, k := range kinds(t) {
		t.Run(k.name, func(t *testing.T) {
			endpoint := providertest.Serve(t, k.check, func(n int) (providertest.Response, bool) {
				if n < 4 {
					return refused, true
				}
				return streamed(k.hello), true
			}, nil)
			p, err := k.make(endpoint.Config())
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for range 16 {
				wg.Go(func() {
					q := question()
					q.Temperature = new(0.5)
					reply, err := p.Ask(t.Context(), q, nil)
					if failed, ok := errors.AsType[*provider.Error](err); ok && failed.Status == 400 {
						return // refused twice
					}
					if err != nil || reply.Message().Text() != "Hello!" {
						t.Errorf("got %+v, %v", reply, err)
					}
				})
			}
			wg.Wait()
		})
	}
}

// Schemas are sent as they were written: the order of members says something to
// a model, and numbers keep their digits.
func TestSchemasKeepTheirOrder(t *testing.T) {
	const schema = `{"type":"object","properties":{"why":{"type":"string"},"b":{"const":12345678901234567890},"a":{"type":"string"}},"required":["why","b","a"],"additionalProperties":false}`
	for _, k := range kinds(t) {
		t.Run(k.name, func(t *testing.T) {
			endpoint := providertest.Serve(t, k.check, each(streamed(k.hello)), nil)
			p, err := k.make(endpoint.Config())
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"f", sampling.SchemaTool} {
				q := question()
				q.Tools = []sampling.Tool{{Name: name, InputSchema: jsontext.Value(schema)}}
				if _, err := p.Ask(t.Context(), q, nil); err != nil {
					t.Fatal(err)
				}
			}
			for _, body := range endpoint.Sent() {
				if !bytes.Contains(body, []byte(schema)) {
					t.Errorf("sent was %s", body)
				}
			}
		})
	}
}

// The environment has keys and addresses that the client would take.
func TestEnvironmentHasNoSay(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-somebody-else")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("OPENAI_ORG_ID", "org")
	t.Setenv("OPENAI_PROJECT_ID", "project")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Other: 1")
	for _, k := range kinds(t) {
		var seen *http.Request
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			seen = r
			return nil, errors.New("no network")
		})}
		p, err := k.make(provider.Config{Model: "model-1", HTTPClient: client})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = p.Ask(t.Context(), question(), nil); err == nil || err.Error() != "unreachable: no network" {
			t.Errorf("the error is %v", err)
		}
		for _, name := range []string{"Authorization", "OpenAI-Organization", "OpenAI-Project", "X-Other"} {
			if seen.Header.Get(name) != "" {
				t.Errorf("%s: %s was sent", name, seen.Header.Get(name))
			}
		}
		if seen.URL.Host != "api.openai.com" || seen.URL.Scheme != "https" {
			t.Errorf("%v was asked", seen.URL)
		}
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNewRefuses(t *testing.T) {
	for want, c := range map[string]provider.Config{
		"openai: which model? Give its name":                                                       {Kind: provider.OpenAI},
		`openai: there are the kinds openai and openai-chat, and not "ollama"`:                     {Kind: provider.Ollama, Model: "m"},
		`openai: "ftp://host" is no URL of an API: give one such as https://api.openai.com/v1`:     {Kind: provider.OpenAI, Model: "m", URL: "ftp://host"},
		`openai: "localhost:8080" is no URL of an API: give one such as https://api.openai.com/v1`: {Kind: provider.OpenAI, Model: "m", URL: "localhost:8080"},
		`openai: "http://[key]@" is no URL of an API: give one such as https://api.openai.com/v1`:  {Kind: provider.OpenAI, Model: "m", URL: "http://sk-secret@\x7f", Key: "sk-secret"},
	} {
		if _, err := New(c); err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// A schema that is none is the request's fault, and nothing is sent.
func TestSchemaThatIsNone(t *testing.T) {
	for _, k := range kinds(t) {
		p, err := k.make(provider.Config{Model: "m", URL: "http://127.0.0.1:1"})
		if err != nil {
			t.Fatal(err)
		}
		for _, schema := range []string{`[]`, `{`, `{"a":1,"a":2}`} {
			q := question()
			q.Tools = []sampling.Tool{{Name: "f", InputSchema: jsontext.Value(schema)}}
			if _, err := p.Ask(t.Context(), q, nil); err == nil || err.Error() != "invalid: the schema of the tool f is not one of a JSON object" {
				t.Errorf("%s: got %v", schema, err)
			}
		}
	}
}
