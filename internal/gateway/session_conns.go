package gateway

import "net/http"

// A WebSocket that a session opened ends with it: who signs out everywhere means
// what is open elsewhere as well. As long as it lasts, its page is in use.

const statusUnauthorized = 4001

// sessionLooks is how many ticks pass between two looks whether a connection's
// session still holds.
const sessionLooks = 60

// belong notes the session that a connection came by.
func (c *conn) belong(req *http.Request) {
	if one, ok := c.room.g.api.sessionOf(req); ok {
		c.session = &one.id
	}
}

// signedOut reports whether the connection came by a session that has ended.
func (c *conn) signedOut() bool {
	if c.session == nil {
		return false
	}
	a := c.room.g.api
	_, holds := a.sessions.use(*c.session, a.g.now())
	return !holds
}

// closeIfSignedOut ends the connection where its session has.
func (c *conn) closeIfSignedOut() {
	if c.signedOut() {
		c.close(closing{code: statusUnauthorized, reason: "signed out"})
	}
}

// closeSignedOut ends the connections whose sessions have ended.
func (g *Gateway) closeSignedOut() {
	for _, r := range g.rooms {
		for _, c := range r.everyConn(nil) {
			c.closeIfSignedOut()
		}
	}
}
