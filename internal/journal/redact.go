package journal

import (
	"bytes"
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// redactedPayload stands where a payload was.
var redactedPayload = jsontext.Value(`{"redacted":true}`)

// Redact is the record without what may be redacted (section 9 of the
// contract): payload, context metadata and type, unknown fields, and the salt,
// so that nobody can find out by guessing what was dropped. Header and Rest
// stay, and the chain still verifies.
func (r *Record) Redact() (*Record, error) {
	e, err := r.Decode()
	if err != nil {
		return nil, err
	}
	kept := *e
	kept.Seq, kept.Extra, kept.Payload = 0, nil, redactedPayload
	if e.Context != nil {
		kept.Context = &parley.Context{ID: e.Context.ID, Parent: e.Context.Parent}
	}
	redacted := *r
	redacted.Body = kept.AppendBody(nil)
	redacted.Salt = [16]byte{}
	redacted.Redacted = true
	redacted.Token = nil
	return &redacted, nil
}

// isRedacted reports whether an envelope holds nothing that redaction takes.
func isRedacted(e *parley.Envelope) bool {
	return bytes.Equal(e.Payload, redactedPayload) && len(e.Extra) == 0 &&
		(e.Context == nil || e.Context.Type == "" && e.Context.Metadata == nil)
}

// FindRedactable reads the envelopes with an id that are not redacted yet:
// not_found where none has the id. Only journals call it.
func FindRedactable(ctx context.Context, log Reader, id string) (found []*Record, err error) {
	known := false
	if !parley.ValidID(id) {
		return nil, notOnRecord(id) // as a condition, no id is any
	}
	for r, err := range log.Read(ctx, Query{ID: id}) {
		if err != nil {
			return nil, err
		}
		known = true
		if !r.Redacted {
			found = append(found, r)
		}
	}
	if !known {
		return nil, notOnRecord(id)
	}
	return found, nil
}

func notOnRecord(id string) error {
	return parley.Errorf(parley.NotFound, "no envelope %.140q is on record", id)
}
