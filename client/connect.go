package client

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// leastReadLimit is what we read of one frame at least: a welcome or a presence
// may be larger than any envelope of a participant.
const leastReadLimit = 16 << 20

// headerAllowance is what the gateway may add to an envelope.
const headerAllowance = 64 << 10

// connectAndRead is the life of one connection. welcomed reports whether it
// came as far as the welcome.
func (r *Room) connectAndRead(ctx context.Context) (welcomed bool, err error) {
	at := r.resumeAt()
	conn, w, err := r.connect(ctx, at)
	if err != nil {
		return false, err
	}
	gap := r.welcomed(at, w)
	if gap != nil {
		r.deliver(ctx, item{err: gap})
		r.recheckProposals()
	}
	r.opts.tell(State{Phase: Connected, Gap: gap})
	r.announce()
	return true, r.converse(ctx, conn)
}

func (r *Room) resumeAt() *parley.Position {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.order.joined {
		return r.order.after()
	}
	return r.opts.After
}

// announce lets Dial return.
func (r *Room) announce() {
	select {
	case <-r.ready:
	default:
		close(r.ready)
	}
}

// connect makes a connection and reads its welcome.
func (r *Room) connect(ctx context.Context, at *parley.Position) (*websocket.Conn, *parley.Envelope, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.opts.dialTimeout(), errDialTimeout)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, r.where.websocket(&r.opts, at), &websocket.DialOptions{
		HTTPClient:      r.http,
		HTTPHeader:      r.opts.header(),
		CompressionMode: r.opts.compression(),
	})
	if err != nil {
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			return nil, nil, readRefusal(resp)
		}
		return nil, nil, connectError(r.where, cmp.Or(context.Cause(ctx), err))
	}
	conn.SetReadLimit(leastReadLimit)
	w, err := readFirst(ctx, conn)
	if err != nil {
		conn.CloseNow()
		return nil, nil, connectError(r.where, err)
	}
	return conn, w, nil
}

// compression is without a window that is carried from message to message: the
// gateway agrees on no other.
func (o *Options) compression() websocket.CompressionMode {
	if o.Compression {
		return websocket.CompressionNoContextTakeover
	}
	return websocket.CompressionDisabled
}

var errDialTimeout = errors.New("no welcome in time")

// readFirst reads the welcome, which comes before anything else.
func readFirst(ctx context.Context, conn *websocket.Conn) (*parley.Envelope, error) {
	typ, data, err := conn.Read(ctx)
	switch {
	case err != nil:
		return nil, cmp.Or(context.Cause(ctx), err)
	case typ != websocket.MessageText:
		return nil, errNoWelcome
	}
	e, err := parley.Decode(data, maxNesting)
	if err != nil || e.Kind != parley.KindWelcome || e.From != parley.GatewayID {
		return nil, errNoWelcome
	}
	return e, nil
}

var errNoWelcome = parley.Errorf(parley.Unavailable, "the other end did not begin with a welcome").
	WithHint("is this the address of a Parley gateway?")

// converse reads, writes and pings until the connection is lost or the room is
// closed, and returns why.
func (r *Room) converse(ctx context.Context, conn *websocket.Conn) error {
	r.mu.Lock()
	conn.SetReadLimit(max(leastReadLimit, r.welcome.Space.Limits.EnvelopeBytes+headerAllowance))
	r.mu.Unlock()
	r.outbox.rewind()

	lost, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { r.write(lost, conn, cancel) })
	wg.Go(func() { r.watch(ctx, lost, conn, cancel) })
	err := r.read(ctx, conn)
	cancel(err)
	conn.CloseNow()
	wg.Wait()
	return cmp.Or(closeError(err), context.Cause(lost))
}

// closeError is err where the gateway said why it closed: that counts more than
// what the writer or the pings found.
func closeError(err error) error {
	if websocket.CloseStatus(err) != -1 {
		return err
	}
	return nil
}

