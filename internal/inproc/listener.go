package inproc

import (
	"context"
	"net"
	"sync"
)

// Listener hands out connections of this process. It is a [net.Listener].
type Listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// Listen makes a Listener.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept waits for the next connection. The error is [net.ErrClosed] after
// Close.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close lets nobody connect any more. Connections that there are go on.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr is a name, since there is no address.
func (l *Listener) Addr() net.Addr { return address{} }

// DialContext connects; what it is asked for does not matter. It is the field
// of the same name of an http.Transport.
func (l *Listener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := pair()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
		return nil, &net.OpError{Op: "dial", Net: "inproc", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

type address struct{}

func (address) Network() string { return "inproc" }
func (address) String() string  { return "inproc" }
