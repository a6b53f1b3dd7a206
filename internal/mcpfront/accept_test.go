package mcpfront_test

import (
	"net/http"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/mcpfront"
)

// What somebody accepts, clients have to look at anew.
func TestAcceptedToolIsAChange(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	tools := []gateway.Tool{{Name: "write", Definition: jsontext.Value(`{"name":"write"}`)}}
	if err := s.g.ToolsListed(t.Context(), "demo", "files", tools); err != nil {
		t.Fatal(err)
	}
	st := s.open(request{method: http.MethodGet, headers: []string{s.session("/mcp/demo", "agent", `{}`)}})
	<-st.events // without a message, but with an id
	accept := &parley.Envelope{Kind: parley.KindAcceptTool, Payload: jsontext.Value(`{"participant":"files","tool":"write"}`)}
	if _, err := s.join("boss", client.Options{}).Send(t.Context(), accept); err != nil {
		t.Fatal(err)
	}
	for member(t, st.next().data, "method") != "notifications/tools/list_changed" {
	}
}
