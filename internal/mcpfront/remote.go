package mcpfront

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcp"
)

// Bounds of the lists of a server that somebody else bridges.
const (
	remotePages = 1_000
	remoteBytes = 16 << 20
	remoteTime  = 30 * time.Second
)

// offerOf is what a server has to offer that joined the room by itself: it is
// asked as any participant asks, by the rights of the one who sits here, and
// what it answered is kept until it says that it has changed.
func (s *seat) offerOf(ctx context.Context, server string) (*Offer, error) {
	s.mu.Lock()
	o, changes := s.offers[server], s.changes
	s.mu.Unlock()
	if o != nil {
		return o, nil
	}
	ctx, cancel := context.WithTimeout(ctx, remoteTime)
	defer cancel()
	if !s.isHere(ctx, server) {
		return nil, parley.Errorf(parley.Unavailable, "the server %s is not in the room", server).WithHint("parley join brings it in")
	}
	o = &Offer{Info: jsontext.Value(`{"capabilities":{"tools":{},"resources":{},"prompts":{},"completions":{}}}`)}
	if reply, err := s.room.Request(ctx, server, "initialize", nil); err == nil && reply.Result.Kind() == '{' {
		o.Info = reply.Result
	}
	announced := member(o.Info, "capabilities")
	budget, whole := remoteBytes, true
	for _, l := range []struct {
		capability, method, member string
		to                         *[]jsontext.Value
	}{
		{"tools", "tools/list", "tools", &o.Tools},
		{"resources", "resources/list", "resources", &o.Resources},
		{"resources", "resources/templates/list", "resourceTemplates", &o.Templates},
		{"prompts", "prompts/list", "prompts", &o.Prompts},
	} {
		if member(announced, l.capability) == nil {
			continue
		}
		list, err := s.readList(ctx, server, l.method, l.member, &budget)
		if err != nil {
			whole = whole && l.to != &o.Tools
			s.front.log.Debug("a list was not read to its end", "server", server, "list", l.method, "error", err)
		}
		*l.to = list
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if whole { // what one may not see, others have seen
		s.front.house.Listed(ctx, s.place.Space, server, o.Tools)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes == changes {
		s.offers[server] = o
	}
	return o, nil
}

// readList reads one list, page by page, as far as there is room for it.
func (s *seat) readList(ctx context.Context, server, method, name string, budget *int) (all []jsontext.Value, err error) {
	var params jsontext.Value
	for range remotePages {
		reply, err := s.room.Request(ctx, server, method, params)
		if err != nil {
			return all, err
		}
		for v := range parley.Elements(member(reply.Result, name)) {
			if *budget -= len(v); *budget < 0 {
				return all, parley.Errorf(parley.LimitReached, "the lists of %s take more than %d bytes", server, remoteBytes)
			}
			all = append(all, v)
		}
		cursor := member(reply.Result, "nextCursor")
		if cursor.Kind() != '"' {
			return all, nil
		}
		params = mcp.SetMember(jsontext.Value(`{}`), "cursor", cursor)
	}
	return all, parley.Errorf(parley.LimitReached, "the list of %s has no end", server)
}

func (s *seat) isHere(ctx context.Context, server string) bool {
	people, err := s.room.API().Participants(ctx)
	if err != nil {
		return true // the request will tell
	}
	for _, p := range people {
		if p.ID == server {
			return p.Present
		}
	}
	return false
}

// forgetOffer makes a server's lists be asked for anew, "" those of all.
func (s *seat) forgetOffer(server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++ // what is being read at present may be older
	if server == "" {
		clear(s.offers)
	}
	delete(s.offers, server)
}
