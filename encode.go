package parley

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

const timeFormat = "2006-01-02T15:04:05.000Z"

// AppendBody appends the envelope's JSON without its seq. What stands in a
// journal is the body: it can be written before its place in the order is
// known, and [AppendWire] makes of it what is delivered.
func (e *Envelope) AppendBody(dst []byte) []byte {
	dst = append(dst, '{')
	if e.Protocol != "" {
		dst = appendString(append(dst, `"protocol":`...), e.Protocol)
		dst = append(dst, ',')
	}
	if e.ID != "" {
		dst = appendString(append(dst, `"id":`...), e.ID)
		dst = append(dst, ',')
	}
	if !e.TS.IsZero() {
		dst = append(dst, `"ts":"`...)
		dst = e.TS.UTC().AppendFormat(dst, timeFormat)
		dst = append(dst, `",`...)
	}
	if e.From != "" {
		dst = appendString(append(dst, `"from":`...), e.From)
		dst = append(dst, ',')
	}
	if len(e.To) > 0 {
		dst = appendStrings(append(dst, `"to":`...), e.To)
		dst = append(dst, ',')
	}
	dst = appendString(append(dst, `"kind":`...), e.Kind)
	dst = e.Correlation.append(dst)
	if e.Context != nil {
		dst = e.Context.append(append(dst, `,"context":`...))
	}
	if e.Amends {
		dst = append(dst, `,"amends":true`...)
	}
	if len(e.Extra) > 0 {
		dst = append(append(dst, ','), e.Extra...)
	}
	if e.Payload != nil {
		dst = append(append(dst, `,"payload":`...), e.Payload...)
	}
	return append(dst, '}')
}

// AppendWire appends body, as [Envelope.AppendBody] made it, with its place in
// the order. Seq 0 has none.
func AppendWire(dst, body []byte, seq uint64) []byte {
	if seq == 0 {
		return append(dst, body...)
	}
	dst = strconv.AppendUint(append(dst, `{"seq":`...), seq, 10)
	dst = append(dst, ',')
	return append(dst, body[1:]...)
}

// MarshalJSON is the envelope as it stands on the wire.
func (e *Envelope) MarshalJSON() ([]byte, error) {
	return AppendWire(nil, e.AppendBody(nil), e.Seq), nil
}

// UnmarshalJSON is [Decode].
func (e *Envelope) UnmarshalJSON(data []byte) error {
	d, err := Decode(append([]byte(nil), data...), 0)
	if err != nil {
		return err
	}
	*e = *d
	return nil
}

func (c Correlation) append(dst []byte) []byte {
	switch {
	case c.Array:
		return appendStrings(append(dst, `,"correlation_id":`...), c.IDs)
	case len(c.IDs) > 0:
		return appendString(append(dst, `,"correlation_id":`...), c.IDs[0])
	}
	return dst
}

func appendString(dst []byte, s string) []byte {
	// The only failure is invalid UTF-8, which AppendQuote replaces.
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, s)
	}
	return append(dst, ']')
}
