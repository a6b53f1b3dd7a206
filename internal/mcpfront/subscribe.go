package mcpfront

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

const updated = "notifications/resources/updated"

// subscribe answers resources/subscribe of a session.
func (x *exchange) subscribe(ctx context.Context) (jsontext.Value, error) {
	w, err := x.watched(ctx)
	if err != nil {
		return nil, err
	}
	if err := x.seat.watch(w); err != nil {
		return nil, err
	}
	s := x.session
	s.mu.Lock()
	twice, ended := s.watched[w], s.ctx.Err() != nil
	if !ended {
		s.watched[w] = true
	}
	s.mu.Unlock()
	if twice || ended {
		x.seat.unwatch([]watch{w})
	}
	return jsontext.Value(`{}`), nil
}

func (x *exchange) unsubscribe(ctx context.Context) (jsontext.Value, error) {
	w, err := x.watched(ctx)
	if err != nil {
		return nil, err
	}
	s := x.session
	s.mu.Lock()
	was := s.watched[w]
	delete(s.watched, w)
	s.mu.Unlock()
	if was {
		x.seat.unwatch([]watch{w})
	}
	return jsontext.Value(`{}`), nil
}

func (x *exchange) watched(ctx context.Context) (watch, error) {
	uri, err := x.text("uri")
	if err != nil {
		return watch{}, err
	}
	server, own, err := x.findURI(ctx, uri)
	return watch{server, own}, err
}

// maxWatched bounds the resources that one participant's clients subscribe to.
const maxWatched = 1_024

// watching is what one participant's clients have subscribed to together.
type watching struct {
	clients int // guarded by the seat's mu

	turn sync.Mutex // one request at a time, so that they arrive in their order
	on   bool       // the server was asked; guarded by turn
}

// watch subscribes to a resource in the room, unless another client of the
// participant has. It does not depend on the client that came first.
func (s *seat) watch(w watch) error {
	s.mu.Lock()
	one := s.watchers[w]
	if one == nil {
		if len(s.watchers) >= maxWatched {
			s.mu.Unlock()
			return parley.Errorf(parley.LimitReached, "subscriptions: %s has %d, the limit", s.place.Participant, maxWatched)
		}
		one = &watching{}
		s.watchers[w] = one
	}
	one.clients++
	s.mu.Unlock()
	one.turn.Lock()
	defer one.turn.Unlock()
	if one.on {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.front.ctx, farewell)
	defer cancel()
	err := s.tell(ctx, w, "resources/subscribe")
	if one.on = err == nil; !one.on {
		s.forget(w, one)
	}
	return err
}

// forget takes one client away, and reports whether it was the last.
func (s *seat) forget(w watch, one *watching) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.clients--; one.clients > 0 {
		return false
	}
	delete(s.watchers, w)
	return true
}

// unwatch ends subscriptions that a client had.
func (s *seat) unwatch(list []watch) {
	ctx, cancel := context.WithTimeout(s.front.ctx, farewell)
	defer cancel()
	for _, w := range list {
		s.mu.Lock()
		one := s.watchers[w]
		s.mu.Unlock()
		s.end(ctx, w, one)
	}
}

func (s *seat) end(ctx context.Context, w watch, one *watching) {
	one.turn.Lock()
	defer one.turn.Unlock()
	if !s.isLast(one) {
		s.forget(w, one)
		return
	}
	if err := s.tell(ctx, w, "resources/unsubscribe"); err != nil && ctx.Err() == nil {
		s.front.log.Debug("a subscription was not ended", "server", w.server, "error", err)
	}
	one.on = false // who came meanwhile asks again
	s.forget(w, one)
}

func (s *seat) isLast(one *watching) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return one.clients == 1
}

// tell makes a request of a subscription's in the room.
func (s *seat) tell(ctx context.Context, w watch, method string) error {
	params := append(append(jsontext.Value(`{"uri":`), mcp.Quote(w.uri)...), '}')
	e, err := client.NewRequest(w.server, method, params)
	if err == nil {
		_, err = s.room.Call(ctx, e)
	}
	return err
}

// hear tells a session what a server says outside of its calls.
func (s *session) hear(server, method string, params jsontext.Value, msg []byte) {
	if s.target != "" && server != "" && s.target != server {
		return
	}
	if method == updated {
		uri, _ := parley.MemberString(params, "uri")
		s.mu.Lock()
		wanted := s.watched[watch{server, uri}]
		s.mu.Unlock()
		if !wanted {
			return
		}
		if s.target == "" {
			msg = jsonrpc.EncodeRequest(nil, method, s.exposed(server, uri, params))
		}
	}
	if method == "notifications/message" && !s.loud(params) {
		return
	}
	s.general.put(msg, false)
}

