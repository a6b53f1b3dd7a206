package mcpbridge

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
)

// Offer is what a server has to offer: everything that it listed, each entry as
// it was sent. It must not be changed.
type Offer struct {
	Info      Info
	Tools     []jsontext.Value // each an object with a string name, no name twice
	Resources []jsontext.Value // each with a string uri
	Templates []jsontext.Value // each with a string uriTemplate
	Prompts   []jsontext.Value // each with a string name
}

// listTimeout bounds one page of a list.
const listTimeout = 30 * time.Second

// readOffer reads those lists of a server that its capabilities announce.
// Where one of them cannot be read to its end, that is told to warn and what
// there is counts. The error is that of the server's end, or ctx's.
func readOffer(ctx context.Context, info Info, l *lister) (*Offer, error) {
	o := &Offer{Info: info}
	for _, one := range []struct {
		list
		to *[]jsontext.Value
	}{{toolList, &o.Tools}, {resourceList, &o.Resources}, {templateList, &o.Templates}, {promptList, &o.Prompts}} {
		if parley.Member(info.Capabilities(), one.capability) == nil {
			continue
		}
		all, err := l.read(ctx, one.list)
		*one.to = all
		rpc, refused := errors.AsType[*jsonrpc.Error](err)
		switch {
		case err == nil, refused && rpc.Code == jsonrpc.CodeMethodNotFound:
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, ErrServerGone):
			return nil, err
		default:
			l.warn("a server's list could not be read to its end", "list", one.method, "entries", len(all), "error", err)
		}
	}
	return o, nil
}

// catalogue keeps offers until they change. Several may be kept, since what a
// server offers may depend on what is declared to it.
type catalogue struct {
	mu       sync.Mutex
	readings map[string]*reading // by what is declared
}

// maxOffers bounds the offers that one catalogue keeps.
const maxOffers = 16

// reading is an offer that is being read, or was.
type reading struct {
	done  chan struct{}
	offer *Offer
	err   error
}

// changed forgets what there is: whoever asks from now on gets what is read
// from now on.
func (c *catalogue) changed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.readings)
}

// get returns the offer of that name, which read reads where it is not there.
// start runs a function in the background: reading goes on, for others, when
// ctx ends. It says false where there is nothing to read any more.
func (c *catalogue) get(ctx context.Context, name string, start func(func()) bool, read func() (*Offer, error)) (*Offer, error) {
	r := c.reading(name, start, read)
	select {
	case <-r.done:
		return r.offer, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (c *catalogue) reading(name string, start func(func()) bool, read func() (*Offer, error)) *reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.readings[name]; r != nil {
		return r
	}
	if c.readings == nil || len(c.readings) == maxOffers {
		c.readings = make(map[string]*reading)
	}
	r := &reading{done: make(chan struct{})}
	c.readings[name] = r
	if !start(func() {
		defer close(r.done)
		if r.offer, r.err = read(); r.err != nil {
			c.drop(name, r)
		}
	}) {
		r.err = ErrServerGone
		close(r.done)
		delete(c.readings, name)
	}
	return r
}

// drop forgets what could not be read, so that the next one tries again.
func (c *catalogue) drop(name string, r *reading) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readings[name] == r {
		delete(c.readings, name)
	}
}

// isListChange tells the notifications after which an offer is another one.
func isListChange(method string) bool {
	switch method {
	case "notifications/tools/list_changed", "notifications/resources/list_changed", "notifications/prompts/list_changed":
		return true
	}
	return false
}

// offering tells OnOffer what the server offers, at first and after each
// change, until its time in the room ends, and then that it offers nothing any
// more.
func (a *attendance) offering() (ended <-chan struct{}) {
	done := make(chan struct{})
	tell, who := a.b.join.OnOffer, a.room.Load().ID()
	go func() {
		defer close(done)
		if tell == nil {
			return
		}
		defer tell(who, nil)
		for {
			o, err := a.base.offer(a.ctx, a.base.declared)
			if err == nil {
				a.b.tracker.offers(len(o.Tools))
				tell(who, o)
			} else if a.ctx.Err() == nil {
				a.b.log.Warn("what the server offers could not be read", "error", err)
			}
			select {
			case <-a.fresh:
			case <-a.ctx.Done():
				return
			}
		}
	}()
	return done
}

// OfferFor returns what the server offers to a participant that declares these
// capabilities, as in _meta of its requests, or nil for none. It is kept until
// the server says that it has changed. The error is unavailable while the
// server is down, or ctx's.
func (b *Bridge) OfferFor(ctx context.Context, participant string, capabilities jsontext.Value) (*Offer, error) {
	a := b.now.Load()
	if a == nil {
		return nil, parley.Errorf(parley.Unavailable, "the MCP server is down").WithHint(againSoon)
	}
	declared, err := checkDeclared(capabilities, b.server.Roots)
	if err != nil {
		return nil, parley.Errorf(parley.InvalidArgument, "%v", err)
	}
	s, release, err := a.acquire(ctx, participant, declared)
	var o *Offer
	if err == nil {
		defer release()
		o, err = s.offer(ctx, withServed(declared, b.join.Serves))
	}
	if errors.Is(err, ErrServerGone) {
		return nil, parley.Errorf(parley.Unavailable, "%v", err).WithHint(againSoon)
	}
	return o, err
}

const againSoon = "it is started again by itself; try again soon"
