package mcpfront

import (
	"context"
	"errors"
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
	if err := x.seat.watch(ctx, w); err != nil {
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

// watch subscribes to a resource in the room, unless another client of the
// participant has.
func (s *seat) watch(ctx context.Context, w watch) error {
	s.mu.Lock()
	if s.watchers[w] == 0 && len(s.watchers) >= maxWatched {
		s.mu.Unlock()
		return parley.Errorf(parley.LimitReached, "subscriptions: %s has %d, the limit", s.place.Participant, maxWatched)
	}
	s.watchers[w]++
	first := s.watchers[w] == 1
	s.mu.Unlock()
	if !first {
		return nil
	}
	err := s.tell(ctx, w, "resources/subscribe")
	if err != nil {
		s.forget(w)
	}
	return err
}

func (s *seat) tell(ctx context.Context, w watch, method string) error {
	params := append(append(jsontext.Value(`{"uri":`), mcp.Quote(w.uri)...), '}')
	e, err := client.NewRequest(w.server, method, params)
	if err == nil {
		_, err = s.room.Call(ctx, e)
	}
	return err
}

// forget reports whether nobody watches any more.
func (s *seat) forget(w watch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers[w]--; s.watchers[w] > 0 {
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
		if !s.forget(w) {
			continue
		}
		if err := s.tell(ctx, w, "resources/unsubscribe"); err != nil && ctx.Err() == nil {
			s.front.log.Debug("a subscription was not ended", "server", w.server, "error", err)
		}
	}
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
	s.general.put(msg, false)
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
	granted, err := sub.read(ctx, member(x.msg.Params, "notifications"))
	if err != nil {
		return nil, err
	}
	defer func() {
		var list []watch
		for w := range sub.watched {
			list = append(list, w)
		}
		x.seat.unwatch(list)
	}()
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
		uri, ok := stringOf(v)
		if !ok {
			return nil, invalidParams("params.notifications.resourceSubscriptions holds something else than strings")
		}
		server, own, err := s.x.findURI(ctx, uri)
		w := watch{server, own}
		if err != nil || s.watched[w] {
			continue
		}
		if err := s.x.seat.watch(ctx, w); err != nil {
			if errors.Is(err, ctx.Err()) && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
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
