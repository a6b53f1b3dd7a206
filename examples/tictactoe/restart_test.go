package main

import (
	"context"
	"encoding/json" // the SDK's
	"os"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A game that is kept goes on, after each of its questions, with another process:
// the one before was killed, or has ended since its client left. Nobody is asked
// twice.
func TestRestarts(t *testing.T) {
	ctx := patient(t)
	g := everyClientPlays["nobody wins"]
	p, runs := g.players(), t.TempDir()
	params := &mcp.CallToolParams{Name: declaration.Name, Arguments: g.arguments()}
	for round := 0; ; round++ {
		res := oneRound(t, ctx, sdkClient(p, g), runs, round%2 == 0, params)
		if res.InputRequests == nil {
			envelope, err := json.Marshal(res.StructuredContent)
			if err != nil || round != g.asked+g.forms {
				t.Errorf("after %d rounds: %v", round, err)
			}
			g.check(t, p, envelope)
			return
		}
		params = goOn(t, p, params, res)
	}
}

// oneRound makes one request of a process of its own.
func oneRound(t *testing.T, ctx context.Context, c *mcp.Client, runs string, kill bool, params *mcp.CallToolParams) *mcp.CallToolResult {
	t.Helper()
	cmd := exec.Command(program(t, "tictactoe"), "-runs", runs)
	cmd.Dir, cmd.Stderr = t.TempDir(), os.Stderr
	cmd.Env = environment(cmd.Dir)
	s, err := c.Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: modern})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if kill {
			_ = cmd.Process.Kill()
		}
		if err := s.Close(); (err == nil) == kill {
			t.Errorf("the process ended with %v", err)
		}
	}()
	res, err := s.CallTool(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
