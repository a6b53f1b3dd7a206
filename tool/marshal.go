package tool

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
)

// marshal is how data is written. File names and sources need not be UTF-8: to
// have them approximately is better than to have nothing.
func marshal(v any) (text jsontext.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = nil, newPanic(p)
		}
	}()
	text, err = json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxData:
		return nil, Errorf(TooLarge, "the answer takes %d bytes, and may take %d", len(text), maxData)
	case tooDeep(text):
		return nil, Errorf(TooLarge, "the answer nests deeper than %d levels", maxLevels)
	}
	return text, nil
}

// maxData is how long data may be, in bytes of JSON. An answer is sent twice, once
// as a text in which each quote takes two bytes, and clients and bridges end the
// connection at a line of 16 MiB.
const maxData = 4 << 20

// maxLevels is how deep data may nest. A room takes 128 levels, of which the
// message around it has some, and clients end the connection at their limit.
const maxLevels = 100

// tooDeep says whether JSON nests deeper than maxLevels.
func tooDeep(text []byte) bool {
	if len(text) <= 2*maxLevels { // a level takes two bytes
		return false
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = jsonrpc.EndOfString(text, i)
		case '[', '{':
			if depth++; depth > maxLevels {
				return true
			}
		case ']', '}':
			depth--
		}
	}
	return false
}
