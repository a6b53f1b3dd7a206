package jsonrpc

import (
	"strings"
	"testing"
)

// TestDecodeWhatNestsTooDeep sees that an answer which no parser reads to its end
// still ends the call that it answers.
func TestDecodeWhatNestsTooDeep(t *testing.T) {
	for _, shape := range []string{
		`{"jsonrpc":"2.0","id":7,"result":{"a":DEEP,"b":"]}\\\"{["}}`,
		`{"jsonrpc":"2.0","result":{"a":[DEEP,DEEP]},"id":7}`,
		`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x","data":DEEP}}`,
	} {
		const depth = 20_000
		for _, deep := range []string{
			strings.Repeat("[", depth) + strings.Repeat("]", depth),
			strings.Repeat(`{"\"{":[`, depth) + `"]"` + strings.Repeat("]}", depth),
		} {
			messages, err := Decode([]byte(strings.ReplaceAll(shape, "DEEP", deep)))
			if err != nil || len(messages) != 1 {
				t.Errorf("%s: %d messages, %v", shape, len(messages), err)
				continue
			}
			if m := messages[0]; m.CallID() != 7 || m.Fault == nil || !m.IsResponse() {
				t.Errorf("%s: the call %d has the fault %v", shape, m.CallID(), m.Fault)
			}
		}
	}
	for _, odd := range []string{
		strings.Repeat("[", 20_000), strings.Repeat("]", 20_000), `{"id":7,"result":` + strings.Repeat("[", 20_000),
		`{"id":7,"result":"` + strings.Repeat("[", 20_000) + `\`,
	} {
		if messages, err := Decode([]byte(odd)); err == nil {
			t.Errorf("%.20s: %+v", odd, messages)
		}
	}
}
