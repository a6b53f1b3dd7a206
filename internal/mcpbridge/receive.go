package mcpbridge

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// maxIncoming bounds the requests of a server that are being answered; their
// params together are bounded by the size of one message. Most wait for people,
// and it is more than one caller may have calls under way, so that nobody who
// answers nothing keeps a server from asking others.
const maxIncoming = 256

// receive sorts what arrives. It never waits for anybody: as long as a link's
// reader is held up, nothing else arrives either.
func (u *Upstream) receive(m jsonrpc.Message, cause int64) {
	switch {
	case m.IsResponse():
		u.answered(m)
	case m.Fault != nil && m.IsNotification():
		u.opts.log().Warn("an MCP server's notification was dropped", "method", clip([]byte(m.Method)), "reason", m.Fault)
	case m.IsNotification():
		u.notified(m, cause)
	default:
		u.asked(m, cause)
	}
}

// answered ends the call that m answers. Late answers end nothing.
func (u *Upstream) answered(m jsonrpc.Message) {
	var a answer
	switch {
	case m.Fault != nil:
		a.err = fmt.Errorf("%w: %w", ErrBadAnswer, m.Fault)
	case m.Error != nil:
		a.err = jsonrpc.ReadError(m.Error)
	case m.Result != nil:
		a.result = m.Result
	default:
		a.err = fmt.Errorf("%w: it has neither a result nor an error", ErrBadAnswer)
	}
	if m.ID == nil {
		u.opts.log().Warn("an MCP server refused a message that it did not name", "error", a.err)
		return
	}
	if c := u.take(m.CallID()); c != nil {
		c.answer <- a
	}
}

func (u *Upstream) failCall(id int64, err error) {
	if c := u.take(id); c != nil {
		c.answer <- answer{err: err}
	}
}

func (u *Upstream) notified(m jsonrpc.Message, cause int64) {
	switch m.Method {
	case "notifications/progress":
		u.progressed(m.Params)
	case "notifications/cancelled":
		u.withdrawn(m.Params)
	case "notifications/subscriptions/acknowledged":
		u.acknowledged(m.Params, cause)
	default:
		if u.opts.OnNotification == nil {
			return
		}
		n := note{u.contextOf(cause, m.Method == "notifications/message"), m.Method, withoutSubscription(m.Params)}
		if !u.notes.add(n, u.opts.maxMessage()) {
			u.opts.log().Warn("an MCP server announces more than is taken in; something was dropped", "method", clip([]byte(m.Method)))
		}
	}
}

// progressed hands a report to its call, with its caller's token.
func (u *Upstream) progressed(params jsontext.Value) {
	id, at, ok := progressToken(params)
	if !ok || len(params) > maxProgress {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	c := u.pending[id]
	if c == nil || c.progress == nil {
		return
	}
	if c.token != nil {
		params = jsonrpc.Splice(params, at.Start, at.End, c.token)
	}
	for {
		select {
		case c.progress <- params:
			return
		default:
		}
		select {
		case <-c.progress: // the oldest says least
		default:
		}
	}
}

// withoutSubscription takes out the id of our listening, which means nothing to
// anybody else.
func withoutSubscription(params jsontext.Value) jsontext.Value {
	if metaOf(params, mcp.MetaSubscriptionID) == nil {
		return params
	}
	return withoutMeta(params, mcp.MetaSubscriptionID)
}

// contextOf is the context of the call that a message belongs to, or ours.
// Where calls share a stream with messages, only one that is alone can be told;
// of a modern server's log messages, one that is alone in having told a level.
func (u *Upstream) contextOf(cause int64, log bool) context.Context {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c := u.pending[cause]; c != nil && c.listens == nil {
		return c.ctx
	}
	if cause != anyCause {
		return u.ctx
	}
	var only *call
	for _, c := range u.pending {
		switch {
		case c.listens != nil, log && u.modern.Load() && !c.logs:
		case only != nil:
			return u.ctx
		default:
			only = c
		}
	}
	if only == nil {
		return u.ctx
	}
	return only.ctx
}

// asked answers a request of the server. Of a flood as many again are refused as
// are answered, and the rest gets nothing.
func (u *Upstream) asked(m jsonrpc.Message, cause int64) {
	ctx, done := u.admit(m, cause)
	if ctx == nil {
		if u.refuseFlood(m.ID) {
			return
		}
		u.opts.log().Warn("an MCP server's request was dropped", "method", clip([]byte(m.Method)))
		return
	}
	if !u.start(func() {
		defer done()
		reply := u.reply(ctx, m)
		if context.Cause(ctx) != errWithdrawn {
			_ = u.link.send(u.ctx, outgoing{body: reply}) // where it fails, the server's end tells why
		}
	}) {
		done()
	}
}

// refuseFlood answers a request that is one too many, unless such answers pile
// up as well: the reader must not wait for a server that reads nothing.
func (u *Upstream) refuseFlood(id jsontext.Value) bool {
	if u.refusing.Add(1) > maxIncoming {
		u.refusing.Add(-1)
		return false
	}
	return u.start(func() {
		defer u.refusing.Add(-1)
		e := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("too many requests at once, or one id twice; %d are answered at a time", maxIncoming)}
		_ = u.link.send(u.ctx, outgoing{body: jsonrpc.EncodeError(id, e)})
	})
}

