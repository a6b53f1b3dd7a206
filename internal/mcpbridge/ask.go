package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// maxAsked bounds how often a server may ask back in the course of one call.
const maxAsked = 256

// asked answers a request of a legacy server: by whoever made the call that
// caused it, if that one can, else by somebody of whom the space says so.
func (a *attendance) asked(ctx context.Context, s *session, method string, params jsontext.Value) (jsontext.Value, error) {
	what := service(method)
	if what == "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "nobody here answers " + clip([]byte(method))}
	}
	if a.room.Load() == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "nobody is there yet to ask"}
	}
	flights := a.causes(ctx, s)
	peer, err := s.whom(what, flights)
	if err != nil {
		return nil, err
	}
	if peer == "" {
		if peer, err = a.server(ctx, what); err != nil {
			return nil, err
		}
	}
	for _, f := range flights {
		if f.asked.Add(1) > maxAsked {
			return nil, &jsonrpc.Error{Code: client.CodeBusy, Message: fmt.Sprintf("a server may ask %d times in the course of a call", maxAsked)}
		}
	}
	if len(flights) > 0 {
		defer s.turns.pause(flights[0])(ctx)
	}
	notify := func(p jsontext.Value) { _ = s.up.Notify(ctx, "notifications/progress", p) }
	return a.ask(ctx, peer, method, params, flights, notify)
}

// causes are the calls that a server's request may belong to, the likeliest
// first. In a session of one caller it does little harm to take one for another,
// and with turns there is one; in a shared one all count.
func (a *attendance) causes(ctx context.Context, s *session) []*flight {
	_, program := s.up.link.(*stdio)
	f := flightOf(ctx)
	if s.owner != "" && (program || f == nil) {
		a.b.asks.Store(true) // so will its other sessions
		s.turns.takeTurns()
	}
	switch {
	case s.owner == "" && program && a.b.server.Sessions == SessionsShared:
		return s.turns.suspects() // a prompt must not reach somebody else
	case f != nil:
		return []*flight{f}
	case s.owner == "":
		return s.turns.inFlight()
	}
	return s.turns.candidates()
}

// whom says which caller a server's request belongs to; "" where that one did
// not declare to answer it. Without a word of the server's it is clear in a
// caller's own session, and else where calls of one caller are in flight, or
// none whose caller could be asked.
func (s *session) whom(what string, flights []*flight) (string, error) {
	if s.owner != "" {
		if parley.Member(s.asks, what) != nil {
			return s.owner, nil
		}
		return "", nil
	}
	asking := slices.DeleteFunc(slices.Clone(flights), func(f *flight) bool { return parley.Member(f.declared, what) == nil })
	switch {
	case len(asking) == 0:
		return "", nil
	case !slices.ContainsFunc(flights, func(f *flight) bool { return f.peer != asking[0].peer }):
		return asking[0].peer, nil
	}
	return "", &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: fmt.Sprintf(
		"%d calls are in flight, or were a moment ago, in a shared session, and nothing says which of them %s belongs to (sessions: peer gives each caller its own)", len(flights), what)}
}

// server is who answers for callers that cannot: somebody who is here, since
// nobody else would answer.
func (a *attendance) server(ctx context.Context, what string) (string, error) {
	list := a.b.join.Serves[what]
	if what == "roots" || len(list) == 0 {
		return "", nobody(what)
	}
	people, err := a.room.Load().API().Participants(ctx)
	if err != nil {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "who is here to answer is not known: " + err.Error()}
	}
	for _, p := range people {
		if p.Present && slices.Contains(list, p.ID) {
			return p.ID, nil
		}
	}
	return "", &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("the caller did not declare %s, and nobody who serves it is in the room (%s)", what, strings.Join(list, ", "))}
}

// nobody is the error of what neither the caller nor anybody else answers.
func nobody(what string) *jsonrpc.Error {
	hint := fmt.Sprintf("serves: [%s] on a participant says who does it for all", what)
	if what == "roots" {
		hint = "roots: true on the server lets callers that have some declare them"
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("the caller did not declare %s, and nobody else in the space serves it (%s)", what, hint)}
}

// ask asks somebody in the room, and returns the answer as it was written.
// report takes the reports that params ask for.
func (a *attendance) ask(ctx context.Context, who, method string, params jsontext.Value, flights []*flight, report func(jsontext.Value)) (jsontext.Value, error) {
	opts := []client.SendOption{}
	var ids []string
	for _, f := range flights {
		ids = append(ids, f.req.Envelope.ID)
	}
	if len(ids) > 0 {
		opts = append(opts, client.Correlate(ids[:min(len(ids), maxRounds)]...), client.InContext(flights[0].req.Envelope.Context))
	}
	if report != nil && metaOf(params, mcp.MetaProgressToken) != nil {
		opts = append(opts, client.OnProgress(func(p client.Progress) { report(p.Params) }))
	}
	reply, err := a.room.Load().Request(ctx, who, method, params, opts...)
	if rpc, ok := errors.AsType[*client.RPCError](err); ok {
		return nil, &jsonrpc.Error{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data, Raw: rpc.Raw}
	}
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: fmt.Sprintf("%s did not answer %s: %v", who, method, err)}
	}
	return reply.Result, nil
}
