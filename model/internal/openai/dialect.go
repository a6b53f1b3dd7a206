package openai

import (
	"strings"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// A dialect is what an endpoint takes of the API, as far as its refusals have
// taught.
type dialect struct {
	noTemperature bool
	noFormat      bool // typed answers are a tool's
	noUsage       bool // of streams, in chat completions
	newLimit      bool // max_completion_tokens, in chat completions, and not max_tokens
	otherLimit    bool // and that was learnt: there is no third
}

// learn is the dialect of an endpoint that refuses q. It is false where that
// teaches nothing, so that each thing is learnt once.
func (d dialect) learn(q *sampling.Request, refused *refusal) (dialect, bool) {
	if refused.cause.Kind != provider.Invalid {
		return d, false
	}
	_, typed := provider.Structured(q)
	switch {
	case q.Temperature != nil && !d.noTemperature && refused.lacks("temperature"):
		d.noTemperature = true
	case !d.otherLimit && refused.lacks(d.limit()):
		d.newLimit, d.otherLimit = !d.newLimit, true
	case !d.noUsage && refused.lacks("stream_options"):
		d.noUsage = true
	case typed && !d.noFormat && (refused.lacks("response_format") || refused.lacks("json_schema") || refused.lacks("text.format")):
		d.noFormat = true
	default:
		return d, false
	}
	return d, true
}

// and is what two requests have taught.
func (d dialect) and(other dialect) dialect {
	if !d.otherLimit {
		d.newLimit, d.otherLimit = other.newLimit, other.otherLimit
	}
	d.noTemperature = d.noTemperature || other.noTemperature
	d.noFormat = d.noFormat || other.noFormat
	d.noUsage = d.noUsage || other.noUsage
	return d
}

// limit is the name of the member that bounds a reply.
func (d dialect) limit() string {
	if d.newLimit {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// A refusal is a request that the endpoint answered with an error.
type refusal struct {
	cause *provider.Error
	param string // that it is about, if it says so
	said  string // in small letters, with all that it says
}

func (r *refusal) Error() string { return r.cause.Error() }

func (r *refusal) Unwrap() error { return r.cause }

// lacks says whether the endpoint does not have param at all, or not for this
// model. A value that it does not like is another matter.
func (r *refusal) lacks(param string) bool {
	if r.param != param && !strings.Contains(r.said, param) {
		return false
	}
	for _, words := range []string{"unsupported", "not support", "unavailable", "not permitted", "not allowed", "unknown", "unrecognized", "unexpected", "extra_forbidden"} {
		if strings.Contains(r.said, words) {
			return true
		}
	}
	return false
}
