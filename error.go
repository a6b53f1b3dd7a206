package parley

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Code names why something was refused. The same codes serve the wire, HTTP
// and the command line (section 5 of the contract).
type Code string

// The codes of section 5.
const (
	MalformedEnvelope   Code = "malformed_envelope"
	EnvelopeTooLarge    Code = "envelope_too_large"
	UnsupportedProtocol Code = "unsupported_protocol"
	IdentityMismatch    Code = "identity_mismatch"
	ReservedKind        Code = "reserved_kind"
	RateLimited         Code = "rate_limited"
	InvalidKind         Code = "invalid_kind"
	InvalidSubject      Code = "invalid_subject"
	KindMismatch        Code = "kind_mismatch"
	CapabilityViolation Code = "capability_violation"
	InvalidContext      Code = "invalid_context"
	ContextLimit        Code = "context_limit"
	MissingCorrelation  Code = "missing_correlation"
	InvalidCorrelation  Code = "invalid_correlation"
	LimitReached        Code = "limit_reached"
	TargetAbsent        Code = "target_absent"
	ProposalNotFound    Code = "proposal_not_found"
	ProposalClosed      Code = "proposal_closed"
	ProposalMismatch    Code = "proposal_mismatch"
	NotProposer         Code = "not_proposer"
	SelfFulfilment      Code = "self_fulfilment"
	DuplicateID         Code = "duplicate_id"
	Unauthorized        Code = "unauthorized"
	NotFound            Code = "not_found"
	Unavailable         Code = "unavailable"
	Internal            Code = "internal"
)

// Codes are all of section 5's, in its order.
func Codes() []Code {
	return []Code{
		MalformedEnvelope, EnvelopeTooLarge, UnsupportedProtocol, IdentityMismatch, ReservedKind, RateLimited,
		InvalidKind, InvalidSubject, KindMismatch, CapabilityViolation, InvalidContext, ContextLimit,
		MissingCorrelation, InvalidCorrelation, LimitReached, TargetAbsent,
		ProposalNotFound, ProposalClosed, ProposalMismatch, NotProposer, SelfFulfilment,
		DuplicateID, Unauthorized, NotFound, Unavailable, Internal,
	}
}

// Codes that only the command line and HTTP use: they concern a call, not an
// envelope.
const (
	// InvalidArgument is a parameter, flag or body that could not be understood.
	InvalidArgument Code = "invalid_argument"
	// InvalidConfig is a configuration that could not be used.
	InvalidConfig Code = "invalid_config"
)

// Error is a refusal as everybody sees it: what was wrong and, where there is
// something to do about it, what. It is the payload of system/error, the body
// of an HTTP problem and what the command line prints.
type Error struct {
	Code    Code
	Message string
	Hint    string // what to do; may be empty

	AttemptedKind string       // the kind that was refused, where the code is about it
	Capabilities  []Capability // what the sender may send, on capability_violation
	RetryAfterMS  int64        // milliseconds, on rate_limited
	Seq           uint64       // the first envelope's place, on a duplicate_id that may be a retry
}

// Errorf makes an Error.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithHint adds what to do about it, and returns the same error.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error is "code: message".
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Is makes errors.Is(err, &Error{Code: c}) compare codes alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Message == ""
}

// MarshalJSON is the payload of a system/error (section 5 of the contract).
func (e *Error) MarshalJSON() ([]byte, error) {
	return append(e.AppendMembers([]byte{'{'}), '}'), nil
}

// AppendMembers appends the members of MarshalJSON without braces, for bodies
// that carry more than them.
func (e *Error) AppendMembers(dst []byte) []byte {
	dst = appendString(append(dst, `"error":`...), string(e.Code))
	dst = appendString(append(dst, `,"message":`...), e.Message)
	if e.Hint != "" {
		dst = appendString(append(dst, `,"hint":`...), e.Hint)
	}
	if e.AttemptedKind != "" {
		dst = appendString(append(dst, `,"attempted_kind":`...), e.AttemptedKind)
	}
	if e.Code == CapabilityViolation {
		dst = Capabilities(e.Capabilities).AppendJSON(append(dst, `,"your_capabilities":`...))
	}
	if e.RetryAfterMS > 0 {
		dst = strconv.AppendInt(append(dst, `,"retry_after_ms":`...), e.RetryAfterMS, 10)
	}
	if e.Seq > 0 {
		dst = strconv.AppendUint(append(dst, `,"seq":`...), e.Seq, 10)
	}
	return dst
}

// DecodeError reads an Error from the payload of a system/error or from an
// HTTP problem body. Whatever it does not find is left empty.
func DecodeError(payload jsontext.Value) *Error {
	e := &Error{Code: Internal}
	for name, v := range members(payload) {
		if k := v.Kind(); k != '"' && k != '[' && k != '0' {
			continue
		}
		switch name {
		case "error", "code":
			e.Code = Code(unquote(v))
		case "message", "detail":
			e.Message = unquote(v)
		case "hint":
			e.Hint = unquote(v)
		case "attempted_kind":
			e.AttemptedKind = unquote(v)
		case "your_capabilities":
			for el := range elements(v) {
				var c Capability
				if c.UnmarshalJSON(el) == nil {
					e.Capabilities = append(e.Capabilities, c)
				}
			}
		case "retry_after_ms":
			e.RetryAfterMS, _ = strconv.ParseInt(string(v), 10, 64)
		case "seq":
			e.Seq, _ = strconv.ParseUint(string(v), 10, 64)
		}
	}
	return e
}
