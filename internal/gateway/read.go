package gateway

import (
	"crypto/sha256"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/parleyhq/parley"
)

// errPeerCloses says that the other side has sent its close frame.
var errPeerCloses = errors.New("the other side closes")

// read is a connection's reader. It owns the connection: it lets the space
// know when reader and writer have ended.
func (c *conn) read() {
	defer c.room.leave(c)
	defer func() { c.end(); c.room.metrics.close(c.closeCode()) }()
	defer c.survive("reader")
	for c.readOne() {
	}
}

// readOne reads a message and hands it to the space, waiting while that is
// busy. It reports false where the connection is over or about to be.
func (c *conn) readOne() bool {
	if err := c.in.wait(); err != nil {
		return c.lost(err)
	}
	c.arriving.Store(c.now())
	op, err := c.in.next()
	switch {
	case err != nil:
		return c.lost(err)
	case op == opBinary:
		c.close(closing{code: statusBinary, reason: "envelopes are text frames"})
		return false
	case op == opText:
		return c.readText()
	}
	c.arriving.Store(0)
	return true
}

// A message that is larger than largeBytes is read to its end while its sender
// has fewer than largeAtOnce others. So what one participant can have in memory
// before it is judged is 80 MiB, over all its connections, and 96 where it
// compresses.
const (
	largeBytes  = 64 << 10
	largeAtOnce = 16
)

// largeRight is a connection's right to hold a message that is large.
type largeRight struct{ release func() }

// take waits for the right. It reports false where the connection ends before.
func (l *largeRight) take(c *conn) (ok bool) {
	if l.release == nil {
		l.release, ok = c.room.large.acquire(c.id, c.done)
		return ok
	}
	return true
}

func (l *largeRight) giveBack() {
	if l.release != nil {
		l.release()
	}
}

// readText reads the message that has begun.
func (c *conn) readText() bool {
	buf := incoming.get()
	defer incoming.put(buf)
	var large largeRight
	defer large.giveBack()
	limit := c.room.limits.EnvelopeBytes
	var err error
	*buf, err = readUpTo(&c.in, (*buf)[:0], min(largeBytes, limit+1))
	if err == nil && len(*buf) == largeBytes {
		if !large.take(c) {
			return false
		}
		*buf, err = readUpTo(&c.in, *buf, limit+1)
	}
	if len(*buf) <= limit {
		c.arriving.Store(0)
	}
	switch {
	case len(*buf) > limit:
		return c.skip(&c.in, *buf)
	case err != nil:
		return c.lost(err)
	case c.ending.Load():
		return false
	case c.in.packed:
		return c.unpack(buf, &large)
	}
	return c.hand(*buf)
}

// unpack inflates a message that is all there, no further than to where it is
// too large. So nobody holds an inflater while bytes come in.
func (c *conn) unpack(buf *[]byte, large *largeRight) bool {
	limit := c.room.limits.EnvelopeBytes
	text := incoming.get()
	defer incoming.put(text)
	err := error(nil)
	if large.release == nil {
		*text, err = inflate((*text)[:0], *buf, min(largeBytes, limit+1))
	}
	if err == nil && (large.release != nil || len(*text) == largeBytes) {
		*text = nil // who waits holds no more than what came
		if !large.take(c) {
			return false
		}
		*text, err = inflate((*text)[:0], *buf, limit+1)
	}
	switch {
	case err != nil:
		return c.refuseRaw(*buf, notDeflate()) && c.closeNotText("the message cannot be inflated")
	case len(*text) > limit:
		return c.refuseRaw(*buf, tooLarge(limit))
	}
	*buf, *text = *text, *buf
	return c.hand(*buf)
}

// refuseRaw refuses a message, of which the record says what came.
func (c *conn) refuseRaw(raw []byte, why *parley.Error) bool {
	return c.room.submit(submission{from: c.id, by: c, digest: sha256.Sum256(raw), size: len(raw), err: why})
}

func notDeflate() *parley.Error {
	return parley.Errorf(parley.MalformedEnvelope, "the frame says that it is compressed, and cannot be inflated")
}

// hand hands a message to the space.
func (c *conn) hand(text []byte) bool {
	s := c.room.parse(c.id, c, text)
	notText := s.err != nil && !utf8.Valid(text)
	if !c.room.submit(s) {
		return false
	}
	return !notText || c.closeNotText("the frame is not UTF-8")
}

// closeNotText ends a connection that does not send text, and reports false.
func (c *conn) closeNotText(reason string) bool {
	c.close(closing{code: statusNotUTF8, reason: reason})
	return false
}

// lost ends the connection from which nothing more can be read.
func (c *conn) lost(err error) bool {
	wrong, ok := errors.AsType[protocolError](err)
	switch {
	case ok:
		c.garbled = true
		c.close(closing{code: statusProtocol, reason: string(wrong)})
	case errors.Is(err, errPeerCloses):
	default:
		c.close(closing{})
	}
	return false
}

// heed deals with a control frame.
func (c *conn) heed(op byte, payload []byte) error {
	switch op {
	case opPing:
		c.pong(payload)
	case opClose:
		code, err := closeFrameCode(payload)
		if err != nil {
			return err
		}
		c.gone = true
		c.close(closing{code: code, answer: true})
		return errPeerCloses
	}
	return nil
}

// end waits for the writer, and reads on until the other side has closed as
// well: what is closed with something unread is lost to it, our close frame
// too. The writer sees to it that this does not take long.
func (c *conn) end() {
	c.close(closing{})
	c.drain()
	<-c.done
	_ = c.sock.Close() // the writer may have closed it
	c.in.release()
}

// drain reads until nothing more comes.
func (c *conn) drain() {
	defer c.survive("reader")
	for err := error(nil); err == nil && !c.gone && !c.garbled; {
		if err = c.in.skip(); err == nil {
			_, err = c.in.next()
		}
		if _, ok := errors.AsType[protocolError](err); ok {
			c.garbled = true
		}
	}
	for err := error(nil); err == nil && c.garbled; {
		c.in.release()
		err = c.in.wait()
	}
}

// readUpTo reads all of r, but at most n bytes, for more than which dst does not
// grow.
func readUpTo(r io.Reader, dst []byte, n int) ([]byte, error) {
	for len(dst) < n {
		if len(dst) == cap(dst) {
			dst = append(make([]byte, 0, min(max(1024, 2*len(dst)), n)), dst...)
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
		return c.lost(err)
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
