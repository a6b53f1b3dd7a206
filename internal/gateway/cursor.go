package gateway

import (
	"sync/atomic"

	"github.com/parleyhq/parley/internal/space"
)

// cursor is where one connection stands in a frame log. While it is parked it
// has no place: whoever wakes it says where to go on, since it would have
// received nothing of what came before. So frames cost nothing to connections
// that do not receive them.
type cursor struct {
	me       string
	filter   *space.Filter // nil lets everything through
	key      string        // of the group of those who want the same
	settings space.Settings
	wake     chan struct{} // has room for one
	writer   func()        // serves whoever waits for wake; nil where somebody always waits
	unserved atomic.Bool   // there is no writer: to be started by whoever rouses
	near     bool          // what take returned last ends near the end; for its caller

	// Guarded by the log's mu.
	next    uint64 // the seq to read next
	at      uint64 // the first seq that may not have been sent yet
	atBytes uint64 // as at, in bytes ever appended
	group   *group // it waits in; nil until it does
	parked  *group // it waits in now: group, or everyone
	index   int    // in parked.members
	named   int    // in the namesakes of me
	live    bool   // has reached the end once: from then on its lag counts
}

// newCursor makes a cursor for a participant's connection.
func newCursor(me string, set space.Settings) *cursor {
	c := &cursor{me: me, wake: make(chan struct{}, 1), settings: set}
	if f := space.NewFilter(me, set); !f.All() {
		c.filter = f
	}
	c.settings.EchoOff = false // a group does not know who sends
	c.key = groupKey(c.settings)
	return c
}

// rouse makes whoever waits for wake look again, and starts a writer where
// nobody waits.
func (c *cursor) rouse() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
	if c.unserved.Load() && c.unserved.CompareAndSwap(true, false) {
		go c.writer()
	}
}

// settle forgets that the cursor was roused: whoever calls it looks now.
func (c *cursor) settle() {
	select {
	case <-c.wake:
	default:
	}
}

// abandon leaves the cursor without a writer. It reports false where it was
// roused meanwhile: then the caller has to look again. Of a writer and somebody
// who rouses one at least sees the other, since each shows itself first.
func (c *cursor) abandon() bool {
	c.unserved.Store(true)
	select {
	case <-c.wake:
		return !c.unserved.CompareAndSwap(true, false) // else another one has been started
	default:
		return true
	}
}

// matches reports whether the connection receives an envelope.
func (c *cursor) matches(h *space.Header) bool { return c.filter == nil || c.filter.Match(h) }

// What take found.
type found int

const (
	ready   found = iota // a span
	parked               // nothing; the cursor's wake says when to look again
	stopped              // the cursor stands behind upTo
	behind               // what comes next is not held any more
)

// nearEnd is how many frames before the end a cursor counts as there.
const nearEnd = 64

// take returns the run of frames that comes next, and moves the cursor behind
// it. Frames after upTo are left. Where there are none the cursor is parked.
func (l *frameLog) take(c *cursor, upTo uint64) (span, found) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unpark(c)
	switch {
	case c.next > upTo:
		return span{}, stopped
	case c.next >= l.next:
		c.live = true
		c.at, c.atBytes = c.next, l.total
		l.park(c, upTo)
		return span{}, parked
	case c.next < l.first():
		return span{}, behind
	}
	seg := l.find(c.next)
	s := seg.span(c.next, upTo)
	c.at, c.atBytes = c.next, seg.base+uint64(s.start)
	c.next += uint64(len(s.frames))
	c.near = l.next-c.next <= nearEnd
	return s, ready
}

// seek puts a cursor that is not parked before seq.
func (l *frameLog) seek(c *cursor, seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unpark(c)
	c.next, c.at, c.atBytes = seq, seq, l.bytesBefore(seq)
}

// position is the seq that the cursor reads next. It is not parked afterwards.
func (l *frameLog) position(c *cursor) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unpark(c)
	return c.next
}

// passed moves a cursor on that has sent what it read elsewhere.
func (l *frameLog) passed(c *cursor, next uint64, bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.next, c.at, c.atBytes = next, next, c.atBytes+uint64(bytes)
}

// bytesBefore is how many bytes were appended before seq. What is not held any
// more counts as just dropped: a cursor there does not count as live.
func (l *frameLog) bytesBefore(seq uint64) uint64 {
	switch {
	case seq >= l.next:
		return l.total
	case seq < l.first():
		return l.total - uint64(l.held)
	}
	seg := l.find(seq)
	return seg.base + uint64(seg.start(int(seq-seg.first)))
}

// leave takes a cursor out of the log for good.
func (l *frameLog) leave(c *cursor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unpark(c)
	l.waiting.forget(c)
}

// lag is how far a cursor that has caught up once is behind.
func (l *frameLog) lag(c *cursor) (envelopes, bytes uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.parked != nil || !c.live || c.at >= l.next {
		return 0, 0
	}
	return l.next - c.at, l.total - min(c.atBytes, l.total)
}

// delivered reports whether nothing of what the cursor receives is still to be
// sent.
func (l *frameLog) delivered(c *cursor) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.parked != nil || c.at >= l.next
}

// unpark brings a cursor that was not woken by a frame to the end of the log:
// it receives nothing of what came since it was parked.
func (l *frameLog) unpark(c *cursor) {
	if c.parked == nil {
		return
	}
	l.waiting.remove(c)
	c.next, c.at, c.atBytes = l.next, l.next, l.total
}

// park lets a cursor wait. One that has to stop at upTo waits for whatever
// comes, since its stop may be a frame that it does not receive.
func (l *frameLog) park(c *cursor, upTo uint64) {
	g := l.waiting.everyone
	if upTo == everything {
		g = l.waiting.groupOf(c)
	}
	l.waiting.add(c, g)
}

// wakeFor unparks whoever receives the newest frame.
func (l *frameLog) wakeFor(h *space.Header) {
	from := len(l.woken)
	l.woken = l.waiting.take(l.woken, h)
	seg := l.segments[len(l.segments)-1]
	atBytes := seg.base + uint64(seg.start(len(seg.frames)-1))
	for _, c := range l.woken[from:] {
		c.next, c.at, c.atBytes = h.Seq, h.Seq, atBytes
	}
}
