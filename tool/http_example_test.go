package tool_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http/httptest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley/tool"
)

func ExampleServer_Handler() {
	server, err := tool.NewServer(tool.Options{
		Name: "greeter", ResponseConfig: "testdata/minimal.json", Getenv: func(string) string { return "" }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	tool.Add(server, tool.Tool{Name: "greet"}, func(context.Context, *tool.Call, struct{}) (string, error) { return "Hello!", nil })

	handler := server.Handler(tool.HandlerOptions{})
	web := httptest.NewServer(handler) // a program has an http.Server
	defer web.Close()
	defer handler.Close()

	// Old clients and new ones find it under the same address.
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		client := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil)
		session, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: web.URL}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			log.Fatal(err)
		}
		result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "greet"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(version, result.Content[0].(*mcp.TextContent).Text)
		session.Close()
	}
	// Output:
	// 2025-11-25 {"data":"Hello!"}
	// 2026-07-28 {"data":"Hello!"}
}
