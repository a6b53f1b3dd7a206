package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/parleyhq/parley"
)

// State is what [Options.OnState] is told.
type State struct {
	Phase Phase

	// Err is why the connection was lost (Waiting) or the room ended (Ended).
	Err error

	// Attempt counts the attempts since the connection was lost, from 1, and
	// RetryIn is the pause before it (Waiting).
	Attempt int
	RetryIn time.Duration

	// Gap is set with Connected where something happened between two
	// connections that the gateway can no longer send.
	Gap *Gap
}

// Phase is a step in a room's life: Connected, then any number of Waiting and
// Connected, then Ended.
type Phase int

// The phases.
const (
	Connected Phase = iota + 1 // welcomed, for the first time or again
	Waiting                    // the connection is lost; the next attempt follows
	Ended                      // for good; [State.Err] says why
)

// String is the phase's name in lower case.
func (p Phase) String() string {
	switch p {
	case Connected:
		return "connected"
	case Waiting:
		return "waiting"
	case Ended:
		return "ended"
	}
	return fmt.Sprintf("phase %d", int(p))
}

// Gap says that envelopes are missing: the gateway could not resume at After.
// Requests, answers and decisions may have been among them.
//
// As an error of [Room.Envelopes] it stands where the hole is, and the loop may
// go on.
type Gap struct {
	After parley.Position // the last position that was received
	Next  parley.Position // the newest position at the time of resuming
}

// Error says where the hole is.
func (g *Gap) Error() string {
	return fmt.Sprintf("client: envelopes after %s are missing; the room is now at %s", g.After, g.Next)
}

// Why a room ended. Test for them with [errors.Is].
var (
	// ErrClosed: [Room.Close] was called, or the context of the call that it
	// belonged to ended.
	ErrClosed = errors.New("client: the room was closed")
	// ErrUnauthorized: the gateway no longer takes the token.
	ErrUnauthorized = errors.New("client: no longer authorized")
	// ErrRemoved: somebody kicked us out of the space.
	ErrRemoved = errors.New("client: removed from the space")
	// ErrReplaced: a newer connection of the same participant is exclusive.
	ErrReplaced = errors.New("client: replaced by an exclusive connection of the same participant")
)

// ErrUnacknowledged comes, wrapped, of sends that were given up, or refused
// unseen when they were repeated, after the envelope had been written to a
// connection: it may have been admitted. The
// same envelope with the same id can be sent again safely.
var ErrUnacknowledged = errors.New("client: sent, but not acknowledged")

// EndError ends a room where the gateway closed its connection for good. It is
// one of [ErrUnauthorized], [ErrRemoved] and [ErrReplaced].
type EndError struct {
	Status int    // the WebSocket close code: 4001, 4003 or 4009
	Reason string // in the gateway's words; may be empty
}

// The close codes of section 5 of the contract that matter to a client.
const (
	statusUnauthorized = 4001
	statusRemoved      = 4003
	statusReplaced     = 4009
	statusFlooding     = 4029
)

// Error is what happened, with the gateway's reason.
func (e *EndError) Error() string {
	if e.Reason == "" {
		return e.Unwrap().Error()
	}
	return e.Unwrap().Error() + ": " + e.Reason
}

// Unwrap is the error that stands for the close code.
func (e *EndError) Unwrap() error {
	switch e.Status {
	case statusUnauthorized:
		return ErrUnauthorized
	case statusRemoved:
		return ErrRemoved
	default:
		return ErrReplaced
	}
}

// Stats count what happened to a room since [Dial].
type Stats struct {
	Received   int64         // envelopes with a place in the order
	Sent       int64         // envelopes that were acknowledged
	Resent     int64         // written again after a connection was lost
	Reconnects int64         // connections after the first
	Gaps       int64         // reconnects that could not resume
	Repeated   int64         // arrived again and were left out
	Rejected   int64         // arrived malformed, or as system/* of somebody else, and were left out
	Stalls     int64         // times that a slow loop over Envelopes made the room stop reading
	Stalled    time.Duration // how long, together
	Lied       int64         // requests and proposals whose kind contradicts their payload
}
