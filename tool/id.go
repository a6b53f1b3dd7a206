package tool

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parleyhq/parley/internal/response"
)

// givenID is the caller's request_id, out of a call's _meta; empty where there
// is none. It is echoed, so one that cannot be is refused: a caller who got
// another one would look for his answer in vain.
func givenID(meta map[string]any) (string, error) {
	switch v := meta["request_id"].(type) {
	case nil:
		return "", nil
	case string:
		return v, checkID(v)
	case float64:
		return "", refuseID("a number")
	case bool:
		return "", refuseID("true or false")
	case []any:
		return "", refuseID("a list")
	}
	return "", refuseID("an object")
}

func checkID(id string) error {
	switch {
	case id == "":
		return refuseID("an empty one")
	case len(id) > response.MaxRequestID:
		return refuseID("a longer one")
	case !utf8.ValidString(id):
		return refuseID("one that is not UTF-8")
	case strings.ContainsFunc(id, unicode.IsControl):
		return refuseID("one with a control character")
	}
	return nil
}

func refuseID(got string) error {
	return refuseArgument("_meta.request_id", "a string of 1 to "+strconv.Itoa(response.MaxRequestID)+" bytes without control characters", got)
}

// newID makes an id for a request that has none. It tells requests apart and
// guards nothing.
func newID() string {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], rand.Uint64())
	binary.BigEndian.PutUint64(raw[8:], rand.Uint64())
	var text [32]byte
	hex.Encode(text[:], raw[:])
	return string(text[:])
}
