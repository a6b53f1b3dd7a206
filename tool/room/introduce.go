package room

import (
	"context"
	"encoding/json" // the SDK's

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	wire "github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/tool"
)

// introduce is what the server answers to initialize, of the era in which a server
// asks while a call goes on.
func introduce(ctx context.Context, server *tool.Server) (jsontext.Value, error) {
	here, there := mcp.NewInMemoryTransports()
	session, err := server.MCP().Connect(ctx, there, nil)
	if err != nil {
		return nil, err
	}
	who := mcp.NewClient(&mcp.Implementation{Name: "parley", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	asked, err := who.Connect(ctx, here, &mcp.ClientSessionOptions{ProtocolVersion: wire.LegacyVersions[0]})
	if err != nil {
		return nil, err
	}
	about, err := json.Marshal(asked.InitializeResult())
	asked.Close()
	_ = session.Wait() // its end is ours
	return about, err
}
