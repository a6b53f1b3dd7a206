package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// open is a way that stands ready.
type open struct {
	way
	endpoint
	cmd    *exec.Cmd
	said   bytes.Buffer // to be read once it has ended
	cancel context.CancelFunc

	session *session
	ids     atomic.Int64
}

const (
	startTime = 30 * time.Second // in which a way has to answer
	stopTime  = 5 * time.Second  // in which it has to end when it is told to
)

// start starts what a way is made of, and waits until a call gets through.
func (b *bench) start(ctx context.Context, w way) (*open, error) {
	folder, err := os.MkdirTemp(b.scratch, "way-")
	if err != nil {
		return nil, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	command, e, err := w.command(b, folder, port)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	o := &open{way: w, endpoint: e, cancel: cancel, cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	o.cmd.Dir, o.cmd.Stdout, o.cmd.Stderr = folder, &o.said, &o.said
	o.cmd.Cancel = func() error { return o.cmd.Process.Signal(syscall.SIGTERM) }
	o.cmd.WaitDelay = stopTime
	if err := o.cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("%s: %w", w.name, err)
	}
	if err := o.ready(ctx); err != nil {
		o.stop()
		return nil, fmt.Errorf("%s: %w; it said: %.2000s", w.name, err, o.said.Bytes())
	}
	return o, nil
}

func (o *open) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, errors.New("it does not answer"))
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		err := o.first(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), last)
		}
	}
}

// first opens the session that is measured, and makes its first call.
func (o *open) first(ctx context.Context) error {
	s, err := o.endpoint.open(ctx)
	if err != nil {
		return err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	o.session = s
	return c.call(int(o.ids.Add(1)))
}

// connect makes new connections of the session, since servers end those that
// were idle for a while.
func (o *open) connect(ctx context.Context, n int) (conns []*conn, err error) {
	for range n {
		c, err := o.session.connect(ctx)
		if err != nil {
			closeAll(conns)
			return nil, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

func closeAll(conns []*conn) {
	for _, c := range conns {
		c.close()
	}
}

func (o *open) stop() {
	o.cancel()
	_ = o.cmd.Wait() // it was told to end
}
