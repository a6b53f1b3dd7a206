package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// farewell bounds the notice to a server that nobody waits for a call.
const farewell = 5 * time.Second

// call is one call in flight.
type call struct {
	ctx      context.Context     // its caller's
	token    jsontext.Value      // the progress token that its caller gave; may be nil
	answer   chan answer         // holds one: whoever takes the call out of pending fills it
	progress chan jsontext.Value // the newest few; nil where nobody asked
	logs     bool                // it told a log level: a modern server may log for it
	listens  *listening          // nil unless it is subscriptions/listen
}

type answer struct {
	result jsontext.Value
	err    error
}

// Call makes one request and waits for its answer. params, nil or one strict
// JSON object, and the result cross byte for byte, but for line breaks
// between their tokens and for the progress token.
//
// With progress not nil the server is asked to report, and each report's params
// are handed to it, in their order, before Call returns, on the caller's
// goroutine; when it is slow the oldest are left out. They carry the token of
// params._meta.progressToken, or without one a token of ours. What the server
// announced in the call has been handed to OnNotification when Call returns.
//
// The error is the server's own, an [*jsonrpc.Error]; or [ErrServerGone],
// [ErrSessionLost] and [ErrBadAnswer]; an [*HTTPError]; or, when ctx ends, its
// cause: the server is told and nobody waits for what it says to that.
func (u *Upstream) Call(ctx context.Context, method string, params jsontext.Value, progress func(params jsontext.Value)) (jsontext.Value, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c := &call{ctx: ctx, answer: make(chan answer, 1)}
	if progress != nil {
		c.progress = make(chan jsontext.Value, 16)
	}
	id, err := u.begin(c)
	if err != nil {
		return nil, err
	}
	m, err := u.compose(id, c, method, params, progress != nil)
	if err != nil {
		u.take(id)
		return nil, err
	}
	// Once sent it has a life of its own: after ctx the server is still to hear
	// that nobody waits.
	wire, hangUp := context.WithCancel(u.ctx)
	unhook := context.AfterFunc(ctx, hangUp)
	err = u.link.send(wire, m)
	unhook()
	if err != nil {
		hangUp()
		return nil, u.unsent(ctx, id, c, err)
	}
	result, err := u.await(ctx, id, method, c, progress, hangUp)
	select {
	case <-u.notes.settled(ctx):
	case <-ctx.Done():
	case <-u.done:
	}
	if err == nil {
		err = u.judge(method, result)
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// compose is a call as the server is sent it.
func (u *Upstream) compose(id int64, c *call, method string, params jsontext.Value, progress bool) (outgoing, error) {
	out, header := u.fit(method, params)
	out, token, err := withToken(out, id, progress)
	if err != nil {
		return outgoing{}, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	c.token, c.logs = token, u.modern.Load() && parley.Member(parley.Member(out, "_meta"), mcp.MetaLogLevel) != nil
	return outgoing{id: id, method: method, body: jsonrpc.EncodeRequest(jsonrpc.Number(id), method, out), header: header}, nil
}

func (u *Upstream) await(ctx context.Context, id int64, method string, c *call, progress func(jsontext.Value), hangUp func()) (jsontext.Value, error) {
	for {
		select {
		case p := <-c.progress:
			progress(p)
		case a := <-c.answer:
			return c.land(a, progress, hangUp)
		case <-ctx.Done():
			if u.take(id) == nil {
				return c.land(<-c.answer, progress, hangUp) // it came just in time
			}
			u.abandon(id, method, context.Cause(ctx), hangUp)
			return nil, context.Cause(ctx)
		}
	}
}

// land ends a call with its answer, behind the reports that came before that.
func (c *call) land(a answer, progress func(jsontext.Value), hangUp func()) (jsontext.Value, error) {
	hangUp()
	for len(c.progress) > 0 {
		progress(<-c.progress)
	}
	if errors.Is(a.err, context.Canceled) && c.ctx.Err() != nil {
		return nil, context.Cause(c.ctx)
	}
	return a.result, a.err
}

// begin makes c a call in flight.
func (u *Upstream) begin(c *call) (id int64, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.gone != nil {
		return 0, u.gone
	}
	u.lastID++
	u.pending[u.lastID] = c
	return u.lastID, nil
}

// take ends the flight of a call. Nil means that somebody else did: its answer
// is in its channel.
func (u *Upstream) take(id int64) *call {
	u.mu.Lock()
	defer u.mu.Unlock()
	c := u.pending[id]
	delete(u.pending, id)
	return c
}

// unsent is the error of a call that could not be sent.
func (u *Upstream) unsent(ctx context.Context, id int64, c *call, err error) error {
	switch {
	case u.take(id) == nil:
		return (<-c.answer).err // the reason that everybody got
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return err
	}
}

// abandon tells the server that nobody waits for a call, and then stops to
// listen for its answer.
func (u *Upstream) abandon(id int64, method string, why error, hangUp func()) {
	if method == "initialize" || method == "server/discover" || !u.start(func() {
		defer hangUp()
		ctx, cancel := context.WithTimeout(u.ctx, farewell)
		defer cancel()
		_ = u.link.send(ctx, outgoing{body: cancelled(id, why)}) // it is a courtesy
	}) {
		hangUp()
	}
}

// cancelled is the notice that nobody waits for a call.
func cancelled(id int64, why error) []byte {
	params := jsonrpc.AppendString(fmt.Appendf(nil, `{"requestId":%d,"reason":`, id), why.Error())
	return jsonrpc.EncodeRequest(nil, "notifications/cancelled", append(params, '}'))
}

// Notify sends a notification. Nil means that it is on its way.
func (u *Upstream) Notify(ctx context.Context, method string, params jsontext.Value) error {
	if _, _, err := withToken(params, 0, false); err != nil {
		return err
	}
	select {
	case <-u.done:
		return u.reason()
	default:
	}
	return u.link.send(ctx, outgoing{body: jsonrpc.EncodeRequest(nil, method, params)})
}

func (u *Upstream) reason() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.gone
}
