package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type scanInput struct {
	Path  string `json:"path"`
	Depth int    `json:"depth,omitempty"`
}

type scanOutput struct {
	RiskLevel       string   `json:"risk_level"`
	Vulnerabilities []string `json:"vulnerabilities"`
}

func scan(_ context.Context, _ *Call, in scanInput) (scanOutput, error) {
	if in.Path == "" {
		return scanOutput{}, Errorf(InvalidPath, "the path is empty")
	}
	return scanOutput{RiskLevel: "high"}, nil
}

func quiet(o Options) Options {
	o.Name = "test"
	o.Log = slog.New(slog.DiscardHandler)
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.ResponseConfig == "" {
		o.ResponseConfig = "testdata/minimal.json"
	}
	return o
}

// served is the tool as the SDK calls it, without its transport.
func handler(t testing.TB, o Options) (mcp.ToolHandler, *declared) {
	t.Helper()
	s, err := NewServer(quiet(o))
	if err != nil {
		t.Fatal(err)
	}
	d, err := declare[scanInput, scanOutput](s, Tool{Name: "security_scan", Version: "3.3.0"})
	if err != nil {
		t.Fatal(err)
	}
	d.body = bodyOf(d, scan)
	return d.serve, d
}

func scanRequest() *mcp.CallToolRequest {
	return &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{
		Name: "security_scan", Arguments: json.RawMessage(`{"path":"a.py","depth":3}`),
	}}
}

// What the envelope costs a call is the difference between the two.
func BenchmarkCall(b *testing.B) {
	b.Run("in the envelope", func(b *testing.B) {
		serve, _ := handler(b, Options{Tier: Pro})
		req := scanRequest()
		serve(b.Context(), req) // loads what tokens are counted with
		b.ReportAllocs()
		for b.Loop() {
			if _, err := serve(b.Context(), req); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("without usage", func(b *testing.B) {
		serve, _ := handler(b, Options{Tier: Pro, NoUsage: true})
		req := scanRequest()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := serve(b.Context(), req); err != nil {
				b.Fatal(err)
			}
		}
	})
	// A function that reads its arguments and writes its answer by itself.
	b.Run("bare", func(b *testing.B) {
		_, d := handler(b, Options{Tier: Pro})
		req := scanRequest()
		call := NewCall(d.tool, Pro, "")
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.body(b.Context(), call, req.Params.Arguments); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// What the SDK and its transport add, for comparison.
func BenchmarkCallOverMCP(b *testing.B) {
	s, err := NewServer(quiet(Options{Tier: Pro}))
	if err != nil {
		b.Fatal(err)
	}
	addSeed(s)
	here, there := mcp.NewInMemoryTransports()
	go s.Serve(b.Context(), there)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), here, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.CallTool(b.Context(), &mcp.CallToolParams{Name: "security_scan", Arguments: args{"path": "a.py"}}); err != nil {
			b.Fatal(err)
		}
	}
}

// The aim is 10 allocations for all that a call needs, with its arguments and
// its data.
func TestAllocations(t *testing.T) {
	serve, _ := handler(t, Options{Tier: Pro})
	req := scanRequest()
	n := testing.AllocsPerRun(1000, func() {
		if _, err := serve(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	})
	if n > 10 && !raceEnabled { // the detector allocates, too
		t.Errorf("%v allocations", n)
	}
}

// Nothing of a call stays behind, whatever it was like.
func TestMemoryIsFlat(t *testing.T) {
	serve, _ := handler(t, Options{Tier: Pro})
	calls := func(n int) {
		for i := range n {
			req := scanRequest()
			switch i % 4 {
			case 1:
				req.Params.Meta = mcp.Meta{"request_id": fmt.Sprintf("%0*d", 1+i%100, i)}
			case 2:
				req.Params.Arguments = fmt.Appendf(nil, `{"path":"%0*d"}`, 1+i%5000, i)
			case 3:
				req.Params.Arguments = fmt.Appendf(nil, `{"odd%d":1}`, i)
			}
			if _, err := serve(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
	}
	calls(1000)
	before := heap()
	calls(10_000)
	if grown := heap() - before; grown > 256<<10 {
		t.Errorf("%d bytes more after 10,000 calls", grown)
	}
}

// heap is what is reachable, pools aside.
func heap() int64 {
	runtime.GC()
	runtime.GC() // the first moves what pools hold to their victims
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
