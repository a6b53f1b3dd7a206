package mcpfront_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bearer adds a participant's token to what a client sends.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// TestOversizedForSDK holds that the official SDK's client gets along with a cut
// result of a tool that has a schema, and reads all of it, in both eras.
func TestOversizedForSDK(t *testing.T) {
	t.Parallel()
	s := budgeted(t, 400)
	web := &http.Client{Transport: bearer{"token-agent"}}
	defer web.CloseIdleConnections()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		c := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
		session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.url + "/mcp/demo", HTTPClient: web, DisableStandaloneSSE: true}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		for tool, err := range session.Tools(t.Context(), nil) {
			if err != nil || tool.OutputSchema != nil {
				t.Errorf("%s: %v %+v", version, err, tool)
			}
		}
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "files__write", Arguments: map[string]any{"text": lines(200)}})
		if err != nil || r.StructuredContent != nil || r.IsError || len(r.Content) != 2 {
			t.Fatalf("%s: %v %+v", version, err, r)
		}
		cut, _ := r.Meta["parley/result"].(map[string]any)
		read, next := r.Content[0].(*mcp.TextContent).Text, cut["given"]
		for n := 0; next != nil && n < 100; n++ {
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "parley__result", Arguments: map[string]any{"handle": cut["handle"], "offset": next}})
			if err != nil || r.IsError || len(r.Content) != 2 {
				t.Fatalf("%s: %v %+v", version, err, r)
			}
			read += r.Content[0].(*mcp.TextContent).Text
			page, _ := r.Meta["parley/result"].(map[string]any)
			after, _ := page["next"].(map[string]any)
			next = after["offset"]
		}
		if !strings.HasPrefix(read, "{") || !strings.Contains(read, `"name":"write","arguments":{"text":"1: the quick`) || !strings.Contains(read, `\n200: the quick brown fox 🦊 jumps over the lazy dog\n`) || !strings.HasSuffix(read, "}}") {
			t.Errorf("%s: %d bytes were read: %.200q…", version, len(read), read)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}
