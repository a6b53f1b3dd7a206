package tool

import (
	"context"
	"errors"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/tool/sampling"
)

// A Reason is why a question got no answer. It is an error by itself, for
// errors.Is: errors.Is(err, tool.Declined).
type Reason string

// The reasons.
const (
	Missing    Reason = "missing"     // nobody is there who answers such questions
	Declined   Reason = "declined"    // somebody said no
	Cancelled  Reason = "cancelled"   // somebody closed the form without an answer
	OverDepth  Reason = "over_depth"  // branches nest deeper than they may
	OverTokens Reason = "over_tokens" // the call's tokens, or the branch's, are used up
	OverBudget Reason = "over_budget" // the model's budget for who asks, or its rate, is used up
	Deadline   Reason = "deadline"    // the time for it was over
	Stopped    Reason = "stopped"     // the call was cancelled, or has ended
	Garbled    Reason = "garbled"     // the answer is none
	Failed     Reason = "failed"      // the other side could not answer
)

// Error is the reason.
func (r Reason) Error() string { return string(r) }

// An AskError says why a question got no answer. A model's reply that came, but
// does not hold what was wanted, is a [*sampling.ParseError] instead.
type AskError struct {
	Reason  Reason
	Method  string // such as "elicitation/create"; "" where nothing was asked yet
	Message string
	Err     error // the cause, such as a *[PeerError] or a *[sampling.ValidationError]; nil for none
}

// Error is "method: message".
func (e *AskError) Error() string {
	if e.Method == "" {
		return e.Message
	}
	return e.Method + ": " + e.Message
}

// Is compares with a [Reason].
func (e *AskError) Is(target error) bool { return target == error(e.Reason) }

// Unwrap is the cause.
func (e *AskError) Unwrap() error { return e.Err }

// codes are what a caller is told where a tool returns the reason as its error.
var codes = map[Reason]Code{
	Missing: DependencyUnavailable, Garbled: DependencyUnavailable, Failed: DependencyUnavailable,
	Declined: Forbidden, Cancelled: Forbidden,
	OverDepth: ResourceExhausted, OverTokens: ResourceExhausted, OverBudget: ResourceExhausted,
	Deadline: Timeout, Stopped: Timeout,
}

// lost is why a question did not get through, which is for the log: it may tell of
// addresses. nil: there is no such error in err.
func lost(err error) error {
	e, ok := errors.AsType[*AskError](err)
	if !ok || e.Reason != Failed {
		return nil
	}
	if _, answered := errors.AsType[*PeerError](e.Err); answered {
		return nil
	}
	return e.Err
}

// told is the error of a question in the answer's words; nil where err is none.
// The other side's words are data, and stand in the details.
func told(err error) *Error {
	if e, ok := errors.AsType[*AskError](err); ok {
		out := Errorf(codes[e.Reason], "%s", e.Error())
		return out.WithDetails(map[string]string{"reason": string(e.Reason), "method": e.Method})
	}
	if e, ok := errors.AsType[*sampling.ParseError](err); ok {
		return Errorf(DependencyUnavailable, "%s", e.Error()).WithDetails(map[string]string{"reason": string(e.Kind), "method": methodSample})
	}
	return nil
}

const (
	methodSample = "sampling/createMessage"
	methodElicit = "elicitation/create"
)

// The codes of JSON-RPC that mean something here, and MCP's for a human's no.
const (
	codeDeclined       = -1
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
)

// askError says what became of a question.
func askError(ctx context.Context, method string, err error) *AskError {
	if own, ok := errors.AsType[*AskError](err); ok {
		return own
	}
	e := &AskError{Reason: Failed, Method: method, Message: "the question did not get through", Err: err}
	peer, ok := errors.AsType[*PeerError](err)
	switch {
	case ok:
		e.Reason = peer.reason()
		e.Message = bounded(peer.Message)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		e.Reason, e.Message = Deadline, "there was no answer in time"
	case ctx.Err() != nil:
		e.Reason, e.Message = Stopped, "the call was cancelled before the answer came"
		if e.Err = context.Cause(ctx); errors.Is(e.Err, &Error{Code: Timeout}) {
			e.Reason, e.Message = Deadline, "there was no answer in time"
		}
	}
	return e
}

// reason is what an error of the other side means.
func (e *PeerError) reason() Reason {
	switch e.dataCode() {
	case "resource_exhausted", "rate_limited", "budget":
		return OverBudget
	case "declined", "rejected":
		return Declined
	case "timeout":
		return Deadline
	}
	switch e.Code {
	case codeDeclined:
		return Declined
	case codeMethodNotFound:
		return Missing
	}
	return Failed
}

// dataCode is the member code of the error's data.
func (e *PeerError) dataCode() string {
	if e.Data.Kind() != '{' || !e.Data.IsValid() {
		return ""
	}
	code, _ := parley.MemberString(e.Data, "code")
	return code
}
