package jsonrpc

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// What is let through means the same to another parser.
func FuzzDecode(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}`)
	f.Add(`{"jsonrpc":"2.0","id":"\u0031","method":"x","params":{}}`)
	f.Add(`[{"id":1,"error":{"code":1}},{"method":"n"}]`)
	f.Add(`{"id":1,"result":{"a":1,"a":2}}`)
	f.Fuzz(func(t *testing.T, in string) {
		messages, err := Decode([]byte(in))
		if err != nil {
			return
		}
		for _, m := range messages {
			if m.Fault != nil {
				continue
			}
			for _, v := range []jsontext.Value{m.ID, m.Params, m.Result, m.Error} {
				if v != nil && (!v.IsValid() || !json.Valid(v) || !strings.Contains(in, string(v))) {
					t.Fatalf("%q of %q", v, in)
				}
			}
		}
	})
}
