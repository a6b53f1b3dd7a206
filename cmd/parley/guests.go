package main

import (
	"context"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/demo"
)

// Guests are what runs beside the gateway in this process and talks to it as
// anybody does: the bridges of MCP servers, who sums up contexts, and the demo's
// agent. Models are guests as well, in processes of their own.

// invite lets guests in until ctx ends or the house closes.
func (h *house) invite(ctx context.Context) context.Context {
	ctx, h.leave = context.WithCancel(ctx)
	return ctx
}

// play starts the demo's agent, if this is the demo.
func (h *house) play(ctx context.Context, a *announcer) {
	d := h.plan.demo
	if d == nil {
		return
	}
	h.guests.Go(func() {
		select {
		case <-h.tried: // so that an approval finds somebody to serve it
		case <-ctx.Done():
			return
		}
		if err := h.playAgent(ctx, d, a); err != nil {
			h.plan.log.Error("the demo's agent has left", "error", err)
		}
	})
}

func (h *house) playAgent(ctx context.Context, d *demoPlan, a *announcer) error {
	room, err := client.Dial(ctx, h.url, &client.Options{Token: d.agentToken, Space: defaultSpace, Exclusive: true})
	if err != nil {
		return stopped(ctx, err)
	}
	defer room.Close()
	return demo.Run(ctx, room, demo.Options{
		Files:      demoFiles,
		OnProposal: a.proposed,
		OnIdle:     a.idle,
	})
}
