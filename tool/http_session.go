package tool

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxSessions is how many sessions a handler has at a time: whoever reaches it
// can begin one.
const maxSessions = 20_000

// sessions are those of legacy clients over HTTP. The SDK has them as well, but
// its way to end one is to wait for its calls without a word to them, for ever
// where a call waits for an answer of a client that is gone.
type httpSessions struct {
	timeout time.Duration

	mu     sync.Mutex
	byID   map[string]*httpSession // guarded by mu
	closed bool                    // guarded by mu
	alive  sync.WaitGroup          // sessions, and calls without one; none begins once closed is set
}

type httpSession struct {
	mcp    *mcp.ServerSession
	user   string          // who began it, where something in front of the handler knows
	during context.Context // ends with it
	end    context.CancelCauseFunc

	requests int         // under way; guarded by httpSessions.mu
	idle     *time.Timer // ends it; guarded by httpSessions.mu
}

var (
	errSessionEnded = errors.New("the session has ended")
	errClosed       = errors.New("the server is about to end")
)

// userOf is whom the SDK's authentication found behind a request; "": nobody.
func userOf(ctx context.Context) string {
	if info := auth.TokenInfoFromContext(ctx); info != nil {
		return info.UserID
	}
	return ""
}

// room reports whether another session may begin.
func (l *httpSessions) room() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.closed && len(l.byID) < maxSessions
}

// begin counts something that close waits for, until alive.Done. It does not
// where close was called.
func (l *httpSessions) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.alive.Add(1)
	}
	return !l.closed
}

// add keeps a session that was begun.
func (l *httpSessions) add(ss *mcp.ServerSession, user string) {
	s := &httpSession{mcp: ss, user: user}
	s.during, s.end = context.WithCancelCause(context.Background())
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		l.finish(s, errClosed)
		return
	}
	if l.byID == nil {
		l.byID = make(map[string]*httpSession)
	}
	l.byID[ss.ID()] = s
	s.idle = time.AfterFunc(l.timeout, func() { l.expire(s) })
}

// finish ends a session: its calls, and itself when they have ended.
func (l *httpSessions) finish(s *httpSession, why error) {
	s.end(why)
	go func() {
		defer l.alive.Done()
		_ = s.mcp.Close() // whatever is wrong with its connection, it is at its end
	}()
}

// enter notes that a request of a session is under way, until what it returns is
// called. A request without a session, or of an unknown one, changes nothing.
func (l *httpSessions) enter(id string) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.byID[id]
	if s == nil {
		return func() {}
	}
	s.requests++
	s.idle.Stop()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if s.requests--; s.requests == 0 && l.byID[id] == s {
			s.idle.Reset(l.timeout)
		}
	}
}

// expire ends a session that nothing was heard of for long enough.
func (l *httpSessions) expire(s *httpSession) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id := s.mcp.ID(); s.requests == 0 && l.byID[id] == s {
		delete(l.byID, id)
		l.finish(s, errSessionEnded)
	}
}

// take forgets a session that is about to be ended, and stays for the caller to
// finish; nil: there is none that is the user's.
func (l *httpSessions) take(id, user string) *httpSession {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.byID[id]
	if s == nil || s.user != user {
		return nil
	}
	s.idle.Stop()
	delete(l.byID, id)
	return s
}

// close ends all sessions, and waits for all that has begun.
func (l *httpSessions) close() {
	l.mu.Lock()
	l.closed = true
	for id, s := range l.byID {
		s.idle.Stop()
		delete(l.byID, id)
		l.finish(s, errClosed)
	}
	l.mu.Unlock()
	l.alive.Wait()
}

// within is ctx until a session ends, if it is one of these.
func (l *httpSessions) within(ctx context.Context, id string) (context.Context, context.CancelFunc) {
	l.mu.Lock()
	s := l.byID[id]
	l.mu.Unlock()
	if s == nil {
		return ctx, func() {}
	}
	return until(ctx, s.during)
}

// until is ctx, which ends with another at the latest.
func until(ctx, other context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// inSession is a middleware that keeps the sessions which begin at a handler,
// and ends what they handle with them.
func inSession(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		h, _ := ctx.Value(handlerKey{}).(*Handler)
		ss, _ := req.GetSession().(*mcp.ServerSession)
		switch {
		case h == nil || ss == nil:
			return next(ctx, method, req)
		case method == "initialize":
			return h.sessions.initialize(ctx, ss, func() (mcp.Result, error) { return next(ctx, method, req) })
		}
		ctx, done := h.sessions.within(ctx, ss.ID())
		defer done()
		return next(ctx, method, req)
	}
}

// initialize begins a session where the SDK does.
func (l *httpSessions) initialize(ctx context.Context, ss *mcp.ServerSession, begin func() (mcp.Result, error)) (mcp.Result, error) {
	if !l.begin() {
		return nil, errClosed
	}
	result, err := begin()
	if err != nil {
		l.alive.Done()
		return nil, err
	}
	l.add(ss, userOf(ctx))
	return result, nil
}
