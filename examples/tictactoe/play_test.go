package main

import (
	"bytes"
	"context"
	"encoding/json" // the SDK's
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley/internal/built"
)

func TestMain(m *testing.M) { built.Main(m) }

// programs are what is built for the tests.
var programs = map[string]string{"tictactoe": ".", "parley": "../../cmd/parley"}

func program(t *testing.T, name string) string { return built.Program(t, programs[name]) }

// environment is without configuration of the machine's.
func environment(dir string) []string {
	return append(os.Environ(), "PARLEY_RESPONSE=", "SCALPEL_MCP_INFO=", "PARLEY_RESPONSE_CONFIG=", "PARLEY_LICENCE=", "XDG_CONFIG_HOME="+dir)
}

// patience is how long a game may take. The players do not think.
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

// The eras of MCP: in the first the server asks by requests of its own, in the
// second by what it answers.
const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// The game is played by clients of both eras, against the program as it is run.
func TestClients(t *testing.T) {
	player := program(t, "tictactoe")
	for _, version := range []string{legacy, modern} {
		for name, g := range everyClientPlays {
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				ctx := patient(t)
				p := g.players()
				s := connect(t, ctx, player, version, sdkClient(p, g))
				g.check(t, p, play(t, ctx, s, p, g.arguments()))
			})
		}
	}
}

// connect starts the program, and connects a client of the SDK.
func connect(t *testing.T, ctx context.Context, program, version string, c *mcp.Client) *mcp.ClientSession {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(program)
	cmd.Dir, cmd.Stderr = t.TempDir(), &log
	cmd.Env = environment(cmd.Dir)
	s, err := c.Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil || !cmd.ProcessState.Success() {
			t.Errorf("%v, %v\n%s", err, cmd.ProcessState, &log)
		}
	})
	if got := s.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("the client speaks %s, want %s", got, version)
	}
	return s
}

// most is how many questions of the second era the SDK's client goes along with by
// itself. A game has more where somebody errs.
const most = 9

// sdkClient is a client that asks the players.
func sdkClient(p *players, g scripted) *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: g.asked+g.forms > most},
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return elicited(p, req.Params)
		},
		//lint:ignore SA1019 servers ask for samples, and will for years
		CreateMessageWithToolsHandler: func(_ context.Context, req *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			return sampled(p, req.Params)
		},
	})
}

// sampled has the model answer, by way of the SDK's types.
//
//lint:ignore SA1019 servers ask for samples, and will for years
func sampled(p *players, params *mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error) {
	raw, err := json.Marshal(params)
	if err == nil {
		raw, err = p.sample(raw)
	}
	//lint:ignore SA1019 servers ask for samples, and will for years
	var result mcp.CreateMessageWithToolsResult
	return &result, errors.Join(err, json.Unmarshal(raw, &result))
}

func elicited(p *players, params *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	raw, err := json.Marshal(params)
	if err == nil {
		raw, err = p.elicit(raw)
	}
	var result mcp.ElicitResult
	return &result, errors.Join(err, json.Unmarshal(raw, &result))
}

// play calls the tool. Where the client leaves that to us, it goes on with the
// call as long as the tool asks.
func play(t *testing.T, ctx context.Context, s *mcp.ClientSession, p *players, arguments map[string]any) jsontext.Value {
	t.Helper()
	params := &mcp.CallToolParams{Name: declaration.Name, Arguments: arguments}
	for {
		res, err := s.CallTool(ctx, params)
		if err != nil {
			t.Fatal(err)
		}
		if res.InputRequests == nil {
			envelope, err := json.Marshal(res.StructuredContent)
			if err != nil || res.IsError {
				t.Fatalf("answered %s, %v", envelope, err)
			}
			return envelope
		}
		params = goOn(t, p, params, res)
	}
}

// goOn is the next request of a call that was answered with questions.
func goOn(t *testing.T, p *players, params *mcp.CallToolParams, res *mcp.CallToolResult) *mcp.CallToolParams {
	t.Helper()
	next := &mcp.CallToolParams{Name: params.Name, Arguments: params.Arguments, RequestState: res.RequestState, InputResponses: mcp.InputResponseMap{}}
	for id, request := range res.InputRequests {
		var err error
		if next.InputResponses[id], err = answered(p, request); err != nil {
			t.Fatal(err)
		}
	}
	return next
}

func answered(p *players, request mcp.InputRequest) (mcp.InputResponse, error) {
	switch params := request.(type) {
	case *mcp.ElicitParams:
		return elicited(p, params)
	//lint:ignore SA1019 servers ask for samples, and will for years
	case *mcp.CreateMessageWithToolsParams:
		return sampled(p, params)
	}
	return nil, fmt.Errorf("nobody answers %T", request)
}
