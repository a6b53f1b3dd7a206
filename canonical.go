package parley

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"slices"
	"strconv"
	"strings"

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
	dst, at := []byte(nil), skipSpace(params, 0)
	if params.Kind() == '{' {
		dst, _ = appendCanonicalObject(dst, params, at, without)
	} else {
		dst, _ = appendCanonical(dst, params, at)
	}
	return sha256.Sum256(dst)
}

// appendCanonical writes the value that starts at v[i] in a form of its own,
// which equal values share and others do not, and returns where it ends. It is
// not JSON: strings are preceded by their length, so that nothing in them can
// look like structure. It looks at each byte once, however deep it stands:
// anybody can make the gateway do this to a megabyte.
func appendCanonical(dst []byte, v jsontext.Value, i int) ([]byte, int) {
	if i >= len(v) {
		return dst, i
	}
	switch v[i] {
	case '{':
		return appendCanonicalObject(dst, v, i, nil)
	case '[':
		return appendCanonicalArray(dst, v, i)
	}
	end := skipValue(v, i)
	if end == i {
		return dst, len(v) // no JSON
	}
	switch v[i] {
	case '"':
		return appendCounted(append(dst, 's'), unquote(v[i:end])), end
	case 't', 'f', 'n':
		return append(dst, v[i]), end
	default:
		return append(appendNumber(append(dst, '#'), v[i:end]), ';'), end
	}
}

func appendCanonicalArray(dst []byte, v jsontext.Value, i int) ([]byte, int) {
	dst = append(dst, '[')
	i = skipSpace(v, i+1)
	for i < len(v) && v[i] != ']' {
		dst, i = appendCanonical(dst, v, i)
		i = skipComma(v, i)
	}
	return append(dst, ']'), i + 1
}

// appendCanonicalObject leaves out the members named in without, and sorts the
// rest. What has become long is folded into its hash, so that the members
// around it do not move it again, level by level.
func appendCanonicalObject(dst []byte, v jsontext.Value, i int, without []string) ([]byte, int) {
	type member struct {
		name string
		form []byte // its name and value, canonical
	}
	var list []member
	i = skipSpace(v, i+1)
	for i < len(v) && v[i] != '}' {
		nameEnd := skipString(v, i)
		m := member{name: unquote(v[i:nameEnd])}
		m.form, i = appendCanonical(appendCounted(nil, m.name), v, skipColon(v, nameEnd))
		i = skipComma(v, i)
		if !slices.Contains(without, m.name) {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b member) int { return strings.Compare(a.name, b.name) })
	start := len(dst)
	dst = append(dst, '{')
	for _, m := range list {
		dst = append(dst, m.form...)
	}
	dst = append(dst, '}')
	if len(dst)-start > 2*sha256.Size {
		sum := sha256.Sum256(dst[start:])
		dst = append(append(dst[:start], 'h'), sum[:]...)
	}
	return dst, i + 1
}

func appendCounted(dst []byte, s string) []byte {
	dst = strconv.AppendInt(dst, int64(len(s)), 10)
	return append(append(dst, ':'), s...)
}

const maxExponent = 64 // digits

// canonicalNumber is a JSON number as [appendNumber] writes it.
func canonicalNumber(v jsontext.Value) string { return string(appendNumber(nil, v)) }

// appendNumber writes a JSON number as DIGITSeEXPONENT without leading or
// trailing zeros: the same text for the same value, however it was spelled,
// without ever leaving decimal.
func appendNumber(dst []byte, v jsontext.Value) []byte {
	digits, exponent := v, []byte(nil)
	if i := bytes.IndexAny(v, "eE"); i >= 0 {
		digits, exponent = v[:i], v[i+1:]
	}
	digits, negative := bytes.CutPrefix(digits, []byte{'-'})
	all, fraction, _ := bytes.Cut(digits, []byte{'.'})
	if len(fraction) > 0 {
		all = slices.Concat(all, fraction)
	}
	trimmed := bytes.TrimRight(all, "0")
	shift := int64(len(all) - len(trimmed) - len(fraction))
	trimmed = bytes.TrimLeft(trimmed, "0")
	switch {
	case len(trimmed) == 0:
		return append(dst, '0')
	case len(exponent) > maxExponent:
		// Nobody means such a number; it equals its own spelling alone, and
		// costs no arithmetic.
		return append(append(dst, 'x'), v...)
	}
	if negative {
		dst = append(dst, '-')
	}
	dst = append(append(dst, trimmed...), 'e')
	if len(exponent) == 0 {
		return strconv.AppendInt(dst, shift, 10)
	}
	exp := new(big.Int)
	exp.SetString(string(bytes.TrimPrefix(exponent, []byte{'+'})), 10)
	return exp.Add(exp, big.NewInt(shift)).Append(dst, 10)
}
