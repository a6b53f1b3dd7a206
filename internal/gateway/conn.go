package gateway

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// conn is one connection of a participant. Its reader (read.go) hands envelopes
// to the space; its writer (write.go) is the only one that writes frames.
type conn struct {
	// Set before it starts.
	room *room
	id   string // the participant
	join join
	ws   *websocket.Conn
	sock net.Conn // what ws runs on
	cur  *cursor
	done chan struct{} // closed when the writer has ended

	begun bool // owned by the writer: the cursor has a place
	gap   bool // owned by the space: the position that it had is not kept

	// For the sweeper: in ticks of the gateway's clock, see sweep.go.
	heard    atomic.Int64 // when a byte came in last
	writing  atomic.Int64 // since when a write has been going on; 0 for none
	arriving atomic.Int64 // since when a message has been coming in; 0 for none
	pinged   int64        // owned by the sweeper
	lagging  bool         // owned by the sweeper: lagged at its last round

	mu       sync.Mutex
	private  []answer
	waiting  int    // bytes in private
	control  []byte // pings and pongs to be sent before anything else
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
	frame []byte
	after uint64
}

// send queues a frame for this connection alone, and has it sent.
func (c *conn) send(frame []byte, after uint64) {
	c.queue(frame, after)
	c.cur.rouse()
}

// queue queues a frame for this connection alone.
func (c *conn) queue(frame []byte, after uint64) {
	c.mu.Lock()
	full := c.waiting+len(frame) > maxPrivate && len(c.private) > 0
	if !full {
		c.private = append(c.private, answer{frame, after})
		c.waiting += len(frame)
	}
	c.mu.Unlock()
	if full {
		c.close(closing{code: statusTooSlow, reason: "answers are not read: resume"})
	}
}

// welcome queues a system/welcome that speaks of the space at seq. The first
// one goes before anything else, later ones keep their place in the order.
func (c *conn) welcome(frame []byte, seq uint64) {
	c.mu.Lock()
	first := !c.welcomed
	if first {
		c.welcomed, c.seq = true, seq
		c.private = append([]answer{{frame: frame}}, c.private...)
		c.waiting += len(frame)
	}
	c.mu.Unlock()
	if !first {
		c.send(frame, seq)
		return
	}
	c.cur.rouse()
}

func (c *conn) isWelcomed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.welcomed
}

// admitted acknowledges an envelope to its sender, unless its echo does.
func (c *conn) admitted(r *journal.Record) *cursor {
	h := headerOf(r)
	if c.cur.matches(&h) {
		return nil
	}
	c.queue(c.room.ackFrame(c.id, r), r.Seq)
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
func (c *conn) ping() { c.sendControl(appendFrameHeader(nil, opPing, 0)) }

// pong queues the answer to a ping. Of several that wait only the newest is
// answered, as RFC 6455 allows.
func (c *conn) pong(payload []byte) {
	c.sendControl(append(appendFrameHeader(nil, opPong, len(payload)), payload...))
	c.mu.Lock()
	flooding := c.count(&c.pings)
	c.mu.Unlock()
	if flooding {
		c.close(closing{code: statusFlooding, reason: "too many pings"})
	}
}

func (c *conn) sendControl(frame []byte) {
	c.mu.Lock()
	c.control = frame
	c.mu.Unlock()
	c.cur.rouse()
}

// now is the time in ticks, and never 0.
func (c *conn) now() int64 { return max(1, c.room.g.tick.Load()) }

// touch notes that a byte came in.
func (c *conn) touch() { c.heard.Store(c.room.g.tick.Load()) }

// socket is the net.Conn below a connection: it serves what the HTTP server
// had read already, and notes that the other side lives.
type socket struct {
	net.Conn
	early []byte
	heard func()
}

func (s *socket) Read(p []byte) (int, error) {
	if len(s.early) > 0 {
		n := copy(p, s.early)
		if s.early = s.early[n:]; len(s.early) == 0 {
			s.early = nil
		}
		return n, nil
	}
	n, err := s.Conn.Read(p)
	if n > 0 && s.heard != nil {
		s.heard()
	}
	return n, err
}

// deadline lets writes that go on fail by then.
func (c *conn) deadline(within time.Duration) {
	c.mu.Lock()
	sock := c.sock
	c.mu.Unlock()
	if sock != nil {
		_ = sock.SetWriteDeadline(time.Now().Add(within)) // fails only where it is closed
	}
}
