package response

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
)

// hidden is what is said of an internal error outside of the debug profile.
const hidden = "internal error"

// notJSON is what becomes of data that cannot be sent.
var notJSON = Error{Code: InternalError, Message: "the tool's answer is not valid JSON"}

// Append appends the envelope to dst: one JSON object without white space,
// whatever the answer holds.
func (s *Shape) Append(dst []byte, a *Answer) []byte {
	o := object{dst}
	o.begin()
	s.metadata(&o, a)
	s.failing(&o, a.Error)
	s.hints(&o, a.Hints)
	if !s.data(&o, a) {
		bad := *a
		bad.Data, bad.Error = nil, &notJSON
		return s.Append(o.dst[:len(dst)], &bad)
	}
	o.end()
	return o.dst
}

// object is a JSON object, with others in it, that is being written.
type object struct{ dst []byte }

// name begins a member; quoted is its name with quotes and colon.
func (o *object) name(quoted string) {
	if o.dst[len(o.dst)-1] != '{' {
		o.dst = append(o.dst, ',')
	}
	o.dst = append(o.dst, quoted...)
}

// begin and end stand around members.
func (o *object) begin() { o.dst = append(o.dst, '{') }
func (o *object) end()   { o.dst = append(o.dst, '}') }

func (o *object) null(quoted string) {
	o.name(quoted)
	o.dst = append(o.dst, "null"...)
}

func (o *object) text(quoted, value string) {
	o.name(quoted)
	o.dst = jsonrpc.AppendString(o.dst, value)
}

func (s *Shape) metadata(o *object, a *Answer) {
	s.field(o, tierField, `"tier":`, string(a.Tier))
	s.field(o, versionField, `"tool_version":`, a.Version)
	s.field(o, toolField, `"tool_id":`, a.Tool)
	if a.Asked && a.RequestID != "" {
		o.text(`"request_id":`, a.RequestID)
	} else {
		s.field(o, requestField, `"request_id":`, a.RequestID)
	}
	if s.fields&capabilitiesField != 0 {
		o.capabilities(a.Capabilities)
	}
	if s.fields&durationField != 0 {
		o.name(`"duration_ms":`)
		o.dst = strconv.AppendInt(o.dst, max(0, a.Duration.Milliseconds()), 10)
	}
}

// field writes a text that the profile may ask for.
func (s *Shape) field(o *object, f fieldSet, quoted, value string) {
	switch {
	case s.fields&f == 0:
	case value != "":
		o.text(quoted, value)
	case s.debug:
		o.null(quoted)
	}
}

func (o *object) capabilities(list []string) {
	o.name(`"capabilities":[`)
	first := len(o.dst)
	if !slices.Contains(list, EnvelopeV1) {
		o.dst = jsonrpc.AppendString(o.dst, EnvelopeV1)
	}
	for _, c := range list {
		if len(o.dst) > first {
			o.dst = append(o.dst, ',')
		}
		o.dst = jsonrpc.AppendString(o.dst, c)
	}
	o.dst = append(o.dst, ']')
}

// failing writes the error, where there is one.
func (s *Shape) failing(o *object, e *Error) {
	if e == nil {
		if s.debug {
			o.null(`"error":`)
		}
		return
	}
	code, message, details := e.Code, e.Message, e.Details
	if !code.Known() {
		code = InternalError
	}
	if code == InternalError && !s.debug {
		message, details = hidden, nil
	}
	o.name(`"error":`)
	o.begin()
	o.text(`"error":`, message)
	o.text(`"error_code":`, string(code))
	s.details(o, details)
	o.end()
}

func (s *Shape) details(o *object, details jsontext.Value) {
	before := len(o.dst)
	if len(details) > 0 {
		o.name(`"error_details":`)
		at := len(o.dst)
		dst, err := appendJSON(o.dst, details)
		if o.dst = dst; err == nil && string(dst[at:]) != "null" {
			return
		}
		o.dst = o.dst[:before]
	}
	if s.debug {
		o.null(`"error_details":`)
	}
}

func (s *Shape) hints(o *object, hints []Hint) {
	if len(hints) == 0 && !s.debug {
		return
	}
	o.name(`"upgrade_hints":[`)
	for i, h := range hints {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.begin()
		o.text(`"feature":`, h.Feature)
		o.text(`"tier":`, string(h.Tier))
		o.text(`"reason":`, h.Reason)
		o.end()
	}
	o.dst = append(o.dst, ']')
}

// data writes the tool's own answer. It says false where that is not JSON.
func (s *Shape) data(o *object, a *Answer) bool {
	before := len(o.dst)
	o.name(`"data":`)
	at := len(o.dst)
	if len(a.Data) == 0 {
		o.dst = append(o.dst, "null"...)
	} else if !s.filtered(o, a, at) {
		return false
	}
	if a.Error == nil {
		return true
	}
	// An error has data where the tool had something to tell of its failure.
	if string(o.dst[at:]) == "null" || string(o.dst[at:]) == "{}" {
		o.dst = o.dst[:before]
		if s.debug {
			o.null(`"data":`)
		}
	}
	return true
}

// filtered writes what the configuration leaves of data at the end of o.
func (s *Shape) filtered(o *object, a *Answer, at int) bool {
	dst, err := appendJSON(o.dst, a.Data)
	if o.dst = dst; err != nil {
		return false
	}
	if f := s.filter(a); f != nil && o.dst[at] == '{' {
		o.dst = f.apply(o.dst, at)
	}
	return true
}

// appendJSON checks a value and appends it without white space, each string in
// its shortest spelling. On an error what it appended has no meaning.
func appendJSON(dst []byte, value jsontext.Value) ([]byte, error) {
	return jsontext.AppendFormat(dst, value)
}
