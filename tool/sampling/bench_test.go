package sampling_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley/tool/sampling"
)

// longReview is an answer of a little more than 10 KiB.
func longReview(tb testing.TB) []byte {
	r := review{Summary: "Fine.", Counts: map[string]int{"high": 97}}
	for i := range 97 {
		note := strings.Repeat("word ", 8)
		r.Findings = append(r.Findings, finding{fmt.Sprintf("internal/file%d.go", i), i, "high", &note})
	}
	data, err := json.Marshal(r)
	if err != nil || len(data) < 10<<10 || len(data) > 11<<10 {
		tb.Fatal(len(data), err)
	}
	return data
}

func replyWith(data []byte) []byte {
	return fmt.Appendf(nil, `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"__schema__","input":%s}],"model":"m","stopReason":"toolUse"}`, data)
}

// Validation of an answer, and reading it into a T.
func BenchmarkDecode(b *testing.B) {
	s, data := newSchema[review](b, sampling.SchemaOptions{}), longReview(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}

// All from the bytes of a reply to an exchange.
func BenchmarkReplyToExchange(b *testing.B) {
	s, data := newSchema[review](b, sampling.SchemaOptions{}), replyWith(longReview(b))
	asked := sampling.Request{Messages: history("u")}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := sampling.ReadResult(data)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Read(r).Exchange(asked); err != nil {
			b.Fatal(err)
		}
	}
}

// A history of a thousand messages, checked before each request.
func BenchmarkCheck(b *testing.B) {
	var all []sampling.Message
	for range 250 {
		all = sampling.Append(all, history("u a[?1] u[!1] a")...)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := sampling.Check(all); err != nil {
			b.Fatal(err)
		}
	}
}
