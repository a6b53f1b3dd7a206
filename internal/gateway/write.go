package gateway

import (
	"runtime/debug"
	"sync"

	"github.com/parleyhq/parley"
)

// write is a connection's writer. Its answers go first, then one run of frames
// after the other, each in one system call.
func (c *conn) write() {
	defer close(c.done)
	defer c.finish()
	defer c.survive("writer")
	for {
		frames, stop, end := c.pending()
		if frames != nil {
			if !c.put(frames, 0) {
				return
			}
			continue
		}
		if end {
			return
		}
		if !c.advance(stop) {
			return
		}
	}
}

// advance sends the frames that come next, or waits. It reports false where
// the connection is over.
func (c *conn) advance(stop uint64) bool {
	if stop == 0 { // not welcomed yet
		<-c.cur.wake
		return true
	}
	if !c.begun {
		return c.begin()
	}
	span, found := c.room.frames.take(c.cur, stop)
	switch found {
	case parked:
		<-c.cur.wake
	case behind:
		return c.catchUp(stop)
	case ready:
		return c.putSpan(span)
	}
	return true
}

// pending returns what has to be sent before any more frames, or up to which
// seq they may be sent, 0 for none yet; end says that nothing is left to do.
func (c *conn) pending() (frames []byte, stop uint64, end bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken || c.closing != nil && !c.closing.drain {
		return nil, 0, true
	}
	if c.control != nil {
		frames, c.control = c.control, nil
		return frames, 0, false
	}
	if !c.welcomed {
		return nil, 0, c.closing != nil
	}
	if frames = c.due(); frames != nil {
		return frames, 0, false
	}
	stop = everything
	if len(c.private) > 0 {
		stop = c.private[0].after
	}
	if c.closing != nil { // answers whose place comes later are left to finish
		stop = min(stop, c.closing.upTo)
		end = c.closing.upTo == 0 || c.sent() > c.closing.upTo
	}
	return nil, stop, end
}

// due takes out the answers whose place in the order has come.
func (c *conn) due() (frames []byte) {
	n := 0
	for n < len(c.private) && (c.private[n].after == 0 || c.private[n].after < c.sent()) {
		frame := c.private[n].frame
		c.waiting -= len(frame)
		if frames == nil {
			frames = frame
		} else {
			frames = append(frames[:len(frames):len(frames)], frame...)
		}
		n++
	}
	if c.private = c.private[n:]; len(c.private) == 0 {
		c.private = nil
	}
	return frames
}

// sent is the first seq that has not been sent.
func (c *conn) sent() uint64 {
	if !c.begun {
		return 0
	}
	return c.room.frames.position(c.cur)
}

// putSpan writes a run of frames, less what the filter keeps away.
func (c *conn) putSpan(s span) bool {
	if c.cur.filter == nil {
		return c.put(s.buf, len(s.frames))
	}
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	matched := 0
	*buf, matched = s.gather((*buf)[:0], c.cur.filter)
	c.room.metrics.skipped.Add(float64(len(s.frames) - matched))
	return matched == 0 || c.put(*buf, matched)
}

var scratch = sync.Pool{New: func() any { return new([]byte) }}

// put writes whole frames with one Write, and reports whether that worked.
// Writes of a net.Conn do not interleave, so neither do frames.
func (c *conn) put(frames []byte, delivered int) bool {
	c.writing.Store(c.now())
	_, err := c.sock.Write(frames)
	c.writing.Store(0)
	if err != nil {
		c.close(closing{})
		return false
	}
	if delivered > 0 {
		c.room.metrics.deliver(delivered, len(frames))
	}
	return true
}

// survive keeps a fault in one connection from ending anything else.
func (c *conn) survive(where string) {
	v := recover()
	if v == nil {
		return
	}
	c.room.log.Error("a connection failed", "participant", c.id, "in", where, "panic", v, "stack", string(debug.Stack()))
	c.refused("", parley.Errorf(parley.Internal, "this connection failed at the gateway"))
	c.close(closing{code: statusGoingAway, reason: "internal fault: resume", drain: true})
}
