package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
)

// floor is no protocol at all: whoever connects says with one byte whether it
// sends or receives, and what is sent are frames as a WebSocket server writes
// them, so that receivers read the very bytes that they read from others.
type floor struct{}

// The first byte of a connection. FloorReady comes back.
const (
	FloorReceiver = 'r'
	FloorSender   = 's'
	FloorReady    = '+'
)

func (floor) Receive(ctx context.Context, t Target, _ int) (*Stream, error) {
	nc, early, err := floorDial(ctx, t, FloorReceiver)
	if err != nil {
		return nil, err
	}
	return &Stream{Conn: nc, Early: early, Next: textNext}, nil
}

func (floor) Send(ctx context.Context, t Target, _ int) (*Feed, error) {
	nc, early, err := floorDial(ctx, t, FloorSender)
	if err != nil {
		return nil, err
	}
	return &Feed{
		Append: func(dst []byte, stamp int64) []byte {
			return AppendFiller(appendServerText(dst, t.Size), stamp, t.Size)
		},
		Stream: Stream{Conn: nc, Early: early, Next: textNext},
	}, nil
}

func floorDial(ctx context.Context, t Target, role byte) (net.Conn, []byte, error) {
	return greet(ctx, t, []byte{role}, func(b []byte) (int, error) {
		if b[0] != FloorReady {
			return 0, fmt.Errorf("floor: it answers %q", b[0])
		}
		return 1, nil
	})
}

// greeting is how much a server may say before it is ready.
const greeting = 64 << 10

// greet connects, says hello, and reads until ready says how many of the bytes
// that have come, which are never none, were the server's greeting. What is
// behind them is early.
func greet(ctx context.Context, t Target, hello []byte, ready func([]byte) (int, error)) (nc net.Conn, early []byte, err error) {
	if nc, err = new(net.Dialer).DialContext(ctx, "tcp", t.Address); err != nil {
		return nil, nil, because(ctx, err)
	}
	early, err = say(ctx, nc, hello, ready)
	return nc, early, err
}

// say is greet on a connection that is open, and that it closes where it fails.
func say(ctx context.Context, nc net.Conn, hello []byte, ready func([]byte) (int, error)) (early []byte, err error) {
	defer context.AfterFunc(ctx, func() { nc.Close() })()
	if _, err = nc.Write(hello); err == nil {
		early, err = readGreeting(nc, ready)
	}
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("%s: %w", nc.RemoteAddr(), because(ctx, err))
	}
	return early, nil
}

// because is why something failed: that it was cancelled, where it was.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func readGreeting(r io.Reader, ready func([]byte) (int, error)) (early []byte, err error) {
	buf := make([]byte, 0, 4<<10)
	for len(buf) < greeting {
		buf = append(buf, make([]byte, 512)...)[:len(buf)]
		k, err := r.Read(buf[len(buf):cap(buf)])
		if buf = buf[:len(buf)+k]; k > 0 {
			n, err := ready(buf)
			if err != nil {
				return nil, err
			}
			if n > 0 {
				return bytes.Clone(buf[n:]), nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("while the server greets: %w", err)
		}
	}
	return nil, fmt.Errorf("the server's greeting is over %d bytes", greeting)
}
