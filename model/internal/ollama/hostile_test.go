package ollama

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/model/internal/providertest"
	"github.com/parleyhq/parley/tool/sampling"
)

var hi = []sampling.Message{sampling.UserText("hi")}

// Whatever has no end is given up, with little of it in memory.
func TestEnormous(t *testing.T) {
	const begin = `{"model":"m","created_at":"2026-01-02T03:04:05Z","message":{"role":"assistant","content":"`
	for name, c := range map[string]struct{ begin, next, want string }{
		"text":  {"", begin + strings.Repeat("word ", 10_000) + `"},"done":false}` + "\n", "garbled: the reply is longer than 8 MiB"},
		"calls": {"", begin + `","tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":false}` + "\n", "garbled: the reply has more than 1024 blocks"},
		"line":  {begin, strings.Repeat("x", 1<<16), "garbled: a line of the stream is longer than 7 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			endless := &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-ndjson"}}, Body: io.NopCloser(&source{c.begin, c.next})}, nil
			})}
			p, err := New(provider.Config{Model: "model-1", HTTPClient: endless})
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Ask(t.Context(), &sampling.Request{Messages: hi}, nil)
			if failed, ok := errors.AsType[*provider.Error](err); !ok || failed.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// source is a stream without an end.
type source struct{ rest, next string }

func (s *source) Read(p []byte) (int, error) {
	if s.rest == "" {
		s.rest = s.next
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// The client would sign requests to this host with a key of the home folder, and
// fail where there is none. The environment has no say in where requests go.
func TestWhereRequestsGo(t *testing.T) {
	t.Setenv("OLLAMA_HOST", "http://127.0.0.1:1")
	t.Setenv("HOME", t.TempDir())
	for configured, want := range map[string]string{
		"":                           "http://127.0.0.1:11434/api/chat",
		"https://ollama.com":         "https://ollama.com/api/chat",
		"https://ollama.com/api/":    "https://ollama.com/api/chat",
		"http://host:8080/behind/it": "http://host:8080/behind/it/api/chat",
	} {
		for _, key := range []string{"", "secret-key"} {
			var seen *http.Request
			p, err := New(provider.Config{Model: "model-1", URL: configured, Key: key, HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
				seen = r
				return nil, errors.New("no network")
			})}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Ask(t.Context(), &sampling.Request{Messages: hi}, nil); err == nil || err.Error() != "unreachable: no network" {
				t.Fatalf("the error is %v", err)
			}
			authorization := ""
			if key != "" {
				authorization = "Bearer " + key
			}
			if seen.URL.String() != want || seen.Host != "" || seen.Header.Get("Authorization") != authorization {
				t.Errorf("%q goes to %s (%s) with %q", configured, seen.URL, seen.Host, seen.Header.Get("Authorization"))
			}
		}
	}
}

// What was said in a call goes to the endpoint in the order and with the digits
// that it has; the endpoint's own types keep the order, too.
func TestArgumentsKeepTheirOrder(t *testing.T) {
	endpoint := providertest.Serve(t, strict(t), func(n int) (providertest.Response, bool) { return saidHello, n == 0 }, nil)
	p, err := New(endpoint.Config())
	if err != nil {
		t.Fatal(err)
	}
	history := append(hi, sampling.Message{Role: sampling.Assistant, Content: []sampling.Block{sampling.ToolUse{ID: "1", Name: "f", Input: jsontext.Value(`{"z":1, "n":12345678901234567890, "a":{"y":2,"b":0.10}}`)}}},
		sampling.Results(sampling.ToolResult{ToolUseID: "1"}))
	if _, err := p.Ask(t.Context(), &sampling.Request{Messages: history, Tools: []sampling.Tool{{Name: "f"}}}, nil); err != nil {
		t.Fatal(err)
	}
	const want = `"arguments":{"z":1,"n":12345678901234567890,"a":{"y":2,"b":0.10}}`
	if body := string(endpoint.Sent()[0]); !strings.Contains(body, want) {
		t.Errorf("%s is not in %s", want, body)
	}
}

func TestNewRefuses(t *testing.T) {
	for want, c := range map[string]provider.Config{
		"ollama: the model has no name: say which, such as qwen3":                                 {},
		`ollama: "ftp://host" is no URL of an endpoint: it has to be like http://host:11434`:      {Model: "m", URL: "ftp://host"},
		`ollama: "localhost:11434" is no URL of an endpoint: it has to be like http://host:11434`: {Model: "m", URL: "localhost:11434"},
		`ollama: "http://[key]@" is no URL of an endpoint: it has to be like http://host:11434`:   {Model: "m", URL: "http://sk-secret@\x7f", Key: "sk-secret"},
	} {
		if _, err := New(c); err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// What the client adds of its own to say who asks does not go out.
func TestOnlyTheKeyOfTheConfig(t *testing.T) {
	for _, key := range []string{"", "secret-key"} {
		config := provider.Config{Model: "m", Key: key}
		var seen *http.Request
		l := &lines{base: &url.URL{Scheme: "http", Host: "host", Path: "/"}, config: config, next: transport(func(r *http.Request) (*http.Response, error) {
			seen = r
			return nil, errors.New("no network")
		})}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, nowhere().JoinPath("/api/chat").String()+"?ts=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "of-the-home-folder")
		if _, err := l.RoundTrip(r); err == nil {
			t.Fatal("there is a response without a network")
		}
		want := ""
		if key != "" {
			want = "Bearer " + key
		}
		if got := seen.Header.Get("Authorization"); got != want || seen.URL.String() != "http://host/api/chat" {
			t.Errorf("%s is asked with %q", seen.URL, got)
		}
	}
}
