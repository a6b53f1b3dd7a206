package mcpstdio

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// Bounds of what is remembered of a session.
const (
	maxSubscriptions = 1000
	maxAsked         = 1000
)

// farewellTimeout bounds the goodbye to a server that may not be there.
const farewellTimeout = 2 * time.Second

// session is one of the protocol's before 2026-07-28, on one server.
type session struct {
	hello part // the client's initialize

	ctx    context.Context // of what listens to it
	cancel context.CancelFunc

	once  sync.Once
	ready chan struct{} // closed once the handshake is over, whichever way it went

	// told is closed once the server knows that the client is ready; nil while the
	// client has not said so to this session. The relay's lock guards it.
	told chan struct{}

	// Written before ready is closed.
	id, version  string
	capabilities jsontext.Value
	err          error
}

// settle ends the handshake. It does nothing where that is over, or was none.
func (s *session) settle(err error) {
	if s == nil {
		return
	}
	s.once.Do(func() {
		s.err = err
		close(s.ready)
	})
}

// meet takes in the answer to initialize.
func (s *session) meet(resp *http.Response, result jsontext.Value) {
	s.once.Do(func() {
		s.id = resp.Header.Get(mcp.SessionHeader)
		s.version, _ = parley.MemberString(result, "protocolVersion")
		s.capabilities = bytes.Clone(parley.Member(result, "capabilities"))
		close(s.ready)
	})
}

// headers are those of all that belongs to the session, of which there may be none.
func (s *session) headers() http.Header {
	h := http.Header{}
	if s == nil {
		return h
	}
	if s.id != "" {
		h.Set(mcp.SessionHeader, s.id)
	}
	if s.version != "" {
		h.Set(mcp.VersionHeader, mcp.EncodeHeader(s.version))
	}
	return h
}

// memory is what the client told its session, to tell it to the next one.
type memory struct {
	session     *session // nil before initialize
	initialized []byte   // the client's notification
	level       jsontext.Value
	subscribed  map[string]jsontext.Value // params of resources/subscribe, by URI
	asked       map[string]*session       // who asked what the client has to answer
}

