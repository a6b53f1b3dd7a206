package main

import (
	"context"
	"net/http"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/mcpbridge"
	"github.com/parleyhq/parley/internal/space"
	"github.com/parleyhq/parley/internal/webhook"
)

// farewellTime is how long receivers of webhooks may take to answer when the house
// closes.
const farewellTime = 3 * time.Second

// openWebhooks reads where the webhooks stand. Nothing may have been appended to the
// journal by then.
func (h *house) openWebhooks(ctx context.Context) error {
	var hooks []webhook.Hook
	for name, s := range config.Sorted(h.plan.config.Spaces) {
		for _, w := range s.Webhooks {
			hooks = append(hooks, hookOf(name, s, w))
		}
	}
	var err error
	h.webhooks, err = webhook.Open(ctx, h.journal, webhook.Options{
		Dir: h.plan.config.Journal.Path + "-webhooks", Hooks: hooks, Version: readVersion().Version, Log: h.plan.log,
		ApprovalLink: func(ctx context.Context, space, proposal, decider string) (string, time.Time, error) {
			return h.gateway.ApprovalLink(ctx, space, proposal, decider)
		},
	})
	if err != nil {
		return parley.Errorf(parley.Unavailable, "%v", err)
	}
	return nil
}

// hookOf is a webhook as the configuration has it. Of the gateway's, a space may not
// know all approvers.
func hookOf(name string, s *config.Space, w *config.Webhook) webhook.Hook {
	one := webhook.Hook{
		Space: name, Name: w.Name, URL: w.URL.Reveal(), Events: w.Events, Kinds: w.Kinds, From: w.From,
		Full: w.Content == config.ContentFull, Timeout: w.Timeout, Retries: w.Retries, AllowHTTP: w.AllowHTTP,
	}
	for _, secret := range w.Secrets {
		one.Secrets = append(one.Secrets, secret.Reveal())
	}
	for _, id := range w.Approvers {
		if s.Participants[id] != nil {
			one.Approvers = append(one.Approvers, id)
		}
	}
	if s.Enforcement != config.Lazy {
		one.ProposalTTL = s.Limits.ProposalTTL
	}
	return one
}

// webhookRoutes are the calls for who looks after the webhooks.
func (h *house) webhookRoutes() []gateway.Route {
	var list []gateway.Route
	for pattern, serve := range h.webhooks.Routes() {
		list = append(list, gateway.Route{Pattern: pattern, Serve: func(w http.ResponseWriter, r *http.Request) error {
			if r.URL.RawQuery != "" {
				return parley.Errorf(parley.InvalidArgument, "calls about webhooks take no parameters")
			}
			if err := h.mayLookAfterWebhooks(r); err != nil {
				return err
			}
			return serve(w, r)
		}})
	}
	return list
}

// mayLookAfterWebhooks judges whoever calls by the rules of every envelope.
func (h *house) mayLookAfterWebhooks(r *http.Request) error {
	members, err := h.gateway.Identify(r)
	if err != nil {
		return err
	}
	name := r.PathValue("space")
	for _, m := range members {
		if m.Space != name {
			continue
		}
		var caps parley.Capabilities
		err := h.gateway.View(r.Context(), name, func(s *space.State) { caps = s.Capabilities(m.Participant) })
		if err == nil && !caps.Allow(&parley.Action{Kind: parley.SplitKind(webhook.Capability)}) {
			refused := parley.Errorf(parley.CapabilityViolation, "%s may not look after webhooks", m.Participant).
				WithHint("that takes the capability %s, which space/* covers", webhook.Capability)
			refused.Capabilities = caps
			return refused
		}
		if err == nil && r.Method != http.MethodGet {
			h.plan.log.Info("somebody looks after a webhook", "space", name, "participant", m.Participant, "method", r.Method, "path", r.URL.Path)
		}
		return err
	}
	return parley.Errorf(parley.NotFound, "there is no space %.80q here for you", name).
		WithHint("GET /v1/spaces lists those that the token belongs to")
}

// tellBridge tells the webhooks what became of a server.
func (h *house) tellBridge(name bridgeName, s mcpbridge.State) {
	switch s.Phase {
	case mcpbridge.Ready:
		h.webhooks.Bridge(name.space, name.id, webhook.BridgeState{Up: true})
	case mcpbridge.Failed:
		h.webhooks.Bridge(name.space, name.id, webhook.BridgeState{
			Failures: s.Failures, RetryIn: s.RetryIn, Reason: h.hall.exitOf(name),
		})
	}
}

// exitOf is why a server failed last, without what it is configured with.
func (l *hall) exitOf(name bridgeName) string {
	l.mu.Lock()
	b := l.bridges[name]
	l.mu.Unlock()
	if b == nil {
		return ""
	}
	if exit := b.Status().LastExit; exit != nil {
		return exit.Reason
	}
	return ""
}

// stopWebhooks ends what is sent; what was not taken is sent after the next start.
func (h *house) stopWebhooks(ctx context.Context) {
	if h.webhooks == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, farewellTime)
	defer cancel()
	h.webhooks.Close(ctx)
	h.webhooks = nil
}
