package mcpbridge

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/response"
)

// FuzzWrap wraps whatever a server may answer. What comes of it is one strict
// JSON object with an envelope in it, and loses no block that is not told there.
func FuzzWrap(f *testing.F) {
	for _, result := range []string{
		`{"content":[{"type":"text","text":"hi"}]}`,
		`{"content":[{"type":"text","text":"{\"a\":[1,2]}"},{"type":"image"}],"_meta":{"x":1}}`,
		`{"isError":true,"structuredContent":{"error":{"code":"timeout"}},"content":[{"type":"text","text":"timeout: x"}]}`,
		`{"isError":true,"content":[{"type":"text","text":"not_found: x"},7]}`,
		`{"structuredContent":{"content":"x"},"content":[{"type":"text","text":"x"}],"_meta":[]}`,
	} {
		f.Add([]byte(result))
	}
	c, err := response.Parse("fuzz", []byte(`{"global":{"exclude_null_values":true},"tool_overrides":{"t":{"profile":"debug","exclude_fields":["a"]}}}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, result []byte) {
		given := jsontext.Value(result)
		if !given.IsValid() || !isAnswer(given) {
			return
		}
		apart := takeApart(given)
		if apart == nil {
			return
		}
		others := 0
		for _, b := range apart.blocks {
			if !b.isText {
				others++
			}
		}
		for _, tool := range []string{"t", "u"} {
			apart := takeApart(given)
			w := wrapping{shape: c.Shape(tool, response.Community), answer: apart.answer(tool, "1"), room: client.Limits{Nesting: 20, EnvelopeBytes: 20_000}}
			got, used := w.result(given, apart)
			if !got.IsValid() || got.Kind() != '{' {
				t.Fatalf("%s became %s", given, got)
			}
			envelope := parley.Member(got, "structuredContent")
			failed := string(parley.Member(given, "isError")) == "true"
			if fails := parley.Member(envelope, "error").Kind() == '{'; fails != failed || !failed && parley.Member(envelope, "data") == nil {
				t.Errorf("%s became %s", given, got)
			}
			if read, told := ReadUsage(got); !told || read.Tokens != used.Tokens {
				t.Errorf("%s tells %+v of %+v", got, read, used)
			}
			n := -1
			for range parley.Elements(parley.Member(got, "content")) {
				n++
			}
			if n < others || n > len(apart.blocks) {
				t.Errorf("%d of %d blocks are left of %s: %s", n, others, given, got)
			}
			if deep := deepest(parley.Member(envelope, "data")); deep > 16 {
				t.Errorf("data nests %d deep", deep)
			}
		}
	})
}
