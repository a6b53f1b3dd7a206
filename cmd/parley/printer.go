package main

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// anyNesting is beyond what any space allows: what comes from a gateway or a
// journal was let in already.
const anyNesting = 10_000

// printer writes envelopes: to read, or as JSON Lines.
type printer struct {
	t *terminal
	r *renderer // nil for JSON Lines
}

// newPrinter decides by the flags and by who looks.
func newPrinter(t *terminal, full bool) *printer {
	if t.asJSON() {
		return &printer{t: t}
	}
	return &printer{t, &renderer{w: t.out, paint: t.palette(), full: full}}
}

// raw writes an envelope as it came.
func (p *printer) raw(wire jsontext.Value) error {
	if p.r == nil {
		return p.t.writeJSON(wire)
	}
	e, err := decodeAny(wire)
	if err != nil {
		return err
	}
	return p.r.write(e)
}

// envelope writes a decoded one.
func (p *printer) envelope(e *parley.Envelope) error {
	if p.r != nil {
		return p.r.write(e)
	}
	wire, err := e.MarshalJSON()
	if err != nil {
		return err
	}
	return p.t.writeJSON(wire)
}

// decodeAny reads an envelope with its seq. It keeps slices of data.
func decodeAny(data []byte) (*parley.Envelope, error) {
	return parley.Decode(data, anyNesting)
}
