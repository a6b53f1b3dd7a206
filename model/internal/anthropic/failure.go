package anthropic

import (
	"context"
	"errors"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley/model/internal/provider"
)

// refused is the error for a request that got no stream.
func (m *model) refused(ctx context.Context, err error) error {
	said, ok := errors.AsType[*sdk.Error](err)
	if ctx.Err() != nil || !ok {
		return m.config.Failed(ctx, err)
	}
	_, message := words(said.RawJSON())
	return m.config.Refused(said.StatusCode, said.Response.Header, message)
}

// broken is the error for a stream that did not come to its end.
func (m *model) broken(ctx context.Context, err error) error {
	if said, ok := errors.AsType[*sdk.Error](err); ok && ctx.Err() == nil {
		return m.event(said)
	}
	return m.config.Broken(ctx, err)
}

// event is the error of an event, which has no status of its own: it gets the kind
// that the documents give its type.
func (m *model) event(said *sdk.Error) error {
	kind, message := words(said.RawJSON())
	failed := m.config.Refused(statuses[kind], nil, message)
	if _, ok := statuses[kind]; !ok {
		failed.Kind = provider.Broken
	}
	failed.Status = 0
	return failed
}

// statuses are those of the types of errors.
var statuses = map[string]int{
	"invalid_request_error": http.StatusBadRequest,
	"authentication_error":  http.StatusUnauthorized,
	"billing_error":         http.StatusPaymentRequired,
	"permission_error":      http.StatusForbidden,
	"not_found_error":       http.StatusNotFound,
	"request_too_large":     http.StatusRequestEntityTooLarge,
	"rate_limit_error":      http.StatusTooManyRequests,
	"api_error":             http.StatusInternalServerError,
	"timeout_error":         http.StatusGatewayTimeout,
	"overloaded_error":      529,
}

// words are the type and the message of an error as the endpoint writes them, or all of it
// where it writes otherwise.
func words(document string) (kind, message string) {
	var read struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(document), &read); err != nil || read.Error.Message == "" {
		return read.Error.Type, document
	}
	return read.Error.Type, read.Error.Message
}
