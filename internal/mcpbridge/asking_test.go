package mcpbridge

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addAskingTools adds tools that want to know something of the client: in the
// way of the legacy era sample, elicit and roots, in that of the modern one
// inputs, model and endless.
func addAskingTools(s *mcp.Server) {
	tool := func(name string, run mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, run)
	}
	say := func(format string, args ...any) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
	}
	//lint:ignore SA1019 servers ask for samples, and will for years
	model := &mcp.CreateMessageParams{MaxTokens: 10, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "?"}}}}
	form := &mcp.ElicitParams{Message: "who?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"who": map[string]any{"type": "string"}}}}
	tool("sample", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		//lint:ignore SA1019 servers ask for samples, and will for years
		r, err := req.Session.CreateMessage(ctx, model)
		if err != nil {
			return say("%v", err), nil
		}
		return say("%s", r.Content.(*mcp.TextContent).Text), nil
	})
	tool("elicit", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r, err := req.Session.Elicit(ctx, form)
		if err != nil {
			return say("%v", err), nil
		}
		return say("%s %v", r.Action, r.Content["who"]), nil
	})
	tool("roots", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		//lint:ignore SA1019 servers ask for roots, and will for years
		r, err := req.Session.ListRoots(ctx, nil)
		if err != nil {
			return say("%v", err), nil
		}
		return say("%s", r.Roots[0].URI), nil
	})
	sampled := func(req *mcp.CallToolRequest) string {
		//lint:ignore SA1019 servers ask for samples, and will for years
		r, ok := req.Params.InputResponses["model"].(*mcp.CreateMessageWithToolsResult)
		if !ok {
			return ""
		}
		return r.Content[0].(*mcp.TextContent).Text
	}
	tool("inputs", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, ok := req.Params.InputResponses["form"].(*mcp.ElicitResult)
		if !ok {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"form": form, "model": model}, RequestState: "theirs"}, nil
		}
		return say("%s %s %s", req.Params.RequestState, answer.Action, sampled(req)), nil
	})
	tool("model", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if text := sampled(req); text != "" {
			return say("%s", text), nil
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"model": model}}, nil
	})
	tool("endless", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"model": model}, RequestState: req.Params.RequestState + "x"}, nil
	})
}
