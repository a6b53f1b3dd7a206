package mcpbridge

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/response"
)

// BenchmarkWrap is what wrapping adds to a call, counting tokens included.
func BenchmarkWrap(b *testing.B) {
	shape := response.Default().Shape("t", response.Community)
	for name, text := range map[string]string{"short": "Echo: hi", "4KiB": strings.Repeat("func main() { println(1) }\n", 150), "256KiB": strings.Repeat("func main() { println(1) }\n", 9_700)} {
		result := jsontext.Value(`{"content":[{"type":"text","text":` + string(mcp.Quote(text)) + `}]}`)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(result)))
			for b.Loop() {
				apart := takeApart(result)
				w := wrapping{shape: shape, answer: apart.answer("t", "1"), room: client.Limits{EnvelopeBytes: 1 << 20}}
				w.result(result, apart)
			}
		})
	}
}
