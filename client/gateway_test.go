package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gateway is a small one that speaks sections 6 and 10 of the contract as far
// as these tests need it: a token is a participant's id, everything is
// admitted, and the test decides what goes wrong.
type gateway struct {
	listener *memoryListener
	server   *http.Server
	running  sync.WaitGroup

	// Set before the first connection.
	limits  string                                                 // the welcome's limits
	upgrade func(w http.ResponseWriter, r *http.Request) (ok bool) // may refuse
	judge   func(e *parley.Envelope) *parley.Error                 // may refuse
	admit   func(c *connection, e *parley.Envelope)                // sees what was admitted, before anybody else does
	extra   func(w http.ResponseWriter, r *http.Request) (ok bool) // answers HTTP calls

	admission sync.Mutex // one envelope is judged and published at a time

	mu      sync.Mutex
	epoch   string
	first   uint64
	log     []*parley.Envelope
	seen    map[string]uint64
	open    map[*connection]bool
	joins   []string // queries of the upgrades
	changed chan struct{}
}

// connection is one of the gateway's.
type connection struct {
	g        *gateway
	id       string
	ws       *websocket.Conn
	directed bool
	echoOff  bool
	next     uint64 // the seq that it gets next
	private  [][]byte
}

func newGateway(t testing.TB) *gateway {
	g := &gateway{
		listener: &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})},
		epoch:    "e1", first: 1, limits: `{}`,
		seen: map[string]uint64{}, open: map[*connection]bool{}, changed: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ws", g.serveWS)
	mux.HandleFunc("/v1/spaces/demo/", g.serveAPI)
	g.server = &http.Server{Handler: mux}
	g.running.Go(func() { _ = g.server.Serve(g.listener) })
	if t != nil {
		t.Cleanup(g.close)
	}
	return g
}

func (g *gateway) close() {
	g.dropAll()
	g.server.Close()
	g.running.Wait()
}

// client is an HTTP client that reaches the gateway without a network.
func (g *gateway) client(t testing.TB) *http.Client {
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return g.listener.dial(ctx) }}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func (g *gateway) dial(t testing.TB, id string, opts *client.Options) *client.Room {
	t.Helper()
	room, err := g.tryDial(t, id, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(room.Close)
	return room
}

func (g *gateway) tryDial(t testing.TB, id string, opts *client.Options) (*client.Room, error) {
	o := client.Options{Space: "demo"}
	if opts != nil {
		o = *opts
		o.Space = "demo"
	}
	o.Token = id
	o.HTTPClient = g.client(t)
	if o.BackoffMin == 0 {
		o.BackoffMin = time.Millisecond
	}
	return client.Dial(t.Context(), "http://gateway", &o)
}

func (g *gateway) serveWS(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.joins = append(g.joins, r.URL.RawQuery)
	g.mu.Unlock()
	if g.upgrade != nil && !g.upgrade(w, r) {
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	ws.SetReadLimit(-1)
	q := r.URL.Query()
	c := &connection{
		g: g, ws: ws, id: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "),
		directed: q.Get("routing") == "directed", echoOff: q.Get("echo") == "off",
	}
	g.join(c, q.Get("after"), q.Get("epoch"), q.Get("history"))
	defer g.leave(c)
	var writing sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	defer writing.Wait()
	defer cancel()
	writing.Go(func() { c.write(ctx) })
	for {
		_, data, err := ws.Read(context.Background())
		if err != nil {
			return
		}
		g.receive(c, data)
	}
}

func (g *gateway) join(c *connection, after, epoch, history string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	last := uint64(len(g.log))
	c.next = last + 1
	gap := ""
	if after != "" {
		at, _ := strconv.ParseUint(after, 10, 64)
		switch {
		case epoch != g.epoch || at > last:
			gap = `,"gap":true`
		case at+1 < g.first:
			gap, c.next = `,"gap":true`, g.first
		default:
			c.next = at + 1
		}
	} else if n, _ := strconv.ParseUint(history, 10, 64); n > 0 {
		c.next = last - min(n, last) + 1
	}
	g.open[c] = true
	people := []string{}
	for other := range g.open {
		people = append(people, fmt.Sprintf(`{"id":%q,"capabilities":["chat"]}`, other.id))
	}
	slices.Sort(people)
	c.tell(parley.KindWelcome, fmt.Sprintf(
		`{"you":{"id":%q,"capabilities":["chat","mcp/*"]},"participants":[%s],"space":{"name":"demo","enforcement":"strict","limits":%s},"history":{"epoch":%q,"first":%d,"last":%d%s}}`,
		c.id, strings.Join(slices.Compact(people), ","), g.limits, g.epoch, g.first, last, gap))
	g.wake()
}

func (g *gateway) leave(c *connection) {
	c.ws.CloseNow()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, c)
	g.wake()
}

func (g *gateway) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// tell queues what the gateway says to one connection alone. g.mu is held.
func (c *connection) tell(kind, payload string, correlate ...string) {
	e := parley.Envelope{ID: client.NewID(), From: parley.GatewayID, To: []string{c.id}, Kind: kind,
		Correlation: parley.CorrelateWith(correlate...), Payload: []byte(payload)}
	c.private = append(c.private, e.AppendBody(nil))
}

// raw queues a frame as it is.
func (c *connection) raw(frame string) {
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	c.private = append(c.private, []byte(frame))
	c.g.wake()
}

func (c *connection) write(ctx context.Context) {
	for {
		frame, wait := c.take()
		if frame == nil {
			select {
			case <-wait:
				continue
			case <-ctx.Done():
				return
			}
		}
		if c.ws.Write(context.Background(), websocket.MessageText, frame) != nil {
			return
		}
	}
}

func (c *connection) take() ([]byte, <-chan struct{}) {
	g := c.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(c.private) > 0 {
		frame := c.private[0]
		c.private = c.private[1:]
		return frame, nil
	}
	for c.next <= uint64(len(g.log)) {
		e := g.log[c.next-1]
		c.next++
		if !c.receives(e) {
			continue
		}
		return parley.AppendWire(nil, e.AppendBody(nil), e.Seq), nil
	}
	return nil, g.changed
}

func (c *connection) receives(e *parley.Envelope) bool {
	if c.echoOff && e.From == c.id {
		return false
	}
	return !c.directed || len(e.To) == 0 || e.Addressed(c.id)
}

// receive admits or refuses what a participant sent.
func (g *gateway) receive(c *connection, data []byte) {
	e, err := parley.Decode(data, 0)
	if err != nil {
		c.raw(fmt.Sprintf(`{"id":%q,"from":"system:gateway","kind":"system/error","payload":{"error":"malformed_envelope","message":"no"}}`, client.NewID()))
		return
	}
	g.admission.Lock()
	defer g.admission.Unlock()
	refused := g.consider(e)
	if refused != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		payload, _ := refused.MarshalJSON()
		c.tell(parley.KindError, string(payload), e.ID)
		g.wake()
		return
	}
	e.From, e.TS = c.id, time.Now()
	e.Payload = slices.Clone(e.Payload)
	if g.admit != nil {
		g.admit(c, e)
	}
	seq := g.publish(e)
	if !c.receives(e) {
		g.mu.Lock()
		defer g.mu.Unlock()
		c.tell(parley.KindAck, fmt.Sprintf(`{"id":%q,"seq":%d,"epoch":%q}`, e.ID, seq, g.epoch), e.ID)
		g.wake()
	}
}

