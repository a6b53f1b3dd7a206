package gateway

import (
	"strings"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// The codes that a connection is closed with (section 5 of the contract).
// Beside them only what RFC 6455 itself demands, as 1002.
const (
	statusGoingAway = websocket.StatusGoingAway
	statusBinary    = websocket.StatusUnsupportedData
	statusNotUTF8   = websocket.StatusInvalidFramePayloadData
	statusRemoved   = websocket.StatusCode(4003)
	statusTooSlow   = websocket.StatusCode(4008)
	statusReplaced  = websocket.StatusCode(4009)
	statusFlooding  = websocket.StatusCode(4029)
)

// closing says how a connection ends.
type closing struct {
	code   websocket.StatusCode // 0 closes without a word
	reason string
	upTo   uint64 // what is sent first: everything up to this seq; 0 sends nothing more
	drain  bool   // answers that wait are sent first
	since  int64  // when it began, in ticks; set by close
}

const maxCloseReason = 123 // bytes

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
	if how.code == 0 {
		c.breakOff()
	} else {
		c.deadline(closeWithin)
	}
	c.cur.rouse()
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
func (c *conn) closeCode() websocket.StatusCode {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing == nil {
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

// finish ends the WebSocket: with a handshake where there is something to say,
// which takes at most ten seconds.
func (c *conn) finish() {
	c.room.frames.leave(c.cur)
	c.mu.Lock()
	how := c.closing
	broken := c.broken
	c.mu.Unlock()
	if how == nil || how.code == 0 || broken {
		_ = c.ws.CloseNow() // only says that it is closed
		return
	}
	c.deadline(closeWithin)
	if left := c.leftover(); left != nil && !c.put(left, 0) {
		_ = c.ws.CloseNow()
		return
	}
	_ = c.ws.Close(how.code, how.reason) // the other side may be gone, or silent
}

// leftover is the answers that a writer that failed has not sent.
func (c *conn) leftover() (frames []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing.drain || !c.welcomed {
		return nil
	}
	for _, a := range c.private {
		frames = append(frames, a.frame...)
	}
	c.private = nil
	return frames
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
