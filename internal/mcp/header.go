package mcp

import (
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// NameOf is what the Mcp-Name header of a request says (2026-07-28); has is
// false for methods that have none.
func NameOf(method string, params jsontext.Value) (name string, has bool) {
	switch method {
	case "tools/call", "prompts/get":
		name, _ = parley.MemberString(params, "name")
		return name, true
	case "resources/read":
		name, _ = parley.MemberString(params, "uri")
		return name, true
	}
	return "", false
}

const (
	base64Prefix = "=?base64?"
	base64Suffix = "?="
)

// EncodeHeader writes a value as a header may hold it: in base64 where it is
// not plain visible ASCII, or could be taken for that.
func EncodeHeader(value string) string {
	plain := value == strings.TrimSpace(value) && !isEncoded(value)
	for i := 0; plain && i < len(value); i++ {
		plain = value[i] >= ' ' && value[i] <= '~'
	}
	if plain {
		return value
	}
	return base64Prefix + base64.StdEncoding.EncodeToString([]byte(value)) + base64Suffix
}

// DecodeHeader reads what [EncodeHeader] writes; ok is false for base64 that is
// none.
func DecodeHeader(header string) (value string, ok bool) {
	if !isEncoded(header) {
		return header, true
	}
	b, err := base64.StdEncoding.Strict().DecodeString(header[len(base64Prefix) : len(header)-len(base64Suffix)])
	return string(b), err == nil
}

func isEncoded(header string) bool {
	return len(header) >= len(base64Prefix)+len(base64Suffix) && strings.HasPrefix(header, base64Prefix) && strings.HasSuffix(header, base64Suffix)
}
