package gateway

import "time"

// sweep looks at every connection once a second: it sends pings, and closes
// those that are silent, stalled or too far behind. So no write needs a
// deadline of its own.
func (g *Gateway) sweep() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	var conns []*conn
	for {
		select {
		case <-ticker.C:
		case <-g.ctx.Done():
			return
		}
		now := g.tick.Add(1)
		for _, r := range g.rooms {
			conns = r.everyConn(conns[:0])
			for _, c := range conns {
				c.inspect(now)
			}
			clear(conns)
		}
	}
}

// everyConn appends the space's connections to list.
func (r *room) everyConn(list []*conn) []*conn {
	r.connsMu.Lock()
	defer r.connsMu.Unlock()
	for _, of := range r.conns {
		list = append(list, of...)
	}
	return list
}

// inspect is what the sweeper does with one connection.
func (c *conn) inspect(now int64) {
	arriving := c.arriving.Load()
	if c.lingers.Load() {
		c.cur.rouse() // so that its writer ends if it is not needed
	}
	if now%sessionLooks == 0 {
		c.closeIfSignedOut()
	}
	switch {
	case c.overdue(now):
		c.breakOff()
		c.cur.rouse()
	case c.stalled(now):
		c.close(closing{code: statusTooSlow, reason: "nothing is read: resume"})
	case arriving > 0 && now-arriving >= arriveWithin:
		c.close(closing{code: statusTooSlow, reason: "a message does not come to its end: resume"})
	case now-c.heard.Load() >= silentFor && !c.takes():
		c.close(closing{code: statusGoingAway, reason: "no sign of life"})
	case c.lags():
		c.close(closing{code: statusTooSlow, reason: "too far behind: resume"})
	case now-c.pinged >= pingEvery:
		c.pinged, c.seen = now, c.taken()
		c.ping()
	}
}

// slowest is how many bytes a connection has to take in stalledFor, where so
// many wait for it.
const slowest = 16 << 10

// stalled reports whether the connection has something to take and has taken
// next to nothing for too long. It may be slow: how far it may fall behind is
// another limit. But who reads a byte now and then keeps its writer for nothing.
func (c *conn) stalled(now int64) bool {
	if !c.writing.Load() {
		c.stuck = 0
		return false
	}
	if taken := c.taken(); c.stuck == 0 || int64(taken-c.was) >= slowest {
		c.stuck, c.was = now, taken
	}
	return now-c.stuck >= stalledFor
}

// takes reports whether the connection has taken much since the last ping, which
// is a sign of life: the ping, and so its answer, waits behind that.
func (c *conn) takes() bool {
	if int64(c.taken()-c.seen) < slowest {
		return false
	}
	c.touch()
	return true
}

// taken is how many bytes the other side has taken.
func (c *conn) taken() uint64 {
	c.mu.Lock()
	sock := c.sock
	c.mu.Unlock()
	if sock == nil { // it is being accepted
		return 0
	}
	return sock.taken()
}

// lags reports whether the connection is over a limit for the second round in
// a row: a burst that is read within a second closes nobody.
func (c *conn) lags() bool {
	envelopes, bytes := c.room.frames.lag(c.cur)
	c.room.metrics.lag(envelopes, bytes)
	limits := &c.room.limits
	over := envelopes > uint64(limits.LagEnvelopes) || bytes > uint64(limits.LagBytes)
	twice := over && c.lagging
	c.lagging = over
	return twice
}
