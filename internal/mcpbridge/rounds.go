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
	params, err := a.b.unseal(f, f.req.Params)
	if err != nil {
		return nil, err
	}
	declared := withServed(f.declared, a.b.join.Serves)
	params = mcp.SetMeta(params, mcp.MetaClientCapabilities, declared)
	for range maxRounds {
		result, err := a.callModern(ctx, s, f, params, declared, report)
		if err != nil || !asksBack(result) {
			return result, err
		}
		want, err := a.sort(ctx, f, result)
		switch {
		case err != nil:
			return nil, err
		case len(want.here) == 0:
			return a.b.guard(f, result)
		}
		answers, err := a.askAll(ctx, f, want.here)
		switch {
		case err != nil:
			return nil, err
		case want.callers != nil:
			return a.b.seal(f, result, want.callers, answers)
		}
		params = mcp.SetMember(params, "inputResponses", answers)
		if state := parley.Member(result, "requestState"); state != nil {
			params = mcp.SetMember(params, "requestState", state)
		} else {
			params = mcp.DropMember(params, "requestState")
		}
	}
	return nil, errRounds
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
}

// sort sorts the inputRequests of a result. The error is about one that nobody
// answers.
func (a *attendance) sort(ctx context.Context, f *flight, result jsontext.Value) (inputs, error) {
	var want inputs
	callers, n := jsontext.Value(`{}`), 0
	for name, v := range parley.Members(parley.Member(result, "inputRequests")) {
		if n++; n > maxInputs {
			return want, fmt.Errorf("%w: it asks for more than %d things at once", ErrBadAnswer, maxInputs)
		}
		method, _ := parley.MemberString(v, "method")
		what := service(method)
		switch {
		case what == "":
			return want, fmt.Errorf("%w: it asks for %q, which nobody knows", ErrBadAnswer, clip([]byte(method)))
		case parley.Member(f.declared, what) != nil:
			callers = mcp.SetMember(callers, name, v)
			want.callers = callers
			continue
		}
		who, err := a.server(ctx, what)
		if err != nil {
			return want, err
		}
		want.here = append(want.here, input{name: name, method: method, who: who, params: parley.Member(v, "params")})
	}
	return want, nil
}

// askAll asks in the room, all at once, and returns the answers as an object
// like inputResponses.
func (a *attendance) askAll(ctx context.Context, f *flight, list []input) (jsontext.Value, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answers, errs := make([]jsontext.Value, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	for i, one := range list {
		wg.Go(func() {
			if answers[i], errs[i] = a.ask(ctx, one.who, one.method, one.params, []*flight{f}, nil); errs[i] != nil {
				cancel(errs[i])
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, context.Cause(ctx)
	}
	all := jsontext.Value(`{}`)
	for i, one := range list {
		all = mcp.SetMember(all, one.name, answers[i])
	}
	return all, nil
}

// errState is about a requestState that we did not give for this call.
var errState = &client.RPCError{Code: jsonrpc.CodeInvalidParams,
	Message: "the requestState is not one of this call, or the bridge was started again since: make the call again"}

// errSpent is about one that was used before.
var errSpent = &client.RPCError{Code: jsonrpc.CodeInvalidParams,
	Message: "the requestState was used before, and what others answered counts once: make the call again"}
