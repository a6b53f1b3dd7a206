package anthropic

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/model/internal/providertest"
	"github.com/parleyhq/parley/tool/sampling"
)

const (
	messageStart = `event: message_start
data: {"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"model-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}

`
	textStart = `event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

`
	hello = messageStart + textStart + `event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello!"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":3}}

event: message_stop
data: {"type":"message_stop"}

`
)

// Whatever has no end is given up, with little of it in memory.
func TestEnormous(t *testing.T) {
	delta := `event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + strings.Repeat("word ", 10_000) + `"}}

`
	call := func(n int) string {
		return fmt.Sprintf(`event: content_block_start
data: {"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"toolu_%d","name":"f","input":{}}}

`, n, n)
	}
	for name, c := range map[string]struct {
		begin string
		next  func(n int) string
		want  string
	}{
		"text":      {messageStart + textStart, func(int) string { return delta }, "garbled: the reply is longer than 8 MiB"},
		"calls":     {messageStart, call, "garbled: the reply has more than 1024 blocks"},
		"one line":  {messageStart + "event: content_block_delta\ndata: ", func(int) string { return strings.Repeat(" ", 1<<16) }, "garbled: an event of the stream is longer than 16 MiB"},
		"one event": {messageStart + "event: content_block_delta\n", func(int) string { return "data: " + strings.Repeat("x", 1<<16) + "\r\n" }, "garbled: an event of the stream is longer than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			endless := &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(&source{rest: c.begin, next: c.next})}, nil
			})}
			p, err := New(provider.Config{Model: "model-1", HTTPClient: endless})
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Ask(t.Context(), &sampling.Request{Messages: []sampling.Message{sampling.UserText("hi")}, MaxTokens: 5}, nil)
			if failed, ok := errors.AsType[*provider.Error](err); !ok || failed.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// source is a stream without an end.
type source struct {
	rest string
	n    int
	next func(n int) string
}

func (s *source) Read(p []byte) (int, error) {
	if s.rest == "" {
		s.rest = s.next(s.n)
		s.n++
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// The environment has keys and addresses that the client would take.
func TestEnvironmentHasNoSay(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-of-somebody-else")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token-of-somebody-else")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Other: 1")
	var seen http.Header
	client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		seen = r.Header.Clone()
		seen.Set("Host", r.URL.Host)
		return nil, errors.New("no network")
	})}
	p, err := New(provider.Config{Model: "model-1", HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Ask(t.Context(), &sampling.Request{Messages: []sampling.Message{sampling.UserText("hi")}, MaxTokens: 5}, nil)
	if err == nil || err.Error() != "unreachable: no network" {
		t.Errorf("the error is %v", err)
	}
	for _, name := range []string{"X-Api-Key", "Authorization", "X-Other", "Traceparent"} {
		if seen.Get(name) != "" {
			t.Errorf("%s: %s was sent", name, seen.Get(name))
		}
	}
	if seen.Get("Host") != "api.anthropic.com" {
		t.Errorf("%q was asked", seen.Get("Host"))
	}
}

func refused(message string) providertest.Response {
	return providertest.Response{Status: 400, Header: http.Header{"Content-Type": {"application/json"}}, Body: fmt.Appendf(nil, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, message)}
}

// What a model has refused is not asked of it again.
func TestRefusalsAreRemembered(t *testing.T) {
	script := []providertest.Response{
		refused("`temperature` is deprecated for this model."),
		refused(`tool_choice: type "tool" and "any" are not supported for this model.`),
		saidHello, saidHello,
	}
	endpoint := providertest.Serve(t, strict(t), func(n int) (providertest.Response, bool) { return script[n%len(script)], n < len(script) }, nil)
	p, err := New(endpoint.Config())
	if err != nil {
		t.Fatal(err)
	}
	asked := &sampling.Request{Messages: []sampling.Message{sampling.UserText("hi")}, MaxTokens: 5, Temperature: new(0.5), Tools: []sampling.Tool{{Name: "f"}}}
	asked.ToolChoice.Mode = sampling.Required
	for range 2 {
		if _, err := p.Ask(t.Context(), asked, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, body := range endpoint.Sent() {
		heat, force := strings.Contains(string(body), `"temperature"`), strings.Contains(string(body), `"any"`)
		if heat != (i == 0) || force != (i < 2) {
			t.Errorf("request %d: %s", i, body)
		}
	}
}

// Who asks in a way that the endpoint complains of in just the right words does
// not change how others are told.
func TestRefusalsAreNotMadeUp(t *testing.T) {
	script := []providertest.Response{refused("tools.0: temperature: no such type"), refused("tools.0: no such type"), saidHello}
	endpoint := providertest.Serve(t, strict(t), func(n int) (providertest.Response, bool) { return script[n%len(script)], n < len(script) }, nil)
	p, err := New(endpoint.Config())
	if err != nil {
		t.Fatal(err)
	}
	asked := &sampling.Request{Messages: []sampling.Message{sampling.UserText("hi")}, MaxTokens: 5, Temperature: new(0.5), Tools: []sampling.Tool{{Name: "f"}}}
	if _, err := p.Ask(t.Context(), asked, nil); err == nil {
		t.Fatal("there is a reply")
	}
	if _, err := p.Ask(t.Context(), asked, nil); err != nil {
		t.Fatal(err)
	}
	if body := string(endpoint.Sent()[2]); !strings.Contains(body, `"temperature":0.5`) {
		t.Errorf("what was made up is remembered: %s", body)
	}
}

func TestNewRefuses(t *testing.T) {
	for want, c := range map[string]provider.Config{
		"anthropic: the model has no name: say which, such as claude-sonnet-5-5":                    {},
		`anthropic: "ftp://host" is no URL of an endpoint: it has to be like https://host/path`:     {Model: "m", URL: "ftp://host"},
		`anthropic: "localhost:8080" is no URL of an endpoint: it has to be like https://host/path`: {Model: "m", URL: "localhost:8080"},
		`anthropic: "http://[key]@" is no URL of an endpoint: it has to be like https://host/path`:  {Model: "m", URL: "http://sk-secret@\x7f", Key: "sk-secret"},
	} {
		if _, err := New(c); err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// A request that says nothing about the length of its reply.
func TestTokensHaveToBeSaid(t *testing.T) {
	p, err := New(provider.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Ask(t.Context(), &sampling.Request{Messages: []sampling.Message{sampling.UserText("hi")}}, nil)
	if failed, ok := errors.AsType[*provider.Error](err); !ok || failed.Kind != provider.Invalid {
		t.Errorf("got %v", err)
	}
}

// A history may speak of more tools than a request may offer.
func TestFormerToolsAreBounded(t *testing.T) {
	endpoint := providertest.Serve(t, strict(t), func(n int) (providertest.Response, bool) { return saidHello, n == 0 }, nil)
	p, err := New(endpoint.Config())
	if err != nil {
		t.Fatal(err)
	}
	asked := sampling.Message{Role: sampling.Assistant}
	answered := sampling.Message{Role: sampling.User}
	for i := range sampling.MaxTools + 10 {
		id := fmt.Sprint(i)
		asked.Content = append(asked.Content, sampling.ToolUse{ID: id, Name: "tool_" + id})
		answered.Content = append(answered.Content, sampling.ToolResult{ToolUseID: id})
	}
	history := []sampling.Message{sampling.UserText("hi"), asked, answered}
	if _, err := p.Ask(t.Context(), &sampling.Request{Messages: history, MaxTokens: 5}, nil); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(endpoint.Sent()[0]), `"input_schema"`); got != sampling.MaxTools {
		t.Errorf("%d tools are declared, want %d", got, sampling.MaxTools)
	}
}
