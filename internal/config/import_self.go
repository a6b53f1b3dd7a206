package config

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
)

// isParley reports whether a server is the way into a room: parley mcp, or an MCP
// endpoint of this gateway. Who has set up a client for a room finds it in the same
// file as the servers.
func (im *importer) isParley(keys map[string]value) bool {
	if command := keys["command"].plainText(); command != "" {
		program := strings.TrimSuffix(filepath.Base(filepath.ToSlash(command)), ".exe")
		args := keys["args"]
		return program == "parley" && args.given() && args.kind == listNode && args.node.items[0].text == "mcp"
	}
	return isOwnMCP(keys["url"].plainText(), im.listen)
}

// isOwnMCP reports whether a URL is an MCP endpoint of the gateway that listens
// there.
func isOwnMCP(text, listen string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Path != "/mcp" && !strings.HasPrefix(u.Path, "/mcp/") {
		return false
	}
	host, port, err := net.SplitHostPort(listen)
	return err == nil && u.Port() == port && (u.Hostname() == host || loopback(u.Hostname()))
}
