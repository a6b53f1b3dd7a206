package filetool_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley/internal/filetool"
)

func ExampleNew() {
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	server, err := filetool.New(dir, nil)
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	here, there := mcp.NewInMemoryTransports()
	serving, err := server.Connect(ctx, there, nil)
	if err != nil {
		log.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	session, err := client.Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer serving.Wait()
	defer session.Close()

	for _, call := range []*mcp.CallToolParams{
		{Name: "write_file", Arguments: map[string]any{"path": "notes/today.md", "content": "Tea at four.\n"}},
		{Name: "list_directory", Arguments: map[string]any{"path": "notes"}},
		{Name: "read_file", Arguments: map[string]any{"path": "../secret"}},
	} {
		res, err := session.CallTool(ctx, call)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(res.Content[0].(*mcp.TextContent).Text)
	}
	// Output:
	// created notes/today.md, 13 bytes
	// [FILE] today.md
	// forbidden: "../secret" leads out of the folder
	// write a path that stays below the folder, such as "notes/today.md"
}
