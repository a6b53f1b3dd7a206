package parley

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// FuzzDecode holds the codec against a reference that is slow and obviously
// strict: what Decode accepts, the reference accepts; the header survives a
// round trip; payload bytes stay as they are.
func FuzzDecode(f *testing.F) {
	f.Add(benchmarkFrame())
	for _, s := range []string{
		`{"kind":"chat"}`, `{"kind":"chat","kind":"chat"}`, `{"KIND":"chat","kind":"x"}`, `{"kind":"chat"}{}`,
		`{"kind":"chat","payload":"\ud83d\ude00"}`, `{"kind":"chat","payload":"\ud83d"}`, `{"kind":"\u0063hat"}`,
		`{"kind":"chat","to":[],"correlation_id":["a"],"context":"a/b","seq":3,"amends":false,"x":{"y":[1e400]}}`,
		`{"kind":"chat","ts":"2026-01-01T00:00:00Z","payload":-0.0E-7}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Decode(bytes.Clone(data), 0)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("refused with %T", err)
			}
			return
		}
		if err := referenceCheck(data); err != nil {
			t.Fatalf("accepted %q, but %v", data, err)
		}
		roundTrip(t, e)
	})
}

func roundTrip(t *testing.T, e *Envelope) {
	t.Helper()
	if e.Payload != nil && !json.Valid(e.Payload) {
		t.Fatalf("payload %q is not JSON", e.Payload)
	}
	wire, _ := e.MarshalJSON()
	again, err := Decode(wire, 0)
	if err != nil {
		t.Fatalf("%s came back as %v", wire, err)
	}
	if !bytes.Equal(again.Payload, e.Payload) {
		t.Fatalf("payload %q became %q", e.Payload, again.Payload)
	}
	if !bytes.Equal(again.Extra, e.Extra) || !bytes.Equal(again.Context.Raw(), e.Context.Raw()) {
		t.Fatalf("unknown fields or context changed: %s", wire)
	}
	twice, _ := again.MarshalJSON()
	if !bytes.Equal(wire, twice) {
		t.Fatalf("%s became %s", wire, twice)
	}
}

// referenceCheck refuses what section 2 of the contract refuses, with the
// standard library's parser and no eye on speed.
func referenceCheck(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("it is not UTF-8")
	}
	if !json.Valid(data) {
		return errors.New("it is not one JSON value")
	}
	if err := referenceSurrogates(data); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := referenceValue(dec, 1); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("data follows")
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(data, &top); err != nil {
		return err
	}
	if _, ok := top["kind"]; !ok {
		return errors.New("it has no kind")
	}
	for name := range top {
		for _, known := range []string{"protocol", "id", "ts", "from", "to", "kind", "correlation_id", "context", "seq", "amends", "payload"} {
			if name != known && strings.EqualFold(name, known) {
				return fmt.Errorf("%q folds to %q", name, known)
			}
		}
	}
	var typed struct {
		Protocol, ID, TS, From, Kind *string
		To                           []string
		Amends                       *bool
		Seq                          *uint64
	}
	return json.Unmarshal(data, &typed)
}

func referenceValue(dec *json.Decoder, depth int) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	switch tok {
	case json.Delim('{'):
		seen := map[string]bool{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			if seen[name.(string)] {
				return fmt.Errorf("duplicate name %q", name)
			}
			seen[name.(string)] = true
			if err := referenceValue(dec, depth+1); err != nil {
				return err
			}
		}
	case json.Delim('['):
		for dec.More() {
			if err := referenceValue(dec, depth+1); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	if depth > DefaultNesting {
		return errors.New("it nests too deep")
	}
	_, err = dec.Token()
	return err
}

// referenceSurrogates refuses \u escapes that are no character by themselves
// and do not pair up.
func referenceSurrogates(data []byte) error {
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		i++
		if data[i] != 'u' {
			continue
		}
		r, _ := strconv.ParseUint(string(data[i+1:i+5]), 16, 32)
		i += 4
		if !utf16.IsSurrogate(rune(r)) {
			continue
		}
		if !bytes.HasPrefix(data[i+1:], []byte(`\u`)) {
			return errors.New("lone surrogate")
		}
		low, _ := strconv.ParseUint(string(data[i+3:i+7]), 16, 32)
		if utf16.DecodeRune(rune(r), rune(low)) == utf8.RuneError {
			return errors.New("lone surrogate")
		}
		i += 6
	}
	return nil
}

// FuzzScan holds the scanner, which reads JSON that was let in, against the
// standard library's parser.
func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"a":1,"b\"":[{"c":"}"},"]\\"],"d" : { } }`))
	f.Add([]byte(`[1, "a\\\"", {"x":[[]]}, null,true ]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(data, &object) == nil && object != nil {
			if _, err := Decode([]byte(`{"kind":"x","payload":`+string(data)+`}`), 0); err != nil {
				return
			}
			n := 0
			for name, value := range members(data) {
				if n++; !bytes.Equal(object[name], value) {
					t.Fatalf("member %q of %q: %q, want %q", name, data, value, object[name])
				}
			}
			if n != len(object) {
				t.Fatalf("%d members of %q, want %d", n, data, len(object))
			}
		}
		var array []json.RawMessage
		if json.Unmarshal(data, &array) == nil {
			n := 0
			for el := range elements(data) {
				if !bytes.Equal(array[n], el) {
					t.Fatalf("element %d of %q: %q, want %q", n, data, el, array[n])
				}
				n++
			}
			if n != len(array) {
				t.Fatalf("%d elements of %q, want %d", n, data, len(array))
			}
		}
	})
}
