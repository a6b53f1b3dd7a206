package mcpbridge

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
)

// bridged is a room with one server in it, called files.
type bridged struct {
	*parleytest.Gateway
	*Bridge
	t     *testing.T
	joins chan string
	end   func() error // stops the bridge
}

func bridge(t *testing.T, s Server, join Join) *bridged {
	t.Helper()
	return bridgeIn(t, nil, s, join)
}

func bridgeIn(t *testing.T, o *parleytest.Options, s Server, join Join) *bridged {
	t.Helper()
	if o == nil {
		o = &parleytest.Options{}
	}
	cast := parleytest.Cast()
	cast["files"] = append(cast["files"], "mcp/request:sampling/createMessage", "mcp/request:elicitation/create", "mcp/request:roots/list")
	cast["agent"] = append(cast["agent"], "mcp/response:*")
	o.Participants = cast
	b := &bridged{Gateway: parleytest.Start(t, o), t: t, joins: make(chan string, 10)}
	join.URL, join.Token, join.Space = b.URL, b.Token("files"), b.Space
	join.OnJoin = func(who string) { b.joins <- who }
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	b.Bridge = NewBridge(s, join)
	go func() { ended <- b.Run(ctx) }()
	b.end = sync.OnceValue(func() error { stop(); return <-ended })
	t.Cleanup(func() { _ = b.end() }) // nothing of it may be left when the next test runs
	select {
	case who := <-b.joins:
		if who != "files" {
			t.Fatalf("%q joined", who)
		}
	case err := <-ended:
		ended <- err
		t.Fatalf("the bridge did not join: %v", err)
	}
	return b
}

func (b *bridged) dial(who string) *client.Room {
	b.t.Helper()
	room, err := client.Dial(b.t.Context(), b.URL, &client.Options{Token: b.Token(who), Space: b.Space})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(room.Close)
	return room
}

func toolCall(tool, text string) jsontext.Value {
	v, _ := jsontext.AppendQuote([]byte(`{"name":"`+tool+`","arguments":{"text":`), text)
	return append(v, "}}"...)
}

func TestBridgeAnswersProposals(t *testing.T) {
	b := bridge(t, testServer(t, "sdk"), Join{})
	you, agent := b.dial("you"), b.dial("agent")
	p, err := agent.Propose(t.Context(), "files", "tools/call", toolCall("echo", "hi"))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := you.Fulfil(t.Context(), p.Envelope)
	if err != nil || !strings.Contains(string(reply.Result), `"hi"`) {
		t.Fatalf("the fulfiller got %v, %v", reply, err)
	}
	outcome, err := p.Wait(t.Context())
	if err != nil || outcome.By != "you" || string(outcome.Reply.Result) != string(reply.Result) {
		t.Fatalf("the proposer got %+v, %v", outcome, err)
	}
	if err := b.end(); err != nil {
		t.Errorf("Run: %v", err)
	}
	eventually(t, func() bool { return b.Connections("files") == 0 })
}

// TestBridgeRelaysBytes sees that neither params nor results are written anew.
func TestBridgeRelaysBytes(t *testing.T) {
	b := bridge(t, testServer(t, "raw"), Join{})
	you := b.dial("you")
	reply, err := you.Request(t.Context(), "files", "test/raw", nil)
	if err != nil || string(reply.Result) != rawResult {
		t.Errorf("got %s, %v\nwant %s", reply.Result, err, rawResult)
	}
	params := `{"big":9007199254740993,"z":1.0,"a":"\u00e9","_meta":{"x":1}}`
	reply, err = you.Request(t.Context(), "files", "test/echo", jsontext.Value(params))
	if err != nil || string(parley.Member(reply.Result, "params")) != params {
		t.Errorf("the server got %s, %v\nwant %s", reply.Result, err, params)
	}
	_, err = you.Request(t.Context(), "files", "test/error", nil)
	rpc, ok := errors.AsType[*client.RPCError](err)
	if !ok || rpc.Code != -32000 || string(rpc.Data) != `{"n":9007199254740993}` || string(parley.Member(rpc.Raw, "extra")) != "1" {
		t.Errorf("got %v", err)
	}
	reply, err = you.Request(t.Context(), "files", "initialize", nil)
	if name, _ := parley.MemberString(parley.Member(reply.Result, "serverInfo"), "name"); err != nil || name != "raw" {
		t.Errorf("got %s, %v", reply.Result, err)
	}
}

