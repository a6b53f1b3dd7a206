package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// maxInputs bounds what a server may ask for in one round.
const maxInputs = 64

// converse makes one call of a modern server. What the server wants to know of
// the caller goes back to it as it is. What the caller did not declare to
// answer, but somebody else in the room does, is asked for here.
func (a *attendance) converse(ctx context.Context, s *session, f *flight, report func(jsontext.Value)) (jsontext.Value, error) {
	if err := a.given(ctx, f); err != nil {
		return nil, err
	}
	params, err := a.b.unseal(f, f.req.Params)
	if err != nil {
		return nil, err
	}
	declared := withServed(f.declared, a.serving(ctx, f.declared))
	params = mcp.SetMeta(params, mcp.MetaClientCapabilities, declared)
	for round := 1; ; round++ {
		result, err := a.callModern(ctx, s, f, params, declared, report)
		if err != nil || !asksBack(result) {
			return result, err
		}
		answers, theirs, err := a.answerHere(ctx, f, result, round)
		switch {
		case err != nil:
			a.giveUp(ctx, s, f, params, declared, result)
			return nil, err
		case theirs != nil:
			return theirs, nil
		}
		params = mcp.NextRound(params, result, answers)
	}
}

// answerHere answers what a result asks for by asking in the room. theirs is the
// result for the caller to answer where something is for that one.
func (a *attendance) answerHere(ctx context.Context, f *flight, result jsontext.Value, round int) (answers, theirs jsontext.Value, err error) {
	want, err := a.sort(ctx, f, result)
	switch {
	case err != nil:
		return nil, nil, err
	case len(want.here) == 0:
		theirs, err = a.b.guard(f, result)
		return nil, theirs, err
	case round == maxRounds && want.callers == nil:
		return nil, nil, errRounds
	}
	answers, err = a.askAll(ctx, f, want.here, mcp.TakesErrors(result))
	if err == nil && want.callers != nil {
		theirs, err = a.b.seal(f, result, want.callers, answers)
	}
	return answers, theirs, err
}

// giveUp tells a server that wants to know that nobody comes back with what it
// asked for. What it says to that is for nobody, and only who stops waits for it.
func (a *attendance) giveUp(ctx context.Context, s *session, f *flight, params, declared, result jsontext.Value) {
	round := mcp.GiveUp(params, result)
	if round == nil {
		return
	}
	tell := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
		_, _ = a.callModern(ctx, s, f, round, declared, nil)
	}
	if !a.start(tell) {
		tell()
	}
}

// callModern makes one call. Over HTTP some arguments go into headers as well,
// as the tool's definition says: it is read before, and again where the server
// expected others.
func (a *attendance) callModern(ctx context.Context, s *session, f *flight, params, declared jsontext.Value, report func(jsontext.Value)) (jsontext.Value, error) {
	method := f.req.Kind.Method
	overHTTP := a.b.server.URL != "" && method == "tools/call"
	if overHTTP && s.up.heads.Load() == nil {
		_, _ = s.offer(ctx, declared) // without it the server says what is missing
	}
	result, err := s.up.Call(ctx, method, params, report)
	if overHTTP && headerMismatch(err) {
		s.catalogue.changed()
		if _, err := s.offer(ctx, declared); err != nil {
			return nil, err
		}
		result, err = s.up.Call(ctx, method, params, report)
	}
	return result, err
}

func asksBack(result jsontext.Value) bool {
	kind, _ := parley.MemberString(result, "resultType")
	return kind == mcp.InputRequired
}

// inputs are what a server wants to know, sorted by who answers.
type inputs struct {
	here    []input        // somebody in the room
	callers jsontext.Value // the caller, as an object like inputRequests; nil for nothing
}

type input struct {
	name, method, who string
	params            jsontext.Value
	err               error // nobody can be asked
}

// sort sorts the inputRequests of a result. The error is about one that nobody
// answers, unless the server wants to know that itself.
func (a *attendance) sort(ctx context.Context, f *flight, result jsontext.Value) (inputs, error) {
	var want inputs
	callers, count := jsontext.Value(`{}`), 0
	for name, v := range parley.Members(parley.Member(result, "inputRequests")) {
		if count++; count > maxInputs {
			return want, fmt.Errorf("%w: it asks for more than %d things at once", ErrBadAnswer, maxInputs)
		}
		method, _ := parley.MemberString(v, "method")
		n := needOf(method, parley.Member(v, "params"))
		switch {
		case n.service == "":
			return want, fmt.Errorf("%w: it asks for %q, which nobody knows", ErrBadAnswer, clip([]byte(method)))
		case n.metBy(f.declared):
			callers = mcp.SetMember(callers, name, v)
			want.callers = callers
			continue
		}
		who, err := a.server(ctx, n, f.declared)
		if err != nil && !mcp.TakesErrors(result) {
			return want, err
		}
		want.here = append(want.here, input{name, method, who, parley.Member(v, "params"), err})
	}
	return want, nil
}

// askAll asks in the room, all at once, and returns the answers as an object
// like inputResponses. What gets no answer ends the call, unless the server takes
// the error in its place.
func (a *attendance) askAll(ctx context.Context, f *flight, list []input, takesErrors bool) (jsontext.Value, error) {
	asking, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answers := make([]jsontext.Value, len(list))
	var wg sync.WaitGroup
	for i, one := range list {
		wg.Go(func() {
			err := one.err
			if err == nil {
				answers[i], err = a.ask(asking, one.who, one.method, one.params, []*flight{f}, nil)
			}
			switch {
			case err == nil:
			case takesErrors && ctx.Err() == nil:
				answers[i] = mcp.Unanswered(asRPC(err))
			default:
				cancel(err)
			}
		})
	}
	wg.Wait()
	if asking.Err() != nil {
		return nil, context.Cause(asking)
	}
	all := jsontext.Value(`{}`)
	for i, one := range list {
		all = mcp.SetMember(all, one.name, answers[i])
	}
	return all, nil
}

// asRPC is the error of JSON-RPC that a question got for an answer.
func asRPC(err error) *jsonrpc.Error {
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return rpc
	}
	return refusal(err)
}

// errState is about a requestState that we did not give for this call.
var errState = &client.RPCError{Code: jsonrpc.CodeInvalidParams,
	Message: "the requestState is not one of this call, or the bridge was started again since: make the call again"}

// errSpent is about one that was used before.
var errSpent = &client.RPCError{Code: jsonrpc.CodeInvalidParams,
	Message: "the requestState was used before, and what others answered counts once: make the call again"}
