package gateway

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// statusOf is the HTTP status that goes with a code: the one table of it
// (sections 5 and 10 of the contract).
func statusOf(code parley.Code) int {
	switch code {
	case parley.MalformedEnvelope, parley.UnsupportedProtocol,
		parley.InvalidKind, parley.InvalidSubject, parley.KindMismatch,
		parley.InvalidContext, parley.MissingCorrelation, parley.InvalidCorrelation,
		parley.InvalidArgument:
		return http.StatusBadRequest
	case parley.Unauthorized:
		return http.StatusUnauthorized
	case parley.IdentityMismatch, parley.ReservedKind, parley.CapabilityViolation,
		parley.NotProposer, parley.SelfFulfilment:
		return http.StatusForbidden
	case parley.NotFound, parley.ProposalNotFound:
		return http.StatusNotFound
	case parley.DuplicateID, parley.ProposalClosed, parley.ProposalMismatch,
		parley.TargetAbsent, parley.ContextLimit, parley.LimitReached:
		return http.StatusConflict
	case parley.EnvelopeTooLarge:
		return http.StatusRequestEntityTooLarge
	case parley.RateLimited:
		return http.StatusTooManyRequests
	case parley.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// problem is a refusal that is answered in its own way.
type problem struct {
	refusal *parley.Error
	status  int            // in place of the code's own, where not 0
	members jsontext.Value // further members of the body, as `"a":1,"b":2`
}

func (p *problem) Error() string { return p.refusal.Error() }
func (p *problem) Unwrap() error { return p.refusal }

// withStatus answers a refusal with another status than its code's.
func withStatus(status int, err *parley.Error) error {
	return &problem{refusal: err, status: status}
}

// asProblem is what an error is answered with. What is no refusal is a fault of
// ours, of which the client learns nothing but that.
func asProblem(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return &problem{refusal: e}
	}
	return &problem{refusal: parley.Errorf(parley.Internal, "the gateway failed to answer; its log says why")}
}

// isFault reports whether an error is one for the log, since the client is not
// told of it.
func isFault(err error) bool {
	_, refusal := errors.AsType[*parley.Error](err)
	return !refusal
}

// write answers with application/problem+json (RFC 9457).
func (p *problem) write(w http.ResponseWriter) {
	status := p.status
	if status == 0 {
		status = statusOf(p.refusal.Code)
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="parley"`)
	}
	if ms := p.refusal.RetryAfterMS; ms > 0 {
		h.Set("Retry-After", strconv.FormatInt((ms+999)/1000, 10)) // whole seconds, never too few
	}
	if status == http.StatusServiceUnavailable && h.Get("Retry-After") == "" {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	w.Write(p.body(status)) // a client that is gone is told nothing
}

// body has the members of section 5 beside those of the RFC, except for
// message, which is detail, and error, which is code.
func (p *problem) body(status int) []byte {
	b := []byte(`{"type":"about:blank","title":`)
	b = appendQuote(b, http.StatusText(status))
	b = strconv.AppendInt(append(b, `,"status":`...), int64(status), 10)
	b = appendQuote(append(b, `,"code":`...), string(p.refusal.Code))
	b = appendQuote(append(b, `,"detail":`...), p.refusal.Message)
	for name, value := range parley.Members(append(p.refusal.AppendMembers([]byte{'{'}), '}')) {
		if name != "error" && name != "message" {
			b = appendMember(b, name, value)
		}
	}
	if len(p.members) > 0 {
		b = append(append(b, ','), p.members...)
	}
	return append(b, '}', '\n')
}

func appendMember(b []byte, name string, value jsontext.Value) []byte {
	b = appendQuote(append(b, ','), name)
	return append(append(b, ':'), value...)
}

func appendQuote(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // invalid UTF-8 is replaced
	return b
}
