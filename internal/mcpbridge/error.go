package mcpbridge

import (
	"errors"
	"fmt"
)

// ErrServerGone is what every call gets that was in flight when the server
// died, and every call after that; over HTTP also a call whose own connection
// broke, while the next may fare better. The error that wraps it says why.
// Whether the server had begun to act on the call is not known.
var ErrServerGone = errors.New("the MCP server is gone")

// ErrSessionLost is an [ErrServerGone] of a server over HTTP that refused a
// call because it knows nothing of our session, as after its restart. It has
// not looked at the call, which may be made again on the next connection.
var ErrSessionLost = fmt.Errorf("%w: it has ended our session", ErrServerGone)

// ErrClosed is an [ErrServerGone] that we caused by [Upstream.Close].
var ErrClosed = fmt.Errorf("%w: the bridge has closed it", ErrServerGone)

// gone is an ErrServerGone and its reason.
func gone(why error) error { return &goneError{why} }

type goneError struct{ why error }

func (e *goneError) Error() string   { return ErrServerGone.Error() + ": " + e.why.Error() }
func (e *goneError) Unwrap() []error { return []error{ErrServerGone, e.why} }

// ErrBadAnswer is the failure of one call whose answer could not be relayed:
// it was too long, or no strict JSON, or no answer at all. The server may well
// have acted on the call.
var ErrBadAnswer = errors.New("the MCP server's answer cannot be relayed")

// HTTPError is the failure of one call because of the status that the server's
// HTTP side answered with.
type HTTPError struct {
	Status int    // as 503
	Detail string // the start of the body where it is text; may be empty
}

func (e *HTTPError) Error() string {
	s := fmt.Sprintf("the MCP server answered with HTTP status %d", e.Status)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}
