package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/mcpbridge"
	"github.com/parleyhq/parley/internal/response"
)

// bridgeServer is what a configuration says of an MCP server, as the bridge
// takes it.
func bridgeServer(m *config.MCPServer) mcpbridge.Server {
	return mcpbridge.Server{
		Era:      bridgeEra(m.Era),
		Sessions: bridgeSessions(m.Sessions),
		Roots:    m.Roots,
		Command:  m.Command,
		Args:     m.Args,
		Env:      reveal(m.Env),
		Dir:      m.Dir,
		URL:      m.URL,
		Headers:  reveal(m.Headers),
	}
}

func bridgeSessions(s config.Sessions) mcpbridge.Sessions {
	switch s {
	case config.SessionsShared:
		return mcpbridge.SessionsShared
	case config.SessionsPeer:
		return mcpbridge.SessionsPeer
	}
	return mcpbridge.SessionsAuto
}

// servants are who answers what servers ask for where callers cannot, by what
// that is.
func servants(s *config.Space) map[string][]string {
	serves := map[string][]string{}
	for id, p := range config.Sorted(s.Participants) {
		for _, what := range p.Serves {
			if what != config.ServesTools {
				serves[string(what)] = append(serves[string(what)], id)
			}
		}
	}
	for id := range config.Sorted(s.Models) {
		serves[string(config.ServesSampling)] = append(serves[string(config.ServesSampling)], id)
	}
	return serves
}

// wrap is how the tools of a server answer in the envelope; nil where they need
// not. All servers share one configuration.
func (h *house) wrap(name bridgeName) *response.Source {
	if h.plan.config.Spaces[name.space].MCPServers[name.id].Response != config.ResponseWrap {
		return nil
	}
	if h.responses == nil {
		h.responses = response.NewSource(response.SourceOptions{Log: h.plan.log})
	}
	return h.responses
}

// unanswered are the requests to a server that a crash of this process left
// open.
func (h *house) unanswered(ctx context.Context, name bridgeName) ([]mcpbridge.Unanswered, error) {
	open, err := h.gateway.OpenRequests(ctx, name.space, name.id)
	if err != nil {
		return nil, err
	}
	list := make([]mcpbridge.Unanswered, len(open))
	for i, r := range open {
		list[i] = mcpbridge.Unanswered{ID: r.ID, Seq: r.Seq}
	}
	return list, nil
}

func bridgeEra(e config.Era) mcpbridge.Era {
	switch e {
	case config.EraLegacy:
		return mcpbridge.Legacy
	case config.EraModern:
		return mcpbridge.Modern
	}
	return ""
}

func reveal(secrets map[string]config.Secret) map[string]string {
	if secrets == nil {
		return nil
	}
	plain := make(map[string]string, len(secrets))
	for name, s := range secrets {
		plain[name] = s.Reveal()
	}
	return plain
}

// clientInfo is how bridges introduce themselves to MCP servers.
func clientInfo() *mcpbridge.Options {
	return &mcpbridge.Options{
		ClientInfo: members{{"name", quote("parley")}, {"version", quote(readVersion().Version)}}.object(),
	}
}

// bridge takes every configured MCP server into its space. One that cannot be
// started is tried again and again; the gateway goes on.
func (h *house) bridge(ctx context.Context, a *announcer) {
	for name, s := range config.Sorted(h.plan.config.Spaces) {
		for id, m := range config.Sorted(s.MCPServers) {
			h.bridgeOne(ctx, a, bridgeName{name, id}, bridgeServer(m))
		}
	}
}

// slowStart is how long nothing may be heard of an MCP server that starts before
// somebody is told. The first start of one by npx or uvx downloads it.
const slowStart = 10 * time.Second

func (h *house) bridgeOne(ctx context.Context, a *announcer, name bridgeName, server mcpbridge.Server) {
	log := h.plan.log.With("space", name.space, "bridge", name.id)
	connect := clientInfo()
	connect.Log = log
	starting, heard := context.WithTimeout(ctx, slowStart)
	h.starting.Add(1)
	h.guests.Go(func() {
		<-starting.Done()
		h.starting.Done()
		if errors.Is(starting.Err(), context.DeadlineExceeded) {
			a.starting(name)
		}
	})
	var said lastWords
	connect.OnStderr = func(line string) {
		said.keep(line)
		log.Info("the server says", "stderr", line)
	}
	b := mcpbridge.NewBridge(server, mcpbridge.Join{
		URL: h.url, Token: h.tokens[name], Space: name.space, HTTP: h.inside, Connect: connect, Log: log,
		Metrics:    mcpbridge.NewMetrics(h.gateway.Registerer(name.space), name.id),
		Wrap:       h.wrap(name),
		Serves:     servants(h.plan.config.Spaces[name.space]),
		Unanswered: func(ctx context.Context) ([]mcpbridge.Unanswered, error) { return h.unanswered(ctx, name) },
		OnJoin: func(string) {
			heard()
			a.bridged(name)
			h.oneTried()
		},
		Before:  func(ctx context.Context, o *mcpbridge.Offer) { h.hall.record(ctx, name, o) },
		OnOffer: func(_ string, o *mcpbridge.Offer) { h.hall.offered(ctx, name, o) },
		OnState: func(s mcpbridge.State) {
			h.tellBridge(name, s)
			if s.Phase == mcpbridge.Failed {
				heard()
				a.unbridged(name, s.Err, said.take())
				h.oneTried()
			}
		},
	})
	h.hall.bridged(name, b)
	h.guests.Go(func() {
		defer heard()
		if err := b.Run(ctx); err != nil {
			a.gone(name, err)
		}
	})
}

// lastWords is the last that a program wrote to its standard error.
type lastWords struct {
	mu   sync.Mutex
	line string
}

func (l *lastWords) keep(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.TrimSpace(line) != "" {
		l.line = line
	}
}

func (l *lastWords) take() (line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line, l.line = l.line, ""
	return line
}

// explain gives a failure of a bridge a code, if it has none.
func explain(err error) *parley.Error {
	if e := asError(err); e.Code != parley.Internal {
		return e
	}
	return parley.Errorf(parley.Unavailable, "%v", err)
}
