package parley

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Protocols that a sender may name. What is delivered carries the space's own.
const (
	ProtocolMCPx = "mcpx/v0.1" // the default
	ProtocolMCPP = "mcpp/v0.1"
)

// Bounds of one envelope that are not configurable (section 2 of the contract).
const (
	MaxID           = 128     // characters of an id
	MaxTo           = 256     // addressees
	MaxCorrelations = 64      // ids in one correlation_id
	MaxExtra        = 4 << 10 // bytes of unknown top-level fields together
)

// Envelope is the one message shape; everything in a space is an envelope.
// It follows section 2 of the contract.
type Envelope struct {
	Protocol    string
	ID          string
	TS          time.Time // UTC, milliseconds; zero where absent or not RFC 3339
	From        string
	To          []string // empty is a broadcast
	Kind        string
	Correlation Correlation
	Context     *Context // nil is the main context
	Seq         uint64   // place in the space's order; 0 has none
	Amends      bool
	Payload     jsontext.Value // as it was sent, byte for byte; nil where absent

	// Extra holds the unknown top-level fields as they were sent, as
	// members without braces: `"a":1,"b":2`.
	Extra jsontext.Value
}

// Correlation names the envelopes or contexts that an envelope answers. It
// keeps the form that it was sent in, since clients of the first protocol
// version know only the string.
type Correlation struct {
	IDs   []string
	Array bool // was written as an array
}

// CorrelateWith is the correlation_id that names ids: a string for one, an
// array for several.
func CorrelateWith(ids ...string) Correlation {
	return Correlation{IDs: ids, Array: len(ids) > 1}
}

// Addressed reports whether id is named in To.
func (e *Envelope) Addressed(id string) bool {
	return slices.Contains(e.To, id)
}

// ValidID reports whether id can name an envelope, a context or an addressee:
// 1 to 128 visible ASCII characters.
func ValidID(id string) bool {
	if len(id) == 0 || len(id) > MaxID {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

// ValidParticipantID reports whether id can name a participant:
// [a-z0-9][a-z0-9.-]{0,63}, and not "parley", which the built-in tools use.
func ValidParticipantID(id string) bool {
	if len(id) == 0 || len(id) > 64 || id == "parley" {
		return false
	}
	for i := range len(id) {
		c := id[i]
		alnum := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !alnum && (i == 0 || c != '.' && c != '-') {
			return false
		}
	}
	return true
}

// IsRedacted reports whether a payload is what redaction leaves, and nothing else:
// a call must not hide behind it.
func IsRedacted(payload jsontext.Value) bool { return string(payload) == `{"redacted":true}` }
