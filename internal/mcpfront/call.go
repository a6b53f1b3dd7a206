package mcpfront

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// callTool answers tools/call: a built-in tool, or one of a server's.
func (x *exchange) callTool(ctx context.Context) (jsontext.Value, error) {
	name, err := x.text("name")
	if err != nil {
		return nil, err
	}
	if x.target == "" {
		if b := builtinOf(name); b != nil {
			if !b.allowed(x.seat.room.Capabilities()) {
				return nil, unknownTool(name)
			}
			return b.call(x, ctx, member(x.msg.Params, "arguments"))
		}
	}
	server, own, err := x.find(ctx, name, sectionTools)
	var result jsontext.Value
	switch {
	case err == nil && server == "":
		return nil, unknownTool(name)
	case err == nil:
		result, err = x.ask(ctx, server, "tools/call", mcp.SetMember(x.msg.Params, "name", mcp.Quote(own)))
	}
	if refused, ok := errors.AsType[*parley.Error](err); ok {
		x.refusal = refused
		return toolRefusal(refused), nil // data for the model, as every failure of a tool
	}
	return result, err
}

func unknownTool(name string) error { return invalidParams("unknown tool: " + clip(name)) }

// toolRefusal is what the room refused, as the result of a tool.
func toolRefusal(e *parley.Error) jsontext.Value {
	text := e.Error()
	if e.Hint != "" {
		text += "\n" + e.Hint
	}
	data, _ := e.MarshalJSON() // never fails
	return toolResult(text, data, true)
}

// toolResult is a tool's result with one text and, where it is not nil,
// structured content.
func toolResult(text string, structured jsontext.Value, failed bool) jsontext.Value {
	b := append(jsontext.Value(`{"content":[{"type":"text","text":`), mcp.Quote(text)...)
	b = append(b, `}]`...)
	if structured != nil {
		b = append(append(b, `,"structuredContent":`...), structured...)
	}
	if failed {
		b = append(b, `,"isError":true`...)
	}
	return append(b, '}')
}

// find resolves a name of this endpoint to a server and its own name; server is
// "" where nothing of that name is there for the caller.
func (x *exchange) find(ctx context.Context, name string, in section) (server, own string, err error) {
	if x.target != "" {
		return x.target, name, nil // the server knows best what it has
	}
	caps := x.seat.room.Capabilities()
	for _, server := range x.servers() {
		if !couldBe(name, server) {
			continue
		}
		offer, err := x.offer(ctx, server)
		if isDown(err) {
			return "", "", away(server)
		}
		if err != nil {
			return "", "", err
		}
		e := offer.find(server, in, name, true)
		if e == nil {
			continue
		}
		if _, ok := judge(caps, e); ok {
			return server, e.own, nil
		}
	}
	return "", "", nil
}

// couldBe reports whether a shared name may be one of a server's.
func couldBe(name, server string) bool {
	prefix := []byte(server + "__")
	for i := range prefix {
		if isOdd(rune(prefix[i])) {
			prefix[i] = '_'
		}
	}
	n := min(len(prefix), maxName-9)
	return len(name) >= n && name[:n] == string(prefix[:n])
}

func (x *exchange) getPrompt(ctx context.Context) (jsontext.Value, error) {
	name, err := x.text("name")
	if err != nil {
		return nil, err
	}
	server, own, err := x.find(ctx, name, sectionPrompts)
	if err != nil {
		return nil, err
	}
	if server == "" {
		return nil, invalidParams("unknown prompt: " + clip(name))
	}
	return x.ask(ctx, server, "prompts/get", mcp.SetMember(x.msg.Params, "name", mcp.Quote(own)))
}

func (x *exchange) readResource(ctx context.Context) (jsontext.Value, error) {
	server, params, err := x.resource(ctx)
	if err != nil {
		return nil, err
	}
	result, err := x.ask(ctx, server, "resources/read", params)
	if err == nil && x.modern() {
		result = mcp.AddMember(mcp.AddMember(result, "ttlMs", jsontext.Value(`0`)), "cacheScope", jsontext.Value(`"private"`))
	}
	return result, err
}

// resource resolves params.uri to a server and params with its own URI.
func (x *exchange) resource(ctx context.Context) (server string, params jsontext.Value, err error) {
	uri, err := x.text("uri")
	if err != nil {
		return "", nil, err
	}
	server, own, err := x.findURI(ctx, uri)
	if err != nil {
		return "", nil, err
	}
	return server, mcp.SetMember(x.msg.Params, "uri", mcp.Quote(own)), nil
}

// findURI resolves a URI of this endpoint. Servers name their own URIs in results,
// which cross unchanged: one that a single server lists is understood as well.
func (x *exchange) findURI(ctx context.Context, uri string) (server, own string, err error) {
	if x.target != "" {
		return x.target, uri, nil
	}
	if server, own, ok := splitURI(uri); ok && slices.Contains(x.servers(), server) {
		return server, own, nil
	}
	var found []string
	for _, server := range x.servers() {
		offer, err := x.offer(ctx, server)
		if err == nil && offer.find(server, sectionResources, uri, false) != nil {
			found = append(found, server)
		}
	}
	if len(found) == 1 {
		return found[0], uri, nil
	}
	return "", "", x.noResource(uri)
}

// noResource is what each era is told of a resource that is not there.
func (x *exchange) noResource(uri string) error {
	e := &jsonrpc.Error{
		Code: mcp.CodeResourceNotFound, Data: append(append(jsontext.Value(`{"uri":`), mcp.Quote(uri)...), '}'),
		Message: "no server here has the resource " + clip(uri) + ": resources are called parley://SERVER/URI, as resources/list shows them",
	}
	if x.modern() {
		e.Code = jsonrpc.CodeInvalidParams
	}
	return e
}

