package parley

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// Call is what the payload of a request or proposal asks for.
type Call struct {
	Kind   Kind           // the effective kind: TYPE as sent, METHOD and SUBJECT as the payload has them
	Params jsontext.Value // payload.params as sent; nil where absent
}

// ReadCall reads the effective kind of a request or proposal out of its
// payload, and refuses a kind that lies about it with kind_mismatch (section 3
// of the contract). Without this check a kind that says one thing over a
// payload that says another would be a way round access control.
func ReadCall(k Kind, payload jsontext.Value) (Call, error) {
	if payload.Kind() != '{' {
		return Call{}, Errorf(KindMismatch, "the payload of %s is not an object with a method", k.Type).
			WithHint(`write {"method": …, "params": {…}}; batches are not served`)
	}
	var method, params jsontext.Value
	for name, value := range fields(payload) {
		switch string(name) {
		case "method":
			method = value
		case "params":
			params = value
		default:
			if known := foldsTo(string(name), "method", "params"); known != "" {
				return Call{}, caseMismatch("payload", string(name), known)
			}
		}
	}
	if method.Kind() != '"' {
		return Call{}, Errorf(KindMismatch, "the payload has no method that is a string")
	}
	if name := nameBytes(method); string(name) != k.Method {
		return Call{}, Errorf(KindMismatch, "the kind says %q, the payload's method is %q", clip(k.Method, 80), clip(string(name), 80))
	}
	call := Call{Kind: Kind{Type: k.Type, Method: k.Method}, Params: params}
	if !HasSubject(k.Method) {
		return call, nil // a SUBJECT here is a label without meaning
	}
	subject, err := readSubject(k.Method, params)
	if err != nil {
		return Call{}, err
	}
	if k.Subject != "" && k.Subject != subject {
		return Call{}, Errorf(KindMismatch, "the kind names %q, the payload %q", clip(k.Subject, 80), clip(subject, 80))
	}
	call.Kind.Subject = subject
	return call, nil
}

// readSubject reads the parameter that a METHOD's SUBJECT repeats.
func readSubject(method string, params jsontext.Value) (string, error) {
	if params.Kind() != '{' {
		return "", Errorf(KindMismatch, "%s needs params that are an object", method)
	}
	var name, uri, ref jsontext.Value
	for key, value := range fields(params) {
		switch string(key) {
		case "name":
			name = value
		case "uri":
			uri = value
		case "ref":
			ref = value
		default:
			if known := foldsTo(string(key), "name", "uri", "ref"); known != "" {
				return "", caseMismatch("params", string(key), known)
			}
		}
	}
	switch method {
	case "tools/call", "prompts/get":
		return subjectText("params.name", name)
	case "completion/complete":
		return readRef(ref)
	default:
		return subjectText("params.uri", uri)
	}
}

func readRef(ref jsontext.Value) (string, error) {
	var name, uri jsontext.Value
	for key, value := range members(ref) {
		switch key {
		case "name":
			name = value
		case "uri":
			uri = value
		default:
			if known := foldsTo(key, "name", "uri"); known != "" {
				return "", caseMismatch("params.ref", key, known)
			}
		}
	}
	if name != nil {
		return subjectText("params.ref.name", name)
	}
	return subjectText("params.ref.uri", uri)
}

func subjectText(where string, v jsontext.Value) (string, error) {
	if v.Kind() != '"' {
		return "", Errorf(KindMismatch, "%s is not a string", where)
	}
	s := unquote(v)
	switch {
	case s == "":
		return "", Errorf(KindMismatch, "%s is empty", where)
	case len(s) > MaxKind:
		return "", Errorf(KindMismatch, "%s is longer than %d bytes", where, MaxKind)
	case strings.IndexFunc(s, unicode.IsControl) >= 0:
		return "", Errorf(KindMismatch, "%s has a control character", where)
	}
	return s, nil
}

func caseMismatch(where, name, known string) error {
	return Errorf(KindMismatch, "%s has a member %q, which differs from %q only by case", where, clip(name, 80), known)
}

// CheckResponse refuses, with kind_mismatch, a response's payload that is not
// exactly one of a result and an error (section 3 of the contract).
func CheckResponse(payload jsontext.Value) error {
	if payload.Kind() != '{' {
		return Errorf(KindMismatch, "the payload of a response is not an object")
	}
	var results, errors int
	for name := range fields(payload) {
		switch known := foldsTo(string(name), "result", "error", "method"); {
		case known == "":
		case known != string(name):
			return caseMismatch("payload", string(name), known)
		case known == "result":
			results++
		case known == "error":
			errors++
		default:
			return Errorf(KindMismatch, "the payload of a response has a method")
		}
	}
	if results+errors != 1 {
		return Errorf(KindMismatch, "a response needs exactly one of result and error")
	}
	return nil
}

// Member returns the raw value of one member of a JSON object that was decoded
// strictly before, or nil.
func Member(obj jsontext.Value, name string) jsontext.Value {
	for key, value := range fields(obj) {
		if string(key) == name {
			return value
		}
	}
	return nil
}

// MemberString returns one member of a JSON object as a string; ok is false
// where it is absent or of another type.
func MemberString(obj jsontext.Value, name string) (s string, ok bool) {
	v := Member(obj, name)
	if v.Kind() != '"' {
		return "", false
	}
	return unquote(v), true
}
