package gateway

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"net"
	"net/http"
	"strings"

	"golang.org/x/time/rate"

	"github.com/parleyhq/parley"
)

// serveWS lets a participant join a space. Whatever is wrong is answered before
// the upgrade, as a problem.
func serveWS(w http.ResponseWriter, req *http.Request, who []identity) error {
	q := req.URL.Query()
	name, err := spaceParam(q)
	if err != nil {
		return err
	}
	me, ok := in(who, name)
	if !ok { // whether it exists is no business of who does not belong to it
		return noSpace(name)
	}
	note(w, me.id)
	r := me.room
	j, err := r.readJoin(me.id, q)
	if err != nil {
		return err
	}
	if err := checkUpgrade(req); err != nil {
		return err
	}
	if err := r.agree(w, req, &j); err != nil {
		return err
	}
	return r.serve(w, req, me.id, j)
}

// agree settles on the extensions of the connection.
func (r *room) agree(w http.ResponseWriter, req *http.Request, j *join) error {
	answer, err := agreeOn(req.Header)
	if err != nil {
		return err
	}
	if answer != "" && !r.g.opts.NoCompression {
		j.packed = true
		w.Header().Set("Sec-WebSocket-Extensions", answer)
	}
	return nil
}

// serve takes a connection in and starts it. The request's goroutine ends then,
// and with it all that an HTTP request costs.
func (r *room) serve(w http.ResponseWriter, req *http.Request, id string, j join) error {
	c := r.newConn(id, j)
	c.belong(req)
	if err := r.enter(req.Context(), c); err != nil {
		return err
	}
	if err := c.accept(w, req); err != nil {
		r.leave(c)
		r.log.Debug("a handshake failed", "participant", id, "error", err)
		return nil // answered by whoever refused it
	}
	r.metrics.open()
	c.start()
	c.closeIfSignedOut() // while it came in
	return nil
}

func (r *room) newConn(id string, j join) *conn {
	c := &conn{room: r, id: id, join: j, cur: newCursor(id, j.settings), done: make(chan struct{})}
	now := r.g.tick.Load()
	c.heard.Store(now)
	c.pinged, c.window = now, now
	return c
}

// accept makes a WebSocket of the request, which checkUpgrade has let pass, and
// takes its socket over from the HTTP server.
func (c *conn) accept(w http.ResponseWriter, req *http.Request) error {
	h := w.Header()
	h.Set("Upgrade", "websocket")
	h.Set("Connection", "Upgrade")
	h.Set("Sec-WebSocket-Accept", acceptKey(req.Header.Get("Sec-WebSocket-Key")))
	w.WriteHeader(http.StatusSwitchingProtocols)
	nc, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	early, _ := rw.Reader.Peek(rw.Reader.Buffered()) // is buffered, so cannot fail
	sock := newSocket(nc, early, c.touch)
	c.in = inbound{from: sock, control: c.heed, inflate: c.join.packed, head: frameHeader{final: true}}
	c.mu.Lock()
	c.sock = sock
	how := c.closing
	c.mu.Unlock()
	if how != nil {
		c.deadline(closeWithin) // it was closed before there was a socket
	}
	return nil
}

// acceptKey is the answer to a client's key (RFC 6455, section 4.2.2).
func acceptKey(key string) string {
	sum := sha1.Sum([]byte(strings.TrimSpace(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// checkUpgrade refuses what is no WebSocket handshake, so that it is answered
// as any other mistake.
func checkUpgrade(req *http.Request) error {
	if !hasToken(req.Header, "Connection", "upgrade") || !hasToken(req.Header, "Upgrade", "websocket") {
		return parley.Errorf(parley.InvalidArgument, "this is no WebSocket handshake").
			WithHint("open /ws with a WebSocket client; the HTTP API is under /v1")
	}
	if req.Method != http.MethodGet || req.ProtoMajor != 1 || req.ProtoMinor != 1 || req.ContentLength != 0 {
		return parley.Errorf(parley.InvalidArgument, "a WebSocket handshake is a GET of HTTP/1.1 without a body")
	}
	if req.Header.Get("Sec-WebSocket-Version") != "13" {
		return parley.Errorf(parley.InvalidArgument, "the WebSocket version is not 13")
	}
	keys := req.Header.Values("Sec-WebSocket-Key")
	if len(keys) != 1 {
		return parley.Errorf(parley.InvalidArgument, "the handshake has %d Sec-WebSocket-Key, not one", len(keys))
	}
	if key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0])); err != nil || len(key) != 16 {
		return parley.Errorf(parley.InvalidArgument, "the handshake's Sec-WebSocket-Key is not 16 bytes in base64")
	}
	return nil
}

func hasToken(h http.Header, name, token string) bool {
	for _, line := range h.Values(name) {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}

// How fast connections are taken, so that a thousand who come at once do not
// hold up those who are here. Who comes waits a fifth of a second then.
const (
	acceptRate  = 5_000 // a second
	acceptBurst = 64
)

// paced is for the ConnContext of a server, which calls it between two
// connections.
func paced() func(context.Context, net.Conn) context.Context {
	pace := rate.NewLimiter(acceptRate, acceptBurst)
	return func(ctx context.Context, _ net.Conn) context.Context {
		_ = pace.Wait(ctx) // who shuts down waits no longer than others
		return ctx
	}
}
