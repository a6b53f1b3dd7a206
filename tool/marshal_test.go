package tool

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// An answer that nests so deep that clients and rooms do not take it would end
// the connection, and the calls of others with it.
func TestDeepAnswers(t *testing.T) {
	nested := func(n int) json.RawMessage {
		return json.RawMessage(strings.Repeat(`{"[":[`, n/2) + strings.Repeat("]}", n/2))
	}
	r := newRoom(t, Options{}, func(s *Server) {
		Add(s, Tool{Name: "nest"}, func(_ context.Context, _ *Call, in struct {
			Levels int  `json:"levels"`
			Fail   bool `json:"fail,omitempty"`
		}) (json.RawMessage, error) {
			if in.Fail {
				return nil, Errorf(NotFound, "no").WithDetails(nested(in.Levels)).WithData(nested(in.Levels))
			}
			return nested(in.Levels), nil
		})
	})
	r.want("nest", args{"levels": maxLevels}, `{"data":`+string(nested(maxLevels))+`}`)
	for n, want := range map[int]string{
		maxLevels + 2: `{"error":{"error":"the answer nests deeper than 100 levels","error_code":"too_large"}}`,
		1002:          `{"error":{"error":"the answer nests deeper than 100 levels","error_code":"too_large"}}`,
		12_000:        `{"error":{"error":"internal error","error_code":"internal_error"}}`, // the codec's own limit
	} {
		r.want("nest", args{"levels": n}, want)
		r.want("nest", args{"levels": n, "fail": true}, `{"error":{"error":"no","error_code":"not_found"}}`)
	}
	flat := `{"a":"` + strings.Repeat(`[{\"`, 1000) + `"}`
	if tooDeep([]byte(flat)) {
		t.Error("brackets in a string count")
	}
}

// A large answer is an error, and not the end of the connection.
func TestLongAnswers(t *testing.T) {
	for n, want := range map[int]string{maxData - 2: "", maxData - 1: "too_large: the answer takes 4194305 bytes, and may take 4194304"} {
		_, err := marshal(strings.Repeat("a", n))
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%d: %v", n, err)
		}
	}
	s, err := NewServer(quiet(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	Add(s, Tool{Name: "quotes"}, func(context.Context, *Call, none) (string, error) { return strings.Repeat("\"", maxData/2-1), nil })
	raw, err := s.Do(t.Context(), Request{Tool: "quotes"})
	if err != nil || len(raw) > 15<<20 || !strings.Contains(string(raw[len(raw)-200:]), `\"`) {
		t.Errorf("the result takes %d bytes: %v", len(raw), err)
	}
}
