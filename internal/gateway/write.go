package gateway

import (
	"runtime/debug"
	"sync"

	"github.com/parleyhq/parley"
)

// start starts the connection's goroutines, once it has a socket.
func (c *conn) start() {
	c.cur.writer = c.write
	go c.write()
	go c.read()
}

// write is a connection's writer, for as long as there is something to write.
// When nothing is it ends, so that who only waits has no goroutine for it;
// whoever rouses the cursor starts another one. Only one is there at a time.
func (c *conn) write() {
	c.cur.settle()
	if c.writeAll() == idle {
		return
	}
	c.finish()
	close(c.done)
}

// progress says how a writer goes on.
type progress int

const (
	more progress = iota // there may be more to write
	idle                 // there is not, until somebody rouses the cursor
	over                 // there never will be
)

// writeAll writes until nothing is left to be written. Answers go first, then
// one run of frames after the other, each in one system call.
func (c *conn) writeAll() (how progress) {
	defer c.survive("writer")
	for how == more {
		if how = c.writeSome(); how == idle {
			how = c.park()
		}
	}
	return how
}

func (c *conn) writeSome() progress {
	frames, stop, end := c.pending()
	switch {
	case frames != nil:
		return moreIf(c.put(frames, 0))
	case end:
		return over
	case stop == 0: // not welcomed yet
		return idle
	case !c.begun:
		return moreIf(c.begin())
	}
	span, found := c.room.frames.take(c.cur, stop)
	switch found {
	case parked:
		return idle
	case behind:
		return moreIf(c.catchUp(stop))
	case ready:
		return moreIf(c.putSpan(span))
	}
	return more
}

func moreIf(ok bool) progress {
	if ok {
		return more
	}
	return over
}

// lingerAbove is how many wake-ups in a second keep a writer.
const lingerAbove = 4

// park waits while nothing is to be written. A writer that is woken often
// stays, since to start one costs more than to wake it; any other ends.
func (c *conn) park() progress {
	if c.staysBusy() {
		c.lingers.Store(true)
		<-c.cur.wake
		c.lingers.Store(false)
		return more
	}
	if c.cur.abandon() {
		return idle
	}
	return more
}

// staysBusy counts how often the writer parks, second by second.
func (c *conn) staysBusy() bool {
	if now := c.now(); now != c.second {
		c.busy = c.parks > lingerAbove && now == c.second+1
		c.second, c.parks = now, 0
	}
	c.parks++
	return c.busy || c.parks > lingerAbove
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
	if len(c.private) == 0 {
		return nil
	}
	n, size, sent := 0, 0, c.sent()
	for n < len(c.private) && (c.private[n].after == 0 || c.private[n].after < sent) {
		size += len(c.private[n].frame)
		n++
	}
	if n == 1 {
		frames = c.private[0].frame
	} else if n > 1 {
		frames = make([]byte, 0, size)
		for _, a := range c.private[:n] {
			frames = append(frames, a.frame...)
		}
	}
	c.waiting -= size
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

// put writes whole frames, with one system call where the socket has room for
// them, and reports whether that worked.
func (c *conn) put(frames []byte, delivered int) bool {
	c.writing.Store(true)
	_, err := c.sock.Write(frames)
	c.writing.Store(false)
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
