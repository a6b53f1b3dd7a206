package mcpbridge

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/response"
)

// usageKey is where a result's _meta says what the answer took. Whoever answers
// in the envelope says so there, and is not wrapped again.
const usageKey = "parley/response"

// Usage is what an answer took and what its profile saved, in tokens.
type Usage struct {
	Profile       string
	Tokens, Saved int
}

// maxSaved bounds what a server can say of one answer: more than the metadata
// and the data of any.
const maxSaved = 1 << 20

// ReadUsage reads what a tool's result says of the answer in it, as far as that
// can be true: an answer has no more tokens than bytes. False where it says
// nothing, and so is not in the envelope.
func ReadUsage(result jsontext.Value) (used Usage, told bool) {
	said := parley.Member(parley.Member(result, "_meta"), usageKey)
	if said.Kind() != '{' {
		return Usage{}, false
	}
	used.Profile, _ = parley.MemberString(said, "profile")
	used.Tokens = number(said, "tokens", len(result))
	used.Saved = number(said, "saved", maxSaved)
	return used, true
}

// ofTheirs is what a server said, with profiles told apart that everybody has:
// others have the names that the server likes.
func (u Usage) ofTheirs() Usage {
	switch u.Profile {
	case response.Minimal, response.Standard, response.Verbose, response.Debug:
	default:
		u.Profile = otherLabel
	}
	return u
}

// number is a member that is a number from 0 to most, or the nearest such one.
func number(object jsontext.Value, name string, most int) int {
	n, err := strconv.ParseFloat(string(parley.Member(object, name)), 64)
	if err != nil && n == 0 {
		return 0
	}
	return int(min(max(n, 0), float64(most)))
}

func (u Usage) json() jsontext.Value {
	b := jsonrpc.AppendString([]byte(`{"profile":`), u.Profile)
	b = strconv.AppendInt(append(b, `,"tokens":`...), int64(u.Tokens), 10)
	b = strconv.AppendInt(append(b, `,"saved":`...), int64(u.Saved), 10)
	return append(b, '}')
}

// mostExact is how long an answer may be, in bytes, whose tokens are counted.
// To count longer ones would hold up calls for milliseconds.
const mostExact = 2 << 10

// usage is what an answer takes, of which body is what is sent.
func (w *wrapping) usage(body []byte) Usage {
	count := w.shape.Estimate
	if len(body) <= mostExact && len(w.answer.Data) <= mostExact {
		count = w.shape.Saved
	}
	u := Usage{Profile: w.shape.Profile()}
	u.Tokens, u.Saved = count(w.answer, body)
	u.Saved = max(u.Saved, 0)
	return u
}
