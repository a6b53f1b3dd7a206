package mcpbridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
)

const (
	// maxSessions bounds the sessions of callers with one server.
	maxSessions = 256
	// maxOwnSessions bounds those of one participant, which may declare
	// something else with each request.
	maxOwnSessions = 4
	// maxCalls bounds the calls that are being made.
	maxCalls = 1_024
	// maxOwnCalls bounds those of one participant: a call that waits for an
	// answer may last, and nobody should keep others out with such ones.
	maxOwnCalls = 128
)

// attendance is a server's time in the room: as long as its base session and
// the room last.
type attendance struct {
	b     *Bridge
	base  *session
	room  atomic.Pointer[client.Room] // nil until it has joined
	fresh chan struct{}               // holds one: the base session's lists have changed

	ctx  context.Context // ends with the server's time in the room
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu       sync.Mutex
	sessions map[ownKey]*session // of callers
	living   map[string]int      // by the caller: also those that are being made or ended
	calls    map[string]int      // by the caller
}

// ownKey is whose session it is and what was declared in it.
type ownKey struct {
	owner    string
	declared parley.Digest
}

func (b *Bridge) newAttendance(ctx context.Context, up *Upstream) *attendance {
	a := &attendance{b: b, fresh: make(chan struct{}, 1), sessions: make(map[ownKey]*session), living: make(map[string]int), calls: make(map[string]int)}
	a.base = &session{up: up, log: b.log, wraps: b.join.Wrap != nil, declared: withServed(nil, b.join.Serves)}
	a.ctx, a.stop = context.WithCancel(ctx)
	a.start(a.sweep)
	return a
}

// start runs f, which the end waits for, unless that has come.
func (a *attendance) start(f func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx.Err() != nil {
		return false
	}
	a.wg.Go(f)
	return true
}

// end ends every session but the base one, and returns when nothing is left.
func (a *attendance) end() {
	a.mu.Lock()
	a.stop()
	for key, s := range a.sessions {
		a.drop(key, s)
	}
	a.mu.Unlock()
	a.wg.Wait()
}

// shared says whether a caller that declares this uses the base session.
func (a *attendance) shared(declared jsontext.Value) bool {
	return a.base.up.modern.Load() || a.b.server.Sessions == SessionsShared ||
		a.b.server.Sessions != SessionsPeer && askable(declared) == nil
}

// acquire returns the session that serves a caller, connecting it where it is
// not there, until release. ctx bounds the wait.
func (a *attendance) acquire(ctx context.Context, who string, declared jsontext.Value) (s *session, release func(), err error) {
	if a.shared(declared) {
		return a.base, func() {}, nil
	}
	asks := askable(declared)
	s, err = a.own(ownKey{who, parley.DigestParams(asks)}, asks)
	if err != nil {
		return nil, nil, err
	}
	release = func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		s.users--
		s.since = time.Now()
	}
	select {
	case <-s.made:
		err = s.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return s, release, nil
}

// own is a caller's own session, which may be only being made.
func (a *attendance) own(key ownKey, asks jsontext.Value) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[key]
	if s != nil && s.over() {
		a.drop(key, s) // before its own goroutine has come to that
		s = nil
	}
	if s == nil {
		if a.ctx.Err() != nil {
			return nil, ErrClosed
		}
		if err := a.makeRoom(key.owner); err != nil {
			return nil, err
		}
		s = &session{log: a.b.log.With("session of", key.owner), owner: key.owner, asks: asks, wraps: a.b.join.Wrap != nil, made: make(chan struct{})}
		s.declared = withServed(asks, a.b.join.Serves)
		s.turns.single = a.b.asks.Load()
		a.sessions[key] = s
		a.living[key.owner]++
		a.b.join.Metrics.sessions(+1)
		a.wg.Go(func() {
			defer a.died(key.owner)
			a.live(key, s)
		})
	}
	s.users++
	return s, nil
}

// over says that a session was made and has ended.
func (s *session) over() bool {
	select {
	case <-s.made:
		return s.up == nil || s.up.reason() != nil
	default:
		return false
	}
}

// makeRoom ends the session that was idle for longest where there are too many.
func (a *attendance) makeRoom(owner string) error {
	own := 0
	var idle, ownIdle ownKey
	for key, s := range a.sessions {
		if key.owner == owner {
			own++
		}
		if s.users > 0 {
			continue
		}
		if old := a.sessions[idle]; old == nil || s.since.Before(old.since) {
			idle = key
		}
		if old := a.sessions[ownIdle]; key.owner == owner && (old == nil || s.since.Before(old.since)) {
			ownIdle = key
		}
	}
	switch {
	case a.living[owner] >= 2*maxOwnSessions:
		return &client.RPCError{Code: client.CodeBusy, Message: "too many sessions of " + owner + " with this server are being made and ended"}
	case own >= maxOwnSessions:
		idle = ownIdle
	case len(a.sessions) < maxSessions:
		return nil
	}
	if s := a.sessions[idle]; s != nil {
		a.drop(idle, s)
		return nil
	}
	return &client.RPCError{Code: client.CodeBusy, Message: fmt.Sprintf(
		"all sessions with this server are in use: it takes %d, and %d of one participant", maxSessions, maxOwnSessions)}
}

