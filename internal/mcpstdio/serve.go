package mcpstdio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// attempts is how often a request is made for any other reason than that the
// server was not reached.
const attempts = 4

// serve makes a request until it is answered, or nobody wants that any more.
func (r *relay) serve(c *call) {
	defer c.cancel()
	if !c.isStream() {
		defer r.waiting.Done()
	}
	wait := backoff{patience: r.Patience}
	for tries := 1; ; tries++ {
		err := r.attempt(c)
		if r.calls.find(c.key) != c || c.ctx.Err() != nil {
			r.calls.end(c)
			return
		}
		if c.acknowledged {
			wait.patience = 0 // it lasts as long as the client wants
		}
		if r.again(c, err, tries) && r.retry(c.ctx, &wait, err) {
			continue
		}
		if r.calls.end(c) && c.ctx.Err() == nil {
			c.opens.settle(err)
			r.out.say(r.ctx, failure(c, err))
		}
		return
	}
}

// again decides whether a request may be made once more.
func (r *relay) again(c *call, err error, tries int) bool {
	switch {
	case errors.Is(err, errUnreached):
		return true
	case c.acknowledged && errors.Is(err, errBroke):
		return true
	case tries >= attempts:
		return false
	case errors.Is(err, errSessionLost):
		return true // it was refused unread
	case errors.Is(err, errBroke):
		return readsOnly(c.msg.Method)
	}
	return r.refreshed(c, err)
}

// readsOnly are the methods that change nothing, whoever serves them.
func readsOnly(method string) bool {
	return method == "initialize" || method == "ping" || method == "server/discover" || strings.HasSuffix(method, "/list")
}

// attempt makes a request once, and hands on all that comes back for it.
func (r *relay) attempt(c *call) error {
	var s *session
	var h http.Header
	switch {
	case c.version != "":
		h = r.modernHeaders(c.part, c.version)
	case c.opens != nil:
		s, h = c.opens, http.Header{}
	default:
		var err error
		if s, err = r.current(c.ctx); err != nil {
			return unsent(err)
		}
		h = s.headers()
	}
	resp, err := r.post(c.ctx, c.raw, h)
	if err != nil {
		return err
	}
	if c.opens == nil && lost(resp, s) {
		resp.Body.Close()
		r.renew(s)
		return errSessionLost
	}
	return r.follow(c, s, resp)
}

// unsent is why a request was not made. That a handshake broke says nothing about
// the request.
func unsent(err error) error {
	if errors.Is(err, errBroke) {
		return fmt.Errorf("%w: %v", errUnreached, err)
	}
	return err
}

// follow reads a call's answer, and resumes a stream that broke off where the
// server made that possible.
func (r *relay) follow(c *call, s *session, resp *http.Response) error {
	var at place
	for tries := 0; ; tries++ {
		before := at.id
		answered, err := r.read(c, s, resp, &at)
		resp.Body.Close()
		if answered || at.id == "" || s == nil || !errors.Is(err, errBroke) {
			return err
		}
		if at.id != before {
			tries = 0
		}
		if tries == attempts || !pause(c.ctx, at.delay()) {
			return err
		}
		if resp, err = r.get(c.ctx, s, at.id); err != nil {
			return errBroke
		}
		if resp.StatusCode != http.StatusOK {
			resp.Body.Close()
			return errBroke
		}
	}
}

// read hands on one response's messages. With the answer it is over.
func (r *relay) read(c *call, s *session, resp *http.Response, at *place) (answered bool, err error) {
	for p, err := range r.messages(resp, at) {
		if err != nil {
			return false, err
		}
		if r.hand(c, s, resp, p) {
			return true, nil
		}
	}
	return false, errBroke
}

// hand gives a message of the server to the client, and reports whether it was the
// answer to c. Where c is nil the message came outside of calls.
func (r *relay) hand(c *call, s *session, resp *http.Response, p part) (answered bool) {
	m := &p.msg
	switch {
	case p.bad != nil || m.Fault != nil && !m.IsResponse():
		r.Log.Warn("the server sent what is no message")
	case m.IsResponse():
		return r.handAnswer(c, s, resp, p)
	case !m.IsNotification() && !r.asked(s, p):
		r.Log.Warn("the server asked what cannot be answered", "method", m.Method)
	case c != nil && c.isStream() && m.Method == "notifications/subscriptions/acknowledged":
		if !c.acknowledged {
			r.out.say(r.ctx, p.raw)
		} else {
			r.mayHaveChanged(c) // while nobody listened
		}
		c.acknowledged = true
	default:
		if m.Method == "notifications/cancelled" {
			r.asker(key(parley.Member(m.Params, "requestId"))) // it waits for no answer any more
		}
		r.out.say(r.ctx, p.raw)
	}
	return false
}

