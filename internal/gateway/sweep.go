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
	since, arriving := c.writing.Load(), c.arriving.Load()
	switch {
	case c.overdue(now):
		c.breakOff()
		c.cur.rouse()
	case since > 0 && now-since >= stalledFor:
		c.close(closing{code: statusTooSlow, reason: "nothing is read: resume"})
	case arriving > 0 && now-arriving >= arriveWithin:
		c.close(closing{code: statusTooSlow, reason: "a message does not come to its end: resume"})
	case now-c.heard.Load() >= silentFor:
		c.close(closing{code: statusGoingAway, reason: "no sign of life"})
	case c.lags():
		c.close(closing{code: statusTooSlow, reason: "too far behind: resume"})
	case now-c.pinged >= pingEvery:
		c.pinged = now
		c.ping()
	}
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
