package gateway

import (
	"strings"
	"time"
	"unicode/utf8"
)

// The codes that a connection is closed with (section 5 of the contract).
// Beside them only what RFC 6455 itself demands: 1002.
const (
	statusGoingAway = 1001
	statusProtocol  = 1002
	statusBinary    = 1003
	statusNotUTF8   = 1007
	statusRemoved   = 4003
	statusTooSlow   = 4008
	statusReplaced  = 4009
	statusFlooding  = 4029
)

// closing says how a connection ends.
type closing struct {
	code   int // 0 closes without a word
	reason string
	answer bool   // to the other side's close frame, whose code it is; 0 is none
	upTo   uint64 // what is sent first: everything up to this seq; 0 sends nothing more
	drain  bool   // answers that wait are sent first
	since  int64  // when it began, in ticks; set by close
}

const maxCloseReason = maxControl - 2 // bytes

// silent reports whether the connection ends without a word.
func (how *closing) silent() bool { return how.code == 0 && !how.answer }

// close ends a connection, once its writer has sent what closing says. Only
// the first call counts. It never waits.
func (c *conn) close(how closing) {
	how.reason = clip(how.reason, maxCloseReason)
	how.since = c.room.g.tick.Load()
	c.mu.Lock()
	first := c.closing == nil
	if first {
		c.closing = &how
	}
	c.mu.Unlock()
	if !first {
		return
	}
	if how.silent() {
		c.breakOff()
	} else {
		c.deadline(closeWithin)
	}
	c.cur.rouse()
}

// isClosing reports whether the connection is to end.
func (c *conn) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing != nil
}

// overdue reports whether a connection that is closing takes too long to send
// what it has to, perhaps since that never comes.
func (c *conn) overdue(now int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing != nil && !c.broken && now-c.closing.since > closeOverdue
}

// closeCode is what the connection was closed with; 0 where its other side was
// first.
func (c *conn) closeCode() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing == nil || c.closing.answer {
		return 0
	}
	return c.closing.code
}

// breakOff closes the socket under everything.
func (c *conn) breakOff() {
	c.mu.Lock()
	c.broken = true
	sock := c.sock
	c.mu.Unlock()
	if sock != nil {
		_ = sock.Close() // it may be closed already
	}
}

// finish says how the connection ends, and gives the other side a while to say
// so too.
func (c *conn) finish() {
	if !c.farewell() {
		_ = c.sock.Close() // it may be closed already
		return
	}
	_ = c.sock.SetReadDeadline(time.Now().Add(closeWithin)) // fails only where it is closed
}

// farewell sends what is left and the close frame. It reports false where the
// other side is to say nothing more, or could make nothing of it: what follows
// on a frame that was cut is taken for the rest of that frame.
func (c *conn) farewell() bool {
	defer c.survive("close")
	c.room.frames.leave(c.cur)
	c.ending.Store(true)
	c.mu.Lock()
	how := c.closing
	broken := c.broken
	c.mu.Unlock()
	if how == nil || how.silent() || broken || c.torn {
		return false
	}
	c.deadline(closeWithin)
	return c.put(appendCloseFrame(c.leftover(), how.code, how.reason), 0) && !how.answer
}

// leftover is the answers that a writer that failed has not sent.
func (c *conn) leftover() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing.drain || !c.welcomed {
		return nil
	}
	waiting := c.private
	c.private = nil
	return c.assemble(nil, waiting)
}

// clip shortens a text to at most n bytes of whole characters.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "�")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