// ask makes a call in the room: as a request where the caller may, else as a
// proposal.
func (x *exchange) ask(ctx context.Context, server, method string, params jsontext.Value) (jsontext.Value, error) {
	end, err := x.seat.beginCall()
	if err != nil {
		return nil, err
	}
	defer end()
	if result, is, err := x.retries(ctx, params); is {
		return result, err
	}
	params = x.annotate(params)
	if !x.modern() || x.caps == nil {
		return x.rounds(ctx, server, method, params)
	}
	// A server may ask back in mid-call, which in this era ends the request but
	// not the call.
	fl := x.newFlight(server, method)
	return x.fly(ctx, fl, func(ctx context.Context) (jsontext.Value, error) { return x.roundsOf(ctx, fl, params) })
}

// annotate tells with a call what a session knows of its client (the names are
// those of 2026-07-28).
func (x *exchange) annotate(params jsontext.Value) jsontext.Value {
	if x.session == nil {
		return params
	}
	if x.caps != nil {
		params = mcp.SetMeta(params, mcp.MetaClientCapabilities, x.caps)
	}
	if level := x.session.logLevel(); level != nil {
		params = mcp.SetMeta(params, mcp.MetaLogLevel, level)
	}
	return params
}

// once makes one round of a call.
func (x *exchange) once(ctx context.Context, fl *flight, params jsontext.Value) (jsontext.Value, error) {
	kind, err := callKind(fl.method, params)
	if err != nil {
		return nil, err
	}
	a := parley.Action{Kind: kind.As(parley.TypeRequest), To: []string{fl.server}, Params: params}
	caps := x.seat.room.Capabilities()
	if fl.fulfilment != "" || caps.Allow(&a) {
		if err := x.present(ctx, fl.server); err != nil {
			return nil, err
		}
		return x.request(ctx, fl, params)
	}
	if isRound(params) {
		fulfilment, proposal, found, err := x.front.house.Round(ctx, x.place, kind, fl.server, params)
		if err != nil {
			return nil, err
		}
		if !found { // to approve a round without what came before would be to approve nothing that anybody can judge
			return nil, parley.Errorf(parley.ProposalMismatch, "no approved call of %s waits for this round", x.place.Participant).
				WithHint("each answer with the resultType input_required can be gone on with once, with its requestState; to begin anew leave inputResponses and requestState out")
		}
		fl.fulfilment, fl.proposal = fulfilment, proposal
		fl.amended = x.amendedBefore(ctx, fl)
		return x.request(ctx, fl, params)
	}
	a.Kind.Type = parley.TypeProposal
	if caps.Allow(&a) && fl.method != "completion/complete" { // of which there is one with each key that somebody presses
		return x.propose(ctx, fl, kind, params)
	}
	refused := parley.Errorf(parley.CapabilityViolation, "%s may neither request nor propose %s", x.place.Participant, clip(kind.As(parley.TypeRequest).String()))
	refused.AttemptedKind, refused.Capabilities = kind.As(parley.TypeRequest).String(), caps
	return nil, refused.WithHint("ask somebody who may for a grant")
}

// present refuses a call that nobody would answer.
func (x *exchange) present(ctx context.Context, server string) error {
	if _, err := x.offer(ctx, server); isDown(err) {
		return away(server)
	}
	return nil
}

func away(server string) error {
	return parley.Errorf(parley.TargetAbsent, "the server %s is down", server).WithHint("it is started again by itself; try again soon")
}

func isRound(params jsontext.Value) bool {
	return member(params, "inputResponses") != nil || member(params, "requestState") != nil
}

// callKind is the kind that a call has in the room, but for its type.
func callKind(method string, params jsontext.Value) (parley.Kind, error) {
	b := append(jsontext.Value(`{"method":`), mcp.Quote(method)...)
	b = append(append(append(b, `,"params":`...), params...), '}')
	call, err := parley.ReadCall(parley.Kind{Type: parley.TypeRequest, Method: method}, b)
	if err != nil {
		return parley.Kind{}, invalidParams(err.Error())
	}
	return call.Kind, nil
}

// request makes the call in the room and waits for its answer.
func (x *exchange) request(ctx context.Context, fl *flight, params jsontext.Value) (jsontext.Value, error) {
	var opts []client.SendOption
	if fl.fulfilment != "" {
		opts = append(opts, client.Correlate(fl.fulfilment))
	}
	e, err := client.NewRequest(fl.server, fl.method, params, opts...)
	if err != nil {
		return nil, err
	}
	x.seat.take(e.ID, fl)
	reply, err := x.seat.room.Call(ctx, e)
	fl.settled = isAnswer(err)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, fl.amended.fail(x.errorWithin(fl, e.ID, err))
	}
	return x.mark(fl.amended.tell(x.within(fl, e.ID, reply), fl.tool != ""), e.ID, fl.proposal)
}

// isAnswer reports whether a call was answered, be it with an error.
func isAnswer(err error) bool {
	_, refused := errors.AsType[*client.RPCError](err)
	return err == nil || refused
}

// mark names, in a result, the envelopes that it came of. What is no result of
// MCP's is an error.
func (x *exchange) mark(result jsontext.Value, envelope, proposal string) (jsontext.Value, error) {
	if result.Kind() != '{' {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the server's result is not an object"}
	}
	result = mcp.SetMeta(result, mcp.MetaEnvelope, mcp.Quote(envelope))
	if proposal != "" {
		result = mcp.SetMeta(result, mcp.MetaProposal, mcp.Quote(proposal))
	}
	return result, nil
}
