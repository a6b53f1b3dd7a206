package gateway

import (
	"context"
	"time"

	"github.com/parleyhq/parley/internal/journal"
)

// begin puts the cursor where a connection starts, once it is welcomed: behind
// the position that it resumes from, or before its history, or at the end. It
// reports false where the connection is over.
func (c *conn) begin() bool {
	start := c.seq + 1
	switch {
	case c.join.resume:
		start = c.join.after + 1
	case c.join.history > 0:
		var err error
		if start, err = c.historyStart(start, c.join.history); err != nil {
			c.journalFault(err)
			return false
		}
	}
	c.room.frames.seek(c.cur, start)
	c.begun = true
	return true
}

// How far a filter is held against what came before, and in which pieces: one
// that takes long for each frame takes half a millisecond for a piece.
const (
	lookBack   = 16 << 10 // frames in memory
	lookAtOnce = 256
)

// turnTime is how long the journal may take in one turn: where it is stuck, who
// asked is closed, and comes again, and those behind have their turn.
const turnTime = 10 * time.Second

// historyStart is where the newest n envelopes before end begin that the
// connection receives. Beyond what is in memory the journal is asked. Both
// within reason: for what is rarely received there may be fewer.
func (c *conn) historyStart(end uint64, n int) (uint64, error) {
	start, left, err := c.searchMemory(end, n)
	if err != nil || left == 0 || start <= 1 || end-start >= lookBack && c.cur.filter != nil {
		return start, err
	}
	return c.searchJournal(start, left)
}

// searchMemory is where the newest n begin among what is in memory, and how
// many are left to be found before that. Who has a filter looks piece by piece,
// in turn with others.
func (c *conn) searchMemory(end uint64, n int) (start uint64, left int, err error) {
	if c.cur.filter == nil {
		start, found, _ := c.room.frames.back(end, n, n, nil)
		return start, n - found, nil
	}
	start, left = end, n
	for more := true; more && left > 0 && end-start < lookBack; c.endTurn() {
		if err := c.takeTurn(); err != nil {
			return 0, 0, err
		}
		var found int
		start, found, more = c.room.frames.back(start, left, lookAtOnce, c.cur.filter)
		left -= found
	}
	return start, left, nil
}

// searchJournal is where the newest envelopes begin that are before start, so
// many as are left to be found.
func (c *conn) searchJournal(start uint64, left int) (uint64, error) {
	q := journal.Query{Before: start, Newest: true, Limit: left}
	if c.cur.filter != nil {
		q.Limit = max(left, 4*c.room.limits.History)
	}
	if err := c.takeTurn(); err != nil {
		return 0, err
	}
	defer c.endTurn()
	ctx, cancel := context.WithTimeout(c.room.g.ctx, turnTime)
	defer cancel()
	trace := newTracer(c.room.record, c.cur.settings.Contexts)
	for piece, err := range trace.pieces(ctx, c.room.record.Read(ctx, q)) {
		if err != nil {
			return 0, err
		}
		for _, rec := range piece {
			start = rec.Seq
			if c.receives(rec, trace) {
				left--
			}
			if left == 0 {
				return start, nil
			}
		}
	}
	return start, nil
}

// catchUp sends what is on record next, but no longer in memory. It reports
// false where the connection is over.
func (c *conn) catchUp(stop uint64) bool {
	if c.takeTurn() != nil {
		return false
	}
	defer c.endTurn()
	buf := scratch.get()
	defer scratch.put(buf)
	chunk, err := c.readChunk((*buf)[:0], stop)
	*buf = chunk.frames
	switch {
	case err != nil:
		c.journalFault(err)
		return false
	case chunk.hole:
		c.close(closing{code: statusTooSlow, reason: "what comes next is no longer kept: resume"})
		return false
	}
	if !c.put(chunk.frames, chunk.matched) {
		return false
	}
	c.room.metrics.skipped.Add(float64(chunk.read - chunk.matched))
	c.room.frames.passed(c.cur, chunk.next, chunk.bytes)
	return true
}

// chunk is a piece of the record, as frames.
type chunk struct {
	frames  []byte
	next    uint64 // the seq after it
	bytes   int    // of all frames, also of those that the filter keeps away
	read    int
	matched int
	hole    bool // the record does not hold what comes next
}

// readChunk reads from the cursor on. It stops before what was not delivered
// yet, although it may be on record.
func (c *conn) readChunk(dst []byte, stop uint64) (ch chunk, err error) {
	next := c.room.frames.position(c.cur)
	_, end := c.room.frames.bounds()
	if stop < end-1 {
		end = stop + 1
	}
	ch = chunk{frames: dst, next: next}
	q := journal.Query{After: next - 1, Before: end, Limit: chunkRecords}
	ctx, cancel := context.WithTimeout(c.room.g.ctx, turnTime)
	defer cancel()
	trace := newTracer(c.room.record, c.cur.settings.Contexts)
	for piece, err := range trace.pieces(ctx, c.room.record.Read(ctx, q)) {
		if err != nil {
			return ch, err
		}
		for _, rec := range piece {
			if rec.Seq != ch.next {
				break
			}
			ch.add(rec, c.receives(rec, trace))
		}
		if len(ch.frames) >= pieceBytes || piece[len(piece)-1].Seq >= ch.next {
			break
		}
	}
	ch.hole = ch.read == 0
	return ch, nil
}

func (ch *chunk) add(rec *journal.Record, receives bool) {
	ch.next++
	ch.read++
	ch.bytes += frameSize(len(rec.Body), rec.Seq)
	if receives {
		ch.frames = appendFrame(ch.frames, rec.Body, rec.Seq)
		ch.matched++
	}
}

func (c *conn) journalFault(err error) {
	if c.room.g.ctx.Err() == nil {
		c.room.log.Error("history cannot be read", "participant", c.id, "error", err)
	}
	c.close(closing{code: statusGoingAway, reason: "history cannot be read: resume"})
}

// receives reports whether the connection receives a record, which was traced.
func (c *conn) receives(rec *journal.Record, trace *tracer) bool {
	if c.cur.filter == nil {
		return true
	}
	h := headerOf(rec, trace.lineage(rec))
	return c.cur.matches(&h)
}
