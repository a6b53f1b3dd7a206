package jsonrpc

import "github.com/go-json-experiment/json/jsontext"

// flatAt is how deep brackets may nest in what flatten leaves.
const flatAt = 16

// flatten has null for what nests deeper than that. What nests deeper than any
// parser goes can still be an answer, and somebody waits for it.
func flatten(raw jsontext.Value) jsontext.Value {
	var flat jsontext.Value
	depth := 0
	for i := 0; i < len(raw); i++ {
		begin := i
		switch raw[i] {
		case '"':
			i = min(EndOfString(raw, i), len(raw)-1)
		case '{', '[':
			if depth++; depth == flatAt+1 {
				flat = append(flat, "null"...)
			}
		case '}', ']':
			if depth--; depth == flatAt {
				continue // null stands for it
			}
		}
		if depth <= flatAt {
			flat = append(flat, raw[begin:i+1]...)
		}
	}
	return flat
}

// EndOfString is where the string that begins at i has its closing quote; len(raw)
// or more where it has none.
func EndOfString(raw jsontext.Value, i int) int {
	for i++; i < len(raw) && raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i
}
