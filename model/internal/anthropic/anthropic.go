package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// model is one model of one endpoint.
type model struct {
	config provider.Config
	client sdk.Client
	known  refusals
}

// New is a model of an endpoint that speaks Anthropic's API. The URL may end in /v1 or
// not. It fails where the config names no model, or the URL is none.
func New(c provider.Config) (provider.Provider, error) {
	if c.Model == "" {
		return nil, errors.New("anthropic: the model has no name: say which, such as claude-sonnet-5-5")
	}
	options := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(),
		option.WithMaxRetries(0),
		option.WithHTTPClient(c.Events()),
	}
	if c.Key != "" {
		options = append(options, option.WithAPIKey(c.Key))
	}
	if c.URL != "" {
		base, err := url.Parse(c.URL)
		if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
			return nil, fmt.Errorf("anthropic: %q is no URL of an endpoint: it has to be like https://host/path", c.Clean(c.URL))
		}
		options = append(options, option.WithBaseURL(strings.TrimSuffix(strings.TrimRight(c.URL, "/"), "/v1")))
	}
	return &model{config: c, client: sdk.NewClient(options...)}, nil
}

// Ask implements [provider.Provider].
func (m *model) Ask(ctx context.Context, q *sampling.Request, progress func(provider.Progress)) (*sampling.Result, error) {
	for left := m.known.load(); ; {
		asked, err := m.request(q, left)
		if err != nil {
			return nil, err
		}
		reply, err := m.send(ctx, asked, progress)
		if err == nil {
			m.known.add(left)
			return reply, nil
		}
		if !left.learns(asked, err) {
			return nil, err
		}
	}
}

func (m *model) send(ctx context.Context, asked *request, progress func(provider.Progress)) (*sampling.Result, error) {
	stream := m.client.Messages.NewStreaming(ctx, asked.params)
	defer stream.Close()
	if err := stream.Err(); err != nil {
		return nil, m.refused(ctx, err)
	}
	r := reply{config: m.config, asked: asked, meter: provider.Meter{Tell: progress}}
	for stream.Next() {
		if err := r.take(stream.Current()); err != nil {
			return nil, err
		}
		if r.ended {
			return r.result()
		}
	}
	return nil, m.broken(ctx, stream.Err())
}
