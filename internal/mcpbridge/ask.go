package mcpbridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	n := needOf(method, params)
	if n.service == "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "nobody here answers " + clip([]byte(method))}
	}
	if a.room.Load() == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "nobody is there yet to ask"}
	}
	flights := a.causes(ctx, s)
	peer, err := s.whom(n, flights)
	if err != nil {
		return nil, err
	}
	if peer == "" {
		if peer, err = a.server(ctx, n, s.declaredIn(flights)); err != nil {
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
func (s *session) whom(n need, flights []*flight) (string, error) {
	if s.owner != "" {
		if n.metBy(s.asks) {
			return s.owner, nil
		}
		return "", nil
	}
	asking := slices.DeleteFunc(slices.Clone(flights), func(f *flight) bool { return !n.metBy(f.declared) })
	switch {
	case len(asking) == 0:
		return "", nil
	case !slices.ContainsFunc(flights, func(f *flight) bool { return f.peer != asking[0].peer }):
		return asking[0].peer, nil
	}
	return "", &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: fmt.Sprintf(
		"%d calls are in flight, or were a moment ago, in a shared session, and nothing says which of them %s belongs to (sessions: peer gives each caller its own)", len(flights), n.service)}
}

// declaredIn is what the caller declared whose call a server's request belongs to.
func (s *session) declaredIn(flights []*flight) jsontext.Value {
	switch {
	case s.owner != "":
		return s.asks
	case len(flights) > 0:
		return flights[0].declared
	}
	return nil
}

// server is who answers for a caller that declares this and cannot: somebody who
// is here, since nobody else would answer.
func (a *attendance) server(ctx context.Context, n need, declared jsontext.Value) (string, error) {
	list := a.b.join.Serves[n.service]
	if n.service == "roots" {
		return "", n.nobody(declared, "nobody else in the space serves it (roots: true on the server lets callers that have some declare them)")
	}
	if len(list) == 0 {
		return "", n.nobody(declared, fmt.Sprintf("nobody else in the space serves it (serves: [%s] on a participant says who does it for all)", n.service))
	}
	people, err := a.room.Load().API().Participants(ctx)
	if err != nil {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "who is here to answer is not known: " + err.Error()}
	}
	for _, id := range list {
		if isHere(people, id) {
			return id, nil
		}
	}
	return "", n.nobody(declared, fmt.Sprintf("nobody who serves it is in the room (%s)", strings.Join(list, ", ")))
}

// serving are those of the servers for a caller who declares this that are here
// to answer: what nobody is there for is not declared, so that a server refuses at
// once what would need it. Where it is not known who is here, all of them may be.
func (a *attendance) serving(ctx context.Context, declared jsontext.Value) map[string][]string {
	serves := a.b.join.Serves
	if bytes.Equal(withServed(declared, serves), withServed(declared, nil)) {
		return nil
	}
	people, err := a.room.Load().API().Participants(ctx)
	if err != nil {
		return serves
	}
	here := make(map[string][]string, len(serves))
	for service, list := range serves {
		for _, id := range list {
			if isHere(people, id) {
				here[service] = append(here[service], id)
			}
		}
	}
	return here
}

func isHere(people []client.Participant, id string) bool {
	return slices.ContainsFunc(people, func(p client.Participant) bool { return p.Present && p.ID == id })
}

// ask asks somebody in the room, and returns the answer as it was written.
// report takes the reports that params ask for.
func (a *attendance) ask(ctx context.Context, who, method string, params jsontext.Value, flights []*flight, report func(jsontext.Value)) (jsontext.Value, error) {
	var of *parley.Context
	var ids []string
	for _, f := range flights {
		ids = append(ids, f.req.Envelope.ID)
	}
	if len(flights) > 0 {
		of = flights[0].req.Envelope.Context
	}
	within, params, err := takeContext(params, of)
	if err != nil {
		return nil, refusal(err)
	}
	opts := []client.SendOption{client.Correlate(ids[:min(len(ids), maxRounds)]...), client.InContext(within)}
	if report != nil && metaOf(params, mcp.MetaProgressToken) != nil {
		opts = append(opts, client.OnProgress(func(p client.Progress) { report(p.Params) }))
	}
	reply, err := a.room.Load().Request(ctx, who, method, params, opts...)
	if rpc, ok := errors.AsType[*client.RPCError](err); ok {
		return nil, ofJSONRPC(rpc, who)
	}
	if refused, ok := errors.AsType[*parley.Error](err); ok {
		return nil, refusal(refused)
	}
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: fmt.Sprintf("%s did not answer %s: %v", who, method, err)}
	}
	return reply.Result, nil
}

// ofJSONRPC is what somebody refused a server's request with, as it was written
// where it is an error of JSON-RPC. In the room it need not be one, and a server
// that cannot read a line takes its client for broken, and ends for everybody.
func ofJSONRPC(e *client.RPCError, who string) *jsonrpc.Error {
	code, err := strconv.ParseInt(string(parley.Member(e.Raw, "code")), 10, 32)
	message, ok := parley.MemberString(e.Raw, "message")
	if e.Raw == nil || err == nil && ok {
		return &jsonrpc.Error{Code: e.Code, Message: e.Message, Data: e.Data, Raw: e.Raw}
	}
	if !ok {
		message = clip(e.Raw)
	}
	if err != nil {
		code = jsonrpc.CodeInternal
	}
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf("%s answered with what is no error of JSON-RPC: %s", who, message), Data: e.Data}
}
