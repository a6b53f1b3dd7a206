package client

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyhq/parley"
)

// Room is our place in a space. It outlives its connections, until
// [Room.Close], or until the gateway closes one for good; see [Room.Err].
type Room struct {
	// Static.
	opts   Options
	where  endpoint
	http   *http.Client
	ownsIt bool // http is ours to close
	api    *API
	log    *slog.Logger

	// The room's life.
	stop  context.CancelFunc
	ready chan struct{} // closed with the first welcome
	over  chan struct{} // closed when the room has ended
	done  chan struct{} // closed when its goroutines are gone as well

	outbox  outbox
	stalled atomic.Bool  // the reader waits for a slow loop
	frames  atomic.Int64 // read

	mu      sync.Mutex // guards what follows
	welcome Welcome
	here    map[string]Participant
	order   order
	calls   map[string]*call
	offers  offers
	server  server
	inboxes inboxes
	stats   Stats
	err     error // why the room ended
}

// Dial joins a space. rawURL is the gateway's address, as
// http://127.0.0.1:7717, or that of its WebSocket, as ws://127.0.0.1:7717/ws.
// It returns once the gateway has sent its welcome. The ctx bounds joining
// alone.
//
// Errors hold a [*parley.Error]: what the gateway refused (unauthorized,
// not_found, limit_reached, …), invalid_argument for options that cannot be
// meant, unavailable where nobody answers.
func Dial(ctx context.Context, rawURL string, opts *Options) (*Room, error) {
	r, err := newRoom(rawURL, opts)
	if err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stop = stop
	go r.run(life)

	select {
	case <-r.ready:
		return r, nil
	case <-r.done:
		return nil, r.err
	case <-ctx.Done():
		stop()
		<-r.done
		return nil, connectError(r.where, context.Cause(ctx))
	}
}

func newRoom(rawURL string, opts *Options) (*Room, error) {
	r := &Room{
		ready: make(chan struct{}),
		over:  make(chan struct{}),
		done:  make(chan struct{}),
		here:  make(map[string]Participant),
		calls: make(map[string]*call),
	}
	if opts != nil {
		r.opts = *opts
	}
	if err := r.opts.check(); err != nil {
		return nil, err
	}
	where, err := parseEndpoint(rawURL, r.opts.Space)
	if err != nil {
		return nil, err
	}
	r.where = where
	r.log = r.opts.logger()
	r.http = r.opts.HTTPClient
	if r.http == nil {
		r.http, r.ownsIt = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}, true
	}
	r.api = &API{where: where, space: r.spaceName, http: r.http, header: r.opts.header()}
	r.outbox.init()
	r.offers.init()
	r.server.init(r.opts.concurrency())
	r.inboxes.init(r.opts.buffer())
	return r, nil
}

// Close leaves the space and waits until nothing of the room runs any more,
// handlers included, whose contexts it cancels. What waits on the room gets
// [ErrClosed]. It must not be called from a [Handler] or from OnState. It may
// be called several times.
func (r *Room) Close() {
	r.stop()
	<-r.done
}

// Done is closed when the room has ended, by Close or by the gateway.
func (r *Room) Done() <-chan struct{} { return r.over }

// Err is why the room ended: [ErrClosed], an [*EndError], or a [*parley.Error]
// where the gateway refused us when we came back. It is nil as long as the room
// lasts.
func (r *Room) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// ID is who we are.
func (r *Room) ID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.welcome.You.ID
}

// Welcome is what the gateway told us last: when we connected, or since, where
// it sent a fresh one.
func (r *Room) Welcome() Welcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.welcome
}

// Capabilities are what we may send at the moment.
func (r *Room) Capabilities() parley.Capabilities {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.welcome.You.Capabilities
}

// Participants are those who are here, ourselves included, by id. In a space
// of more than 1,000 they are those whom the welcome named or who came later.
func (r *Room) Participants() []Participant {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Participant, 0, len(r.here))
	for _, id := range slices.Sorted(maps.Keys(r.here)) {
		list = append(list, r.here[id])
	}
	return list
}

// Position is the newest place in the order that the room has received. To
// come back later without missing or repeating anything, keep the position of
// the last envelope that was worked on: its Seq, and the Epoch of this one.
func (r *Room) Position() parley.Position {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.order.resume
}

// Stats are the room's counters.
func (r *Room) Stats() Stats {
	acknowledged, resent := r.outbox.counts()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.Sent, s.Resent = acknowledged, resent
	return s
}

// API reads over HTTP with the room's token.
func (r *Room) API() *API { return r.api }

// spaceName is what we asked for, or what the gateway chose.
func (r *Room) spaceName() string {
	if r.where.space != "" {
		return r.where.space
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.welcome.Space.Name
}

// callTimeout bounds a call whose ctx has no deadline.
func (r *Room) callTimeout() time.Duration {
	if r.opts.CallTimeout > 0 {
		return r.opts.CallTimeout
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if told := r.welcome.Space.Limits.CallTimeout; told > 0 {
		return told
	}
	return defaultCallTimeout
}
