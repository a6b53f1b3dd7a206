package mcpbridge

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Supervisor keeps one server connected. [NewSupervisor] makes one, Run does
// the work; the other methods may be called from any goroutine, before, during
// and after Run.
type Supervisor struct {
	// static
	server  Server
	opts    SupervisorOptions
	connect func(context.Context, Server, *Options) (*Upstream, error)
	restart chan struct{} // holds one
	resume  chan struct{} // holds one; it counts in a pause alone

	mu      sync.Mutex
	current *Upstream     // nil unless ready
	changed chan struct{} // closed, and replaced, when current is set
}

// SupervisorOptions say how to keep a server connected. Nil is valid.
type SupervisorOptions struct {
	// Connect is what each connection is made with.
	Connect *Options

	// OnState is told each change, in order, on Run's goroutine, which waits
	// for it. Default: nobody is told.
	OnState func(State)

	// MinDelay is the pause after the first failure in a row; each further one
	// doubles it, up to MaxDelay. A random part of up to a half is taken off, so
	// that servers which died together do not start together. Default: half a
	// second, and a minute.
	MinDelay, MaxDelay time.Duration

	// Healthy is how long a connection has to last for its end to count as the
	// first failure again. Default: 30 seconds.
	Healthy time.Duration
}

// Phase is what a supervised server is going through.
type Phase string

// The phases, in the order in which they follow each other: Starting, then
// Ready or Failed; Ready, then Failed; Failed, then Starting. Stopped is last.
const (
	Starting Phase = "starting" // the program starts, the handshake is made
	Ready    Phase = "ready"    // it can be called
	Failed   Phase = "failed"   // it died or could not be started; it is started again in RetryIn
	Stopped  Phase = "stopped"  // Run ends, nothing is left of the server
)

// State is what OnState is told.
type State struct {
	Phase    Phase
	Upstream *Upstream     // of Ready
	Err      error         // of Failed: what Connect or Wait returned
	RetryIn  time.Duration // of Failed
	Failures int           // of Failed: how many in a row, from 1
}

// NewSupervisor makes a Supervisor that does nothing until Run.
func NewSupervisor(s Server, o *SupervisorOptions) *Supervisor {
	v := &Supervisor{server: s, connect: Connect, restart: make(chan struct{}, 1), resume: make(chan struct{}, 1), changed: make(chan struct{})}
	if o != nil {
		v.opts = *o
	}
	v.opts.MinDelay = cmp.Or(v.opts.MinDelay, 500*time.Millisecond)
	v.opts.MaxDelay = cmp.Or(v.opts.MaxDelay, time.Minute)
	v.opts.Healthy = cmp.Or(v.opts.Healthy, 30*time.Second)
	return v
}

// Run connects, and connects again, until ctx ends. Then the server is closed,
// and Run returns when nothing is left of it.
func (v *Supervisor) Run(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; {
		v.tell(State{Phase: Starting})
		lived, err := v.once(ctx)
		if ctx.Err() != nil {
			break
		}
		if err == nil {
			failures = 0
			continue
		}
		if lived >= v.opts.Healthy {
			failures = 0
		}
		failures++
		delay := backoff(failures, v.opts.MinDelay, v.opts.MaxDelay, rand.Float64())
		select {
		case <-v.resume: // it came when there was no pause
		default:
		}
		v.tell(State{Phase: Failed, Err: err, RetryIn: delay, Failures: failures})
		if v.rest(ctx, delay) {
			failures = 0
		}
	}
	v.tell(State{Phase: Stopped})
}

// once connects and waits for the end of that. lived is how long it was ready;
// no error means that a restart was asked for.
func (v *Supervisor) once(ctx context.Context) (lived time.Duration, err error) {
	u, err := v.connect(ctx, v.server, v.opts.Connect)
	if err != nil {
		return 0, err
	}
	select {
	case <-v.restart: // who asked for it meanwhile has got it
	default:
	}
	since := time.Now()
	v.set(u)
	v.tell(State{Phase: Ready, Upstream: u})
	asked := false
	select {
	case <-u.Done():
	case <-v.restart:
		asked = true
	case <-ctx.Done():
	}
	v.set(nil)
	lived = time.Since(since)
	u.Close()
	if asked {
		return lived, nil
	}
	return lived, u.Wait()
}

// rest is the pause before the next attempt. True means that somebody asked
// for it to be now.
func (v *Supervisor) rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-v.restart:
		return true
	case <-v.resume:
		return true
	case <-ctx.Done():
	}
	return false
}

// backoff is the pause after so many failures in a row, from 1; random is in
// [0, 1).
func backoff(failures int, least, most time.Duration, random float64) time.Duration {
	d := least
	for i := 1; i < failures && d < most; i++ {
		d *= 2
	}
	d = min(d, most)
	return d - time.Duration(random*float64(d)/2)
}

func (v *Supervisor) tell(s State) {
	if v.opts.OnState != nil {
		v.opts.OnState(s)
	}
}

func (v *Supervisor) set(u *Upstream) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.current = u
	if u != nil {
		close(v.changed)
		v.changed = make(chan struct{})
	}
}

// Current is the connection that can be called, or nil.
func (v *Supervisor) Current() *Upstream {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.current
}

// Ready waits until there is a connection that can be called, other than not,
// which may be nil. The error is the cause of ctx's end.
func (v *Supervisor) Ready(ctx context.Context, not *Upstream) (*Upstream, error) {
	for {
		v.mu.Lock()
		u, changed := v.current, v.changed
		v.mu.Unlock()
		if u != nil && u != not {
			return u, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Restart ends the present connection, or the pause after a failure.
func (v *Supervisor) Restart() {
	select {
	case v.restart <- struct{}{}:
	default: // one waits already
	}
}

// EndPause ends the pause after a failure, and does nothing else: who asks for a
// restart twice, or where it was heard already, has the server started once.
func (v *Supervisor) EndPause() {
	select {
	case v.resume <- struct{}{}:
	default:
	}
}
