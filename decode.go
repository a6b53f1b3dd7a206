package parley

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// DefaultNesting is how deep JSON may nest unless a space says otherwise.
const DefaultNesting = 128

// Decode reads one envelope strictly (section 2 of the contract). It refuses
// whatever two parsers might read differently: duplicate names at any depth,
// names that differ from a known one by case, invalid UTF-8, lone surrogates,
// trailing data, deep nesting. maxNesting 0 means [DefaultNesting].
//
// The envelope keeps slices of data, which must not change afterwards. The
// kind, the context and the meaning of the payload are not judged here.
//
// An error is an [*Error] with malformed_envelope or unsupported_protocol;
// with it comes what had been read, so that an answer can name the id.
func Decode(data []byte, maxNesting int) (*Envelope, error) {
	if maxNesting == 0 {
		maxNesting = DefaultNesting
	}
	if err := checkNesting(data, maxNesting); err != nil {
		return &Envelope{}, err
	}
	d := decoders.Get().(*decoder)
	defer d.release()
	return d.decode(data)
}

// decoder holds what one Decode needs and can be used again.
type decoder struct {
	dec  *jsontext.Decoder
	buf  *bytes.Buffer
	data []byte
	env  *Envelope
	kind bool // seen
}

var decoders = sync.Pool{New: func() any {
	return &decoder{dec: new(jsontext.Decoder), buf: new(bytes.Buffer)}
}}

func (d *decoder) release() {
	d.data, d.env = nil, nil
	*d.buf = bytes.Buffer{}
	decoders.Put(d)
}

func (d *decoder) decode(data []byte) (*Envelope, error) {
	d.data, d.env, d.kind = data, &Envelope{}, false
	// The decoder reads a bytes.Buffer in place, without a copy.
	*d.buf = *bytes.NewBuffer(data)
	d.dec.Reset(d.buf)
	if err := d.object(); err != nil {
		return d.env, err
	}
	if !d.kind {
		return d.env, Errorf(MalformedEnvelope, "the envelope has no kind")
	}
	return d.env, nil
}

func (d *decoder) object() error {
	if d.dec.PeekKind() != '{' {
		if _, err := d.dec.ReadValue(); err != nil {
			return syntaxError(err)
		}
		return Errorf(MalformedEnvelope, "the envelope is not a JSON object")
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return syntaxError(err)
	}
	for d.dec.PeekKind() == '"' {
		rawName, err := d.value()
		if err != nil {
			return err
		}
		value, err := d.value()
		if err != nil {
			return err
		}
		if err := d.field(rawName, value); err != nil {
			return err
		}
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return syntaxError(err)
	}
	if _, err := d.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return Errorf(MalformedEnvelope, "there is data after the envelope, at byte %d", d.dec.InputOffset())
	}
	return nil
}

// value reads the next value and returns it as a slice of data, which, unlike
// what the decoder returns, stays valid.
func (d *decoder) value() (jsontext.Value, error) {
	v, err := d.dec.ReadValue()
	if err != nil {
		return nil, syntaxError(err)
	}
	end := d.dec.InputOffset()
	return jsontext.Value(d.data[end-int64(len(v)) : end : end]), nil
}

func (d *decoder) field(rawName, v jsontext.Value) (err error) {
	e := d.env
	name := nameBytes(rawName)
	switch string(name) {
	case "protocol":
		e.Protocol, err = d.protocol(v)
	case "id":
		e.ID, err = idField("id", v)
	case "ts":
		var s string
		if s, err = stringField("ts", v); err == nil {
			e.TS, _ = time.Parse(time.RFC3339, s) // the gateway replaces it
		}
	case "from":
		e.From, err = stringField("from", v)
	case "to":
		e.To, err = idsField("to", v, MaxTo)
	case "kind":
		d.kind = true
		e.Kind, err = stringField("kind", v)
	case "correlation_id":
		e.Correlation, err = correlationField(v)
	case "context":
		if k := v.Kind(); k != '{' && k != '"' {
			return wrongType("context", v, "an object or a string")
		}
		e.Context = decodeContext(v)
	case "seq":
		e.Seq, err = seqField(v)
	case "amends":
		e.Amends, err = boolField("amends", v)
	case "payload":
		e.Payload = v
	default:
		err = d.unknown(string(name), rawName, v)
	}
	return err
}

