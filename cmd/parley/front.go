package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/mcpbridge"
	"github.com/parleyhq/parley/internal/mcpfront"
)

// hall is the house as the front of /mcp sees it: who comes in, which servers
// there are, and what the gateway remembers of calls that wait.
type hall struct {
	house  *house
	tokens map[mcpfront.Place]string // of participants, known to this process alone

	mu      sync.Mutex
	bridges map[bridgeName]*mcpbridge.Bridge
	up      map[bridgeName]bool              // servers that offer something at present
	offers  map[*mcpbridge.Offer]*shownOffer // the newest of each server
}

func newHall(h *house) *hall {
	return &hall{
		house: h, tokens: map[mcpfront.Place]string{},
		bridges: map[bridgeName]*mcpbridge.Bridge{}, up: map[bridgeName]bool{}, offers: map[*mcpbridge.Offer]*shownOffer{},
	}
}

// seatToken is a token with which this process joins as a participant, for the
// participant's MCP clients.
func (l *hall) seatToken(at mcpfront.Place) gateway.TokenHash {
	token := randomToken()
	l.tokens[at] = token
	return gateway.TokenHash(config.HashToken(token))
}

// metrics count what MCP clients do in each space.
func (l *hall) metrics() map[string]*mcpfront.Metrics {
	all := map[string]*mcpfront.Metrics{}
	for name := range l.house.plan.config.Spaces {
		all[name] = mcpfront.NewMetrics(l.house.gateway.Registerer(name))
	}
	return all
}

// routes are where MCP clients come in.
func (l *hall) routes(front *mcpfront.Front) []gateway.Route {
	var list []gateway.Route
	for _, pattern := range []string{"/mcp", "/mcp/{space}", "/mcp/{space}/{participant}"} {
		list = append(list, gateway.Route{Pattern: pattern, Serve: front.Serve})
	}
	return list
}

// Who implements [mcpfront.House].
func (l *hall) Who(r *http.Request) ([]mcpfront.Place, error) {
	members, err := l.house.gateway.Identify(r)
	if err != nil && len(r.Header.Values("Authorization")) == 0 && gateway.FromHere(r) {
		if places := l.anonymous(r.PathValue("space")); places != nil {
			return places, nil
		}
	}
	if err != nil {
		return nil, err
	}
	places := make([]mcpfront.Place, len(members))
	for i, m := range members {
		places[i] = mcpfront.Place{Space: m.Space, Participant: m.Participant}
	}
	return places, nil
}

// anonymous are the places of who brings no token, where the configuration has
// some.
func (l *hall) anonymous(space string) (places []mcpfront.Place) {
	for name, s := range config.Sorted(l.house.plan.config.Spaces) {
		if s.MCP.Anonymous != "" && (space == "" || space == name) {
			places = append(places, mcpfront.Place{Space: name, Participant: s.MCP.Anonymous})
		}
	}
	return places
}

// Dial implements [mcpfront.House].
func (l *hall) Dial(ctx context.Context, at mcpfront.Place, o *client.Options) (*client.Room, error) {
	mine := *o
	mine.Space, mine.Token, mine.HTTPClient = at.Space, l.tokens[at], l.house.inside
	return client.Dial(ctx, l.house.url, &mine)
}

// Servers implements [mcpfront.House].
func (l *hall) Servers(space string) []string {
	var names []string
	s := l.house.plan.config.Spaces[space]
	if s == nil {
		return nil
	}
	for id := range config.Sorted(s.MCPServers) {
		names = append(names, id)
	}
	for id, p := range s.Participants {
		if slices.Contains(p.Serves, config.ServesTools) {
			names = append(names, id)
		}
	}
	slices.Sort(names)
	return names
}

