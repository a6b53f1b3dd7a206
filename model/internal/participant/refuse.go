package participant

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// What data.code of an error says.
const (
	exhausted   = "resource_exhausted" // a budget, a rate, or all hands are busy
	unavailable = "unavailable"        // it may work later
	denied      = "denied"             // the endpoint does not take the key
	invalid     = "invalid_argument"   // the request, to us or to the endpoint
	gone        = "not_found"          // the endpoint has no such model
	garbled     = "garbled"            // the endpoint does not speak as it should
	late        = "timeout"
	unknown     = "outcome_unknown" // it was asked of an earlier run of this program
)

// Why a request is given up.
var (
	errLeft    = errors.New("whoever asked has left the room")
	errLeaving = errors.New("the model participant leaves the room")
	errLate    = errors.New("the model took too long")
)

// refuse makes a JSON-RPC error with data {code, retry_after_ms?}.
func refuse(code int64, word string, after time.Duration, format string, args ...any) *client.RPCError {
	data := append([]byte(`{"code":"`+word), '"')
	if after > 0 {
		// Rounded up: who comes a little too early is refused again.
		data = strconv.AppendInt(append(data, `,"retry_after_ms":`...), (after + time.Millisecond - 1).Milliseconds(), 10)
	}
	return &client.RPCError{Code: code, Message: fmt.Sprintf(format, args...), Data: jsontext.Value(append(data, '}'))}
}

// broke is the refusal of a request whose asker has reached a bound.
func (r *refusal) broke() *client.RPCError {
	return refuse(client.CodeBusy, exhausted, r.after, "%s", r.says)
}

// explain makes of what went wrong what the asker is told. clean takes secrets
// and control characters out of an endpoint's words.
func explain(ctx context.Context, err error, model string, clean func(string) string) error {
	switch cause := context.Cause(ctx); {
	case cause == nil:
	case errors.Is(cause, errLate):
		return refuse(client.CodeInternal, late, 0, "%v", errLate)
	case errors.Is(cause, errLeaving):
		return refuse(client.CodeInternal, unavailable, 0, "%v", errLeaving)
	default:
		return refuse(client.CodeCancelled, "cancelled", 0, "cancelled: %v", cause)
	}
	failed, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return refuse(client.CodeInternal, unavailable, 0, "%s could not be asked", model)
	}
	says := ""
	if failed.Message != "" {
		says = ": " + clean(failed.Message)
	}
	switch failed.Kind {
	case provider.Rate:
		return refuse(client.CodeBusy, exhausted, failed.RetryAfter, "the endpoint of %s takes no more requests for now%s", model, says)
	case provider.Denied:
		return refuse(client.CodeInternal, denied, 0, "the model's endpoint refused the participant's key")
	case provider.Unreachable: // its words name addresses
		return refuse(client.CodeInternal, unavailable, 0, "the endpoint of %s cannot be reached, or broke off its reply", model)
	case provider.Invalid:
		return refuse(client.CodeInvalidParams, invalid, 0, "%s does not take the request%s", model, says)
	case provider.Gone:
		return refuse(client.CodeInternal, gone, 0, "the endpoint does not have %s%s", model, says)
	case provider.Garbled:
		return refuse(client.CodeInternal, garbled, 0, "the endpoint of %s does not answer as it should%s", model, says)
	}
	return refuse(client.CodeInternal, unavailable, failed.RetryAfter, "the endpoint of %s fails (%s)%s", model, failed.Kind, says)
}

// cleaner is clean of [explain] for some secrets.
func cleaner(secrets []string) func(string) string {
	return func(text string) string {
		for _, secret := range secrets {
			text = provider.Config{Key: secret}.Clean(text)
		}
		return provider.Config{}.Clean(text)
	}
}

// longSecret is from where on a reply is searched for a secret, in bytes:
// endpoints of one's own have keys such as "none", which replies hold by chance.
const longSecret = 16

// tells reports whether a reply repeats a secret, as it would where something
// between us and the endpoint sends requests back. What is on record stays there.
func (p *participant) tells(reply *sampling.Result) bool {
	raw, err := reply.MarshalJSON()
	for _, secret := range p.document.Secrets() {
		quoted, _ := jsontext.AppendQuote(nil, secret)
		if err == nil && len(secret) >= longSecret && bytes.Contains(raw, quoted[1:len(quoted)-1]) {
			return true
		}
	}
	return false
}