func (d *decoder) protocol(v jsontext.Value) (string, error) {
	if v.Kind() != '"' {
		return "", wrongType("protocol", v, "a string")
	}
	switch inner := string(v[1 : len(v)-1]); inner {
	case ProtocolMCPx:
		return ProtocolMCPx, nil
	case ProtocolMCPP:
		return ProtocolMCPP, nil
	default:
		return "", Errorf(UnsupportedProtocol, "protocol %.60s is not known here", v).
			WithHint("leave it out, or write %q", ProtocolMCPx)
	}
}

var knownFields = []string{
	"protocol", "id", "ts", "from", "to", "kind",
	"correlation_id", "context", "seq", "amends", "payload",
}

func (d *decoder) unknown(name string, rawName, v jsontext.Value) error {
	if known := foldsTo(name, knownFields...); known != "" {
		return Errorf(MalformedEnvelope, "field %q differs from %q only by case", name, known)
	}
	extra := d.env.Extra
	if len(extra) > 0 {
		extra = append(extra, ',')
	}
	extra = append(append(append(extra, rawName...), ':'), v...)
	if len(extra) > MaxExtra {
		return Errorf(MalformedEnvelope, "unknown fields take more than %d bytes together, with %.60q", MaxExtra, name)
	}
	d.env.Extra = extra
	return nil
}

func stringField(name string, v jsontext.Value) (string, error) {
	if v.Kind() != '"' {
		return "", wrongType(name, v, "a string")
	}
	return unquote(v), nil
}

func idField(name string, v jsontext.Value) (string, error) {
	s, err := stringField(name, v)
	if err == nil && !ValidID(s) {
		err = Errorf(MalformedEnvelope, "%s %.40q is not 1 to %d visible ASCII characters", name, s, MaxID)
	}
	if err != nil {
		return "", err
	}
	return s, nil
}

func idsField(name string, v jsontext.Value, most int) ([]string, error) {
	if v.Kind() != '[' {
		return nil, wrongType(name, v, "an array of strings")
	}
	var ids []string
	for el := range elements(v) {
		if len(ids) == most {
			return nil, Errorf(MalformedEnvelope, "%s has more than %d elements", name, most)
		}
		id, err := idField(name, el)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func correlationField(v jsontext.Value) (Correlation, error) {
	switch v.Kind() {
	case '"':
		id, err := idField("correlation_id", v)
		return Correlation{IDs: []string{id}}, err
	case '[':
		// One more than allowed may pass, and is invalid_correlation when judged.
		ids, err := idsField("correlation_id", v, MaxTo)
		return Correlation{IDs: ids, Array: true}, err
	}
	return Correlation{}, wrongType("correlation_id", v, "a string or an array of strings")
}

func seqField(v jsontext.Value) (uint64, error) {
	var n uint64
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0, wrongType("seq", v, "a positive integer")
		}
		if n > (1<<63)/10 {
			return 0, wrongType("seq", v, "an integer in range")
		}
		n = n*10 + uint64(c-'0')
	}
	return n, nil
}

func boolField(name string, v jsontext.Value) (bool, error) {
	if k := v.Kind(); k != 't' && k != 'f' {
		return false, wrongType(name, v, "a boolean")
	}
	return v.Kind() == 't', nil
}

func wrongType(name string, v jsontext.Value, want string) error {
	return Errorf(MalformedEnvelope, "%s is %.40s, not %s", name, v, want)
}

func syntaxError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Errorf(MalformedEnvelope, "the envelope is cut off")
	}
	syn, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return Errorf(MalformedEnvelope, "%v", err)
	}
	where := ""
	if syn.JSONPointer != "" {
		where = " within " + clip(string(syn.JSONPointer), 100)
	}
	return Errorf(MalformedEnvelope, "%s%s, at byte %d", clip(syn.Err.Error(), 100), where, syn.ByteOffset)
}

// clip shortens what a sender wrote before it is repeated to others.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// checkNesting refuses JSON that nests deeper than most. Counting brackets
// alone clears nearly every message; only the rest is walked.
func checkNesting(data []byte, most int) error {
	if bytes.Count(data, []byte{'{'})+bytes.Count(data, []byte{'['}) <= most {
		return nil
	}
	depth := 0
	for i := 0; i < len(data); {
		switch data[i] {
		case '"':
			i = skipString(data, i)
			continue
		case '{', '[':
			if depth++; depth > most {
				return Errorf(MalformedEnvelope, "JSON nests deeper than %d, at byte %d", most, i)
			}
		case '}', ']':
			depth--
		}
		i++
	}
	return nil
}
