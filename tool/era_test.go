package tool

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The eras of MCP differ in how a client introduces itself. What tools are and
// how they answer is the same in all of them.
func TestEras(t *testing.T) {
	definitions := map[string]bool{}
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			r := newRoom(t, Options{Tier: Pro}, addSeed)
			r.connectAs(version)
			if got := r.client.InitializeResult().ProtocolVersion; got != version {
				t.Fatalf("speaks %s", got)
			}
			list, err := r.client.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			definitions[string(asJSON(t, list.Tools))] = true
			r.want("security_scan", args{"path": "a.py"}, `{"data":{"risk_level":"high","vulnerabilities":[]}}`)
			r.want("extract_code", args{"path": "a.py"}, `{"error":{"error":"File not found: a.py","error_code":"not_found"}}`)
			res := r.ask(&mcp.CallToolParams{Name: "extract_code", Arguments: args{"path": "a.py"}, Meta: mcp.Meta{"request_id": "r 1"}})
			if got, failed := r.envelope(res); !failed || !strings.HasPrefix(got, `{"request_id":"r 1",`) {
				t.Errorf("isError %v: %s", failed, got)
			}
			if res.Meta[usageKey] == nil {
				t.Errorf("_meta lacks the usage: %v", res.Meta)
			}
			if _, err := r.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "nobody"}); err == nil {
				t.Error("there is a tool of any name")
			}
		})
	}
	if len(definitions) != 1 {
		t.Errorf("%d definitions: %v", len(definitions), definitions)
	}
}

// A client of 2026-07-28 that asks before it has introduced itself, line by line.
func TestModernLines(t *testing.T) {
	s, err := NewServer(quiet(Options{Tier: Pro, NoUsage: true, Version: "3.3.0"}))
	if err != nil {
		t.Fatal(err)
	}
	addSeed(s)
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context(), &mcp.IOTransport{Reader: theirIn, Writer: theirOut}) }()
	lines := bufio.NewScanner(out)
	const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`
	const from = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"3.3.0"}}`
	for _, c := range []struct{ method, params, answer string }{
		{"tools/call", `"name":"security_scan","arguments":{"path":"a.py"},"_meta":{"request_id":"é 1",` + meta + `}`,
			`"result":{` + from + `,"content":[{"type":"text","text":"{\"request_id\":\"é 1\",\"data\":{\"risk_level\":\"high\",\"vulnerabilities\":[]}}"}],` +
				`"structuredContent":{"request_id":"é 1","data":{"risk_level":"high","vulnerabilities":[]}},"resultType":"complete"}`},
		{"tools/call", `"name":"extract_code","arguments":{"path":"a.py"},"_meta":{` + meta + `}`,
			`"result":{` + from + `,"content":[{"type":"text","text":"{\"error\":{\"error\":\"File not found: a.py\",\"error_code\":\"not_found\"}}"}],` +
				`"structuredContent":{"error":{"error":"File not found: a.py","error_code":"not_found"}},"isError":true,"resultType":"complete"}`},
		{"server/discover", `"_meta":{` + meta + `}`,
			`"result":{"resultType":"complete",` + from + `,"ttlMs":0,"cacheScope":"public",` +
				`"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"logging":{},"tools":{}}}`},
		{"tools/call", `"name":"nobody","_meta":{` + meta + `}`, `"error":{"code":-32602,"message":"unknown tool \"nobody\""}`},
	} {
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`+"\n", c.method, c.params); err != nil {
			t.Fatal(err)
		}
		if lines.Scan(); lines.Text() != `{"jsonrpc":"2.0","id":1,`+c.answer+`}` {
			t.Errorf("%s %s\n got %s\nwant %s", c.method, c.params, lines.Text(), c.answer)
		}
	}
	in.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