func (r *relay) newSession(hello part) *session {
	s := &session{hello: hello, ready: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(r.ctx)
	return s
}

// open begins the session of the client's own initialize.
func (r *relay) open(c *call) *session {
	s := r.newSession(c.part)
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.legacy.session; old != nil {
		old.cancel()
	}
	r.legacy = memory{session: s}
	return s
}

// current is the session whose handshake is over; nil where there is none, and the
// server may say so.
func (r *relay) current(ctx context.Context) (*session, error) {
	r.mu.Lock()
	s := r.legacy.session
	r.mu.Unlock()
	if s == nil {
		return nil, nil
	}
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r.mu.Lock()
	told := s.told
	r.mu.Unlock()
	if told != nil {
		select {
		case <-told:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s, s.err
}

// present is the session, if there is one that can be used now.
func (r *relay) present() *session {
	r.mu.Lock()
	s := r.legacy.session
	r.mu.Unlock()
	if s == nil {
		return nil
	}
	select {
	case <-s.ready:
		if s.err == nil {
			return s
		}
	default:
	}
	return nil
}

// introduce tells the server that the client is ready, and listens from then on.
func (r *relay) introduce(p part) {
	r.mu.Lock()
	s := r.legacy.session
	first := s != nil && r.legacy.initialized == nil
	if first {
		r.legacy.initialized, s.told = p.raw, make(chan struct{})
	}
	r.mu.Unlock()
	if !first {
		r.Log.Warn("the client said at the wrong time that it is ready")
		return
	}
	r.spawn(func() {
		select {
		case <-s.ready:
		case <-s.ctx.Done():
		}
		if s.ctx.Err() == nil && s.err == nil {
			r.deliver(p, s, s.headers())
		}
		close(s.told)
		if s.ctx.Err() == nil && s.err == nil {
			r.attend(s)
		}
	})
}

// remember keeps what a session was told, once it took it.
func (r *relay) remember(c *call, took bool) {
	if c.version != "" || !took {
		return
	}
	uri, _ := parley.MemberString(c.msg.Params, "uri")
	r.mu.Lock()
	defer r.mu.Unlock()
	switch c.msg.Method {
	case "logging/setLevel":
		r.legacy.level = c.msg.Params
	case "resources/subscribe":
		if r.legacy.subscribed == nil {
			r.legacy.subscribed = map[string]jsontext.Value{}
		}
		if len(r.legacy.subscribed) < maxSubscriptions {
			r.legacy.subscribed[uri] = c.msg.Params
		}
	case "resources/unsubscribe":
		delete(r.legacy.subscribed, uri)
	}
}

// asked notes that the server of s waits for an answer, if there can be one.
func (r *relay) asked(s *session, p part) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s == nil || len(r.legacy.asked) == maxAsked {
		return false
	}
	if r.legacy.asked == nil {
		r.legacy.asked = map[string]*session{}
	}
	r.legacy.asked[key(p.msg.ID)] = s
	return true
}

// asker is the session that waits for an answer, unless it is over: the next one
// may have asked something else under the same id.
func (r *relay) asker(key string) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.legacy.asked[key]
	delete(r.legacy.asked, key)
	if s != r.legacy.session {
		return nil
	}
	return s
}

// renew begins a session anew in the client's own words, unless somebody did. While
// that lasts, whoever needs a session waits.
func (r *relay) renew(old *session) {
	r.mu.Lock()
	if r.legacy.session != old {
		r.mu.Unlock()
		return
	}
	next := r.newSession(old.hello)
	r.legacy.session = next
	r.legacy.asked = nil
	r.mu.Unlock()
	old.cancel()
	r.Log.Info("the gateway forgot the session; it begins anew")
	if !r.spawn(func() { r.greet(next, old) }) {
		next.settle(context.Canceled)
	}
}

// greet makes the handshake of a session that takes up another. Where that fails the
// old one stays, for whoever needs it to try again.
func (r *relay) greet(s, old *session) {
	wait := backoff{patience: r.Patience}
	attend, err := r.shake(s)
	for tries := 1; err != nil && s.ctx.Err() == nil; tries++ {
		if !errors.Is(err, errUnreached) && (tries == attempts || !errors.Is(err, errBroke)) || !r.retry(s.ctx, &wait, err) {
			break
		}
		attend, err = r.shake(s)
	}
	if err != nil {
		r.mu.Lock()
		if r.legacy.session == s {
			r.legacy.session = old
		}
		r.mu.Unlock()
		r.Log.Warn("the session could not begin anew", "error", err)
		s.settle(err)
		return
	}
	if attend {
		r.changed(s)
		r.attend(s)
	}
}

// shake makes the handshake once, and tells the server what the last one knew. It
// reports whether the client was ready to be spoken to.
func (r *relay) shake(s *session) (ready bool, err error) {
	resp, err := r.post(s.ctx, s.hello.raw, http.Header{})
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	result, err := r.welcome(s, resp)
	if err != nil {
		return false, err
	}
	// All others wait until the server knows what the last one knew.
	met := &session{ready: make(chan struct{})}
	met.meet(resp, result)
	r.mu.Lock()
	initialized := r.legacy.initialized
	if s.told != nil {
		initialized = nil // the client said it after this session began
	}
	r.mu.Unlock()
	if initialized != nil {
		r.deliver(takeOne(initialized), met, met.headers())
		r.repeat(s.ctx, met)
	}
	s.meet(resp, result)
	return initialized != nil, nil
}

// welcome reads the answer to initialize.
func (r *relay) welcome(s *session, resp *http.Response) (jsontext.Value, error) {
	var at place
	for p, err := range r.messages(resp, &at) {
		switch {
		case err != nil:
			return nil, err
		case p.bad != nil || !p.msg.IsResponse() || key(p.msg.ID) != key(s.hello.msg.ID):
		case p.msg.Error != nil:
			return nil, jsonrpc.ReadError(p.msg.Error)
		default:
			return p.msg.Result, p.msg.Fault
		}
	}
	return nil, errBroke
}

// repeat sets in a new session what the client had set in the old one.
func (r *relay) repeat(ctx context.Context, s *session) {
	r.mu.Lock()
	level := r.legacy.level
	var subscribed []jsontext.Value
	for _, params := range r.legacy.subscribed {
		subscribed = append(subscribed, params)
	}
	r.mu.Unlock()
	headers := func(part) http.Header { return s.headers() }
	if level != nil {
		if _, err := r.ask(ctx, "logging/setLevel", level, headers); err != nil {
			r.Log.Warn("the log level is not what it was", "error", err)
		}
	}
	for _, params := range subscribed {
		if _, err := r.ask(ctx, "resources/subscribe", params, headers); err != nil {
			r.Log.Warn("a subscription is lost", "error", err)
		}
	}
}

// attend listens to what the server says outside of calls, as long as the session
// lasts. A server that offers no such stream is left alone.
func (r *relay) attend(s *session) {
	var at place
	for wait := (backoff{}); s.ctx.Err() == nil; {
		resp, err := r.get(s.ctx, s, at.id)
		if err == nil {
			gone, refused := lost(resp, s), resp.StatusCode/100 == 4 && resp.StatusCode != http.StatusTooManyRequests
			if resp.StatusCode == http.StatusOK {
				wait = backoff{}
				r.overhear(s, resp, &at)
			}
			resp.Body.Close()
			if gone {
				r.renew(s)
			}
			if gone || refused || !pause(s.ctx, at.retry) {
				return
			}
		}
		if !r.retry(s.ctx, &wait, err) {
			return
		}
	}
}

// overhear hands on what comes on a session's own stream, until it breaks.
func (r *relay) overhear(s *session, resp *http.Response, at *place) {
	for p, err := range r.messages(resp, at) {
		if err != nil {
			return
		}
		r.hand(nil, s, resp, p)
	}
}

// changed tells the client to look again at what may be different now.
func (r *relay) changed(s *session) {
	for _, list := range []string{"tools", "prompts", "resources"} {
		if parley.Member(parley.Member(s.capabilities, list), "listChanged").Kind() == 't' {
			r.out.say(s.ctx, jsonrpc.EncodeRequest(nil, "notifications/"+list+"/list_changed", nil))
		}
	}
}

// farewell ends the session on the server.
func (r *relay) farewell() {
	s := r.present()
	if s == nil || s.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), farewellTimeout)
	defer cancel()
	if resp, err := r.do(ctx, http.MethodDelete, nil, s.headers()); err == nil {
		resp.Body.Close()
	}
}
