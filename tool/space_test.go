package tool_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcpbridge"
	"github.com/parleyhq/parley/parleytest"
	"github.com/parleyhq/parley/tool"
	"github.com/parleyhq/parley/tool/room"
	"github.com/parleyhq/parley/tool/sampling"
)

func init() {
	tool.AddWay("space", joins.call)
	tool.AddWay("bridge, 2025-11-25", throughBridge(mcpbridge.Legacy).call)
	tool.AddWay("bridge, 2026-07-28", throughBridge(mcpbridge.Modern).call)
}

// inRoom is a way for a server of tools to be in a space.
type inRoom struct {
	looks bool // it looks who is there to answer, and does not go by the configuration alone
	run   func(ctx context.Context, server *tool.Server, site *parleytest.Gateway, serves map[string][]string, joined func(who string)) error
}

// joins is for a server that joins by itself.
var joins = inRoom{true, func(ctx context.Context, server *tool.Server, site *parleytest.Gateway, serves map[string][]string, joined func(string)) error {
	return room.Serve(ctx, server, site.URL, room.Options{Token: site.Token("tools"), Space: site.Space, Serves: serves, OnJoin: joined})
}}

// throughBridge is for one that is an MCP server to a bridge.
func throughBridge(era mcpbridge.Era) inRoom {
	return inRoom{era == mcpbridge.Modern, func(ctx context.Context, server *tool.Server, site *parleytest.Gateway, serves map[string][]string, joined func(string)) error {
		h := server.Handler(tool.HandlerOptions{})
		defer h.Close()
		web := httptest.NewServer(h)
		defer web.Close()
		return mcpbridge.NewBridge(mcpbridge.Server{URL: web.URL, Era: era}, mcpbridge.Join{
			URL: site.URL, Token: site.Token("tools"), Space: site.Space, Serves: serves, OnJoin: joined,
		}).Run(ctx)
	}}
}

// call calls a tool in a space, in which a model participant and a human answer
// it.
func (in inRoom) call(t *testing.T, server *tool.Server, a *tool.Actor, name, arguments string) (string, error) {
	you := in.bring(t, server, parleytest.Limits{}, a.Can, func(ctx context.Context, q *client.Request) (any, error) {
		result, err := a.Ask(ctx, tool.Question{Method: q.Kind.Method, Params: q.Params})
		if e, ok := errors.AsType[*tool.PeerError](err); ok {
			return nil, &client.RPCError{Code: e.Code, Message: e.Message, Data: e.Data}
		}
		return result, err
	})
	r, err := you.Request(t.Context(), "tools", "tools/call", jsontext.Value(`{"name":"`+name+`","arguments":`+arguments+`}`))
	if err != nil {
		return "", err
	}
	return string(parley.Member(r.Result, "structuredContent")), nil
}

// bring brings a server into a space with a model and a human who answer, as far
// as they can, and returns the room of who may call it.
func (in inRoom) bring(t *testing.T, server *tool.Server, limits parleytest.Limits, can func(tool.Ability) bool, answer client.Handler) *client.Room {
	t.Helper()
	site := parleytest.Start(t, &parleytest.Options{Limits: limits, Participants: map[string][]string{
		"you":   {"mcp/*"},
		"tools": {"mcp/*"},
		"model": {"mcp/response:*"},
		"ann":   {"mcp/response:*"},
	}})
	dial := func(who string, h client.Handler) *client.Room {
		r, err := client.Dial(t.Context(), site.URL, &client.Options{Token: site.Token(who), Space: site.Space, Handler: h})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		return r
	}
	serves := map[string][]string{}
	for ability, who := range map[tool.Ability]string{tool.Sampling: "model", tool.Elicitation: "ann"} {
		if can(ability) {
			dial(who, answer)
		}
		if can(ability) || in.looks {
			serves[string(ability)] = []string{who}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	joined, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- in.run(ctx, server, site, serves, func(who string) { joined <- who }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-joined
	return dial("you", nil)
}

// The end of a call ends its function, which waits for an answer, whoever ends it
// and by whatever way the server is in the space.
func TestAnEndedCallEndsItsFunction(t *testing.T) {
	for name, in := range map[string]inRoom{
		"joined": joins, "bridge, 2025-11-25": throughBridge(mcpbridge.Legacy), "bridge, 2026-07-28": throughBridge(mcpbridge.Modern),
	} {
		for how, limits := range map[string]parleytest.Limits{"the caller": {}, "the time": {CallTimeout: 100 * time.Millisecond}} {
			t.Run(name+"/"+how, func(t *testing.T) {
				server, err := tool.NewServer(tool.Options{Name: "test", Version: "1", NoUsage: true, Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { server.Close() })
				began, ended := make(chan struct{}, 100), make(chan error, 100)
				tool.Add(server, tool.Tool{Name: "ask", Needs: []tool.Ability{tool.Sampling}}, func(ctx context.Context, c *tool.Call, _ struct{}) (string, error) {
					began <- struct{}{}
					_, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText("?")}})
					<-ctx.Done()
					ended <- err
					return "", err
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				you := in.bring(t, server, limits, func(tool.Ability) bool { return true }, func(asked context.Context, _ *client.Request) (any, error) {
					if how == "the caller" {
						cancel()
					}
					<-asked.Done()
					return nil, asked.Err()
				})
				for len(began) == 0 { // the time may be over before it begins
					if _, err := you.Request(ctx, "tools", "tools/call", jsontext.Value(`{"name":"ask","arguments":{}}`)); err == nil {
						t.Fatal("it was answered")
					}
				}
				if err := <-ended; err == nil {
					t.Error("the question was answered")
				}
			})
		}
	}
}
