package ollama

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/parleyhq/parley/model/internal/provider"
)

// failure is the error for a request that got no reply, of which the client says err.
func (m *model) failure(ctx context.Context, l *lines, err error) error {
	_, known := errors.AsType[*provider.Error](err)
	_, connecting := errors.AsType[*url.Error](err)
	if ctx.Err() != nil || known || connecting {
		return m.config.Failed(ctx, err)
	}
	// What is left is about a line: an error of the endpoint's, or one that the client cannot read.
	line, cut := l.taken()
	message, status := words(line)
	switch {
	case message != string(line):
	case cut:
		return m.config.Failed(ctx, l.broken())
	default:
		return m.config.Garble("a line of the stream cannot be read: %s", message)
	}
	if status < 400 {
		status = http.StatusInternalServerError
	}
	failed := m.config.Refused(status, nil, message)
	failed.Status = 0
	return failed
}
