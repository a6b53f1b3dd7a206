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

// Redaction is what a journal does to redact the envelopes with an id.
type Redaction struct {
	Seqs     []uint64 // of all of them, also where it was done already
	Old, New []*Record
}

// NewRedaction reads the envelopes with an id below before, 0 for any, that may
// be redacted: not_found where none has the id, kind_mismatch where none of them
// may be. Only journals call it.
func NewRedaction(ctx context.Context, log Reader, id string, before uint64) (*Redaction, error) {
	if !parley.ValidID(id) {
		return nil, notOnRecord(id) // as a condition, no id is any
	}
	todo, known := &Redaction{}, false
	for r, err := range log.Read(ctx, Query{ID: id, Before: before}) {
		if err != nil {
			return nil, err
		}
		known = true
		if err := todo.add(r); err != nil {
			return nil, err
		}
	}
	switch {
	case !known:
		return nil, notOnRecord(id)
	case len(todo.Seqs) == 0:
		return nil, parley.Errorf(parley.KindMismatch, "capability/*, space/* and system/* cannot be redacted; %q is one", id)
	}
	return todo, nil
}

func (t *Redaction) add(r *Record) error {
	if !r.Redactable() {
		return nil
	}
	t.Seqs = append(t.Seqs, r.Seq)
	if r.Redacted {
		return nil
	}
	redacted, err := r.Redact()
	if err != nil {
		return err
	}
	t.Old, t.New = append(t.Old, r), append(t.New, redacted)
	return nil
}

// Redactable reports whether what the envelope said may be taken off the record.
func (r *Record) Redactable() bool { return parley.SplitKind(r.Effective).Redactable() }

func notOnRecord(id string) error {
	return parley.Errorf(parley.NotFound, "no envelope %.140q is on record", id)
}
