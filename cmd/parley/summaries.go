package main

import (
	"context"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/space"
	"github.com/parleyhq/parley/internal/summarizer"
)

// summarizerMay is what the participant may send that sums up contexts.
func summarizerMay() parley.Capabilities {
	return parley.Capabilities{
		parley.MustCapability("mcp/request:sampling/createMessage"),
		parley.MustCapability("mcp/request:notifications/cancelled"),
		parley.MustCapability("conclusion"),
	}
}

// addSummarizer gives a space that wants summaries a participant who makes them.
func (h *house) addSummarizer(s *config.Space, to *gateway.Space) {
	if len(s.Summarized()) == 0 {
		return
	}
	to.Rules.Participants[config.Summarizer] = summarizerMay()
	to.Participants[config.Summarizer] = h.admit(bridgeName{to.Rules.Name, config.Summarizer})
}

// summarize starts who sums up contexts, in each space that wants it.
func (h *house) summarize(ctx context.Context) {
	for name, s := range config.Sorted(h.plan.config.Spaces) {
		if len(s.Summarized()) == 0 {
			continue
		}
		h.guests.Go(func() {
			if err := h.sumUp(ctx, name, s); err != nil {
				h.plan.log.Error("who sums up contexts has left", "space", name, "error", err)
			}
		})
	}
}

func (h *house) sumUp(ctx context.Context, name string, s *config.Space) error {
	types := s.Summarized()
	room, err := client.Dial(ctx, h.url, &client.Options{
		Token: h.tokens[bridgeName{name, config.Summarizer}], Space: name, HTTPClient: h.inside,
		Contexts: summarizer.Filter(types), PresenceOff: true, Exclusive: true, RetryDial: true, Logger: h.plan.log,
	})
	if err != nil {
		return stopped(ctx, err)
	}
	defer room.Close()
	rules := space.Rules{Limits: s.Limits, ContextTypes: s.ContextTypes}
	return stopped(ctx, summarizer.Run(ctx, room, summarizer.Options{
		Types:  types,
		Idle:   func(typ string) time.Duration { return rules.ContextType(typ).Idle },
		Serves: servants(s)[string(config.ServesSampling)],
		Log:    h.plan.log.With("space", name),
	}))
}
