package mcpfront

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/tokens"
)

// frugal is a house that gives everybody the same budget.
type frugal struct {
	House
	budget int
}

func (f frugal) ResultBudget(Place, string, string) int { return f.budget }

// BenchmarkWithin is what it takes to see that a result may go whole, without a
// budget, by its bytes and by its tokens, and what it takes to cut one.
func BenchmarkWithin(b *testing.B) {
	tokens.Count("the vocabulary is loaded")
	for _, c := range []struct {
		name   string
		bytes  int
		budget int
	}{
		{"off/1KiB", 1 << 10, 0},
		{"bytes/1KiB", 1 << 10, 4_000},
		{"bytes/16KiB", 16 << 10, 20_000},
		{"counted/8KiB", 8 << 10, 4_000},
		{"counted/60KiB", 60 << 10, 20_000},
		{"cut/20KiB", 20 << 10, 4_000},
		{"cut/1MiB", 1 << 20, 4_000},
	} {
		b.Run(c.name, func(b *testing.B) {
			words := strings.Repeat("The quick brown fox jumps over the lazy dog. ", c.bytes/45)
			result := append(append(jsontext.Value(`{"content":[{"type":"text","text":`), mcp.Quote(words)...), `}]}`...)
			payload := jsonrpc.EncodeResult(jsonrpc.Number(1), result)
			x := &exchange{caller: &caller{}, front: &Front{house: frugal{budget: c.budget}}, msg: jsonrpc.Message{Method: "tools/call"}}
			reply := &client.Reply{Envelope: &parley.Envelope{ID: "01a200ea-227f-764c-85a8-313f1075c1a8", Payload: payload}, Result: result}
			fl := &flight{server: "files", method: "tools/call", tool: "read"}
			b.ReportAllocs()
			for b.Loop() {
				x.within(fl, "request", reply)
			}
			if cut := strings.HasPrefix(c.name, "cut/"); fl.cut != cut {
				b.Fatalf("cut: %t", fl.cut)
			}
		})
	}
}
