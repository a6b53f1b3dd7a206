package main

import (
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/mcpbridge"
)

// bridgeServer is what a configuration says of an MCP server, as the bridge
// takes it.
func bridgeServer(m *config.MCPServer) mcpbridge.Server {
	return mcpbridge.Server{
		Command: m.Command,
		Args:    m.Args,
		Env:     reveal(m.Env),
		Dir:     m.Dir,
		URL:     m.URL,
		Headers: reveal(m.Headers),
	}
}

func reveal(secrets map[string]config.Secret) map[string]string {
	if secrets == nil {
		return nil
	}
	plain := make(map[string]string, len(secrets))
	for name, s := range secrets {
		plain[name] = s.Reveal()
	}
	return plain
}
