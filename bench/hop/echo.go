package main

import (
	"context"
	"flag"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type echoed struct {
	Text string `json:"text"`
}

// echoCommand is the server: over stdio, or over HTTP where it is given an address.
func echoCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("hop echo", flag.ContinueOnError)
	address := flags.String("http", "", "the `address` to listen on; stdio without one")
	if err := flags.Parse(args); err != nil {
		return err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Returns what it is given"},
		func(_ context.Context, _ *mcp.CallToolRequest, in echoed) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
		})
	if *address == "" {
		return server.Run(ctx, &mcp.StdioTransport{})
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	listener := &http.Server{Addr: *address, Handler: handler, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	return listener.ListenAndServe()
}
