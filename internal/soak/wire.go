package soak

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// wire is a WebSocket without manners: what is written to it goes out as it is.
type wire struct {
	net.Conn
	in *bufio.Reader
}

// wireTime bounds whatever is done on a wire, beyond every time-out that the
// gateway has for a connection that closes.
const wireTime = 30 * time.Second

// dial makes a narrow connection, and closes it when ctx ends.
func (c *crew) dial(ctx context.Context) (net.Conn, func(), error) {
	dialer := net.Dialer{Control: narrowSocket}
	conn, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		return nil, nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(wireTime)); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	return conn, func() { stop(); conn.Close() }, nil
}

// upgrade is the head of a handshake as somebody.
func (c *crew) upgrade(who, query string) string {
	return "GET /ws?space=" + c.space + query + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token(who) +
		"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
}

// plug joins the space with a bare connection. A refusal is counted.
func (c *crew) plug(ctx context.Context, who, query string) (*wire, func()) {
	conn, hangUp, err := c.dial(ctx)
	if err != nil {
		c.answered(ctx, "plugged in", 0, err)
		return nil, nil
	}
	w := &wire{conn, bufio.NewReader(conn)}
	_, err = io.WriteString(conn, c.upgrade(who, query))
	var resp *http.Response
	if err == nil {
		resp, err = http.ReadResponse(w.in, nil)
	}
	if err != nil {
		c.answered(ctx, "plugged in", 0, err)
		hangUp()
		return nil, nil
	}
	c.answered(ctx, "plugged in", resp.StatusCode, nil)
	if resp.StatusCode != http.StatusSwitchingProtocols {
		hangUp()
		return nil, nil
	}
	return w, hangUp
}

// The first bytes of frames: opcodes of RFC 6455 with the final bit.
const (
	textFrame   = 0x81
	binaryFrame = 0x82
	closeFrame  = 0x88
	pingFrame   = 0x89
)

// frame is a masked frame, with a key that changes nothing.
func frame(first byte, payload string) []byte {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	return append(append(b, 0, 0, 0, 0), payload...)
}

// next reads a frame: its first byte, and what it holds.
func (w *wire) next() (first byte, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return 0, nil, err
	}
	n := uint64(head[1] & 0x7F)
	if n > 125 {
		long := make([]byte, 2)
		if n == 127 {
			long = make([]byte, 8)
		}
		if _, err := io.ReadFull(w.in, long); err != nil {
			return 0, nil, err
		}
		n = 0
		for _, b := range long {
			n = n<<8 | uint64(b)
		}
	}
	if n > 16<<20 {
		return 0, nil, fmt.Errorf("soak: a frame of %d bytes", n)
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(w.in, payload)
	return head[0], payload, err
}

// closed reads until the gateway closes, and says with which code: 0 where it
// did not say.
func (w *wire) closed() int {
	for {
		first, payload, err := w.next()
		if err != nil {
			return 0
		}
		if first == closeFrame && len(payload) >= 2 {
			_, _ = w.Write(frame(closeFrame, string(payload[:2]))) // it may not listen any more
			return int(binary.BigEndian.Uint16(payload))
		}
	}
}