var errWithdrawn = errors.New("the server has withdrawn its request")

// admit makes m one of the requests that are being answered. Nil means that
// there are too many, or one with its id: an answer could only confuse.
func (u *Upstream) admit(m jsonrpc.Message, cause int64) (context.Context, func()) {
	from := u.contextOf(cause, false)
	key := string(m.ID)
	u.mu.Lock()
	defer u.mu.Unlock()
	_, twice := u.incoming[key]
	if twice || len(u.incoming) == maxIncoming || u.asking+len(m.Params) > u.opts.maxMessage() {
		return nil, nil
	}
	u.asking += len(m.Params)
	ctx, cancel := context.WithCancelCause(from)
	unhook := context.AfterFunc(u.ctx, func() { cancel(context.Cause(u.ctx)) })
	u.incoming[key] = func() { cancel(errWithdrawn) }
	return ctx, func() {
		unhook()
		cancel(nil)
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.incoming, key)
		u.asking -= len(m.Params)
	}
}

func (u *Upstream) reply(ctx context.Context, m jsonrpc.Message) []byte {
	switch {
	case m.Fault != nil:
		return jsonrpc.EncodeError(m.ID, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: m.Fault.Error()})
	case u.modern.Load():
		return jsonrpc.EncodeError(m.ID, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "in " + mcp.Modern + " a server makes no requests"})
	case m.Method == "ping":
		return jsonrpc.EncodeResult(m.ID, jsontext.Value(`{}`))
	case u.opts.OnRequest == nil:
		return jsonrpc.EncodeError(m.ID, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this client does not answer " + m.Method})
	}
	result, err := u.opts.OnRequest(ctx, m.Method, m.Params)
	if err == nil && !result.IsValid() {
		err = errors.New("the answer is not valid JSON")
	}
	if err == nil {
		return jsonrpc.EncodeResult(m.ID, result)
	}
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		rpc = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error()}
	}
	return jsonrpc.EncodeError(m.ID, rpc)
}

// withdrawn cancels the answering of one request.
func (u *Upstream) withdrawn(params jsontext.Value) {
	for f, err := range jsonrpc.Members(params) {
		if err != nil || f.Name != "requestId" {
			continue
		}
		u.mu.Lock()
		cancel := u.incoming[string(f.Value)]
		u.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	}
}

// stray logs the first thing that was no message, and keeps it for whoever
// asks why there is no answer.
func (u *Upstream) stray(text string) {
	u.mu.Lock()
	first := u.stray1 == ""
	if first {
		u.stray1 = text
	}
	u.mu.Unlock()
	if first {
		u.opts.log().Warn("an MCP server writes what is not JSON-RPC; further lines of that kind are not logged", "text", text)
	}
}

func (u *Upstream) strayText() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.stray1
}
