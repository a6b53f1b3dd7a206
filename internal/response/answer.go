package response

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// EnvelopeV1 is the capability that every answer has: to come in this envelope.
const EnvelopeV1 = "envelope-v1"

// MaxRequestID is how long a client's RequestID may be, in bytes. Whoever serves
// tools refuses longer ones: it is echoed in every answer.
const MaxRequestID = 256

// Answer is everything there is to tell of one call. A Shape chooses what of it
// is sent.
type Answer struct {
	Tool    string // the tool's id
	Version string // of the tool; empty where it has none
	Tier    Tier   // what the call ran under; empty where there are no tiers

	RequestID string // correlates the call with its answer; empty where nobody named it
	Asked     bool   // the client gave RequestID, so it gets it back in any profile

	Capabilities []string      // what this call supports; EnvelopeV1 is added where it is missing
	Duration     time.Duration // how long the call took; sent in whole milliseconds, rounded down

	// Data is the tool's own answer, or on an error its details of the failure.
	// Nil is none.
	Data jsontext.Value

	Error *Error // nil on success
	Hints []Hint // what a higher tier would have brought
}

// Error is why a tool failed.
type Error struct {
	// Message is for people. Of an InternalError it is sent in the debug profile
	// only, so it may hold the cause.
	Message string

	// Code is for programs. One that is not Known is sent as InternalError.
	Code Code

	// Details are structured and safe for clients. Nil is none; of an
	// InternalError they are sent in the debug profile only.
	Details jsontext.Value
}

// Hint says that a feature is not available at the caller's tier.
type Hint struct {
	Feature string
	Tier    Tier   // the least tier that has it
	Reason  string // what is missed without it
}
