package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/parleyhq/parley"
)

// crew is a run's workers, and the board that they share.
type crew struct {
	ctx     context.Context // ends with the caller's, or when a worker fails
	fail    context.CancelCauseFunc
	command []string
	dir     string
	board   *board
	hands   []*hand
}

// hand is one worker's process.
type hand struct {
	role  role
	cmd   *exec.Cmd
	in    io.WriteCloser
	said  bytes.Buffer // on standard error; read once it has ended
	ready chan struct{}
	done  chan struct{}
	ended chan struct{}

	result *result // once ended
}

// newCrew makes the board for so many counts.
func newCrew(ctx context.Context, command []string, counts int) (*crew, error) {
	if len(command) == 0 {
		return nil, errors.New("load: no command starts workers")
	}
	dir, err := os.MkdirTemp(boardDir(), boardName())
	if err != nil {
		return nil, err
	}
	c := &crew{command: command, dir: dir}
	if c.board, err = makeBoard(filepath.Join(dir, "board"), counts); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	c.ctx, c.fail = context.WithCancelCause(ctx)
	return c, nil
}

// boardDir is where the board is never written to a disk, where there is such a
// place.
func boardDir() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return ""
}

// boardName tells whose a board is that was left behind.
func boardName() string { return fmt.Sprintf("parley-bench-%d-", os.Getpid()) }

// close ends every worker, however far it has got.
func (c *crew) close() {
	c.fail(context.Canceled)
	for _, h := range c.hands {
		h.in.Close()
	}
	for _, h := range c.hands {
		h.wait()
	}
	c.board.close()
	os.RemoveAll(c.dir)
}

// farewell is how long a worker may take to end.
const farewell = 5 * time.Second

// wait waits for the process to end, and helps where that takes too long.
func (h *hand) wait() {
	t := time.AfterFunc(farewell, func() { h.cmd.Process.Kill() })
	defer t.Stop()
	<-h.ended
}

// hire starts workers for all connections in one role, and waits until they
// are ready.
func (c *crew) hire(workers int, j job) error {
	j.Board = filepath.Join(c.dir, "board")
	j.Total = j.Count
	var hired []*hand
	for i := range workers {
		part := j
		part.First = j.First + j.Total*i/workers
		part.Count = j.First + j.Total*(i+1)/workers - part.First
		if part.Count == 0 {
			continue
		}
		h, err := c.start(part)
		if err != nil {
			return err
		}
		hired = append(hired, h)
	}
	for _, h := range hired {
		if err := c.await(h.ready); err != nil {
			return err
		}
	}
	return nil
}

func (c *crew) start(j job) (*hand, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	command := c.command
	if j.Role == roleJoin {
		command = lowly(command)
	}
	h := &hand{
		role:  j.Role,
		cmd:   exec.Command(command[0], command[1:]...),
		ready: make(chan struct{}), done: make(chan struct{}), ended: make(chan struct{}),
	}
	h.cmd.Stderr = &h.said
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	c.hands = append(c.hands, h)
	go c.listen(h, out)
	_, err = h.in.Write(append(text, '\n'))
	return h, err
}

// lowly is a command that leaves the processor to others, where that can be
// said: many who join at once would sit at machines of their own, and not take
// from the server what it needs to serve the rest.
func lowly(command []string) []string {
	nice, err := exec.LookPath("nice")
	if err != nil {
		return command
	}
	return append([]string{nice, "-n", "19"}, command...)
}

// listen hears what a worker says until it ends. One that ends without a result
// ends the run.
func (c *crew) listen(h *hand, out io.Reader) {
	defer close(h.ended)
	lines := json.NewDecoder(bufio.NewReader(out))
	said := ""
	for {
		var l line
		if lines.Decode(&l) != nil {
			break
		}
		switch {
		case l.Ready:
			close(h.ready)
		case l.Done:
			close(h.done)
		case l.Error != "":
			said = l.Error
		case l.Result != nil:
			h.result = l.Result
		}
	}
	err := h.cmd.Wait()
	switch {
	case said != "":
		c.fail(parley.Errorf(parley.Unavailable, "the load cannot go on: %s", said))
	case h.result == nil:
		c.fail(parley.Errorf(parley.Internal, "a worker ended (%v): %.1000s", err, h.said.Bytes()))
	}
}

// await waits for something to be closed, or for the run to fail.
func (c *crew) await(what <-chan struct{}) error {
	select {
	case <-what:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

// sleep lets the run go on for so long. It calls progress, which may be nil,
// every now and then.
func (c *crew) sleep(d time.Duration, progress func(left time.Duration)) error {
	end := time.Now().Add(d)
	for {
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		if progress != nil {
			progress(left)
		}
		t := time.NewTimer(min(left, progressEvery))
		select {
		case <-t.C:
		case <-c.ctx.Done():
			t.Stop()
			return context.Cause(c.ctx)
		}
	}
}

const progressEvery = 250 * time.Millisecond

// settle waits until nothing comes any more of what was said while everybody
// connected, and has the counts begin there.
func (c *crew) settle() error {
	const quiet, patience = 25 * time.Millisecond, 2 * time.Second
	start, last := time.Now(), c.board.deliveries()
	for {
		if err := c.sleep(quiet, nil); err != nil {
			return err
		}
		now := c.board.deliveries()
		if now == last || time.Since(start) > patience {
			c.board.begin()
			return nil
		}
		last = now
	}
}

// drain waits until everybody has received what was sent, or until nothing
// comes any more.
func (c *crew) drain() error {
	const patience = time.Second
	last, since := c.board.deliveries(), time.Now()
	for c.board.slowest() < c.board.written() {
		if err := c.sleep(2*time.Millisecond, nil); err != nil {
			return err
		}
		if now := c.board.deliveries(); now != last {
			last, since = now, time.Now()
		} else if time.Since(since) > patience {
			return nil
		}
	}
	return nil
}

// end ends the run and collects what the workers found.
func (c *crew) end() (*found, error) {
	for _, h := range c.hands {
		h.in.Close()
	}
	all := &found{joined: joined{Welcomed: newHistogram(), Complete: newHistogram()}}
	for _, h := range c.hands {
		h.wait()
		if h.result == nil {
			return nil, context.Cause(c.ctx)
		}
		all.add(h.result)
	}
	return all, nil
}

// found is what all workers found together.
type found struct {
	latencies []histogram
	errors    uint64
	first     string
	joined    joined
}

func (f *found) add(r *result) {
	for len(f.latencies) < len(r.Latencies) {
		f.latencies = append(f.latencies, newHistogram())
	}
	merge(f.latencies, r.Latencies)
	f.errors += r.Errors
	if f.first == "" {
		f.first = r.FirstError
	}
	if r.Joined != nil {
		f.joined.Welcomed.merge(r.Joined.Welcomed)
		f.joined.Complete.merge(r.Joined.Complete)
	}
}

// interval is a part of a run, and what was counted in it.
type interval struct {
	start      time.Time
	meter      meter
	written    uint64
	deliveries uint64
}

func (c *crew) from(pid int) interval {
	return interval{time.Now(), startMeter(pid), c.board.written(), c.board.deliveries()}
}

// counted is what an interval came to.
type counted struct {
	seconds             float64
	written, deliveries uint64
	usage               Usage
}

func (c *crew) since(i interval) counted {
	return counted{
		seconds:    time.Since(i.start).Seconds(),
		written:    c.board.written() - i.written,
		deliveries: c.board.deliveries() - i.deliveries,
		usage:      i.meter.usage(),
	}
}
