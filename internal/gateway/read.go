package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/parleyhq/parley"
)

// read is a connection's reader. It owns the connection: it lets the space
// know when reader and writer have ended.
func (c *conn) read() {
	defer c.room.leave(c)
	defer func() { <-c.done; c.room.metrics.close(int(c.closeCode())) }()
	defer c.close(closing{})
	defer c.survive("reader")
	for c.readOne() {
	}
}

// readOne reads a message and hands it to the space, waiting while that is
// busy. It reports false where the connection is over or about to be.
func (c *conn) readOne() bool {
	typ, r, err := c.ws.Reader(context.Background())
	if err != nil {
		return false
	}
	if typ != websocket.MessageText {
		c.close(closing{code: statusBinary, reason: "envelopes are text frames"})
		return false
	}
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	limit := c.room.limits.EnvelopeBytes
	c.arriving.Store(c.now())
	*buf, err = readUpTo(r, (*buf)[:0], limit+1)
	if len(*buf) <= limit {
		c.arriving.Store(0)
	}
	switch {
	case len(*buf) > limit:
		return c.skip(r, *buf)
	case err != nil:
		return false
	}
	s := c.room.parse(c.id, c, *buf)
	notText := s.err != nil && !utf8.Valid(*buf)
	if !c.room.submit(s) {
		return false
	}
	if notText {
		c.close(closing{code: statusNotUTF8, reason: "the frame is not UTF-8"})
	}
	return !notText
}

// readUpTo reads all of r, but at most n bytes.
func readUpTo(r io.Reader, dst []byte, n int) ([]byte, error) {
	for len(dst) < n {
		if len(dst) == cap(dst) {
			dst = append(dst, make([]byte, max(1024, len(dst)))...)[:len(dst)]
		}
		m, err := r.Read(dst[len(dst):min(cap(dst), n)])
		dst = dst[:len(dst)+m]
		if errors.Is(err, io.EOF) {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// skip reads over the rest of a message that is too large, unless that is far
// too large, and refuses it.
func (c *conn) skip(r io.Reader, head []byte) bool {
	limit := c.room.limits.EnvelopeBytes
	h := sha256.New()
	h.Write(head)
	rest, err := io.CopyN(h, r, int64(oversizeFactor-1)*int64(limit))
	c.arriving.Store(0)
	s := submission{from: c.id, by: c, size: len(head) + int(rest), err: tooLarge(limit)}
	h.Sum(s.digest[:0])
	whole := errors.Is(err, io.EOF)
	if err != nil && !whole {
		return false
	}
	if !c.room.submit(s) {
		return false
	}
	if !whole {
		c.close(closing{code: statusFlooding, reason: "a frame far beyond the limit"})
	}
	return whole
}

func tooLarge(limit int) *parley.Error {
	return parley.Errorf(parley.EnvelopeTooLarge, "an envelope here has at most %d bytes", limit)
}
