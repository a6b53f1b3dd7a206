package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json" // the SDK's
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/built"
	"github.com/parleyhq/parley/tool"
)

func TestMain(m *testing.M) { built.Main(m) }

// programs are what is built for the tests.
var programs = map[string]string{"reviewer": ".", "parley": "../../cmd/parley"}

func program(t *testing.T, name string) string { return built.Program(t, programs[name]) }

// patience is how long a test may take. The critic does not think.
const patience = time.Minute

// patient is a context for a whole test, which begins when everything is built. Unlike the
// test's own it lasts until what was begun with it has been ended.
func patient(t *testing.T) context.Context {
	t.Helper()
	for name := range programs {
		program(t, name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// served is a folder of two files.
func served(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a\n", "b.go": "package b\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var named = map[string]any{"files": []any{map[string]any{"path": "a.go"}, map[string]any{"path": "b.go"}, map[string]any{"path": "c.go"}}}

func newCritic() *critic {
	return &critic{opinions: map[string]string{"a.go": finds(1, note, "short"), "b.go": fine}, summary: "Fine."}
}

func (e envelope) check(t *testing.T, c *critic) {
	t.Helper()
	if c.fault != nil || e.Error.Code != "" || e.Data.Summary != "Fine." || e.Data.Counts != (counts{Files: 3, Reviewed: 2, LeftOut: 1, Notes: 1}) ||
		!slices.Equal(e.Data.Findings, []finding{{"a.go", 1, note, "short"}}) || !slices.Equal(reasons(e.Data.LeftOut), []string{"c.go not_found"}) {
		t.Errorf("%v, %+v", c.fault, e)
	}
}

// environment is without configuration of the machine's.
func environment(dir string) []string {
	return append(os.Environ(), "PARLEY_RESPONSE=", "SCALPEL_MCP_INFO=", "PARLEY_RESPONSE_CONFIG=", "PARLEY_LICENCE=", "XDG_CONFIG_HOME="+dir)
}

// Clients of both eras have files reviewed by the program as it is run.
func TestClients(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			ctx := patient(t)
			c := newCritic()
			sdk := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				//lint:ignore SA1019 servers ask for samples, and will for years
				CreateMessageWithToolsHandler: func(_ context.Context, req *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
					raw, err := json.Marshal(req.Params)
					if err == nil {
						raw, err = c.answer(raw)
					}
					//lint:ignore SA1019 servers ask for samples, and will for years
					var result mcp.CreateMessageWithToolsResult
					return &result, errors.Join(err, json.Unmarshal(raw, &result))
				},
			})
			var log bytes.Buffer
			cmd := exec.Command(program(t, "reviewer"), "-dir", served(t))
			cmd.Dir, cmd.Stderr = t.TempDir(), &log
			cmd.Env = environment(cmd.Dir)
			s, err := sdk.Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatalf("%v\n%s", err, &log)
			}
			res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: declaration.Name, Arguments: named})
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(res.StructuredContent)
			if err != nil {
				t.Fatal(err)
			}
			decode(t, raw).check(t, c)
			if err := s.Close(); err != nil || !cmd.ProcessState.Success() {
				t.Errorf("%v, %v\n%s", err, cmd.ProcessState, &log)
			}
		})
	}
}

const config = `
listen: 127.0.0.1:0
spaces:
  office:
    participants:
      caller: {token: token-of-caller, capabilities: ["mcp/request:*"]}
      model:  {token: token-of-model, capabilities: ["mcp/response:*"], serves: [sampling]}
    mcp_servers:
      legacy: {command: %[1]q, args: [-dir, %[2]q], era: legacy}
      modern: {command: %[1]q, args: [-dir, %[2]q], era: modern}
`

// openRoom starts a gateway with the reviewer as a server of both eras.
func openRoom(t *testing.T, ctx context.Context) (url string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, config, program(t, "reviewer"), served(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program(t, "parley"), "up", "--config", path, "--json")
	cmd.Dir, cmd.Env = dir, environment(dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	t.Cleanup(func() {
		_ = cmd.Cancel()
		for lines.Scan() { // until it has closed its end
		}
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("parley up ended with %v, and said\n%s", err, &log)
		}
	})
	for ready := 0; ready < 2; {
		if !lines.Scan() {
			t.Fatalf("parley up ended before it was ready: %v", lines.Err())
		}
		switch event, _ := parley.MemberString(lines.Bytes(), "event"); event {
		case "listening":
			url, _ = parley.MemberString(lines.Bytes(), "url")
		case "ready":
			ready++
		}
	}
	return url
}

// In a room the review is a context of its type, with one inside for each file.
func TestRoom(t *testing.T) {
	ctx := patient(t)
	url := openRoom(t, ctx)
	for _, server := range []string{"legacy", "modern"} {
		t.Run(server, func(t *testing.T) {
			c := newCritic()
			reviewIn(ctx, t, url, server, c).check(t, c)

			api, err := client.NewAPI(url, &client.Options{Token: "token-of-caller", Space: "office"})
			if err != nil {
				t.Fatal(err)
			}
			parents := map[string]string{} // of contexts, by id
			var files []string
			for r, err := range api.Contexts(ctx, &client.ContextQuery{Type: reasoning, Opener: server}) {
				if err != nil {
					t.Fatal(err)
				}
				parents[r.ID] = r.Parent
				if file, ok := parley.MemberString(r.Metadata, "file"); ok {
					files = append(files, file)
				}
			}
			if slices.Sort(files); !slices.Equal(files, []string{"a.go", "b.go"}) || len(parents) != 3 {
				t.Errorf("there are contexts for %q: %v", files, parents)
			}
			for id, parent := range parents {
				if grand, known := parents[parent]; parent != "" && (!known || grand != "") {
					t.Errorf("%s lies in %q: %v", id, parent, parents)
				}
			}
		})
	}
}

// Where the model refuses one file, the others have their reviews.
func TestRefusedInARoom(t *testing.T) {
	ctx := patient(t)
	url := openRoom(t, ctx)
	for _, server := range []string{"legacy", "modern"} {
		c := newCritic()
		c.opinions["b.go"] = ""
		e := reviewIn(ctx, t, url, server, c)
		if e.Error.Code != "" || e.Data.Counts.Reviewed != 1 || len(e.Data.Findings) != 1 || !slices.Contains(reasons(e.Data.LeftOut), "b.go declined") {
			t.Errorf("%s: %v, %+v", server, c.fault, e)
		}
	}
}

// reviewIn is what a server in the room answers while a critic is its model.
func reviewIn(ctx context.Context, t *testing.T, url, server string, c *critic) envelope {
	t.Helper()
	model, err := client.Dial(ctx, url, &client.Options{Token: "token-of-model", Space: "office", Handler: func(_ context.Context, q *client.Request) (any, error) {
		answer, err := c.answer(q.Params)
		if no, ok := errors.AsType[*tool.PeerError](err); ok {
			return nil, &client.RPCError{Code: no.Code, Message: no.Message, Data: no.Data}
		}
		return answer, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	caller, err := client.Dial(ctx, url, &client.Options{Token: "token-of-caller", Space: "office"})
	if err != nil {
		t.Fatal(err)
	}
	defer caller.Close()
	reply, err := caller.Request(ctx, server, "tools/call", map[string]any{"name": declaration.Name, "arguments": named})
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, parley.Member(reply.Result, "structuredContent"))
}
