package response

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

func BenchmarkAppend(b *testing.B) {
	filtered, err := Parse("bench", []byte(`{
		"global": {"exclude_empty_arrays": true, "exclude_empty_objects": true, "exclude_null_values": true, "exclude_default_values": true},
		"tool_overrides": {"security_scan": {"include_only": ["risk_level", "vulnerabilities", "files"], "exclude_fields": ["raw"]}},
	}`))
	if err != nil {
		b.Fatal(err)
	}
	answer := Answer{
		Tool: "security_scan", Version: "3.3.0", Tier: Pro, RequestID: "8b3e5f6c0a2f4ed4a3fb9e0b2f8f8d3a",
		Duration: 27 * time.Millisecond, Data: jsontext.Value(`{"risk_level":"high","vulnerabilities":[],"files":3,"raw":{"a":[1,2,3]}}`),
	}
	run := func(name string, s *Shape, a *Answer) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 64<<10)
			for b.Loop() {
				buf = s.Append(buf[:0], a)
			}
		})
	}
	for _, name := range []string{Minimal, Standard, Verbose, Debug} {
		c, err := Parse("bench", []byte(`{"global":{"profile":"`+name+`"}}`))
		if err != nil {
			b.Fatal(err)
		}
		run(name, c.Shape(answer.Tool, answer.Tier), &answer)
	}
	run("filtered", filtered.Shape(answer.Tool, answer.Tier), &answer)
	large := answer
	large.Data = jsontext.Value(`{"vulnerabilities":[`)
	for range 500 {
		large.Data = append(large.Data, `{"type":"sql","line":12,"note":null,"tags":[]},`...)
	}
	large.Data = append(large.Data, `{}]}`...)
	run("large", Default().Shape(answer.Tool, answer.Tier), &large)
	run("large filtered", filtered.Shape(answer.Tool, answer.Tier), &large)
}
