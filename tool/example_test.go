package tool_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley/tool"
)

type greetInput struct {
	Name  string `json:"name" jsonschema:"whom to greet"`
	Times int    `json:"times,omitempty" jsonschema:"how often; 1 by default" minimum:"1" maximum:"9"`
}

type greetOutput struct {
	Greeting string `json:"greeting"`
	Times    int    `json:"times"`
}

func greet(ctx context.Context, call *tool.Call, in greetInput) (greetOutput, error) {
	if in.Name == "Voldemort" {
		return greetOutput{}, tool.Errorf(tool.Forbidden, "we do not speak of him")
	}
	return greetOutput{"Hello, " + in.Name + "!", call.Clamp("max_times", max(in.Times, 1))}, nil
}

func ExampleAdd() {
	server, err := tool.NewServer(tool.Options{
		Name: "greeter", Version: "1.2.0", Tier: tool.Community,
		// So that nobody's own configuration changes what is printed below.
		ResponseConfig: "testdata/minimal.json", Getenv: func(string) string { return "" }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	tool.Add(server, tool.Tool{
		Name:        "greet",
		Description: "Greet somebody.",
		Limits:      []tool.Limit{{Name: "max_times", Community: 2, Pro: 9, Enterprise: 9}},
		Annotations: tool.Annotations{ReadOnly: true, ClosedWorld: true},
	}, greet)

	// A program ends with server.Run(ctx). Here the client is in the same one.
	ctx, stop := context.WithCancel(context.Background())
	here, there := mcp.NewInMemoryTransports()
	done := make(chan error)
	go func() { done <- server.Serve(ctx, there) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	session, err := client.Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, arguments := range []map[string]any{
		{"name": "Ada"},
		{"name": "Ada", "times": 5},
		{"name": "Voldemort"},
		{"nam": "Ada"},
	} {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "greet", Arguments: arguments})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(res.IsError, res.Content[0].(*mcp.TextContent).Text)
	}
	session.Close()
	stop()
	if err := <-done; err != nil {
		log.Fatal(err)
	}
	// Output:
	// false {"data":{"greeting":"Hello, Ada!","times":1}}
	// false {"upgrade_hints":[{"feature":"max_times","tier":"pro","reason":"max_times was clamped from 5 to 2, the most that the community tier has"}],"data":{"greeting":"Hello, Ada!","times":2}}
	// true {"error":{"error":"we do not speak of him","error_code":"forbidden"}}
	// true {"error":{"error":"unknown argument \"nam\"; there are \"name\", \"times\"","error_code":"invalid_argument","error_details":{"argument":"nam","expected":"\"name\", \"times\"","got":"an unknown name"}}}
}

// A function can be called without a server, as its tests do.
func ExampleNewCall() {
	search := tool.Tool{
		Name:     "search",
		Features: []tool.Feature{{Name: "cross_file", Tier: tool.Pro, Reason: "follows a symbol into other files"}},
	}
	run := func(call *tool.Call) error { return call.Require("cross_file") }

	fmt.Println(run(tool.NewCall(search, tool.Pro, "")))
	err := run(tool.NewCall(search, tool.Community, ""))
	fmt.Println(err)
	if e, ok := errors.AsType[*tool.Error](err); ok {
		fmt.Println(e.Hints)
	}
	// Output:
	// <nil>
	// upgrade_required: cross_file: the pro tier is needed, this is community
	// [{cross_file pro follows a symbol into other files}]
}
