package tool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parleyhq/parley/internal/response"
)

// Code says what kind of error a call ended in. The message is for reading,
// the code for deciding.
type Code = response.Code

// The codes. A tool that gives another one has a fault, and answers
// internal_error.
const (
	InvalidArgument       = response.InvalidArgument       // an argument is missing, unknown, of a wrong type or value
	InvalidPath           = response.InvalidPath           // a path cannot be one, or leads out
	Forbidden             = response.Forbidden             // it is there, but not for the caller
	NotFound              = response.NotFound              // what was named is not there
	Timeout               = response.Timeout               // it took longer than it may
	TooLarge              = response.TooLarge              // an input or an answer is over a limit
	ResourceExhausted     = response.ResourceExhausted     // a budget, a rate, memory or a disk is used up
	NotImplemented        = response.NotImplemented        // it makes sense, and the tool cannot do it
	UpgradeRequired       = response.UpgradeRequired       // the tier is too low
	DependencyUnavailable = response.DependencyUnavailable // what the tool needs does not answer
	InternalError         = response.InternalError         // a fault of the tool
)

// MaxMessage is how long an error's message may be, in bytes. What is longer is
// cut, so that no mistake puts a file into a model's window.
const MaxMessage = 512

// Error is how a call fails. What a caller has to know stands in Message, so
// contents of files, source code and secrets do not belong there.
//
// Whatever else a tool returns as an error is a fault of the tool: its text
// goes to the log, and the caller hears internal_error.
type Error struct {
	Code    Code
	Message string
	Details any    // marshalled to JSON; nil for none
	Data    any    // what there is to tell of the failure, as the answer's data; nil for none
	Hints   []Hint // what a higher tier would do about it

	cause error
}

// Errorf makes an Error. A %w in the format is kept as its cause, for
// errors.Is and for the log.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), cause: errors.Join(unwrapped(err)...)}
}

// unwrapped are the errors that a format wrapped.
func unwrapped(err error) []error {
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		return []error{w.Unwrap()}
	case interface{ Unwrap() []error }:
		return w.Unwrap()
	}
	return nil
}

// WithDetails adds what a program may want to know, as anything that marshals
// to JSON. More than 4 KiB of JSON are left out. Like all methods that add
// something it returns a copy: one error may serve many calls.
func (e *Error) WithDetails(details any) *Error {
	more := *e
	more.Details = details
	return &more
}

// WithData adds what the tool has to say in spite of the failure, which is
// answered as data. It has to be an object. Members that the tool's output has
// as well must have the same types, since one schema describes both.
func (e *Error) WithData(data any) *Error {
	more := *e
	more.Data = data
	return &more
}

// WithHint adds what a higher tier would do about it.
func (e *Error) WithHint(feature string, tier Tier, reason string) *Error {
	more := *e
	more.Hints = append(slices.Clip(e.Hints), Hint{Feature: feature, Tier: tier, Reason: reason})
	return &more
}

// Error is "code: message".
func (e *Error) Error() string {
	if e == nil { // returned as an error, it is one
		return "a nil *tool.Error"
	}
	return string(e.Code) + ": " + e.Message
}

// Unwrap is the cause, if there is one.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// Is compares codes and messages; errors.Is(err, &Error{Code: c}) compares codes
// alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && e != nil && t != nil && t.Code == e.Code && (t.Message == "" || t.Message == e.Message)
}

// bounded cuts a text at MaxMessage, between characters, and makes it UTF-8.
func bounded(text string) string { return cut(text, MaxMessage) }

func cut(text string, most int) string {
	if len(text) > most {
		const more = "…"
		end := most - len(more)
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + more
	}
	return strings.ToValidUTF8(text, string(utf8.RuneError))
}
