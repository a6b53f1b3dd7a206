package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

const (
	// listenAgain is the first pause after a listening that broke.
	listenAgain = time.Second
	// listenEnds bounds the wait for the end of one listening before the next:
	// servers that keep one per connection would end the next with it.
	listenEnds = 500 * time.Millisecond
	// listenStands bounds the wait for the server's word that it took a
	// subscription.
	listenStands = 5 * time.Second
)

// wanted is what a modern server is listened to for, besides its lists.
type wanted struct {
	mu      sync.Mutex
	uris    []string
	version int           // of uris
	stands  int           // the version that the server has acknowledged; -1 is none
	left    error         // what it left out of that
	refused map[int]error // why it did not, of the newest version
	changed chan struct{} // closed, and replaced, with each change of any of these
}

func (w *wanted) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	close(w.changed)
	w.changed = make(chan struct{})
}

// Subscribe listens to a modern server for updates of exactly these resources,
// and returns when the server has acknowledged that, or after a while in any
// case. The error is why it does not.
func (u *Upstream) Subscribe(ctx context.Context, uris []string) error {
	w := &u.wanted
	version := 0
	w.change(func() {
		w.version++
		w.uris, version = slices.Clone(uris), w.version
	})
	patience := time.NewTimer(listenStands)
	defer patience.Stop()
	for {
		w.mu.Lock()
		stands, err, changed := w.stands >= version, w.refused[version], w.changed
		if w.stands == version {
			err = w.left
		}
		w.mu.Unlock()
		if stands || err != nil || len(uris) == 0 {
			return err
		}
		select {
		case <-changed:
		case <-patience.C:
			return nil
		case <-u.done:
			return u.reason()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// listen keeps one subscriptions/listen open with a modern server: for the
// changes of its lists and for what [Upstream.Subscribe] wants.
func (u *Upstream) listen() {
	failures, missed, lists := 0, false, u.announced()
	for u.ctx.Err() == nil {
		u.wanted.mu.Lock()
		uris, version, changed := u.wanted.uris, u.wanted.version, u.wanted.changed
		refused := u.wanted.refused[version]
		u.wanted.mu.Unlock()
		if len(lists) == 0 && len(uris) == 0 || refused != nil {
			select {
			case <-changed:
			case <-u.done:
			}
			continue
		}
		c := &call{ctx: u.ctx, answer: make(chan answer, 1), listens: &listening{uris, version, missed}}
		began := time.Now()
		err := u.listenOnce(c, lists)
		if errors.Is(err, errOtherwise) {
			continue
		}
		_, answered := errors.AsType[*jsonrpc.Error](err)
		if answered && u.ctx.Err() == nil && u.refuse(version, err) {
			continue
		}
		missed = true
		if time.Since(began) > mcp.MaxRetryDelay {
			failures = 0
		}
		failures++
		if !pause(u.ctx, min(listenAgain<<min(failures-1, 10), mcp.MaxRetryDelay)) {
			return
		}
	}
}

// refuse notes that the server does not take what is wanted, unless it took it
// before.
func (u *Upstream) refuse(version int, err error) bool {
	u.wanted.mu.Lock()
	stood := u.wanted.stands == version
	u.wanted.mu.Unlock()
	if stood {
		return false
	}
	u.opts.log().Warn("an MCP server does not let itself be listened to", "error", err)
	u.wanted.change(func() { u.wanted.refused = map[int]error{version: err} })
	return true
}

// listening is what one subscriptions/listen is about.
type listening struct {
	uris    []string
	version int  // of the uris
	missed  bool // there was one before, which broke
}

// catchUp tells what may have changed while nobody listened.
func (u *Upstream) catchUp(uris []string) {
	for _, one := range announcements {
		if u.announces(one.capability) {
			u.notified(jsonrpc.Message{Method: "notifications/" + one.capability + "/list_changed"}, noCause)
		}
	}
	for _, uri := range uris {
		params := append(append(jsontext.Value(`{"uri":`), mcp.Quote(uri)...), '}')
		u.notified(jsonrpc.Message{Method: resourceUpdated, Params: params}, noCause)
	}
}

const resourceUpdated = "notifications/resources/updated"

// announcements are the changes of lists that can be listened for.
var announcements = []struct{ capability, wish string }{
	{"tools", "toolsListChanged"},
	{"prompts", "promptsListChanged"},
	{"resources", "resourcesListChanged"},
}

func (u *Upstream) announces(capability string) bool {
	return parley.Member(parley.Member(u.info.Capabilities(), capability), "listChanged").Kind() == 't'
}

// announced are the wishes for what the server announces, as members of an
// object.
func (u *Upstream) announced() (wishes []string) {
	for _, one := range announcements {
		if u.announces(one.capability) {
			wishes = append(wishes, fmt.Sprintf(`%q:true`, one.wish))
		}
	}
	return wishes
}

// errOtherwise ends a listening for another one.
var errOtherwise = errors.New("something else is wanted")

// listenOnce listens until the server ends that, or something else is wanted.
func (u *Upstream) listenOnce(c *call, wishes []string) error {
	id, err := u.begin(c)
	if err != nil {
		return err
	}
	if len(c.listens.uris) > 0 {
		wishes = append(slices.Clip(wishes), `"resourceSubscriptions":`+string(stringList(c.listens.uris)))
	}
	params := `{"notifications":{` + strings.Join(wishes, ",") + `}}`
	m, err := u.compose(id, c, "subscriptions/listen", jsontext.Value(params), false)
	if err != nil {
		u.take(id)
		return err
	}
	wire, hangUp := context.WithCancel(u.ctx)
	defer hangUp()
	if err := u.link.send(wire, m); err != nil {
		u.take(id)
		return err
	}
	for {
		u.wanted.mu.Lock()
		now, changed := u.wanted.version, u.wanted.changed
		u.wanted.mu.Unlock()
		if now != c.listens.version {
			u.stopListening(id, c, hangUp)
			return errOtherwise
		}
		select {
		case a := <-c.answer:
			return a.err
		case <-changed:
		}
	}
}

// stopListening ends one listening, and waits for its end.
func (u *Upstream) stopListening(id int64, c *call, hangUp func()) {
	ctx, cancel := context.WithTimeout(u.ctx, listenEnds)
	defer cancel()
	_ = u.link.send(ctx, outgoing{body: cancelled(id, errOtherwise)})
	hangUp()
	select {
	case <-c.answer:
	case <-ctx.Done():
		u.take(id)
	}
}

// acknowledged notes that the server has taken what we listen for.
func (u *Upstream) acknowledged(params jsontext.Value, cause int64) {
	id := jsonrpc.Message{ID: metaOf(params, mcp.MetaSubscriptionID)}
	u.mu.Lock()
	c := u.pending[id.CallID()]
	if c == nil {
		c = u.pending[cause]
	}
	u.mu.Unlock()
	if c == nil || c.listens == nil {
		return
	}
	honoured := map[string]bool{}
	for v := range parley.Elements(parley.Member(parley.Member(params, "notifications"), "resourceSubscriptions")) {
		uri, _ := jsontext.AppendUnquote(nil, v)
		honoured[string(uri)] = true
	}
	u.wanted.change(func() {
		u.wanted.stands = c.listens.version
		if i := slices.IndexFunc(c.listens.uris, func(uri string) bool { return !honoured[uri] }); i >= 0 {
			u.wanted.left = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the server announces no updates of " + clip([]byte(c.listens.uris[i]))}
		} else {
			u.wanted.left = nil
		}
	})
	if c.listens.missed {
		u.catchUp(c.listens.uris)
	}
}

// stringList is a JSON array.
func stringList(list []string) jsontext.Value {
	b := jsontext.Value{'['}
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, mcp.Quote(s)...)
	}
	return append(b, ']')
}
