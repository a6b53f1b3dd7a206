package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
)

// subject is what servers that have names for streams of messages get to hear.
const subject = "parley"

// nats speaks to nats-server, over TCP or inside WebSocket frames.
type nats struct{ websocket bool }

const (
	natsHello = `CONNECT {"verbose":false,"pedantic":false,"lang":"bench","version":"1"}` + "\r\n"
	natsReady = "PING\r\n" // its answer says that everything before it was done
	natsPong  = "PONG\r\n"
)

func (p nats) Receive(ctx context.Context, t Target, _ int) (*Stream, error) {
	return p.open(ctx, t, natsHello+"SUB "+subject+" 1\r\n"+natsReady)
}

func (p nats) Send(ctx context.Context, t Target, _ int) (*Feed, error) {
	stream, err := p.open(ctx, t, natsHello+natsReady)
	if err != nil {
		return nil, err
	}
	line := "PUB " + subject + " " + strconv.Itoa(t.Size) + "\r\n"
	header := p.frame(nil, len(line)+t.Size+2)
	return &Feed{
		Append: func(dst []byte, stamp int64) []byte {
			dst = append(append(dst, header...), line...)
			return append(AppendFiller(dst, stamp, t.Size), "\r\n"...)
		},
		Stream: *stream,
	}, nil
}

// frame appends the header before so many bytes, where there is one.
func (p nats) frame(dst []byte, size int) []byte {
	if !p.websocket {
		return dst
	}
	return appendClientHeader(dst, wsBinary, size)
}

func (p nats) open(ctx context.Context, t Target, hello string) (*Stream, error) {
	var (
		nc    net.Conn
		early []byte
		err   error
	)
	if p.websocket {
		nc, early, err = openNATSOverWebSocket(ctx, t, append(p.frame(nil, len(hello)), hello...))
	} else {
		nc, early, err = greet(ctx, t, []byte(hello), natsGreeting)
	}
	if err != nil {
		return nil, err
	}
	return &Stream{Conn: nc, Early: early, Next: natsNext, Control: p.control}, nil
}

func openNATSOverWebSocket(ctx context.Context, t Target, hello []byte) (net.Conn, []byte, error) {
	raw, early, err := upgrade(ctx, t, "/", "")
	if err != nil {
		return nil, nil, err
	}
	nc := &unframed{Conn: raw, early: early}
	early, err = say(ctx, nc, hello, natsGreeting)
	return nc, early, err
}

// natsGreeting finds the PONG that answers natsReady.
func natsGreeting(b []byte) (int, error) {
	for n := 0; n < len(b); {
		size, _, err := natsNext(b[n:])
		if size == 0 || size > len(b)-n || err != nil {
			return 0, err
		}
		n += size
		if string(b[n-size:n]) == natsPong {
			return n, nil
		}
	}
	return 0, nil
}

func (p nats) control(frame []byte) ([]byte, error) {
	if string(frame) != "PING\r\n" {
		return nil, nil
	}
	return append(p.frame(nil, len(natsPong)), natsPong...), nil
}

// natsLine is how long a line may be; INFO is the longest.
const natsLine = 8 << 10

// natsNext measures what a NATS server says: a line, or a line and a message.
func natsNext(b []byte) (size, body int, err error) {
	end := bytes.IndexByte(b[:min(len(b), natsLine)], '\n') + 1
	if end == 0 {
		if len(b) >= natsLine {
			return 0, -1, errors.New("nats: a line without an end")
		}
		return 0, -1, nil
	}
	line := b[:end]
	if !bytes.HasPrefix(line, []byte("MSG ")) {
		return end, -1, natsSays(line)
	}
	n, ok := number(bytes.TrimRight(line[bytes.LastIndexByte(line, ' ')+1:], "\r\n"))
	if !ok {
		return 0, -1, fmt.Errorf("nats: no size in %q", line)
	}
	return end + n + 2, end, nil
}

// natsSays is an error where a line is one, or is none of the protocol's.
func natsSays(line []byte) error {
	for _, verb := range []string{"PING\r\n", natsPong, "+OK\r\n", "INFO "} {
		if bytes.HasPrefix(line, []byte(verb)) {
			return nil
		}
	}
	return fmt.Errorf("nats: the server says %q", line)
}

// number reads digits; no message of a load has more than these.
func number(digits []byte) (int, bool) {
	if len(digits) == 0 || len(digits) > 7 {
		return 0, false
	}
	n := 0
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int(d-'0')
	}
	return n, true
}

// unframed is a connection whose WebSocket frames are taken off as they are
// read. A frame of nats-server holds any part of its stream. What is written
// has its frames already.
type unframed struct {
	net.Conn
	early  []byte // read before, frames and all
	header []byte // the beginning of a frame, as long as it is not understood
	left   int    // bytes of the payload that are still to come
	data   bool   // whether they belong to the stream
}

// Read reads into p and takes the headers out where they are.
func (c *unframed) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, err := c.raw(p)
		kept, bad := c.unframe(p[:n])
		if bad != nil {
			return kept, bad
		}
		if kept > 0 || err != nil {
			return kept, err
		}
	}
}

func (c *unframed) raw(p []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(p, c.early)
		c.early = c.early[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// unframe moves the payloads in p together, to its beginning.
func (c *unframed) unframe(p []byte) (kept int, err error) {
	for i := 0; i < len(p); {
		if c.left > 0 {
			n := min(c.left, len(p)-i)
			if c.data {
				kept += copy(p[kept:], p[i:i+n])
			}
			c.left -= n
			i += n
			continue
		}
		c.header = append(c.header, p[i])
		i++
		if err := c.begin(); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// begin looks whether the header is whole, and what it announces.
func (c *unframed) begin() error {
	size, payload, err := wsFrame(c.header)
	if size == 0 || err != nil {
		return err
	}
	opcode := c.header[0] & 0x0f
	c.left, c.data = size-payload, opcode == wsBinary || opcode == wsContinued
	c.header = c.header[:0]
	if opcode == wsClose {
		return io.EOF
	}
	return nil
}