func TestBridgeProgressAndCancellation(t *testing.T) {
	b := bridge(t, testServer(t, "sdk"), Join{})
	you := b.dial("you")
	var reports []float64
	_, err := you.Request(t.Context(), "files", "tools/call", toolCall("progress", ""),
		client.OnProgress(func(p client.Progress) { reports = append(reports, p.Progress) }))
	if err != nil || len(reports) != 3 || reports[2] != 2 {
		t.Errorf("reports %v, %v", reports, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := you.Request(ctx, "files", "tools/call", toolCall("block", ""))
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call returned %v", err)
	}
}

// TestBridgeOfADyingServer sees that a call in flight is answered at once, that
// the server is absent while it is down, and that it comes back.
func TestBridgeOfADyingServer(t *testing.T) {
	b := bridge(t, testServer(t, "sdk"), Join{})
	you := b.dial("you")
	_, err := you.Request(t.Context(), "files", "tools/call", toolCall("die", ""))
	rpc, ok := errors.AsType[*client.RPCError](err)
	if !ok || rpc.Code != CodeServerGone || !strings.Contains(string(rpc.Data), OutcomeUnknown) {
		t.Fatalf("got %v", err)
	}
	<-b.joins
	reply, err := you.Request(t.Context(), "files", "tools/call", toolCall("echo", "back"))
	if err != nil || !strings.Contains(string(reply.Result), "back") {
		t.Errorf("got %v, %v", reply, err)
	}
}

func TestBridgeRestartsWhenAsked(t *testing.T) {
	b := bridge(t, testServer(t, "sdk"), Join{})
	you, agent := b.dial("you"), b.dial("agent")
	order := func() *parley.Envelope {
		return &parley.Envelope{Kind: parley.KindRestartBridge, Payload: jsontext.Value(`{"participant":"files","reason":"new version"}`)}
	}
	if _, err := agent.Send(t.Context(), order()); !errors.Is(err, &parley.Error{Code: parley.CapabilityViolation}) {
		t.Errorf("an agent restarted it: %v", err)
	}
	if _, err := you.Send(t.Context(), order()); err != nil {
		t.Fatal(err)
	}
	<-b.joins
	if _, err := you.Request(t.Context(), "files", "tools/call", toolCall("echo", "new")); err != nil {
		t.Error(err)
	}
}

func TestBridgeTellsOfChanges(t *testing.T) {
	b := bridge(t, testServer(t, "sdk"), Join{})
	you := b.dial("you")
	envelopes := you.Envelopes(t.Context())
	if _, err := you.Request(t.Context(), "files", "tools/call", toolCall("grow", "")); err != nil {
		t.Fatal(err)
	}
	for e, err := range envelopes {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == "mcp/request:notifications/tools/list_changed" && e.From == "files" {
			return
		}
	}
}

func TestBridgeIsRefused(t *testing.T) {
	g := parleytest.Start(t, nil)
	err := NewBridge(testServer(t, "sdk"), Join{URL: g.URL, Token: "nobody's"}).Run(t.Context())
	if !errors.Is(err, &parley.Error{Code: parley.Unauthorized}) {
		t.Errorf("Run: %v", err)
	}
}

// TestBridgeOfTheFilesystemServer is the main job with a server by other
// people's hands.
func TestBridgeOfTheFilesystemServer(t *testing.T) {
	dir := t.TempDir()
	b := bridge(t, npmServer(t, "mcp-server-filesystem", dir), Join{})
	you, agent := b.dial("you"), b.dial("agent")
	file := filepath.Join(dir, "hello.txt")
	p, err := agent.Propose(t.Context(), "files", "tools/call", map[string]any{
		"name": "write_file", "arguments": map[string]any{"path": file, "content": "grüß\n"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := you.FulfilID(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "grüß\n" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}
