// Package parleytest starts a gateway inside a test: with a journal on disk, a
// real socket on loopback, and a token for every participant.
//
//	func TestMyAgent(t *testing.T) {
//		g := parleytest.Start(t, nil)
//		room, err := client.Dial(t.Context(), g.URL, &client.Options{Token: g.Token("agent")})
//		…
//	}
//
// # Concurrency
//
// A Gateway belongs to its test; URL, Token and Connections may be used from
// any goroutine.
package parleytest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/journal/sqlite"
	"github.com/parleyhq/parley/internal/space"
)

// Options say what to start. Nil is valid.
type Options struct {
	// Space is the name of the one space. Default: "demo".
	Space string

	// Participants are who may join, with what they may send. Default: [Cast].
	Participants map[string][]string

	// Lazy matches kinds alone and reads no payload. Default: strict.
	Lazy bool

	// Protocol is what delivered envelopes carry. Default: mcpx/v0.1.
	Protocol string

	// Limits of the space; a zero field means its default.
	Limits Limits

	// Pinned are those whose tools can be called only by a definition that was
	// accepted, as the first is. Default: nobody.
	Pinned []string

	// Logger gets the gateway's log. Default: nowhere.
	Logger *slog.Logger
}

// Limits are those of section 14 of the contract.
type Limits = space.Limits

// Cast is who is there unless the test says otherwise: you, who may do
// everything; boss, another one; agent, which proposes; files, which serves.
func Cast() map[string][]string {
	return map[string][]string{
		"you":   {"mcp/*", "chat", "capability/*", "space/*"},
		"boss":  {"mcp/*", "chat", "capability/*", "space/*"},
		"agent": {"mcp/proposal:*", "mcp/request:*/list", "mcp/request:tools/call:read_*", "chat"},
		"files": {"mcp/response:*", "mcp/request:notifications/*"},
	}
}

// Gateway is one that runs.
type Gateway struct {
	URL   string // http://127.0.0.1:PORT, without a path
	Space string

	t       testing.TB
	options Options
	path    string // of the journal

	epoch   string
	journal *sqlite.Journal
	gateway *gateway.Gateway
	server  *http.Server
	served  chan struct{}
}

// Start starts a gateway that is stopped when the test ends.
func Start(t testing.TB, o *Options) *Gateway {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	g := &Gateway{t: t, options: *o, Space: cmp.Or(o.Space, "demo"), path: filepath.Join(t.TempDir(), "parley.db")}
	if g.options.Participants == nil {
		g.options.Participants = Cast()
	}
	g.start("127.0.0.1:0")
	t.Cleanup(g.Stop)
	return g
}

// Token is the bearer token of a participant.
func (g *Gateway) Token(participant string) string { return "token-of-" + participant }

// Connections is how many connections a participant has.
func (g *Gateway) Connections(participant string) (n int) {
	err := g.gateway.View(context.WithoutCancel(g.t.Context()), g.Space, func(s *space.State) {
		for _, p := range s.Participants() {
			if p.ID == participant {
				n = p.Connections
			}
		}
	})
	if err != nil {
		g.t.Errorf("parleytest: %v", err)
	}
	return n
}

// Delivered reports whether all connections of a participant have been sent
// what they receive of everything on record.
func (g *Gateway) Delivered(participant string) bool {
	delivered, err := g.gateway.Delivered(context.WithoutCancel(g.t.Context()), g.Space, participant)
	if err != nil {
		g.t.Errorf("parleytest: %v", err)
	}
	return delivered
}

// Epoch is the epoch of the space's journal.
func (g *Gateway) Epoch() string { return g.epoch }

// ListTools tells the gateway of a server's complete list of tools, as a bridge
// does that the configuration names: each a definition in JSON, with its name.
func (g *Gateway) ListTools(participant string, definitions ...string) {
	g.t.Helper()
	var tools []gateway.Tool
	for _, d := range definitions {
		name, _ := parley.MemberString([]byte(d), "name")
		tools = append(tools, gateway.Tool{Name: name, Definition: []byte(d)})
	}
	if err := g.gateway.ToolsListed(context.WithoutCancel(g.t.Context()), g.Space, participant, tools); err != nil {
		g.t.Fatalf("parleytest: %v", err)
	}
}

// Restart stops the gateway, as SIGTERM would, and starts it again with the
// same journal at the same address.
func (g *Gateway) Restart() {
	g.t.Helper()
	address := g.server.Addr
	g.Stop()
	g.start(address)
}

// Stop stops the gateway: what it accepted is on record and delivered when it
// returns. Stopping twice does nothing.
func (g *Gateway) Stop() {
	if g.gateway == nil {
		return
	}
	ctx := context.WithoutCancel(g.t.Context())
	if err := g.gateway.Shutdown(ctx); err != nil {
		g.t.Errorf("parleytest: %v", err)
	}
	_ = g.server.Close()
	<-g.served
	if err := g.journal.Close(); err != nil {
		g.t.Errorf("parleytest: %v", err)
	}
	g.gateway = nil
}

func (g *Gateway) start(address string) {
	g.t.Helper()
	ctx := context.WithoutCancel(g.t.Context())
	var err error
	if g.journal, err = sqlite.Open(ctx, sqlite.Options{Path: g.path, Sync: sqlite.Off}); err != nil {
		g.t.Fatalf("parleytest: %v", err)
	}
	if g.gateway, err = gateway.New(ctx, g.gatewayOptions()); err != nil {
		g.t.Fatalf("parleytest: %v", err)
	}
	record, err := g.gateway.Record(g.Space)
	if err != nil {
		g.t.Fatalf("parleytest: %v", err)
	}
	bounds, err := record.Bounds(ctx)
	if err != nil {
		g.t.Fatalf("parleytest: %v", err)
	}
	g.epoch = bounds.Epoch
	listener, err := net.Listen("tcp", address)
	if err != nil {
		g.t.Fatalf("parleytest: %v", err)
	}
	g.URL = "http://" + listener.Addr().String()
	g.server = gateway.Server(g.gateway.Handler())
	g.server.Addr = listener.Addr().String()
	g.served = make(chan struct{})
	go func(server *http.Server, served chan struct{}) {
		defer close(served)
		_ = server.Serve(listener) // ends with ErrServerClosed
	}(g.server, g.served)
}

func (g *Gateway) gatewayOptions() gateway.Options {
	rules := space.Rules{
		Name: g.Space, Lazy: g.options.Lazy, Protocol: g.options.Protocol, Limits: g.options.Limits,
		Participants: map[string]parley.Capabilities{}, Pins: map[string]bool{},
	}
	for _, id := range g.options.Pinned {
		rules.Pins[id] = true
	}
	participants := map[string]gateway.Participant{}
	for id, patterns := range g.options.Participants {
		caps, err := parley.ParseCapabilities(patterns...)
		if err != nil {
			g.t.Fatalf("parleytest: %s: %v", id, err)
		}
		rules.Participants[id] = caps
		participants[id] = gateway.Participant{Tokens: []gateway.TokenHash{sha256.Sum256([]byte(g.Token(id)))}}
	}
	return gateway.Options{
		Journal: g.journal,
		Spaces:  []gateway.Space{{Rules: rules, Participants: participants}},
		Logger:  g.options.Logger,

		Sessions:      g.path + "-sessions",
		ApprovalLinks: g.path + "-links",
	}
}
