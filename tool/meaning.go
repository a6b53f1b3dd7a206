package tool

import (
	"bytes"
	"crypto/sha256"

	"github.com/go-json-experiment/json/jsontext"
)

// meaning is what arguments say, however they are laid out: clients write them
// anew in each request of a call.
type meaning [sha256.Size]byte

func meaningOf(arguments []byte) meaning {
	v := jsontext.Value(bytes.Clone(arguments))
	if len(v) == 0 || string(v) == "null" {
		v = jsontext.Value("{}")
	}
	_ = v.Canonicalize() // what is no JSON means itself
	return sha256.Sum256(v)
}