func (r *relay) handAnswer(c *call, s *session, resp *http.Response, p part) bool {
	m := &p.msg
	if c == nil {
		if c = r.calls.find(key(m.ID)); c != nil {
			defer c.cancel() // its own stream does not bring the answer any more
		}
	}
	if c == nil || m.ID != nil && key(m.ID) != c.key {
		r.Log.Warn("the server answered what nobody asked", "id", string(m.ID))
		return false
	}
	if c.isStream() && c.acknowledged && m.Error == nil {
		return false // the server goes down in order, and is listened to again
	}
	switch {
	case m.Fault != nil:
		p.raw = failure(c, m.Fault)
	case m.ID == nil:
		p.raw = jsonrpc.EncodeError(c.msg.ID, jsonrpc.ReadError(m.Error))
	case c.opens != nil && m.Result != nil:
		c.opens.meet(resp, m.Result)
	case c.version != "" && c.is("tools/list"):
		r.tools.learn(m.Result)
	}
	c.opens.settle(errNoSession) // unless it was met
	if r.calls.end(c) {
		r.remember(c, m.Result != nil)
		r.out.say(r.ctx, p.raw)
	}
	return true
}

// modernHeaders repeat in the header what a message of 2026-07-28 says, as the
// server wants it.
func (r *relay) modernHeaders(p part, version string) http.Header {
	h := http.Header{}
	h.Set(mcp.VersionHeader, mcp.EncodeHeader(version))
	h.Set(mcp.MethodHeader, mcp.EncodeHeader(p.msg.Method))
	if name, ok := mcp.NameOf(p.msg.Method, p.msg.Params); ok {
		h.Set(mcp.NameHeader, mcp.EncodeHeader(name))
		if p.msg.Method == "tools/call" {
			r.tools.set(h, name, parley.Member(p.msg.Params, "arguments"))
		}
	}
	return h
}

// maxPages bounds how long a list of tools is looked through.
const maxPages = 100

// refreshed looks up what headers the tools want, once, for a call that was
// refused because of them: the client may know its tools from another day.
func (r *relay) refreshed(c *call, err error) bool {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code != mcp.CodeHeaderMismatch || !c.is("tools/call") || c.version == "" || c.asked {
		return false
	}
	c.asked = true
	params := mcp.SetMember([]byte(`{}`), "_meta", mcp.DropMember(parley.Member(c.msg.Params, "_meta"), mcp.MetaProgressToken))
	for range maxPages {
		result, err := r.ask(c.ctx, "tools/list", params, func(p part) http.Header { return r.modernHeaders(p, c.version) })
		if err != nil {
			return false
		}
		r.tools.learn(result)
		cursor := parley.Member(result, "nextCursor")
		if cursor.Kind() != '"' {
			return true
		}
		params = mcp.SetMember(params, "cursor", cursor)
	}
	return false
}

// mayHaveChanged tells a subscriber to look again.
func (r *relay) mayHaveChanged(c *call) {
	wanted := parley.Member(c.msg.Params, "notifications")
	about := mcp.SetMember([]byte(`{}`), "_meta", mcp.SetMember([]byte(`{}`), mcp.MetaSubscriptionID, c.msg.ID))
	for _, list := range []string{"tools", "prompts", "resources"} {
		if parley.Member(wanted, list+"ListChanged").Kind() == 't' {
			r.out.say(r.ctx, jsonrpc.EncodeRequest(nil, "notifications/"+list+"/list_changed", about))
		}
	}
	for uri := range parley.Elements(parley.Member(wanted, "resourceSubscriptions")) {
		r.out.say(r.ctx, jsonrpc.EncodeRequest(nil, "notifications/resources/updated", mcp.SetMember(about, "uri", uri)))
	}
}

// backoff is the time between attempts.
type backoff struct {
	patience time.Duration // altogether
	since    time.Time
	tries    int
}

const (
	firstDelay = 50 * time.Millisecond
	lastDelay  = 2 * time.Second
)

// pause waits longer each time. It returns false when patience or ctx is at its end.
func (b *backoff) pause(ctx context.Context) bool {
	if b.since.IsZero() {
		b.since = time.Now()
	}
	if b.patience > 0 && time.Since(b.since) > b.patience {
		return false
	}
	b.tries++
	return pause(ctx, min(firstDelay<<min(b.tries-1, 10), lastDelay))
}

// retry waits before the next attempt, if there is to be one.
func (r *relay) retry(ctx context.Context, wait *backoff, err error) bool {
	if errors.Is(err, errUnreached) {
		if wait.tries == 0 {
			r.Log.Warn("waiting for the gateway", "error", err)
		}
		r.Wake(ctx)
	}
	return wait.pause(ctx)
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
