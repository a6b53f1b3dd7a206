package mcpbridge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/mcp"

	"github.com/parleyhq/parley"
)

// Upstream is a connection to one MCP server, after its handshake. [Connect]
// makes one. Its methods may be called from any goroutine.
type Upstream struct {
	// static
	opts   Options
	link   link
	info   Info
	modern atomic.Bool     // it speaks mcp.Modern: decided in the handshake
	ctx    context.Context // ends when the server is gone
	cancel context.CancelFunc
	done   chan struct{} // closed when the server is gone
	joined chan struct{} // closed when nothing is left of it
	notes  notes
	heads  atomic.Pointer[map[string][]mcp.ParamHeader] // what goes into headers, by the tool's name
	wanted wanted

	refusing atomic.Int32   // requests of the server that are being refused
	wg       sync.WaitGroup // run, the notifier, answers, farewells to calls

	mu       sync.Mutex
	gone     error // why the server is gone; nil while it is not
	lastID   int64
	pending  map[int64]*call
	incoming map[string]context.CancelFunc // the server's requests, by their raw id
	asking   int                           // bytes of their params
	stray1   string                        // the first thing that was no message

	// written by fail, read after done
	abandoned []int64
}

// Info is what a server said of itself.
type Info struct {
	Version string         // the protocol version that was agreed on
	Raw     jsontext.Value // the result of initialize, or of server/discover, as sent
}

// Capabilities is the object of what the server can do; nil where it did not say.
func (i Info) Capabilities() jsontext.Value { return parley.Member(i.Raw, "capabilities") }

func newUpstream(o Options) *Upstream {
	u := &Upstream{
		opts: o, done: make(chan struct{}), joined: make(chan struct{}),
		pending: map[int64]*call{}, incoming: map[string]context.CancelFunc{},
	}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	u.notes.wake = make(chan struct{}, 1)
	u.wanted.stands, u.wanted.changed = -1, make(chan struct{})
	return u
}

// run owns everything that the connection started, and ends it all when the
// server is gone.
func (u *Upstream) run(l link) {
	u.link = l
	l.begin()
	u.wg.Go(u.notify)
	go func() {
		defer close(u.joined)
		<-u.done
		u.cancelAbandoned()
		l.close()
		u.wg.Wait()
	}()
}

// Info is what the server said in the handshake.
func (u *Upstream) Info() Info { return u.info }

// Done is closed as soon as the server is gone, by its own fault or by Close.
func (u *Upstream) Done() <-chan struct{} { return u.done }

// Wait returns when the server is gone and nothing is left of it, no process
// and no goroutine. The error is an [ErrServerGone] and says why; after Close
// it is [ErrClosed].
func (u *Upstream) Wait() error {
	<-u.joined
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.gone
}

// Close ends the server: a program by closing its input, then with a request
// to terminate, at last by force, together with all that it started; a session
// over HTTP by a DELETE. Calls in flight end with [ErrClosed]. Close returns
// when nothing is left, and may be called several times.
func (u *Upstream) Close() {
	u.fail(ErrClosed)
	<-u.joined
}

// errForgotten ends the calls of a lost session that the server had taken.
var errForgotten = gone(errors.New("it has ended our session in the middle of the call"))

// fail marks the server as gone and ends every call. The first reason counts.
func (u *Upstream) fail(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.gone != nil {
		return
	}
	u.gone = err
	if errors.Is(err, ErrClosed) {
		u.abandoned = slices.Collect(maps.Keys(u.pending))
	}
	if errors.Is(err, ErrSessionLost) {
		err = errForgotten // which the session's end does not prove to be untouched
	}
	for _, c := range u.pending {
		c.answer <- answer{err: err}
	}
	clear(u.pending)
	close(u.done)
	u.cancel()
}

// cancelAbandoned tells a server that is closed which calls nobody waits for:
// one over HTTP lives on, and would work on them.
func (u *Upstream) cancelAbandoned() {
	ctx, cancel := context.WithTimeout(context.Background(), deleteTimeout)
	defer cancel()
	for _, id := range u.abandoned {
		if u.link.send(ctx, outgoing{body: cancelled(id, ErrClosed)}) != nil {
			return
		}
	}
}

// start runs f, which the end of the Upstream waits for, unless that has come.
func (u *Upstream) start(f func()) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.gone == nil {
		u.wg.Go(f)
	}
	return u.gone == nil
}