// write writes what is to be sent. Errors end the connection.
func (r *Room) write(ctx context.Context, conn *websocket.Conn, lost context.CancelCauseFunc) {
	for {
		frame := r.outbox.take()
		if frame == nil {
			select {
			case <-r.outbox.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		// Whoever ends the connection closes it, which ends this call.
		if err := conn.Write(context.Background(), websocket.MessageText, frame); err != nil {
			lost(err)
			conn.CloseNow()
			return
		}
	}
}

// watch pings the gateway, and says goodbye when the room is closed.
func (r *Room) watch(room, ctx context.Context, conn *websocket.Conn, lost context.CancelCauseFunc) {
	ticker := time.NewTicker(r.opts.pingInterval())
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if !r.ping(ctx, conn) {
				lost(errNoPong)
				conn.CloseNow()
				return
			}
		case <-ctx.Done():
			if room.Err() != nil {
				sayGoodbye(conn)
			}
			return
		}
	}
}

var errNoPong = errors.New("client: no answer to a ping")

// ping reports whether the connection is alive. Nothing can be said of it while
// a slow loop keeps us from reading, nor where it ended meanwhile.
func (r *Room) ping(ctx context.Context, conn *websocket.Conn) bool {
	before := r.frames.Load()
	wait, cancel := context.WithTimeout(ctx, r.opts.pongTimeout())
	defer cancel()
	err := conn.Ping(wait)
	return err == nil || ctx.Err() != nil || r.stalled.Load() || r.frames.Load() != before
}

// goodbyeTimeout is how long the gateway has to answer our close frame.
const goodbyeTimeout = time.Second

func sayGoodbye(conn *websocket.Conn) {
	timer := time.AfterFunc(goodbyeTimeout, func() { conn.CloseNow() })
	defer timer.Stop()
	conn.Close(websocket.StatusNormalClosure, "")
}

// refusal is an upgrade that the gateway answered otherwise.
type refusal struct {
	problem *parley.Error
	status  int
}

func (e *refusal) Error() string { return e.problem.Error() }
func (e *refusal) Unwrap() error { return e.problem }

// final reports whether another attempt would be refused as well.
func (e *refusal) final() bool {
	switch e.status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return e.status < 500
}

// readRefusal makes an error of an HTTP answer that is not what was asked for.
func readRefusal(resp *http.Response) *refusal {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	problem := parley.DecodeError(nil)
	if v := jsontext.Value(body); v.IsValid() && v.Kind() == '{' {
		problem = parley.DecodeError(v)
	}
	if problem.Code == parley.Internal && problem.Message == "" {
		problem = problemOf(resp.StatusCode)
	}
	if after, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && problem.RetryAfterMS == 0 {
		problem.RetryAfterMS = int64(after) * 1000
	}
	return &refusal{problem, resp.StatusCode}
}

// problemOf stands in where the answer has no problem in it: it may come from
// a proxy, or be cut off.
func problemOf(status int) *parley.Error {
	code := parley.Internal
	switch status {
	case http.StatusUnauthorized:
		code = parley.Unauthorized
	case http.StatusForbidden:
		code = parley.CapabilityViolation
	case http.StatusNotFound:
		code = parley.NotFound
	case http.StatusTooManyRequests:
		code = parley.RateLimited
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		code = parley.Unavailable
	case http.StatusBadRequest:
		code = parley.InvalidArgument
	}
	return parley.Errorf(code, "the gateway answered %d %s", status, http.StatusText(status))
}

// unreachable is a gateway that nobody answers for.
type unreachable struct {
	problem *parley.Error
	cause   error
}

func (e *unreachable) Error() string   { return e.problem.Error() }
func (e *unreachable) Unwrap() []error { return []error{e.problem, e.cause} }

func connectError(where endpoint, cause error) error {
	if _, ok := errors.AsType[*parley.Error](cause); ok {
		return cause
	}
	problem := parley.Errorf(parley.Unavailable, "cannot reach the gateway at %s: %v", where, innermost(cause)).
		WithHint("is it running, and is this its address?")
	return &unreachable{problem, cause}
}

// innermost leaves out what every layer of HTTP says about itself.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
