package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/parleyhq/parley/internal/load"
)

func floorCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("floor", flag.ContinueOnError)
	frames := flags.Int("frames", 1, "how many frames go into one write")
	address := flags.String("listen", "127.0.0.1:0", "where to listen")
	if err := flags.Parse(args); err != nil {
		return err
	}
	l, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	f := floor{frames: *frames}
	return f.serve(ctx, l)
}

// floor writes whatever frames a sender sends to all receivers, so many of them
// in one write, and does nothing else: no queue, no record, no protocol.
type floor struct {
	frames int

	mu        sync.Mutex // held while everybody is written to
	receivers []net.Conn
}

func (f *floor) serve(ctx context.Context, l net.Listener) error {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	var conns sync.WaitGroup
	defer conns.Wait()
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		conns.Go(func() {
			defer nc.Close()
			defer context.AfterFunc(ctx, func() { nc.Close() })()
			if err := f.greet(nc); err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
				fmt.Fprintln(os.Stderr, "floor:", err)
			}
		})
	}
}

func (f *floor) greet(nc net.Conn) error {
	role := make([]byte, 1)
	if _, err := io.ReadFull(nc, role); err != nil {
		return err
	}
	switch role[0] {
	case load.FloorReceiver:
		return f.receiver(nc)
	case load.FloorSender:
		return f.sender(nc)
	}
	return fmt.Errorf("somebody is neither a sender nor a receiver: %q", role)
}

// receiver is written to by senders until it goes away.
func (f *floor) receiver(nc net.Conn) error {
	f.mu.Lock()
	_, err := nc.Write([]byte{load.FloorReady})
	f.receivers = append(f.receivers, nc)
	f.mu.Unlock()
	if err == nil {
		_, err = nc.Read(make([]byte, 1)) // it says nothing any more
	}
	f.leave(nc)
	return err
}

func (f *floor) leave(nc net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, r := range f.receivers {
		if r == nc {
			f.receivers = append(f.receivers[:i], f.receivers[i+1:]...)
			return
		}
	}
}

// linger is how long frames wait for others to fill a write.
const linger = 2 * time.Millisecond

// sender passes on what comes in.
func (f *floor) sender(nc net.Conn) error {
	if _, err := nc.Write([]byte{load.FloorReady}); err != nil {
		return err
	}
	buf := make([]byte, 256<<10)
	have := 0
	for {
		n, err := nc.Read(buf[have:])
		have += n
		late := errors.Is(err, os.ErrDeadlineExceeded)
		if err != nil && !late {
			return err
		}
		done := f.pass(buf[:have], late)
		have = copy(buf, buf[done:have])
		if have == len(buf) {
			return errors.New("a frame is too large")
		}
		if f.frames > 1 {
			_ = nc.SetReadDeadline(deadline(have))
		}
	}
}

// deadline is when frames that wait go without the others.
func deadline(waiting int) time.Time {
	if waiting == 0 {
		return time.Time{}
	}
	return time.Now().Add(linger)
}

// pass writes the frames of b in groups, an incomplete group only where it is
// late, and returns how many bytes they were.
func (f *floor) pass(b []byte, late bool) (done int) {
	for count, end := 0, 0; ; {
		size := frameSize(b[end:])
		if size == 0 || size > len(b)-end {
			if late && count > 0 {
				f.write(b[done:end])
				done = end
			}
			return done
		}
		end += size
		if count++; count == f.frames {
			f.write(b[done:end])
			done, count = end, 0
		}
	}
}

// write writes to everybody, one after the other.
func (f *floor) write(frames []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, nc := range f.receivers {
		_, _ = nc.Write(frames) // who is gone leaves by itself
	}
}

// frameSize is the size of the frame that b begins with, as far as that can be
// told; 0 where it cannot.
func frameSize(b []byte) int {
	switch {
	case len(b) < 2:
		return 0
	case b[1] < 126:
		return 2 + int(b[1])
	case b[1] == 126 && len(b) >= 4:
		return 4 + int(binary.BigEndian.Uint16(b[2:]))
	}
	return 0
}
