package soak

import (
	"fmt"
	"path/filepath"
	"strings"
)

// The spaces.
const (
	keeps = "kept"  // everything
	drops = "small" // nearly everything it has, and has small limits
)

const (
	fileServer   = "files"   // the bridged MCP server
	retainBytes  = 256 << 10 // of the small space
	smallMessage = 4 << 10   // bytes of the largest envelope there
	largeMessage = 64 << 10  // and in the other
)

// cast is who may come into each space.
var cast = []struct{ id, capabilities string }{
	{"ann", `[chat, "acme/*", reflection]`},
	{"bob", `[chat, "acme/*", reflection]`},
	{"poster", `[chat, "acme/*"]`},
	{"guest", `[]`},
	{"dawdler", `[]`},
	{"reader", `[]`},
	{"proposer", `["mcp/proposal:*"]`},
	{"boss", `["mcp/*", "capability/*", "space/*", "acme/*"]`},
	{"caller", `["mcp/request:*"]`},
	{"novice", `[chat]`},
	{"rude", `[chat, "mcp/response:*"]`},
	{"weaver", `[chat]`},
	{"twin", `[chat]`},
	{"aloof", `[]`},
}

// token is one that is never kept out, whoever guesses from the same address.
func token(who string) string { return "a-token-that-nobody-guesses-of-" + who }

// configuration is what the gateway is started with.
func configuration(program, dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "listen: 127.0.0.1:0\njournal: {path: %q, sync: normal}\nspaces:\n", filepath.Join(dir, "parley.db"))
	fmt.Fprintf(&b, "  %s:\n    limits: {envelope_bytes: %d, proposal_ttl: 1s, call_timeout: 5s, context_idle: 2s}\n", keeps, largeMessage)
	people(&b, program, dir)
	fmt.Fprintf(&b, "  %s:\n    retention: {size: %d}\n", drops, retainBytes)
	fmt.Fprintf(&b, "    limits: {envelope_bytes: %d, nesting: 16, connections: 28, participants: 20, history: 20, lag_envelopes: 8, "+
		"lag_bytes: 16KiB, rate: 40, burst: 40, open_proposals: 2, proposal_ttl: 500ms, call_timeout: 2s, "+
		"context_idle: 1s, context_rate: 15, context_depth: 3, open_contexts: 12, context_metadata_bytes: 512}\n", smallMessage)
	people(&b, program, dir)
	return b.String()
}

func people(b *strings.Builder, program, dir string) {
	b.WriteString("    participants:\n")
	for _, p := range cast {
		fmt.Fprintf(b, "      %s: {token: %q, capabilities: %s}\n", p.id, token(p.id), p.capabilities)
	}
	fmt.Fprintf(b, "    mcp_servers:\n      %s: {command: %q, args: [tools, files, %q]}\n", fileServer, program, filesDir(dir))
}
