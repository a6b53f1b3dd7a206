package gateway

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/coder/websocket"

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
	return r.serve(w, req, me.id, j)
}

// serve takes a connection in and starts it. The request's goroutine ends then,
// and with it all that an HTTP request costs.
func (r *room) serve(w http.ResponseWriter, req *http.Request, id string, j join) error {
	c := r.newConn(id, j)
	if err := r.enter(req.Context(), c); err != nil {
		return err
	}
	if err := c.accept(w, req); err != nil {
		r.leave(c)
		r.log.Debug("a handshake failed", "participant", id, "error", err)
		return nil // answered by whoever refused it
	}
	r.metrics.open()
	go c.write()
	go c.read()
	return nil
}

func (r *room) newConn(id string, j join) *conn {
	c := &conn{room: r, id: id, join: j, cur: newCursor(id, j.settings), done: make(chan struct{})}
	now := r.g.tick.Load()
	c.heard.Store(now)
	c.pinged, c.window = now, now
	return c
}

// accept makes a WebSocket of the request. Compression is off: it would cost
// every connection a window, and every frame a compression for each.
func (c *conn) accept(w http.ResponseWriter, req *http.Request) error {
	hijack := &hijacker{ResponseWriter: w, heard: c.touch}
	ws, err := websocket.Accept(hijack, req, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the token says who it is; checkBrowser says it for cookies
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived: func(_ context.Context, payload []byte) bool {
			c.pong(payload)
			return false // the writer answers, in turn
		},
	})
	if err != nil {
		return err
	}
	ws.SetReadLimit(-1) // read.go skips what is too large, and goes on
	c.mu.Lock()
	c.ws, c.sock = ws, hijack.sock
	how := c.closing
	c.mu.Unlock()
	if how != nil {
		c.deadline(closeWithin) // it was closed before there was a socket
	}
	return nil
}

// hijacker takes the connection over from the HTTP server: it keeps the socket,
// and gives the library small buffers in place of the server's.
type hijacker struct {
	http.ResponseWriter
	heard func()
	sock  *socket
}

func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	nc, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.sock = &socket{Conn: nc, heard: h.heard}
	if n := rw.Reader.Buffered(); n > 0 {
		early, _ := rw.Reader.Peek(n) // is buffered, so cannot fail
		h.sock.early = append([]byte(nil), early...)
	}
	// The library writes control frames only: one fits, so that it flushes it
	// with a single Write.
	return h.sock, bufio.NewReadWriter(bufio.NewReaderSize(h.sock, readBuffer), bufio.NewWriterSize(h.sock, 160)), nil
}

// checkUpgrade refuses what is no WebSocket handshake, so that it is answered
// as any other mistake.
func checkUpgrade(req *http.Request) error {
	if !hasToken(req.Header, "Connection", "upgrade") || !hasToken(req.Header, "Upgrade", "websocket") {
		return parley.Errorf(parley.InvalidArgument, "this is no WebSocket handshake").
			WithHint("open /ws with a WebSocket client; the HTTP API is under /v1")
	}
	if req.Header.Get("Sec-WebSocket-Version") != "13" {
		return parley.Errorf(parley.InvalidArgument, "the WebSocket version is not 13")
	}
	if req.Header.Get("Sec-WebSocket-Key") == "" {
		return parley.Errorf(parley.InvalidArgument, "the handshake has no Sec-WebSocket-Key")
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
