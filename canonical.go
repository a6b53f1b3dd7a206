package parley

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Digest identifies a JSON value: two values have the same digest exactly when
// they are equal as JSON values.
type Digest [sha256.Size]byte

// DigestParams is the digest of a call's params without the named top-level
// members. Member order, escapes and the spelling of numbers do not count;
// numbers compare by exact value (1 is 1.0, 2^53+1 is not 2^53). Absent params
// equal empty ones.
//
// Open proposals are kept by their digest, so that a proposal of a megabyte
// costs no more memory than a small one.
func DigestParams(params jsontext.Value, without ...string) Digest {
	if params == nil {
		params = jsontext.Value("{}")
	}
	if params.Kind() != '{' {
		return sha256.Sum256(appendCanonical(nil, params))
	}
	return sha256.Sum256(appendCanonicalObject(nil, params, without))
}

// EqualJSON reports whether two valid JSON values are equal, as [DigestParams]
// counts equality.
func EqualJSON(a, b jsontext.Value) bool {
	return bytes.Equal(appendCanonical(nil, a), appendCanonical(nil, b))
}

// appendCanonical writes a value in a form of its own, which equal values
// share and others do not. It is not JSON: strings are preceded by their
// length, so that nothing in them can look like structure.
func appendCanonical(dst []byte, v jsontext.Value) []byte {
	switch v.Kind() {
	case '{':
		return appendCanonicalObject(dst, v, nil)
	case '[':
		dst = append(dst, '[')
		for el := range elements(v) {
			dst = appendCanonical(dst, el)
		}
		return append(dst, ']')
	case '"':
		return appendCounted(append(dst, 's'), unquote(v))
	case '0':
		return appendCounted(append(dst, 'n'), canonicalNumber(v))
	default:
		return append(dst, v.Kind().String()[0])
	}
}

func appendCanonicalObject(dst []byte, obj jsontext.Value, without []string) []byte {
	type member struct {
		name  string
		value jsontext.Value
	}
	var list []member
	for name, value := range members(obj) {
		if !slices.Contains(without, name) {
			list = append(list, member{name, value})
		}
	}
	slices.SortFunc(list, func(a, b member) int {
		return bytes.Compare([]byte(a.name), []byte(b.name))
	})
	dst = append(dst, '{')
	for _, m := range list {
		dst = appendCanonical(appendCounted(dst, m.name), m.value)
	}
	return append(dst, '}')
}

func appendCounted(dst []byte, s string) []byte {
	dst = strconv.AppendInt(dst, int64(len(s)), 10)
	return append(append(dst, ':'), s...)
}

const maxExponent = 64 // digits

// canonicalNumber writes a JSON number as DIGITSeEXPONENT without leading or
// trailing zeros: the same text for the same value, however it was spelled,
// without ever leaving decimal.
func canonicalNumber(v jsontext.Value) string {
	digits, exponent := v, []byte(nil)
	if i := bytes.IndexAny(v, "eE"); i >= 0 {
		digits, exponent = v[:i], v[i+1:]
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	whole, fraction, _ := bytes.Cut(digits, []byte{'.'})
	all := append(append([]byte(nil), whole...), fraction...)
	trimmed := bytes.TrimRight(all, "0")
	shift := int64(len(all) - len(trimmed) - len(fraction))
	trimmed = bytes.TrimLeft(trimmed, "0")
	if len(trimmed) == 0 {
		return "0"
	}
	if len(exponent) > maxExponent {
		// Nobody means such a number; it equals its own spelling alone, and
		// costs no arithmetic.
		return "x" + string(v)
	}
	exp := new(big.Int)
	if len(exponent) > 0 {
		exp.SetString(string(bytes.TrimPrefix(exponent, []byte{'+'})), 10)
	}
	return sign + string(trimmed) + "e" + exp.Add(exp, big.NewInt(shift)).String()
}
