package mcpstdio

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// Options say whom to relay to. Their zero value lacks the URL, In and Out.
type Options struct {
	URL   string // of the MCP endpoint
	Token string // the bearer token; none is shown where it is empty

	In  io.Reader // the client's messages
	Out io.Writer // and the server's

	// Wake is called each time that the server was not reached, and may start
	// one. It may be called from several goroutines at once.
	Wake func(context.Context)

	MaxLine    int           // bounds one line of the client, in bytes; 4 MiB and some more where zero, as the gateway does
	MaxMessage int           // bounds one message of the server, in bytes; 16 MiB where zero
	Patience   time.Duration // how long a server that is not reached is waited for; 30 s where zero
	Log        *slog.Logger  // nowhere where nil
}

// grace is how long what is under way may take when the client's input has ended.
const grace = time.Second

// noteTimeout bounds the delivery of what has no answer.
const noteTimeout = 5 * time.Second

// relay is one client's connection.
type relay struct {
	Options
	http  *http.Client
	out   *output
	calls calls
	tools mirrors

	ctx     context.Context // ends with the relay
	waiting sync.WaitGroup  // calls that are no streams

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup // all goroutines
	legacy memory
}

// Run relays until In ends, which is no error, or until ctx does.
func Run(ctx context.Context, o Options) error {
	o.MaxLine = cmp.Or(o.MaxLine, 4<<20+64<<10)
	o.MaxMessage = cmp.Or(o.MaxMessage, 16<<20)
	o.Patience = cmp.Or(o.Patience, 30*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Wake == nil {
		o.Wake = func(context.Context) {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &relay{Options: o, http: newHTTPClient(), ctx: ctx}
	r.out = newOutput(o.Out, cancel)
	err := r.listen()
	r.finish()
	r.farewell()
	cancel(nil)
	r.stop()
	r.out.close()
	r.http.CloseIdleConnections()
	return err
}

// listen does what the client says, until that ends.
func (r *relay) listen() error {
	lines, ended := make(chan line), make(chan error, 1)
	go func() {
		ended <- readLines(r.In, r.MaxLine, func(l line) bool {
			select {
			case lines <- l:
				return true
			case <-r.ctx.Done():
				return false
			}
		})
	}()
	for {
		select {
		case l := <-lines:
			r.hear(l)
		case err := <-ended:
			return err
		case <-r.ctx.Done():
			if err := context.Cause(r.ctx); !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		}
	}
}

// hear takes in one line.
func (r *relay) hear(l line) {
	if l == nil {
		r.refuse(notMessage("a line is too long").bad)
		return
	}
	for _, p := range takeApart(l) {
		switch {
		case p.bad != nil:
			r.refuse(p.bad)
		case p.msg.IsResponse():
			r.relayAnswer(p)
		case p.msg.IsNotification():
			r.relayNote(p)
		default:
			r.relayRequest(p)
		}
	}
}

// refuse answers what cannot be understood, or must not be.
func (r *relay) refuse(e *jsonrpc.Error) {
	r.Log.Warn("the client sent what cannot be relayed", "error", e.Message)
	r.out.say(r.ctx, jsonrpc.EncodeError(nil, e))
}

func (r *relay) relayRequest(p part) {
	if p.msg.Fault != nil {
		r.out.say(r.ctx, jsonrpc.EncodeError(p.msg.ID, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: p.msg.Fault.Error()}))
		return
	}
	c := &call{part: p, key: key(p.msg.ID), version: version(p)}
	c.ctx, c.cancel = context.WithCancel(r.ctx)
	if e := r.calls.begin(c); e != nil {
		c.cancel()
		r.refuse(e) // with no id: under this one another call is waited for
		return
	}
	if c.version == "" && c.is("initialize") {
		c.opens = r.open(c) // before the next line, which may need it
	}
	if !c.isStream() {
		r.waiting.Add(1)
	}
	if !r.spawn(func() { r.serve(c) }) && !c.isStream() {
		r.waiting.Done()
	}
}

// version is what a message of 2026-07-28 or later says that it speaks.
func version(p part) string {
	v, _ := parley.MemberString(parley.Member(p.msg.Params, "_meta"), mcp.MetaVersion)
	return v
}

// relayNote delivers a notification, in its turn.
func (r *relay) relayNote(p part) {
	if p.msg.Fault != nil {
		r.Log.Warn("a notification is not valid JSON", "method", p.msg.Method)
		return
	}
	if p.msg.Method == "notifications/cancelled" && r.cancelled(p) {
		return
	}
	if v := version(p); v != "" {
		r.deliver(p, nil, r.modernHeaders(p, v))
		return
	}
	if p.msg.Method == "notifications/initialized" {
		r.introduce(p)
	} else if s := r.present(); s != nil {
		r.deliver(p, s, s.headers())
	} else {
		r.Log.Warn("a notification came outside of a session", "method", p.msg.Method)
	}
}

// cancelled ends a call that the client gave up. Within a session the server has
// to be told as well, elsewhere the end of the stream tells it.
func (r *relay) cancelled(p part) (done bool) {
	c := r.calls.find(key(parley.Member(p.msg.Params, "requestId")))
	if c == nil || c.opens != nil {
		return true
	}
	r.calls.end(c)
	if c.version != "" {
		c.cancel()
		return true
	}
	if s := r.present(); s != nil {
		r.deliver(p, s, s.headers())
	}
	c.cancel()
	return true
}

// relayAnswer delivers what the client answers to a request of the server.
func (r *relay) relayAnswer(p part) {
	s := r.asker(key(p.msg.ID))
	if s == nil {
		r.Log.Warn("the client answered what nobody asks any more", "id", string(p.msg.ID))
		return
	}
	if p.msg.Fault != nil {
		p.raw = jsonrpc.EncodeError(p.msg.ID, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the client's answer is not valid JSON"})
	}
	r.deliver(p, s, s.headers())
}

// deliver posts what has no answer, within a session or without. If that fails the
// server is new, or away: then it has no use for it either.
func (r *relay) deliver(p part, s *session, h http.Header) {
	ctx, cancel := context.WithTimeout(r.ctx, noteTimeout)
	defer cancel()
	resp, err := r.post(ctx, p.raw, h)
	if err == nil {
		if lost(resp, s) {
			r.renew(s)
		}
		err = accept(resp)
		resp.Body.Close()
	}
	if err != nil {
		r.Log.Warn("a message was not delivered", "method", p.msg.Method, "error", err)
	}
}

// spawn runs f unless the relay ends.
func (r *relay) spawn(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.wg.Go(f)
	}
	return !r.closed
}

// finish lets what is under way finish for a moment.
func (r *relay) finish() {
	done := make(chan struct{})
	r.spawn(func() {
		r.waiting.Wait()
		close(done)
	})
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
	case <-r.ctx.Done():
	}
}

// stop waits for all goroutines, whose context has ended.
func (r *relay) stop() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.wg.Wait()
}
