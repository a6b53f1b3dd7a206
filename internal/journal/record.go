package journal

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Type says what a record is.
type Type uint8

// The types of records. Their numbers are on disk and never change.
const (
	Admitted   Type = 1 // an envelope, which has a Seq
	Refused    Type = 2 // an envelope that was refused: who, kind, code, digest
	Flood      Type = 3 // a count of further refusals of one sender
	Marker     Type = 4 // stands where retention dropped what was older
	Checkpoint Type = 5 // the space's state at this place
)

// String is the type's name in exports.
func (t Type) String() string {
	switch t {
	case Admitted:
		return "envelope"
	case Refused:
		return "refused"
	case Flood:
		return "flood"
	case Marker:
		return "marker"
	case Checkpoint:
		return "checkpoint"
	}
	return "unknown"
}

// Record is one entry of a space's log.
type Record struct {
	// Set by whoever appends.
	Type         Type
	TS           time.Time // UTC, whole milliseconds
	ID           string
	From         string
	To           []string // the envelope's, and the proposer where it fulfils a proposal or answers a fulfilment
	Kind         string   // as it was written
	Effective    string   // what it really asks for (section 3); as Kind where they are the same
	Correlations []string
	Context      string // the context's id, "" for the main one
	Parent       string // and its parent's
	Amends       bool
	Body         []byte // of an envelope [parley.Envelope.AppendBody]; of others a JSON object
	Salt         [16]byte
	Rest         Hash // the salted hash of what may be redacted; see chain.go

	// Set by the journal.
	Index    uint64 // place in the chain, from 1, no gaps
	Seq      uint64 // place in the space's order; 0 for all but envelopes
	Epoch    string
	Hash     Hash // the chain: covers the record before, the header and Rest
	Redacted bool // Body has lost its payload, context metadata and unknown fields

	// Superseded says that a checkpoint has lost Body and Salt, since newer ones
	// are on record.
	Superseded bool

	// Token is the appender's own, handed back to its sink and never stored.
	Token any
}

// Envelope makes the record of an admitted envelope.
func Envelope(e *parley.Envelope, effective parley.Kind, salt [16]byte) *Record {
	r := &Record{
		Type:         Admitted,
		TS:           e.TS,
		ID:           e.ID,
		From:         e.From,
		To:           e.To,
		Kind:         e.Kind,
		Effective:    effective.String(),
		Correlations: e.Correlation.IDs,
		Amends:       e.Amends,
		Body:         e.AppendBody(make([]byte, 0, bodySize(e))),
		Salt:         salt,
		Rest:         envelopeRest(salt, e),
	}
	if e.Context != nil {
		r.Context, r.Parent = e.Context.ID, e.Context.Parent
	}
	return r
}

// bodySize is enough room for the envelope's body, so that it is built
// without growing.
func bodySize(e *parley.Envelope) int {
	n := 160 + len(e.ID) + len(e.From) + len(e.Kind) + len(e.Extra) + len(e.Payload)
	for _, to := range e.To {
		n += len(to) + 3
	}
	for _, id := range e.Correlation.IDs {
		n += len(id) + 3
	}
	return n + e.Context.Size()
}

// Refusal is the body of a Refused or Flood record.
type Refusal struct {
	Code   parley.Code
	Digest parley.Digest // SHA-256 of the frame as it came
	Bytes  int           // its length
	Count  int           // of a Flood: how many more refusals it stands for
}

// NewRefusal makes the record of something that was refused.
func NewRefusal(ts time.Time, from, id, kind string, f Refusal, salt [16]byte) *Record {
	typ := Refused
	if f.Count > 0 {
		typ = Flood
	}
	body := f.append(nil)
	return &Record{
		Type: typ, TS: ts, ID: id, From: from, Kind: kind, Effective: kind,
		Body: body, Salt: salt, Rest: bodyRest(salt, body),
	}
}

// MaxCheckpoint is how long the body of a checkpoint may be, or of any other
// record, in bytes. Appending a longer one makes its log fail, so whoever makes
// it looks first.
const MaxCheckpoint = 32 << 20

// Fits says why the record is too large to be appended, or returns nil. Only
// journals call it.
func (r *Record) Fits() error {
	if len(r.Body) <= MaxCheckpoint {
		return nil
	}
	return parley.Errorf(parley.LimitReached, "a %s of %d bytes is too large for the journal, which takes %d", r.Type, len(r.Body), MaxCheckpoint)
}

// Wire is an admitted envelope as it is delivered.
func (r *Record) Wire() []byte {
	return parley.AppendWire(make([]byte, 0, len(r.Body)+24), r.Body, r.Seq)
}

// Decode reads the envelope of an admitted record.
func (r *Record) Decode() (*parley.Envelope, error) {
	e, err := parley.Decode(r.Body, maxNesting)
	if err != nil {
		return nil, err
	}
	e.Seq = r.Seq
	return e, nil
}

// maxNesting is beyond what any space allows: the journal reads what was let in.
const maxNesting = 10_000

// DecodeRefusal reads the body of a Refused or Flood record.
func (r *Record) DecodeRefusal() Refusal {
	code, _ := parley.MemberString(r.Body, "code")
	digest, _ := parley.MemberString(r.Body, "digest")
	return Refusal{
		Code:   parley.Code(code),
		Digest: parseDigest(digest),
		Bytes:  memberInt(r.Body, "bytes"),
		Count:  memberInt(r.Body, "count"),
	}
}

func memberInt(obj jsontext.Value, name string) int {
	n := 0
	for _, c := range parley.Member(obj, name) {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
