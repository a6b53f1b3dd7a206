package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/inproc"
	"github.com/parleyhq/parley/internal/journal/sqlite"
	"github.com/parleyhq/parley/internal/mcpfront"
	"github.com/parleyhq/parley/internal/response"
	"github.com/parleyhq/parley/internal/space"
	"github.com/parleyhq/parley/internal/webhook"
)

// house is a gateway with all that runs beside it.
type house struct {
	plan     *plan
	listener net.Listener
	url      string

	journal *sqlite.Journal
	gateway *gateway.Gateway
	hall    *hall
	front   *mcpfront.Front // of /mcp
	server  *http.Server
	inside  *http.Client          // of those who run beside the gateway
	tokens  map[bridgeName]string // of theirs, known to this process alone

	responses *response.Source // how wrapped tools answer; nil until one is bridged
	webhooks  *webhook.Desk    // nil before they are opened, and once they have ended

	serving sync.WaitGroup // the HTTP server
	failed  chan error     // what it returned
	guests  sync.WaitGroup // bridges, models and the demo's agent
	leave   func()         // asks the guests to go

	starting sync.WaitGroup // MCP servers that nothing was heard of yet, though they are not late
	tried    chan struct{}  // closed once some MCP server is ready, or failed
	oneTried func()         // closes it
}

type bridgeName struct{ space, id string }

// shutdownTime is how long a graceful end may take.
const shutdownTime = 15 * time.Second

// openHouse takes the port and opens the journal, where most goes wrong that can.
func openHouse(ctx context.Context, p *plan) (*house, error) {
	h := &house{plan: p, tokens: map[bridgeName]string{}, leave: func() {}, failed: make(chan error, 1), tried: make(chan struct{})}
	h.hall = newHall(h)
	h.oneTried = sync.OnceFunc(func() { close(h.tried) })
	var err error
	if h.listener, err = listenOn(ctx, p.config.Listen); err != nil {
		return nil, err
	}
	h.url = "http://" + reachable(h.listener.Addr().(*net.TCPAddr))
	durable, err := sqlite.ParseSync(string(p.config.Journal.Sync))
	if err == nil {
		h.journal, err = sqlite.Open(ctx, sqlite.Options{Path: p.config.Journal.Path, Sync: durable, Log: p.log})
	}
	if err != nil {
		return nil, errors.Join(err, h.listener.Close())
	}
	return h, nil
}

func listenOn(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, parley.Errorf(parley.Unavailable, "%s is taken by another program", address).
			WithHint("is a gateway running already? Else choose another port: --listen 127.0.0.1:0 takes any that is free")
	case err != nil:
		return nil, parley.Errorf(parley.Unavailable, "nobody can listen on %s: %v", address, err).
			WithHint("write --listen HOST:PORT, as %s", config.DefaultListen)
	}
	return l, nil
}

// reachable is where clients on this machine find the listener.
func reachable(a *net.TCPAddr) string {
	host := a.IP.String()
	if a.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, fmt.Sprint(a.Port))
}

// open opens the spaces and begins to serve.
func (h *house) open(ctx context.Context) error {
	spaces, err := h.spaces()
	if err != nil {
		return err
	}
	if err := h.openWebhooks(ctx); err != nil {
		return err
	}
	h.gateway, err = gateway.New(ctx, gateway.Options{
		Journal: h.journal, Spaces: spaces, Logger: h.plan.log, Recorded: h.webhooks.Recorded,
		Hosts: h.plan.config.Hosts, Origins: h.plan.config.Origins,
		Sessions: h.plan.config.Journal.Path + "-sessions", ApprovalLinks: h.plan.config.Journal.Path + "-links",
		PublicURL: h.plan.config.PublicURL, URL: h.url,
		Bridges: h.hall,
	})
	if err != nil {
		return err
	}
	if err := h.webhooks.Start(ctx, h.gateway.Registerer); err != nil {
		return err
	}
	h.front = mcpfront.New(h.hall, mcpfront.Options{
		Version: readVersion().Version, Metrics: h.hall.metrics(), Log: h.plan.log,
	})
	h.server = gateway.Server(h.gateway.Handler(append(h.hall.routes(h.front), h.webhookRoutes()...)...))
	server, within := h.server, inproc.Listen()
	h.inside = &http.Client{Transport: &http.Transport{DialContext: within.DialContext, MaxIdleConnsPerHost: 64}}
	h.serving.Go(func() { h.failed <- server.Serve(h.listener) })
	h.serving.Go(func() { _ = server.Serve(within) }) // it ends when the other does
	if h.plan.urlFile != "" {
		if err := writeURL(h.plan.urlFile, h.url); err != nil {
			return err
		}
	}
	return nil
}

