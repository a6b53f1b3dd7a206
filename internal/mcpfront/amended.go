package mcpfront

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/mcpfront/excerpt"
	"github.com/parleyhq/parley/internal/tokens"
)

// Who fulfils a proposal may change what is sent. The client is told so beside the
// result: most tools do not repeat their arguments, and a model would go by what
// it had asked for itself.

// amendment is how an approved call was changed; nil where it was not.
type amendment struct {
	note   string         // for models
	meta   jsontext.Value // for programs
	params jsontext.Value // that were sent; nil where nobody can read them any more
}

// mostAmended is how much of the arguments that were sent is told, in tokens.
const mostAmended = 500

// amendment reads what was sent in place of what the client asked for, from the
// record: it may have been redacted since it came by.
func (x *exchange) amendment(ctx context.Context, fl *flight, by, fulfilment string) *amendment {
	a := &amendment{
		note: "[This call was changed by " + strconv.Quote(by) + " before it was made. ",
		meta: fmt.Appendf(nil, `{"by":%s,"envelope":%s`, mcp.Quote(by), mcp.Quote(fulfilment)),
	}
	e, err := x.seat.room.API().Envelope(ctx, fulfilment)
	switch {
	case err != nil:
		a.note += "What was sent could not be read."
	case parley.IsRedacted(e.Payload):
		a.note += "What was sent has been redacted since."
		a.meta = append(a.meta, `,"redacted":true`...)
	default:
		a.params = member(e.Payload, "params")
		a.quote(argumentsOf(fl.method, a.params), fulfilment, x, fl)
	}
	a.note += "]"
	a.meta = append(a.meta, '}')
	return a
}

// argumentsOf are what a call was made with.
func argumentsOf(method string, params jsontext.Value) jsontext.Value {
	if method == "tools/call" || method == "prompts/get" {
		return member(params, "arguments")
	}
	return mcp.DropMember(params, "_meta")
}

// quote tells the arguments, or how they begin and where all of them are.
func (a *amendment) quote(arguments jsontext.Value, fulfilment string, x *exchange, fl *flight) {
	if arguments == nil {
		a.note += "It was sent without arguments."
		return
	}
	room := mostAmended
	if budget := x.budget(fl); budget > 0 {
		room = min(room, budget/4)
	}
	head, _ := excerpt.Head(string(arguments), room)
	if len(head) == len(arguments) {
		a.note += "The arguments that were sent: " + head
		a.meta = append(append(a.meta, `,"arguments":`...), arguments...)
		return
	}
	a.note += fmt.Sprintf("The arguments that were sent have %d bytes, and begin so: %s… ", len(arguments), head)
	a.meta = fmt.Appendf(a.meta, `,"bytes":%d`, len(arguments))
	if x.target != "" { // where the room's own tools are not
		a.note += "All of them are on record, in the envelope " + fulfilment + "."
	} else {
		a.note += fmt.Sprintf(`parley__result with {"handle": %s, "asked": true} has all of them.`, mcp.Quote(fulfilment))
	}
}

// amendedBefore is the amendment of the call that a further round belongs to.
func (x *exchange) amendedBefore(ctx context.Context, fl *flight) *amendment {
	p, err := x.seat.room.API().Proposal(ctx, fl.proposal)
	if err != nil || p.State != client.ProposalState(client.Amended) {
		return nil
	}
	return x.amendment(ctx, fl, p.Closed.By, p.Closed.ID)
}

// cost is how many tokens the note has.
func (a *amendment) cost() int {
	if a == nil {
		return 0
	}
	return tokens.Count(a.note)
}

// ofRounds are the params of further rounds: they ask for what was approved.
func (a *amendment) ofRounds(params jsontext.Value) jsontext.Value {
	if a == nil || a.params == nil {
		return params
	}
	sent := mcp.DropMember(a.params, "_meta")
	if meta := member(params, "_meta"); meta != nil {
		sent = mcp.SetMember(sent, "_meta", meta)
	}
	return sent
}

// tell adds it to a result: to _meta and, of a tool's, behind the tool's own content.
// What else there is stays as it came.
func (a *amendment) tell(result jsontext.Value, ofTool bool) jsontext.Value {
	if a == nil || result.Kind() != '{' {
		return result
	}
	if ofTool && !asksForInput(result) {
		result = addText(result, a.note)
	}
	return mcp.SetMeta(result, mcp.MetaAmended, a.meta)
}

// addText adds a text to the content of a tool's result, unless that is no content.
func addText(result jsontext.Value, text string) jsontext.Value {
	content := member(result, "content")
	if content == nil {
		content = jsontext.Value(`[]`)
	}
	if content.Kind() != '[' {
		return result
	}
	b := slices.Clip(bytes.TrimRight(content[:len(content)-1], " \t\r\n")) // others read it too
	if b[len(b)-1] != '[' {                                                // nothing else that ends an item looks so
		b = append(b, ',')
	}
	b = append(append(append(b, `{"type":"text","text":`...), mcp.Quote(text)...), "}]"...)
	return mcp.SetMember(result, "content", b)
}

// fail adds it to an error of the server's.
func (a *amendment) fail(err error) error {
	rpc, ok := errors.AsType[*client.RPCError](err)
	if a == nil || !ok {
		return err
	}
	return &client.RPCError{Code: rpc.Code, Message: rpc.Message + "\n" + a.note, Data: rpc.Data}
}
