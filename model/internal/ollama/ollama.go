package ollama

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/ollama/ollama/api"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// local is where an Ollama listens if nobody says otherwise.
const local = "http://127.0.0.1:11434"

// model is one model of one endpoint.
type model struct {
	config provider.Config
	base   *url.URL
	http   *http.Client
}

// New is a model of an Ollama. The URL may end in /api or not. It fails where the
// config names no model, or the URL is none.
func New(c provider.Config) (provider.Provider, error) {
	if c.Model == "" {
		return nil, errors.New("ollama: the model has no name: say which, such as qwen3")
	}
	text := strings.TrimSuffix(strings.TrimRight(cmp.Or(c.URL, local), "/"), "/api")
	base, err := url.Parse(text + "/")
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("ollama: %q is no URL of an endpoint: it has to be like http://host:11434", c.Clean(c.URL))
	}
	return &model{config: c, base: base, http: c.Client()}, nil
}

// Ask implements [provider.Provider].
func (m *model) Ask(ctx context.Context, q *sampling.Request, progress func(provider.Progress)) (*sampling.Result, error) {
	asked, err := m.request(q)
	if err != nil {
		return nil, err
	}
	// A client for each request, since one that all shared could not say whose
	// lines these are.
	lines := &lines{next: m.http.Transport, base: m.base, config: m.config}
	connection := *m.http
	connection.Transport = lines
	r := reply{config: m.config, lines: lines, typed: len(asked.Format) > 0, meter: provider.Meter{Tell: progress}}
	err = api.NewClient(nowhere(), &connection).Chat(ctx, asked, r.take)
	switch {
	case errors.Is(err, errDone):
		return r.result()
	case err != nil && r.failed == nil:
		r.failed = m.failure(ctx, lines, err)
	case r.failed == nil: // the client takes a connection that breaks off for an end
		r.failed = m.config.Failed(ctx, lines.broken())
	}
	return nil, r.failed
}

// nowhere is the address that the client knows. The true one is put in on the way:
// to some hosts the client sends a token that it makes of a key in the
// home folder, instead of the one of the config.
func nowhere() *url.URL { return &url.URL{Scheme: "http", Host: "ollama.invalid"} }
