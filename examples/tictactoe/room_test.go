package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// room is a gateway, as "parley up" runs it, with the game as a server of both
// eras, a participant who calls it, and two who play.
type room struct {
	url     string
	players atomic.Pointer[players] // of the game under way
}

const config = `
listen: 127.0.0.1:0
spaces:
  club:
    participants:
      caller: {token: token-of-caller, capabilities: ["mcp/request:*"]}
      model:  {token: token-of-model, capabilities: ["mcp/response:*"], serves: [sampling]}
      human:  {token: token-of-human, capabilities: ["mcp/response:*"], serves: [elicitation]}
      reader: {token: token-of-reader}
    mcp_servers:
      legacy: {command: %[1]q, era: legacy}
      modern: {command: %[1]q, era: modern}
`

// open starts the gateway. It is there, with its servers, when open returns.
func (r *room) open(t *testing.T, ctx context.Context, config string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program(t, "parley"), "up", "--config", path, "--json")
	cmd.Dir = dir
	cmd.Env = environment(dir)
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
	for ready, servers := 0, strings.Count(config, "{command: "); ready < servers; {
		if !lines.Scan() {
			t.Fatalf("parley up ended before it was ready: %v", lines.Err())
		}
		switch event, _ := parley.MemberString(lines.Bytes(), "event"); event {
		case "listening":
			r.url, _ = parley.MemberString(lines.Bytes(), "url")
		case "ready":
			ready++
		}
	}
}

// join joins as a participant who answers requests.
func (r *room) join(t *testing.T, ctx context.Context, id string, h client.Handler) *client.Room {
	t.Helper()
	in, err := client.Dial(ctx, r.url, &client.Options{Token: "token-of-" + id, Space: "club", Handler: h})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// answers is a participant who answers requests of one method.
func (r *room) answers(method string, answer func(*players, jsontext.Value) (jsontext.Value, error)) client.Handler {
	return func(_ context.Context, q *client.Request) (any, error) {
		if q.Kind.Method != method {
			return nil, &client.RPCError{Code: client.CodeMethodNotFound, Message: "not here"}
		}
		return answer(r.players.Load(), q.Params)
	}
}

// The game is played in a room: whoever calls it need not be able to answer
// anything, since others in the room do, and every question is on record.
func TestRoom(t *testing.T) {
	ctx := patient(t)
	r := new(room)
	r.open(t, ctx, fmt.Sprintf(config, program(t, "tictactoe")))
	r.join(t, ctx, "model", r.answers("sampling/createMessage", (*players).sample))
	r.join(t, ctx, "human", r.answers("elicitation/create", (*players).elicit))
	caller := r.join(t, ctx, "caller", nil)
	for _, server := range []string{"legacy", "modern"} {
		for _, games := range []map[string]scripted{everyClientPlays, onlyWeTake} {
			for name, g := range games {
				t.Run(server+"/"+name, func(t *testing.T) { r.play(t, ctx, caller, server, g, g.players()) })
			}
		}
	}
}

// play has the game called, and looks at the record.
func (r *room) play(t *testing.T, ctx context.Context, caller *client.Room, server string, g scripted, p *players) {
	t.Helper()
	r.players.Store(p)
	call, err := client.NewRequest(server, "tools/call", map[string]any{"name": declaration.Name, "arguments": g.arguments()})
	if err != nil {
		t.Fatal(err)
	}
	call.ID = client.NewID()
	reply, err := caller.Call(ctx, call)
	if err != nil {
		t.Fatal(errors.Join(err, p.fault))
	}
	g.check(t, p, parley.Member(reply.Result, "structuredContent"))
	r.onRecord(t, ctx, call.ID, server, "sampling/createMessage", "model", g.asked)
	r.onRecord(t, ctx, call.ID, server, "elicitation/create", "human", g.forms)
}

// onRecord counts the questions that a call led to, each with its answer.
func (r *room) onRecord(t *testing.T, ctx context.Context, call, server, method, whom string, want int) {
	t.Helper()
	api, err := client.NewAPI(r.url, &client.Options{Token: "token-of-reader", Space: "club"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for q, err := range api.Envelopes(ctx, &client.Query{Kind: "mcp/request:" + method, From: server, To: whom, Correlation: call}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		var answers []string
		for a, err := range api.Envelopes(ctx, &client.Query{Kind: "mcp/response:" + method, Correlation: q.ID}) {
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, a.From)
		}
		if !slices.Equal(answers, []string{whom}) {
			t.Errorf("%s was answered by %q", q.ID, answers)
		}
	}
	if n != want {
		t.Errorf("%d of %s are on record, want %d", n, method, want)
	}
}