func (g *gateway) consider(e *parley.Envelope) *parley.Error {
	g.mu.Lock()
	seq := g.seen[e.ID]
	g.mu.Unlock()
	if seq > 0 {
		err := parley.Errorf(parley.DuplicateID, "used before")
		err.Seq = seq
		return err
	}
	if g.judge != nil {
		return g.judge(e)
	}
	return nil
}

// publish puts an envelope on record and delivers it to all.
func (g *gateway) publish(e *parley.Envelope) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e.ID == "" {
		e.ID = client.NewID()
	}
	e.Seq = uint64(len(g.log) + 1)
	g.log = append(g.log, e)
	g.seen[e.ID] = e.Seq
	g.wake()
	return e.Seq
}

// say publishes one from somebody who need not be connected.
func (g *gateway) say(from, kind, payload string, more ...func(*parley.Envelope)) *parley.Envelope {
	e := &parley.Envelope{From: from, Kind: kind, Payload: []byte(payload)}
	for _, f := range more {
		f(e)
	}
	g.publish(e)
	return e
}

func to(ids ...string) func(*parley.Envelope) { return func(e *parley.Envelope) { e.To = ids } }
func answers(ids ...string) func(*parley.Envelope) {
	return func(e *parley.Envelope) { e.Correlation = parley.CorrelateWith(ids...) }
}
func withID(id string) func(*parley.Envelope) { return func(e *parley.Envelope) { e.ID = id } }

// find waits for an envelope on record.
func (g *gateway) find(t testing.TB, match func(*parley.Envelope) bool) *parley.Envelope {
	t.Helper()
	for {
		g.mu.Lock()
		wait := g.changed
		for _, e := range g.log {
			if match(e) {
				g.mu.Unlock()
				return e
			}
		}
		g.mu.Unlock()
		select {
		case <-wait:
		case <-t.Context().Done():
			t.Fatal("the test is over")
		}
	}
}

func (g *gateway) findKind(t testing.TB, kind string) *parley.Envelope {
	t.Helper()
	return g.find(t, func(e *parley.Envelope) bool { return e.Kind == kind })
}

// record is what was admitted.
func (g *gateway) record() []*parley.Envelope {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.log)
}

func (g *gateway) connections() []*connection {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []*connection
	for c := range g.open {
		list = append(list, c)
	}
	return list
}

// of is a participant's only connection.
func (g *gateway) of(id string) *connection {
	for _, c := range g.connections() {
		if c.id == id {
			return c
		}
	}
	return nil
}

// dropAll breaks every connection off without a word.
func (g *gateway) dropAll() {
	for _, c := range g.connections() {
		c.ws.CloseNow()
	}
}

func (g *gateway) queries() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.joins)
}

// serveAPI answers the calls of section 10 that read.
func (g *gateway) serveAPI(w http.ResponseWriter, r *http.Request) {
	if g.extra != nil && g.extra(w, r) {
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/v1/spaces/demo/")
	if id, ok := strings.CutPrefix(path, "envelopes/"); ok {
		for _, e := range g.record() {
			if e.ID == id {
				writeJSON(w, 200, e)
				return
			}
		}
	}
	if path == "envelopes" && r.Method == "GET" {
		items := []*parley.Envelope{}
		for _, e := range g.record() {
			if c := r.URL.Query().Get("correlation"); c == "" || slices.Contains(e.Correlation.IDs, c) {
				items = append(items, e)
			}
		}
		writeJSON(w, 200, map[string]any{"items": items})
		return
	}
	writeProblem(w, 404, "not_found", "nothing there")
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func writeProblem(w http.ResponseWriter, status int, code, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	writeJSON(w, status, map[string]any{"title": "t", "status": status, "code": code, "detail": detail, "hint": "try again"})
}

// memoryListener hands over the ends of pipes, which testing/synctest can see
// through.
type memoryListener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *memoryListener) dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *memoryListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }
