package parley

import (
	"bytes"
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The functions of this file read JSON that the strict decoder has already
// let through. On such input a value's end can be found by counting brackets,
// at a fraction of the cost of decoding it a second time: that is what lets
// the gateway look at three strings of a payload without parsing it.

// members yields the members of a valid JSON object, names decoded, values
// raw, in their order.
func members(obj jsontext.Value) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		for name, value := range fields(obj) {
			if !yield(string(name), value) {
				return
			}
		}
	}
}

// fields is members without a string made for every name: those that hold no
// escape are slices of obj.
func fields(obj jsontext.Value) iter.Seq2[[]byte, jsontext.Value] {
	return func(yield func([]byte, jsontext.Value) bool) {
		i := skipSpace(obj, 0)
		if i >= len(obj) || obj[i] != '{' {
			return
		}
		i = skipSpace(obj, i+1)
		for i < len(obj) && obj[i] != '}' {
			nameEnd := skipString(obj, i)
			name := nameBytes(obj[i:nameEnd])
			start := skipColon(obj, nameEnd)
			end := skipValue(obj, start)
			if !yield(name, obj[start:end]) {
				return
			}
			i = skipComma(obj, end)
		}
	}
}

func nameBytes(raw jsontext.Value) []byte {
	if len(raw) >= 2 && bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	return []byte(unquote(raw))
}

// elements yields the elements of a valid JSON array.
func elements(arr jsontext.Value) iter.Seq[jsontext.Value] {
	return func(yield func(jsontext.Value) bool) {
		i := skipSpace(arr, 0)
		if i >= len(arr) || arr[i] != '[' {
			return
		}
		i = skipSpace(arr, i+1)
		for i < len(arr) && arr[i] != ']' {
			end := skipValue(arr, i)
			if end == i || !yield(arr[i:end]) { // the same place again is no JSON
				return
			}
			i = skipComma(arr, end)
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipColon returns where the value after a name that ends at i starts.
func skipColon(b []byte, i int) int { return skipSpace(b, min(skipSpace(b, i)+1, len(b))) }

// skipComma returns where the next member or element starts, or the bracket
// that closes them, after one that ends at i.
func skipComma(b []byte, i int) int {
	if i = skipSpace(b, i); i < len(b) && b[i] == ',' {
		return skipSpace(b, i+1)
	}
	return i
}

// skipString returns the index after the string that starts at i.
func skipString(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		quote := i + n
		escapes := 0
		for quote-escapes > i && b[quote-escapes-1] == '\\' {
			escapes++
		}
		if i = quote + 1; escapes%2 == 0 {
			return i
		}
	}
}

// skipValue returns the index after the value that starts at i.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(b)
	default:
		for i < len(b) && !endsScalar(b[i]) {
			i++
		}
		return i
	}
}

func endsScalar(c byte) bool {
	switch c {
	case ',', ']', '}', ' ', '\n', '\r', '\t':
		return true
	}
	return false
}

// unquote decodes a valid JSON string.
func unquote(raw jsontext.Value) string {
	if len(raw) >= 2 && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	s, _ := jsontext.AppendUnquote(nil, raw)
	return string(s)
}

// foldsTo returns which of the known names equals name but for case, by
// Unicode's simple folding, or "".
func foldsTo(name string, known ...string) string {
	for _, k := range known {
		if strings.EqualFold(name, k) {
			return k
		}
	}
	return ""
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "an invalid value"
}

// Elements yields the raw elements of a JSON array that was decoded strictly
// before; nothing where it is not an array.
func Elements(arr jsontext.Value) iter.Seq[jsontext.Value] { return elements(arr) }

// Members yields the members of a JSON object that was decoded strictly
// before, names decoded, values raw; nothing where it is not an object.
func Members(obj jsontext.Value) iter.Seq2[string, jsontext.Value] { return members(obj) }

// Locate finds a member of a JSON object that was decoded strictly before: its
// value stands at [start, end), which are 0 where there is none. last is where
// the last member ends, 0 in an empty object, and -1 in what is no object.
func Locate(obj jsontext.Value, name string) (start, end, last int) {
	i := skipSpace(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return 0, 0, -1
	}
	i = skipSpace(obj, i+1)
	for i < len(obj) && obj[i] != '}' {
		nameEnd := skipString(obj, i)
		key := nameBytes(obj[i:nameEnd])
		at := skipColon(obj, nameEnd)
		last = skipValue(obj, at)
		if string(key) == name {
			start, end = at, last
		}
		i = skipComma(obj, last)
	}
	return start, end, last
}
