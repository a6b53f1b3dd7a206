package openai

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// ours is where OpenAI's APIs begin.
const ours = "https://api.openai.com/v1"

// longestName is how long the name of a tool may be, and the id of a call.
const (
	longestName = 64
	longestID   = 40
)

// An api asks once, in a way that an endpoint of some dialect takes.
type api interface {
	ask(ctx context.Context, q *sampling.Request, d dialect, m *provider.Meter) (*sampling.Result, error)
}

// endpoint is a provider.Provider.
type endpoint struct {
	api     api
	dialect atomic.Pointer[dialect]
}

// New is a provider for an endpoint of kind OpenAI or OpenAIChat. It connects to
// nothing, and reads no environment variables.
func New(c provider.Config) (provider.Provider, error) {
	if c.Model == "" {
		return nil, fmt.Errorf("openai: which model? Give its name")
	}
	base := c.URL
	if base == "" {
		base = ours
	}
	at, err := url.Parse(base)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, fmt.Errorf("openai: %q is no URL of an API: give one such as %s", c.Clean(c.URL), ours)
	}
	e := new(endpoint)
	// The services by themselves: the client around them would add what it
	// finds in the environment, such as somebody's key.
	opts := []option.RequestOption{
		option.WithBaseURL(base), option.WithHTTPClient(c.Events()), option.WithMaxRetries(0),
		option.WithMiddleware(refusals(c)),
	}
	if c.Key != "" {
		opts = append(opts, option.WithAPIKey(c.Key))
	}
	switch c.Kind {
	case provider.OpenAI:
		e.api = &responsesAPI{c, responses.NewResponseService(opts...)}
	case provider.OpenAIChat:
		e.api = &chatAPI{c, openai.NewChatCompletionService(opts...)}
	default:
		return nil, fmt.Errorf("openai: there are the kinds %s and %s, and not %q", provider.OpenAI, provider.OpenAIChat, c.Clean(string(c.Kind)))
	}
	e.dialect.Store(&dialect{newLimit: at.Host == "api.openai.com"})
	return e, nil
}

// Ask asks, and once more for each thing that the endpoint turns out not to
// take. What has led to a reply is remembered, and nothing else: what an endpoint
// says of a bad request may be the asker's own words.
func (e *endpoint) Ask(ctx context.Context, q *sampling.Request, progress func(provider.Progress)) (*sampling.Result, error) {
	for tried := *e.dialect.Load(); ; {
		reply, err := e.api.ask(ctx, q, tried, &provider.Meter{Tell: progress})
		if err == nil {
			e.dialect.Store(new(tried.and(*e.dialect.Load())))
			return reply, nil
		}
		refused, ok := errors.AsType[*refusal](err)
		if !ok {
			return nil, err
		}
		if tried, ok = tried.learn(q, refused); !ok {
			return nil, refused.cause
		}
	}
}