// loud reports whether a log message is of the level that the client asked for,
// or of one that matters more; others of the participant may want more.
func (s *session) loud(params jsontext.Value) bool {
	least, _ := mcp.Unquote(s.logLevel())
	level, _ := parley.MemberString(params, "level")
	at := slices.Index(levels, level)
	return at < 0 || at >= slices.Index(levels, least)
}

// exposed are the params of a notification with the URI that the client knows.
func (c *caller) exposed(server, uri string, params jsontext.Value) jsontext.Value {
	if c.target != "" {
		return params
	}
	return mcp.SetMember(params, "uri", mcp.Quote(sharedURI(server, uri)))
}

// subscription is one subscriptions/listen (2026-07-28).
type subscription struct {
	x *exchange

	mu      sync.Mutex      // held while something is sent
	kinds   map[string]bool // of notifications
	watched map[watch]bool
}

// listChanges are the notifications that can be asked for, by their names.
var listChanges = map[string]string{
	"toolsListChanged":     "notifications/tools/list_changed",
	"promptsListChanged":   "notifications/prompts/list_changed",
	"resourcesListChanged": "notifications/resources/list_changed",
}

// listenAgain is how long a stream lasts at most before the client has to ask
// for it again, so that nothing of a client that is gone stays for ever.
const listenAgain = 24 * time.Hour

// serveSubscriptions answers subscriptions/listen: a stream that stays open.
func (x *exchange) serveSubscriptions(ctx context.Context) (jsontext.Value, error) {
	end, err := x.seat.beginListen()
	if err != nil {
		return nil, err
	}
	defer end()
	ctx, cancel := context.WithTimeoutCause(ctx, listenAgain, errSessionEnded)
	defer cancel()
	sub := &subscription{x: x, kinds: map[string]bool{}, watched: map[watch]bool{}}
	defer func() {
		var list []watch
		for w := range sub.watched {
			list = append(list, w)
		}
		x.seat.unwatch(list)
	}()
	granted, err := sub.read(ctx, member(x.msg.Params, "notifications"))
	if err != nil {
		return nil, err
	}
	sub.mu.Lock() // nothing is missed, and nothing comes before the acknowledgement
	x.seat.listen(sub)
	sub.send("notifications/subscriptions/acknowledged", granted)
	sub.mu.Unlock()
	defer x.seat.unlisten(sub)
	select {
	case <-ctx.Done():
	case <-x.seat.room.Done():
	}
	if x.http.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return mcp.SetMeta(jsontext.Value(`{}`), mcp.MetaSubscriptionID, x.msg.ID), nil
}

// read takes in what is asked for, and returns the part that is granted.
func (s *subscription) read(ctx context.Context, asked jsontext.Value) (jsontext.Value, error) {
	if asked.Kind() != '{' {
		return nil, invalidParams("params.notifications is not an object")
	}
	granted := jsontext.Value(`{}`)
	for _, name := range slices.Sorted(maps.Keys(listChanges)) {
		if member(asked, name).Kind() == 't' {
			s.kinds[listChanges[name]] = true
			granted = mcp.SetMember(granted, name, jsontext.Value("true"))
		}
	}
	uris := jsontext.Value{'['}
	for v := range parley.Elements(member(asked, "resourceSubscriptions")) {
		uri, ok := mcp.Unquote(v)
		if !ok {
			return nil, invalidParams("params.notifications.resourceSubscriptions holds something else than strings")
		}
		server, own, err := s.x.findURI(ctx, uri)
		w := watch{server, own}
		if err != nil || s.watched[w] {
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if s.x.seat.watch(w) != nil {
			continue // it is not among what is granted
		}
		s.watched[w] = true
		if len(uris) > 1 {
			uris = append(uris, ',')
		}
		uris = append(uris, v...)
	}
	if len(uris) > 1 {
		granted = mcp.SetMember(granted, "resourceSubscriptions", append(uris, ']'))
	}
	return mcp.SetMember(jsontext.Value(`{}`), "notifications", granted), nil
}

func (s *subscription) send(method string, params jsontext.Value) {
	s.x.say(method, mcp.SetMeta(params, mcp.MetaSubscriptionID, s.x.msg.ID))
}

// hear passes on what was asked for.
func (s *subscription) hear(server, method string, params jsontext.Value, _ []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.x.target != "" && server != "" && s.x.target != server {
		return
	}
	if method == updated {
		uri, _ := parley.MemberString(params, "uri")
		if !s.watched[watch{server, uri}] {
			return
		}
		params = s.x.exposed(server, uri, params)
	} else if !s.kinds[method] {
		return
	}
	s.send(method, params)
}

func (s *seat) beginListen() (end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listens >= maxListensEach {
		return nil, parley.Errorf(parley.LimitReached, "subscriptions/listen: %d streams are open, the limit for one participant", maxListensEach)
	}
	s.listens++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.listens--
	}, nil
}
