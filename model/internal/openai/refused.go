package openai

import (
	"cmp"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/openai/openai-go/v3/option"

	"github.com/parleyhq/parley/model/internal/provider"
)

// refusals makes errors of responses that are errors: the client's own lose the
// status where the body is not JSON.
func refusals(c provider.Config) option.Middleware {
	return func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		resp, err := next(r)
		if err != nil || resp.StatusCode < 400 {
			return resp, err
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body) // as far as it comes: the status says enough
		return nil, readRefusal(c, resp.StatusCode, resp.Header, body)
	}
}

// failure is what endpoints say of an error. There are about as many forms of it
// as endpoints.
type failure struct {
	Error   jsontext.Value `json:"error"` // a text, or an object of the members below
	Message string         `json:"message"`
	Detail  jsontext.Value `json:"detail"`
	Type    string         `json:"type"`
	Param   string         `json:"param"`
	Code    jsontext.Value `json:"code"` // a word, or a status
}

// readRefusal is the error for a response of a status that is none of success.
func readRefusal(c provider.Config, status int, h http.Header, body []byte) *refusal {
	f, _ := readFailure(body)
	return &refusal{
		cause: c.Refused(status, h, cmp.Or(f.words(), string(body))),
		param: f.Param,
		said:  strings.ToLower(string(body)),
	}
}

// readFailure reads the object that tells of an error, within "error" or bare.
func readFailure(body []byte) (failure, bool) {
	var f failure
	if json.Unmarshal(body, &f, lenient) != nil {
		return failure{}, false
	}
	switch f.Error.Kind() {
	case '{':
		var inner failure
		if json.Unmarshal(f.Error, &inner, lenient) == nil {
			return inner, true
		}
	case '"':
		f.Message = text(f.Error)
	}
	return f, true
}

// lenient takes what is said wrongly about an error as well as it can: it is an
// error in any case.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// words say what happened, and by which code it goes.
func (f failure) words() string {
	said := cmp.Or(f.Message, text(f.Detail))
	if code := cmp.Or(text(f.Code), f.Type); code != "" && !strings.Contains(said, code) {
		said = strings.TrimSpace(said + " (" + code + ")")
	}
	return said
}

// text is a JSON text's value, any other value as it is written, and nothing
// of none.
func text(v jsontext.Value) string {
	var s string
	switch {
	case len(v) == 0 || v.Kind() == 'n':
		return ""
	case json.Unmarshal(v, &s, lenient) == nil:
		return s
	}
	return string(v)
}

// inStream is the error that a failure in the middle of a stream is: there it
// has no status, but mostly a code.
func (f failure) inStream(c provider.Config) *provider.Error {
	e := c.Refused(statusOf(text(f.Code), f.Type), nil, f.words())
	e.Status = 0
	return e
}

// statusOf is the status of HTTP that a failure would have had before the stream
// began.
func statusOf(words ...string) int {
	for _, word := range words {
		if status, err := strconv.Atoi(word); err == nil && 400 <= status && status < 600 {
			return status
		}
		switch word {
		case "rate_limit_exceeded", "rate_limit_error", "insufficient_quota", "tokens", "requests":
			return http.StatusTooManyRequests
		case "overloaded", "overloaded_error", "slow_down", "service_unavailable":
			return http.StatusServiceUnavailable
		case "invalid_api_key", "authentication_error", "permission_error":
			return http.StatusUnauthorized
		case "model_not_found", "not_found_error":
			return http.StatusNotFound
		case "invalid_prompt", "invalid_request_error", "context_length_exceeded", "content_policy_violation",
			"bio_policy", "misalignment_policy_violation", "data_residency_mismatch":
			return http.StatusBadRequest
		}
		if strings.HasPrefix(word, "invalid_image") || strings.HasPrefix(word, "image_") {
			return http.StatusBadRequest
		}
	}
	return http.StatusInternalServerError
}
