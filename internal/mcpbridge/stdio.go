package mcpbridge

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/parleyhq/parley"
)

// lastWords is how long the reader waits, after the server's output has ended,
// to learn how its program ended and what it said last.
const lastWords = 200 * time.Millisecond

// stdio is a server's program and the link to it.
type stdio struct {
	*lines
	name   string
	cmd    *exec.Cmd
	in     *os.File // our end of its standard input
	out    *os.File // our end of its standard output
	grace  time.Duration
	stderr *stderr

	exited  chan struct{} // closed when the program has ended; exit is set then
	exit    error
	closing sync.Once
	wg      sync.WaitGroup
}

// startStdio starts the server's program in a process group of its own.
func startStdio(s Server, o Options, to sink) (link, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Dir, cmd.Env = s.Dir, s.environ()
	ownGroup(cmd)
	p, err := openPipes()
	if err != nil {
		return nil, parley.Errorf(parley.Unavailable, "no pipes to %s: %v", s.Command, err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.theirs[0], p.theirs[1], p.theirs[2]
	if err := cmd.Start(); err != nil {
		p.close()
		return nil, commandError(s.Command, err)
	}
	p.closeTheirs()
	l := &stdio{
		lines: newLines(to, p.ours[1], p.ours[0], o.maxMessage()), name: s.Command,
		cmd: cmd, in: p.ours[0], out: p.ours[1], grace: o.grace(), exited: make(chan struct{}),
		stderr: &stderr{from: p.ours[2], mask: s.mask(), to: o.OnStderr, done: make(chan struct{})},
	}
	return l, nil
}

func (l *stdio) begin() {
	l.wg.Go(l.wait)
	l.wg.Go(l.stderr.read)
	l.wg.Go(l.readAll)
	l.wg.Go(func() {
		if l.write() != nil {
			l.hangUp() // it reads no more; its end is told by the reader
		}
	})
}

func (l *stdio) negotiated(string) {}

// readAll reads until the output ends, tells why, and begins the program's end
// where it still runs.
func (l *stdio) readAll() {
	err := l.read()
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		err = l.epitaph()
	}
	l.sink.fail(gone(err))
	l.hangUp()
	l.out.Close() // a server in the middle of a write would not see its input close
}

// epitaph says how the program ended, with its last line on standard error.
func (l *stdio) epitaph() error {
	patience := time.NewTimer(lastWords)
	defer patience.Stop()
	select {
	case <-l.exited:
	case <-patience.C:
		return fmt.Errorf("%s has closed its output", l.name)
	}
	select {
	case <-l.stderr.done:
	case <-patience.C:
	}
	how := "exit status 0"
	if l.exit != nil {
		how = l.exit.Error()
	}
	if said := l.stderr.last(); said != "" {
		return fmt.Errorf("%s has ended (%s): %s", l.name, how, said)
	}
	return fmt.Errorf("%s has ended (%s)", l.name, how)
}

// wait reaps the program. What it leaves behind in its group is of no use
// without it, and could hold our pipes open.
func (l *stdio) wait() {
	l.exit = l.cmd.Wait()
	killGroup(l.cmd)
	close(l.exited)
	// Whoever left the group may still hold the pipes: read what is there.
	soon := time.Now().Add(time.Second)
	l.out.SetReadDeadline(soon)
	l.stderr.from.SetReadDeadline(soon)
}

// hangUp begins the program's end: its input is closed, and if that does not
// end it, its group is asked to terminate, and then killed.
func (l *stdio) hangUp() {
	l.closing.Do(func() {
		l.stop()
		l.in.Close()
		l.wg.Go(func() {
			patience := time.NewTimer(l.grace)
			defer patience.Stop()
			for _, end := range []func(*exec.Cmd){terminateGroup, killGroup} {
				select {
				case <-l.exited:
					return
				case <-patience.C:
					end(l.cmd)
					patience.Reset(l.grace)
				}
			}
		})
	})
}

func (l *stdio) close() {
	l.hangUp()
	l.wg.Wait()
	l.stderr.from.Close()
}

// pipes are the three pairs of files for a program's standard streams.
type pipes struct{ ours, theirs [3]*os.File }

func openPipes() (p pipes, err error) {
	for i := range p.ours {
		r, w, err := os.Pipe()
		if err != nil {
			p.close()
			return p, err
		}
		p.ours[i], p.theirs[i] = r, w
	}
	p.ours[0], p.theirs[0] = p.theirs[0], p.ours[0] // we write the first and read the others
	return p, nil
}

func (p pipes) closeTheirs() {
	for _, f := range p.theirs {
		f.Close() // a nil file says so and nothing else
	}
}

func (p pipes) close() {
	p.closeTheirs()
	for _, f := range p.ours {
		f.Close()
	}
}
