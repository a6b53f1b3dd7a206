package nearest

import (
	"strings"
	"testing"
)

func TestTo(t *testing.T) {
	known := []string{"enforcement", "mcp_servers", "participants", "limits", "protocol", strings.Repeat("k", 64)}
	for wrote, meant := range map[string]string{
		"enforcment": "enforcement", "mcpServers": "mcp_servers", "MCP-Server": "mcp_servers", "particpants": "participants",
		"limit": "limits", "protocoll": "protocol", "rpotocol": "protocol", "limtis": "limits", "banana": "", "": "", "x": "",
		strings.Repeat("k", 63): strings.Repeat("k", 64), strings.Repeat("k", 65): "",
	} {
		if got := To(wrote, known); got != meant {
			t.Errorf("%q is near %q, want %q", wrote, got, meant)
		}
	}
	if got := To("aab", []string{strings.Repeat("a", 65), "aaa", "aac"}); got != "aaa" {
		t.Errorf("of two that are as near, %q", got)
	}
}

func TestSame(t *testing.T) {
	if !Same("mcpServers", "MCP-servers") || Same("mcp_server", "mcp_servers") {
		t.Error("spellings are told apart, or words are not")
	}
}
