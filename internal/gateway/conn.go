package gateway

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// conn is one connection of a participant. Its reader (read.go) hands envelopes
// to the space; its writer (write.go), which is there only while there is
// something to write, is the only one that writes to the socket.
type conn struct {
	// Set before it starts.
	room    *room
	id      string     // the participant
	session *sessionID // that it came by; nil where it brought a token
	join    join
	sock    *socket
	cur     *cursor
	done    chan struct{} // closed when the writer has ended for good

	// Owned by the reader.
	in      inbound
	gone    bool // the other side has sent its close frame
	garbled bool // what it sends cannot be taken apart

	// Owned by the writer.
	begun  bool   // the cursor has a place
	live   bool   // it has been at the end once
	held   func() // ends its turn; nil where it has none
	second int64  // when parks were counted, in ticks
	parks  int    // in that second
	busy   bool   // it parked often in the second before
	torn   bool   // a write failed, perhaps within a frame: nothing may follow

	gap bool // owned by the space: the position that it had is not kept

	// For the sweeper: in ticks of the gateway's clock, see sweep.go.
	heard    atomic.Int64 // when a byte came in last
	arriving atomic.Int64 // since when a message has been coming in; 0 for none
	writing  atomic.Bool  // a write is going on
	lingers  atomic.Bool  // the writer is there although it has nothing to do
	ending   atomic.Bool  // the close frame is about to be sent

	// Owned by the sweeper.
	pinged  int64  // when
	seen    uint64 // bytes that had been taken then
	lagging bool   // lagged at its last round
	stuck   int64  // since when fewer than slowest bytes were taken; 0 for not
	was     uint64 // bytes that had been taken then

	mu       sync.Mutex
	private  []answer
	waiting  int    // bytes in private
	pinging  []byte // our ping, to be sent before anything else
	ponging  []byte // the answer to the newest ping, likewise
	welcomed bool   // the first welcome is in private
	seq      uint64 // where the space stood at the first welcome
	closing  *closing
	broken   bool // the socket is closed
	refusals int  // in this window
	pings    int
	window   int64 // when it began
}

// answer is a frame for this connection alone. It is sent once everything up
// to after has been.
type answer struct {
	frame   []byte         // finished
	welcome *space.Welcome // in its stead: may be long, so that it is written when it is sent
	after   uint64
}

// size is how many bytes it keeps waiting.
func (a *answer) size() int {
	if a.welcome != nil {
		return welcomeSize
	}
	return len(a.frame)
}

// welcomeSize is what a welcome that waits counts for: what it speaks of is
// shared with others.
const welcomeSize = 1 << 10

// send queues a frame for this connection alone, and has it sent.
func (c *conn) send(frame []byte, after uint64) {
	c.queue(answer{frame: frame, after: after})
	c.cur.rouse()
}

// queue queues what is for this connection alone.
func (c *conn) queue(a answer) {
	c.mu.Lock()
	full := c.waiting+a.size() > maxPrivate && len(c.private) > 0
	if full && c.closing != nil && a.after > 0 {
		full = false // it was promised; there are no more of these than were on their way
	}
	if !full {
		c.private = append(c.private, a)
		c.waiting += a.size()
	}
	c.mu.Unlock()
	if full {
		c.close(closing{code: statusTooSlow, reason: "answers are not read: resume"})
	}
}

// welcome queues a system/welcome that speaks of the space at seq. The first
// one goes before anything else, later ones keep their place in the order. Of
// those only the newest waits: it says all that the ones before it would.
func (c *conn) welcome(w *space.Welcome, seq uint64) {
	a := answer{welcome: w, after: seq}
	c.mu.Lock()
	first := !c.welcomed
	if first {
		c.welcomed, c.seq = true, seq
		a.after = 0
		c.private = append([]answer{a}, c.private...)
		c.waiting += a.size()
	} else {
		c.outdate()
	}
	c.mu.Unlock()
	if !first {
		c.queue(a)
	}
	c.cur.rouse()
}

// outdate drops the later welcome that waits, since a newer one comes.
func (c *conn) outdate() {
	i := slices.IndexFunc(c.private, func(a answer) bool { return a.welcome != nil && a.after > 0 })
	if i >= 0 {
		c.waiting -= c.private[i].size()
		c.private = slices.Delete(c.private, i, i+1)
	}
}

func (c *conn) isWelcomed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.welcomed
}

// admitted acknowledges an envelope to its sender, unless its echo does.
func (c *conn) admitted(r *journal.Record) *cursor {
	h := headerNow(r)
	if c.cur.matches(&h) {
		return nil
	}
	c.queue(answer{frame: c.room.ackFrame(c.id, r), after: r.Seq})
	return c.cur
}

// refused tells the sender why its envelope was not admitted.
func (c *conn) refused(id string, err *parley.Error) {
	c.send(c.room.errorFrame(c.id, id, err), 0)
	if err.Code == parley.Unavailable {
		return // no fault of the sender's
	}
	c.mu.Lock()
	flooding := c.count(&c.refusals)
	c.mu.Unlock()
	if flooding {
		c.close(closing{code: statusFlooding, reason: "goes on sending what is refused"})
	}
}

// count adds to a counter of this window, and reports whether that is too much.
func (c *conn) count(n *int) bool {
	if now := c.room.g.tick.Load(); now-c.window >= floodWindow {
		c.refusals, c.pings, c.window = 0, 0, now
	}
	*n++
	return *n > floodRefusals
}

// ping queues a ping of ours.
func (c *conn) ping() { c.sendControl(&c.pinging, appendFrameHeader(nil, opPing, 0)) }

// pong queues the answer to a ping. Of several that wait only the newest is
// answered, as RFC 6455 allows.
func (c *conn) pong(payload []byte) {
	c.sendControl(&c.ponging, append(appendFrameHeader(nil, opPong, len(payload)), payload...))
	c.mu.Lock()
	flooding := c.count(&c.pings)
	c.mu.Unlock()
	if flooding {
		c.close(closing{code: statusFlooding, reason: "too many pings"})
	}
}

func (c *conn) sendControl(slot *[]byte, frame []byte) {
	c.mu.Lock()
	*slot = frame
	c.mu.Unlock()
	c.cur.rouse()
}

// now is the time in ticks, and never 0.
func (c *conn) now() int64 { return max(1, c.room.g.tick.Load()) }

// touch notes that a byte came in.
func (c *conn) touch() { c.heard.Store(c.room.g.tick.Load()) }

// deadline lets writes that go on fail by then.
func (c *conn) deadline(within time.Duration) {
	c.mu.Lock()
	sock := c.sock
	c.mu.Unlock()
	if sock != nil {
		_ = sock.SetWriteDeadline(time.Now().Add(within)) // fails only where it is closed
	}
}