// drop ends a session. The caller holds mu; live sees to the rest.
func (a *attendance) drop(key ownKey, s *session) {
	if a.sessions[key] != s {
		return
	}
	delete(a.sessions, key)
	a.b.join.Metrics.sessions(-1)
	select {
	case <-s.made:
		if s.up != nil {
			a.wg.Go(s.up.Close)
		}
	default: // live finds it gone
	}
}

// begin notes that a call of a participant is being made, until the function is
// called.
func (a *attendance) begin(who string) (done func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls[who] == maxOwnCalls {
		return nil, &client.RPCError{Code: client.CodeBusy, Message: fmt.Sprintf("%d calls of %s are being made, the limit", maxOwnCalls, who)}
	}
	a.calls[who]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		decrement(a.calls, who)
	}, nil
}

// decrement leaves nothing of what is nought.
func decrement(counts map[string]int, who string) {
	if counts[who]--; counts[who] == 0 {
		delete(counts, who)
	}
}

// died notes that nothing is left of a session.
func (a *attendance) died(owner string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	decrement(a.living, owner)
}

// live makes a session and waits for its end.
func (a *attendance) live(key ownKey, s *session) {
	server := a.b.server
	server.Era = Legacy // a modern server has none, and this one was found out
	o := a.b.connectOptions()
	o.Capabilities = s.declared
	o.OnNotification = func(ctx context.Context, method string, params jsontext.Value) { a.announce(ctx, s, method, params) }
	o.OnRequest = func(ctx context.Context, method string, params jsontext.Value) (jsontext.Value, error) {
		return a.asked(ctx, s, method, params)
	}
	up, err := a.b.up.connect(a.ctx, server, &o)
	a.mu.Lock()
	s.up, s.err = up, err
	close(s.made)
	wanted := a.sessions[key] == s
	if err != nil {
		a.drop(key, s)
	}
	a.mu.Unlock()
	if err != nil {
		return
	}
	if !wanted {
		up.Close()
		return
	}
	<-up.Done()
	a.mu.Lock()
	a.drop(key, s)
	a.mu.Unlock()
	if err := up.Wait(); !errors.Is(err, ErrClosed) {
		s.log.Warn("a session with an MCP server has ended", "error", err)
	}
}

// sweep ends sessions that nobody has used for long.
func (a *attendance) sweep() {
	idle := a.b.sessionIdle()
	tick := time.NewTicker(max(idle/4, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-a.ctx.Done():
			return
		}
		a.mu.Lock()
		for key, s := range a.sessions {
			if s.users == 0 && time.Since(s.since) >= idle && len(s.subscriptions.of("")) == 0 {
				a.drop(key, s)
			}
		}
		a.mu.Unlock()
	}
}

func (b *Bridge) sessionIdle() time.Duration {
	return cmp.Or(b.connectOptions().SessionIdle, 10*time.Minute)
}

// all are the sessions that there are, the base one first.
func (a *attendance) all() []*session {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := []*session{a.base}
	for _, s := range a.sessions {
		select {
		case <-s.made:
			if s.up != nil {
				list = append(list, s)
			}
		default:
		}
	}
	return list
}

// left ends what somebody who left the room has subscribed to.
func (a *attendance) left(who string) {
	for _, s := range a.all() {
		s.levels.forget(who)
		uris := s.subscriptions.of(who)
		if len(uris) == 0 {
			continue
		}
		a.start(func() {
			ctx, cancel := context.WithTimeout(a.ctx, listTimeout)
			defer cancel()
			for _, uri := range uris {
				if _, err := s.unsubscribe(ctx, who, uriParams(uri)); err != nil {
					s.log.Debug("a subscription was not ended", "uri", uri, "error", err)
				}
			}
		})
	}
}

func uriParams(uri string) jsontext.Value {
	return append(jsonrpc.AppendString([]byte(`{"uri":`), uri), '}')
}

func badURI() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "uri is not a string"}
}

func tooManySubscriptions() error {
	return &jsonrpc.Error{Code: client.CodeBusy, Message: fmt.Sprintf("there are too many subscriptions; one participant may have %d", maxOwnSubscribed)}
}
