package parley

import "fmt"

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