// writeURL writes the file in one step, for whoever waits for it to appear.
func writeURL(path, url string) error {
	if err := os.WriteFile(path+".new", []byte(url+"\n"), 0o644); err != nil {
		return cannotWrite(path, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// spaces is the configuration as the gateway takes it. Bridges get tokens that
// are as old as this process.
func (h *house) spaces() ([]gateway.Space, error) {
	var list []gateway.Space
	for name, s := range config.Sorted(h.plan.config.Spaces) {
		one := gateway.Space{
			Rules: space.Rules{
				Name: name, Lazy: s.Enforcement == config.Lazy, Protocol: s.Protocol, Limits: s.Limits,
				Participants: map[string]parley.Capabilities{},
				Pins:         map[string]bool{},
				ContextTypes: s.ContextTypes,
			},
			Participants: map[string]gateway.Participant{},
			Retention:    gateway.Retention{Age: s.Retention.Age, Bytes: int64(s.Retention.Bytes)},
		}
		for id, p := range s.Participants {
			one.Rules.Participants[id] = p.Capabilities
			one.Participants[id] = participantOf(p, h.hall.seatToken(mcpfront.Place{Space: name, Participant: id}))
		}
		for id, m := range s.MCPServers {
			one.Rules.Participants[id] = m.Capabilities
			if m.Pin == config.PinStrict {
				one.Rules.Pins[id] = true
			}
			one.Participants[id] = h.admit(bridgeName{name, id})
		}
		h.addModels(s, &one)
		h.addSummarizer(s, &one)
		list = append(list, one)
	}
	return list, nil
}

// admit makes a token with which somebody joins who runs beside the gateway.
func (h *house) admit(name bridgeName) gateway.Participant {
	token := randomToken()
	h.tokens[name] = token
	return gateway.Participant{Tokens: []gateway.TokenHash{gateway.TokenHash(config.HashToken(token))}}
}

func participantOf(p *config.Participant, seat gateway.TokenHash) gateway.Participant {
	g := gateway.Participant{
		Tokens:   []gateway.TokenHash{seat},
		Settings: space.Settings{Directed: p.Routing == config.RoutingDirected, Contexts: p.Contexts, Kinds: p.Kinds, EchoOff: !p.Echo},
		History:  p.History,
	}
	for _, hash := range p.TokenHashes {
		g.Tokens = append(g.Tokens, gateway.TokenHash(hash))
	}
	return g
}

// serve waits for the end, and makes it an orderly one.
func (h *house) serve(ctx context.Context, a *announcer) error {
	var failed error
	select {
	case <-ctx.Done():
		a.leaving()
	case failed = <-h.failed:
	}
	err := h.shutdown(context.WithoutCancel(ctx))
	if err == nil {
		a.left()
	}
	return errors.Join(failed, err)
}

// shutdown lets guests go, then ends the gateway, which keeps what it accepted.
func (h *house) shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, shutdownTime)
	defer cancel()
	h.front.Close() // its calls end before those whom they call
	h.leave()
	h.guests.Wait()
	h.stopServing(ctx)
	h.stopWebhooks(ctx)
	err := h.gateway.Shutdown(ctx)
	h.server, h.gateway = nil, nil
	if err != nil {
		return parley.Errorf(parley.Internal, "the gateway did not end in order: %v", err)
	}
	return nil
}

// stopServing lets HTTP calls finish, but leaves most of the time to the
// gateway: who reads slowly does not keep it from ending in order.
func (h *house) stopServing(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, shutdownTime/3)
	defer cancel()
	if h.server.Shutdown(ctx) != nil {
		h.server.Close()
	}
}

// close ends what is still open, in whatever state the house is.
func (h *house) close() {
	if h.front != nil {
		h.front.Close()
	}
	h.leave()
	h.guests.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if h.server != nil {
		h.server.Close()
	}
	h.stopWebhooks(ctx)
	if h.gateway != nil {
		h.gateway.Shutdown(ctx)
	}
	h.listener.Close()
	h.serving.Wait()
	if h.plan.urlFile != "" {
		os.Remove(h.plan.urlFile) // nobody is there any more; it may never have been written
	}
	if err := h.journal.Close(); err != nil {
		h.plan.log.Error("closing the journal", "error", err)
	}
}