// Offer implements [mcpfront.House].
func (l *hall) Offer(ctx context.Context, at mcpfront.Place, server string, capabilities jsontext.Value) (*mcpfront.Offer, error) {
	if l.house.plan.config.Spaces[at.Space].MCPServers[server] == nil {
		return nil, parley.Errorf(parley.NotFound, "%s joins by itself", server)
	}
	l.mu.Lock()
	b := l.bridges[bridgeName{at.Space, server}]
	l.mu.Unlock()
	if b == nil {
		return nil, parley.Errorf(parley.Unavailable, "the server %s is not here yet", server).WithHint("it is being started; try again soon")
	}
	o, err := b.OfferFor(ctx, at.Participant, capabilities)
	if err != nil {
		return nil, err
	}
	shown := l.shown(o)
	if !l.isPinned(bridgeName{at.Space, server}) {
		return shown.all, nil
	}
	unaccepted, err := l.house.gateway.Unaccepted(ctx, at.Space, server, shown.definitions())
	if err != nil {
		return nil, err
	}
	return shown.without(unaccepted), nil
}

// shown is what the front shows of an offer.
func (l *hall) shown(o *mcpbridge.Offer) *shownOffer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.offers[o]; known != nil {
		return known
	}
	if len(l.offers) >= mostOffers {
		clear(l.offers) // those that are in use come back
	}
	known := &shownOffer{all: &mcpfront.Offer{Info: o.Info.Raw, Tools: o.Tools, Resources: o.Resources, Templates: o.Templates, Prompts: o.Prompts}}
	l.offers[o] = known
	return known
}

// mostOffers bounds the offers that are kept ready for lists.
const mostOffers = 256

// Uncollected implements [mcpfront.House].
func (l *hall) Uncollected(ctx context.Context, at mcpfront.Place, kind parley.Kind, to string, params jsontext.Value) (mcpfront.Waiting, bool, error) {
	p, found, err := l.house.gateway.Uncollected(ctx, at.Space, at.Participant, kind, to, params)
	return mcpfront.Waiting{ID: p.ID, Outdated: p.Outdated, Unsure: p.Unsure}, found, err
}

// ResultBudget implements [mcpfront.House].
func (l *hall) ResultBudget(at mcpfront.Place, server, tool string) int {
	s := l.house.plan.config.Spaces[at.Space]
	if s == nil {
		return 0
	}
	return s.ResultBudget(at.Participant, server, tool)
}

// Collected implements [mcpfront.House].
func (l *hall) Collected(ctx context.Context, at mcpfront.Place, proposal string) error {
	return l.house.gateway.Collected(ctx, at.Space, proposal)
}

// Round implements [mcpfront.House].
func (l *hall) Round(ctx context.Context, at mcpfront.Place, kind parley.Kind, to string, params jsontext.Value) (string, string, bool, error) {
	fulfilment, p, found, err := l.house.gateway.OpenRound(ctx, at.Space, at.Participant, kind, to, params)
	return fulfilment, p.ID, found, err
}

// bridged takes in the bridge of a server.
func (l *hall) bridged(name bridgeName, b *mcpbridge.Bridge) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bridges[name] = b
}

// record puts what a server lists on record, and reports whether some of it is to
// be shown from now on.
func (l *hall) record(ctx context.Context, name bridgeName, o *mcpbridge.Offer) (news bool) {
	if l.house.plan.config.Spaces[name.space].MCPServers[name.id].Pin == config.PinOff {
		return false
	}
	news = l.isPinned(name) && l.hasUnaccepted(ctx, name, o)
	l.Listed(ctx, name.space, name.id, o.Tools)
	return news
}

// offered takes in what a server offers, nil while it is down.
func (l *hall) offered(ctx context.Context, name bridgeName, o *mcpbridge.Offer) {
	news := o != nil && l.record(ctx, name, o)
	l.mu.Lock()
	was := l.up[name]
	l.up[name] = o != nil
	l.mu.Unlock()
	// Other changes of its lists the server announces itself.
	if news || was != (o != nil) {
		l.house.front.Changed(name.space, name.id)
	}
}

// Listed implements [mcpfront.House]: which tools a server lists is put on
// record.
func (l *hall) Listed(ctx context.Context, space, server string, list []jsontext.Value) {
	if l.house.plan.config.Spaces[space].Enforcement == config.Lazy {
		return // it reads no calls, so that nothing could be held against them
	}
	if err := l.house.gateway.ToolsListed(ctx, space, server, toolsOf(list)); err != nil && !errors.Is(err, context.Canceled) {
		l.house.plan.log.Error("the tools of a server are not on record", "space", space, "bridge", server, "error", err)
	}
}
