package main

import (
	"context"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/mcpbridge"
	"github.com/parleyhq/parley/internal/mcpfront"
)

// What a server with strict pins says of its tools is read by models, which do as
// it says. So nobody is shown a definition that nobody has accepted: neither one
// that has changed, nor one that a server keeps for some callers.

// shownOffer is an offer as MCP clients are shown it.
type shownOffer struct {
	all *mcpfront.Offer

	once   sync.Once
	listed []gateway.Listed // of all.Tools, in their order

	mu       sync.Mutex
	withheld []int // places in all.Tools
	rest     *mcpfront.Offer
}

// definitions are the tools by what the record knows them by.
func (s *shownOffer) definitions() []gateway.Listed {
	s.once.Do(func() {
		for _, raw := range s.all.Tools {
			name, _ := parley.MemberString(raw, "name")
			s.listed = append(s.listed, gateway.Tool{Name: name, Definition: raw}.Listed())
		}
	})
	return s.listed
}

// without is the offer without what the tools at some places say of themselves.
func (s *shownOffer) without(places []int) *mcpfront.Offer {
	if len(places) == 0 {
		return s.all
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rest == nil || !slices.Equal(s.withheld, places) {
		tools := slices.Clone(s.all.Tools)
		for _, i := range places {
			tools[i] = withheldTool(s.definitions()[i].Name)
		}
		s.rest = &mcpfront.Offer{Info: s.all.Info, Tools: tools, Resources: s.all.Resources, Templates: s.all.Templates, Prompts: s.all.Prompts}
		s.withheld = places
	}
	return s.rest
}

// withheldTool stands for a tool whose definition is not shown. Who calls it is
// told why that cannot be.
func withheldTool(name string) jsontext.Value {
	const why = "The definition of this tool is not an accepted one, and is not shown. Nobody can call it until somebody accepts it: parley tools accept."
	return members{{"name", quote(name)}, {"description", quote(why)}, {"inputSchema", jsontext.Value(`{"type":"object"}`)}}.object()
}

// isPinned reports whether a server's tools are only those that were accepted.
func (l *hall) isPinned(name bridgeName) bool {
	s := l.house.plan.config.Spaces[name.space]
	return s.Enforcement != config.Lazy && s.MCPServers[name.id].Pin == config.PinStrict
}

func (l *hall) hasUnaccepted(ctx context.Context, name bridgeName, o *mcpbridge.Offer) bool {
	places, err := l.house.gateway.Unaccepted(ctx, name.space, name.id, l.shown(o).definitions())
	return err != nil || len(places) > 0
}

// toolsOf is a list of tools as the record takes it.
func toolsOf(list []jsontext.Value) []gateway.Tool {
	tools := make([]gateway.Tool, 0, len(list))
	for _, raw := range list {
		if name, ok := parley.MemberString(raw, "name"); ok {
			tools = append(tools, gateway.Tool{Name: name, Definition: raw})
		}
	}
	return tools
}
