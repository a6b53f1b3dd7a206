package gateway

import (
	"runtime/debug"

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
	defer func() {
		if how != idle { // else the next writer may have begun, and the turn be its own
			c.endTurn()
		}
	}()
	defer c.survive("writer")
	for how == more {
		if how = c.writeSome(); how == idle {
			c.endTurn()
			how = c.park()
		}
	}
	return how
}

func (c *conn) writeSome() progress {
	answers, stop, end := c.pending()
	switch {
	case answers != nil:
		return moreIf(c.putAnswers(answers))
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
		c.live = true
		return idle
	case behind:
		return moreIf(c.catchUp(stop))
	case ready:
		if span = c.within(span); len(span.frames) == 0 {
			return more
		}
		ok := c.putSpan(span)
		c.live = c.live || c.cur.near // although it may never park while traffic is heavy
		return moreIf(ok)
	}
	return more
}

// within is the part of a span that may still be sent: the end of the connection
// may have been decided after it was known up to where to take.
func (c *conn) within(s span) span {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing == nil || !c.closing.drain {
		return s
	}
	return s.until(c.closing.upTo)
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
func (c *conn) pending() (answers []answer, stop uint64, end bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken || c.closing != nil && !c.closing.drain {
		return nil, 0, true
	}
	if c.pinging != nil || c.ponging != nil {
		answers = []answer{{frame: append(c.ponging, c.pinging...)}}
		c.pinging, c.ponging = nil, nil
		return answers, 0, false
	}
	if !c.welcomed {
		return nil, 0, c.closing != nil
	}
	if answers = c.due(); answers != nil {
		return answers, 0, false
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

// due takes out the answers whose place in the order has come, so many as are
// written at once.
func (c *conn) due() (answers []answer) {
	if len(c.private) == 0 {
		return nil
	}
	n, bytes, sent := 0, 0, c.sent()
	for n < len(c.private) && bytes < pieceBytes && (c.private[n].after == 0 || c.private[n].after < sent) {
		if bytes += c.private[n].size(); c.private[n].welcome != nil {
			bytes = pieceBytes // it may be longer than that
		}
		c.waiting -= c.private[n].size()
		n++
	}
	if n == 0 {
		return nil
	}
	answers = c.private[:n:n]
	if c.private = c.private[n:]; len(c.private) == 0 {
		c.private = nil
	}
	return answers
}

// putAnswers writes what is for this connection alone.
func (c *conn) putAnswers(answers []answer) bool {
	if len(answers) == 1 && answers[0].welcome == nil {
		return c.put(answers[0].frame, 0)
	}
	if !c.live && c.takeTurn() != nil {
		return false
	}
	buf := scratch.get()
	defer scratch.put(buf)
	*buf = c.assemble((*buf)[:0], answers)
	return c.put(*buf, 0)
}

// assemble appends the frames of answers.
func (c *conn) assemble(dst []byte, answers []answer) []byte {
	for i := range answers {
		if w := answers[i].welcome; w != nil {
			dst = c.room.appendWelcome(dst, c.id, w)
		} else {
			dst = append(dst, answers[i].frame...)
		}
	}
	return dst
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
	if c.join.packed && s.worthPacking() {
		return c.putPacked(s)
	}
	if c.cur.filter == nil || c.live && s.all(c.cur.filter) {
		return c.put(s.buf, len(s.frames))
	}
	for ok := true; len(s.frames) > 0; {
		if s, ok = c.putFiltered(s); !ok {
			return false
		}
	}
	return true
}

// putFiltered copies frames together, when it is the connection's turn: a
// thousand who wait with their copies would take a thousand times the memory,
// and a thousand who match would take all processors.
func (c *conn) putFiltered(s span) (rest span, ok bool) {
	if !c.live && c.takeTurn() != nil {
		return s, false
	}
	buf := scratch.get()
	defer scratch.put(buf)
	matched := 0
	*buf, matched, rest = s.gather((*buf)[:0], c.cur.filter, pieceBytes)
	c.room.metrics.skipped.Add(float64(len(s.frames) - len(rest.frames) - matched))
	return rest, c.put(*buf, matched)
}

// putPacked is putSpan for a connection that has agreed on compression. What is
// compressed already is sent from where it lies, as it is without.
func (c *conn) putPacked(s span) bool {
	if c.live && s.all(c.cur.filter) {
		if wire := c.room.frames.packed(s); wire != nil {
			return c.put(wire, len(s.frames))
		}
	}
	for len(s.frames) > 0 {
		var part span
		if part, s = s.cut(pieceBytes); !c.putPackedPiece(part) {
			return false
		}
	}
	return true
}

// putPackedPiece compresses, or copies together, when it is the connection's
// turn.
func (c *conn) putPackedPiece(s span) bool {
	if !c.live && c.takeTurn() != nil {
		return false
	}
	if s.all(c.cur.filter) {
		if wire := c.room.frames.packed(s); wire != nil {
			return c.put(wire, len(s.frames))
		}
	}
	buf := scratch.get()
	defer scratch.put(buf)
	matched := 0
	*buf, matched = c.room.frames.gatherPacked((*buf)[:0], s, c.cur.filter)
	c.room.metrics.skipped.Add(float64(len(s.frames) - matched))
	return c.put(*buf, matched)
}

// pieceBytes are written in one turn.
const pieceBytes = 32 << 10

// takeTurn waits for the connection's turn to do what is much work: put ends
// it. Who is not live yet writes only in turn with others, so that who is live
// does not wait for it.
func (c *conn) takeTurn() (err error) {
	if c.held == nil {
		c.held, err = c.room.g.turns.acquire(c.room.g.ctx, c.party())
	}
	return err
}

// party is who takes turns: an id means somebody else in another space.
func (c *conn) party() string { return c.room.name + "\x00" + c.id }

func (c *conn) endTurn() {
	if c.held != nil {
		c.held()
		c.held = nil
	}
}

// put writes whole frames, with one system call where the connection is live
// and its socket has room for them, and reports whether that worked.
func (c *conn) put(frames []byte, delivered int) bool {
	c.torn = true // until all is written, also where that panics
	c.writing.Store(true)
	err := c.putAll(frames)
	c.writing.Store(false)
	if err != nil {
		c.close(closing{})
		return false
	}
	c.torn = false
	if delivered > 0 {
		c.room.metrics.deliver(delivered, len(frames))
	}
	return true
}

func (c *conn) putAll(frames []byte) error {
	for !c.live && len(frames) > 0 {
		n, err := c.putInTurn(frames[:min(len(frames), pieceBytes)])
		if frames = frames[n:]; err != nil {
			return err
		}
	}
	c.endTurn()
	if len(frames) == 0 {
		return nil
	}
	_, err := c.sock.Write(frames)
	return err
}

// putInTurn writes what the socket has room for. Nobody waits for one that is
// full: its turn is over, and a little is written to learn when it has room.
func (c *conn) putInTurn(piece []byte) (int, error) {
	if err := c.takeTurn(); err != nil {
		return 0, err
	}
	n, err := c.sock.WriteNow(piece)
	c.endTurn()
	if err != nil || n == len(piece) {
		return n, err
	}
	little, err := c.sock.Write(piece[n:min(len(piece), n+1<<10)])
	return n + little, err
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
