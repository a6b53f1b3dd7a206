package tool

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley/tool/sampling"
)

// echo is a transport that costs nothing.
type echo struct{ reply jsontext.Value }

func (echo) Can(Ability) bool                                        { return true }
func (e echo) Ask(context.Context, Question) (jsontext.Value, error) { return e.reply, nil }
func (echo) Notify(context.Context, string, jsontext.Value) error    { return nil }

// What a round trip costs above its transport.
func BenchmarkAsk(b *testing.B) {
	t := Tool{Name: "bench", Needs: []Ability{SamplingTools, Elicitation}, Tokens: 1 << 60}
	b.Run("Sample", func(b *testing.B) {
		c := NewAskingCall(t, Community, "", echo{jsontext.Value(text("the centre"))})
		ask := prompt("Your move.")
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Sample(b.Context(), ask); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("SampleAs", func(b *testing.B) {
		c := NewAskingCall(t, Community, "", echo{jsontext.Value(use(schemaCall("a", `{"cell":4}`)))})
		ask := prompt("Your move.")
		b.ReportAllocs()
		for b.Loop() {
			if _, err := SampleAs[move](b.Context(), c, ask); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Elicit", func(b *testing.B) {
		c := NewAskingCall(t, Community, "", echo{jsontext.Value(`{"action":"accept","content":{"cell":3}}`)})
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Elicit[move](b.Context(), c, sampling.Elicitation[none]{Key: "move", Message: "Where?"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// What a run takes that waits for a human, in memory.
func BenchmarkWaitingRuns(b *testing.B) {
	const runs = 1000
	server, err := NewServer(quiet(Options{NoUsage: true}))
	if err != nil {
		b.Fatal(err)
	}
	Add(server, Tool{Name: "ask", Needs: []Ability{Elicitation}}, func(ctx context.Context, c *Call, _ none) (none, error) {
		_, err := Elicit[move](ctx, c, sampling.Elicitation[none]{Key: "move", Message: "Where?"})
		return none{}, err
	})
	here, there := mcp.NewInMemoryTransports()
	go server.Serve(b.Context(), there)
	o := &mcp.ClientOptions{MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}, Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{}}}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, o).Connect(b.Context(), here, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	call := func() {
		if _, err := client.CallTool(b.Context(), &mcp.CallToolParams{Name: "ask", Arguments: json.RawMessage(`{}`)}); err != nil {
			b.Fatal(err)
		}
	}
	call()
	var taken float64
	for b.Loop() {
		before := used()
		for range runs {
			call()
		}
		taken = float64(used()-before) / runs
	}
	b.ReportMetric(taken/1024, "KiB/run")
}

// used is the memory of the heap and of stacks.
func used() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
