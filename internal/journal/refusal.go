package journal

import (
	"encoding/hex"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

func (f Refusal) append(dst []byte) []byte {
	dst, _ = jsontext.AppendQuote(append(dst, `{"code":`...), string(f.Code))
	if f.Count > 0 {
		dst = strconv.AppendInt(append(dst, `,"count":`...), int64(f.Count), 10)
		return append(dst, '}')
	}
	dst = append(dst, `,"digest":"sha256:`...)
	dst = hex.AppendEncode(dst, f.Digest[:])
	dst = strconv.AppendInt(append(dst, `","bytes":`...), int64(f.Bytes), 10)
	return append(dst, '}')
}

func parseDigest(s string) (d parley.Digest) {
	const prefix = "sha256:"
	if len(s) == len(prefix)+2*len(d) && s[:len(prefix)] == prefix {
		_, _ = hex.Decode(d[:], []byte(s[len(prefix):])) // left zero where it is not hex
	}
	return d
}
