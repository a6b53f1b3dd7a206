package response

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The four examples of the document that asked for the envelope, from the
// answers that they are about.
func TestExamples(t *testing.T) {
	found := &Answer{
		Tool: "security_scan", Version: "3.3.0", Tier: Pro, RequestID: "8b3e5f6c0a2f4ed4a3fb9e0b2f8f8d3a",
		Duration: 27 * time.Millisecond, Data: jsontext.Value(`{"risk_level": "high", "vulnerabilities": []}`),
	}
	missing := &Answer{
		Tool: "extract_code", Version: "3.3.0", Tier: Community, RequestID: "0a46e6c2b6df4e938e8d16ffb567a9b2",
		Duration: 3 * time.Millisecond, Error: &Error{Message: "File not found: /missing.py", Code: NotFound},
	}
	for _, c := range []struct {
		name   string
		config *Config
		answer *Answer
		want   string
	}{
		{"success, minimal", Default(), found, `{
  "data": {
    "risk_level": "high",
    "vulnerabilities": []
  }
}`},
		{"success, debug", Default().inDebug(), found, `{
  "tier": "pro",
  "tool_version": "3.3.0",
  "tool_id": "security_scan",
  "request_id": "8b3e5f6c0a2f4ed4a3fb9e0b2f8f8d3a",
  "capabilities": ["envelope-v1"],
  "duration_ms": 27,
  "error": null,
  "upgrade_hints": [],
  "data": {
    "risk_level": "high",
    "vulnerabilities": []
  }
}`},
		{"error, minimal", Default(), missing, `{
  "error": {
    "error": "File not found: /missing.py",
    "error_code": "not_found"
  }
}`},
		{"error, debug", Default().inDebug(), missing, `{
  "tier": "community",
  "tool_version": "3.3.0",
  "tool_id": "extract_code",
  "request_id": "0a46e6c2b6df4e938e8d16ffb567a9b2",
  "capabilities": ["envelope-v1"],
  "duration_ms": 3,
  "error": {
    "error": "File not found: /missing.py",
    "error_code": "not_found",
    "error_details": null
  },
  "upgrade_hints": [],
  "data": null
}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := jsontext.Value(c.want)
			if err := want.Compact(); err != nil {
				t.Fatal(err)
			}
			got := c.config.Shape(c.answer.Tool, c.answer.Tier).Append(nil, c.answer)
			if string(got) != string(want) {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}
