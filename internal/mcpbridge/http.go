package mcpbridge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

const (
	// resumptions is how often in a row a broken stream is asked for again.
	resumptions = 5
	// resumeDelay is how long that waits where the server does not say.
	resumeDelay = time.Second
	// deleteTimeout bounds the farewell to a server that may not be there.
	deleteTimeout = 2 * time.Second
	// listenTimeout is how long the handshake waits for the listening stream
	// to stand, so that what the server announces right after is not missed.
	listenTimeout = 500 * time.Millisecond
)

var errBroke = errors.New("its connection broke before the answer")

// streamable is the link to a server over Streamable HTTP.
type streamable struct {
	sink   sink
	server Server
	client *http.Client
	max    int

	ctx    context.Context // ends with the link
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	session string
	version string // "" during the handshake
}

func newStreamable(s Server, o Options, to sink) (link, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	l := &streamable{sink: to, server: s, max: o.maxMessage()}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 64, 64 // with the usual 2, concurrent calls dial again and again
	t.MaxResponseHeaderBytes = 64 << 10
	l.client = &http.Client{Transport: t, CheckRedirect: sameOrigin}
	return l, nil
}

func (l *streamable) begin() {}

// sameOrigin follows a redirect within the server, as from /mcp to /mcp/, and
// none that would carry the configured headers elsewhere or drop the body.
func sameOrigin(next *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 3 || next.Method != first.Method || next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// start runs f unless the link is closed; close waits for it.
func (l *streamable) start(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.wg.Go(f)
	}
	return !l.closed
}

func (l *streamable) send(ctx context.Context, m outgoing) error {
	if m.id == 0 {
		return l.tell(ctx, m)
	}
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(l.ctx, cancel)
	if !l.start(func() {
		defer cancel()
		defer unhook()
		l.exchange(ctx, m)
	}) {
		cancel()
		return ErrServerGone
	}
	return nil
}

// tell posts what has no answer. In the modern era there is nothing of that
// kind: that a call is cancelled is said by the end of its stream.
func (l *streamable) tell(ctx context.Context, m outgoing) error {
	if l.modern() {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	resp, err := l.do(ctx, http.MethodPost, "", m)
	if err == nil {
		defer resp.Body.Close()
		err = l.status(resp)
	}
	if errors.Is(err, ErrServerGone) {
		l.sink.fail(err)
	}
	return err
}

// exchange posts one call and hands on all that comes back for it.
func (l *streamable) exchange(ctx context.Context, m outgoing) {
	err := l.answer(ctx, m)
	switch {
	case err == nil:
		err = fmt.Errorf("%w: it came back without one", ErrBadAnswer)
	case ctx.Err() != nil:
	case errors.Is(err, errBroke): // this connection did; whether others do, they will tell
	case errors.Is(err, ErrServerGone):
		defer l.sink.fail(err)
	}
	l.sink.failCall(m.id, err) // does nothing where the answer has come
}

func (l *streamable) answer(ctx context.Context, m outgoing) error {
	resp, err := l.do(ctx, http.MethodPost, "", m)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if isJSON(resp) && resp.StatusCode >= 400 && l.refusal(resp, m.id) {
		return nil
	}
	if err := l.status(resp); err != nil {
		return err
	}
	if m.method == "initialize" {
		l.meet(resp)
	}
	if isEventStream(resp) {
		return l.follow(ctx, m.id, resp)
	}
	return l.body(resp, m.id)
}

// meet takes the session's id from the answer to initialize.
func (l *streamable) meet(resp *http.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = resp.Header.Get(mcp.SessionHeader)
}

// refusal hands on a JSON-RPC error that came with an error status. Its id may
// be missing, since the server may have refused before it read it.
func (l *streamable) refusal(resp *http.Response, id int64) bool {
	if resp.StatusCode == http.StatusNotFound && l.sessionID() != "" {
		return false // the status is what matters
	}
	body, err := l.readBody(resp)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body)) // status shows its start
	if err != nil {
		return false
	}
	messages, err := jsonrpc.Decode(body)
	if err != nil || len(messages) != 1 || messages[0].Error == nil || messages[0].Fault != nil {
		return false
	}
	e := jsonrpc.ReadError(messages[0].Error)
	if lostSession(e) {
		l.sink.failCall(id, ErrSessionLost)
		l.sink.fail(ErrSessionLost)
	}
	l.sink.failCall(id, e)
	return true
}

// lostSession knows the way in which servers on the Go SDK say, after their
// restart, that they never heard of us.
func lostSession(e *jsonrpc.Error) bool {
	return e.Code == 0 && strings.Contains(e.Message, "invalid during session initialization")
}

func (l *streamable) body(resp *http.Response, id int64) error {
	body, err := l.readBody(resp)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return err
	}
	messages, err := jsonrpc.Decode(body)
	if err != nil {
		l.sink.stray(clip(body))
		return fmt.Errorf("%w: it is not JSON-RPC", ErrBadAnswer)
	}
	for _, m := range messages {
		l.receive(m, id)
	}
	return nil
}

func (l *streamable) readBody(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(l.max)+1))
	switch {
	case err != nil:
		return nil, gone(errBroke)
	case len(body) > l.max:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrBadAnswer, l.max)
	}
	return body, nil
}

func (l *streamable) receive(m jsonrpc.Message, cause int64) {
	if m.Error != nil && lostSession(jsonrpc.ReadError(m.Error)) {
		l.sink.failCall(m.CallID(), ErrSessionLost)
		l.sink.fail(ErrSessionLost)
		return
	}
	l.sink.receive(m, cause)
}

// follow reads a call's stream of events until its answer, and resumes it
// where the server made that possible.
func (l *streamable) follow(ctx context.Context, id int64, resp *http.Response) error {
	var at place
	for tries := 0; ; tries++ {
		before := at.id
		answered, err := l.stream(resp, id, &at)
		resp.Body.Close()
		switch {
		case answered:
			return nil
		case errors.Is(err, mcp.ErrTooLong):
			return fmt.Errorf("%w: %w", ErrBadAnswer, err)
		case at.id == "", l.modern(): // where streams cannot be resumed
			return gone(errBroke)
		case at.id != before:
			tries = 0
		case tries >= resumptions:
			return gone(fmt.Errorf("%w, and could not be resumed", errBroke))
		}
		if resp, err = l.resume(ctx, &at); err != nil {
			return err
		}
	}
}

// place is where a stream broke off.
type place struct {
	id    string
	retry time.Duration
}

// resume asks for a stream again, behind the last event that came.
func (l *streamable) resume(ctx context.Context, at *place) (*http.Response, error) {
	if !pause(ctx, cmp.Or(at.retry, resumeDelay)) {
		return nil, ctx.Err()
	}
	resp, err := l.do(ctx, http.MethodGet, at.id, outgoing{})
	if err != nil {
		return nil, err
	}
	err = l.status(resp)
	if err == nil {
		return resp, nil
	}
	resp.Body.Close()
	if errors.Is(err, ErrSessionLost) { // it began the call all the same
		l.sink.fail(err)
		err = gone(errBroke)
	}
	return nil, err
}

// stream hands on the messages of one stream of events. answered says that the
// answer to call id was among them, with which a call's stream is over.
func (l *streamable) stream(resp *http.Response, id int64, at *place) (answered bool, err error) {
	for e, err := range mcp.Events(resp.Body, l.max) {
		if err != nil {
			return false, err
		}
		at.id, at.retry = cmp.Or(e.ID, at.id), cmp.Or(e.Retry, at.retry)
		if len(bytes.TrimSpace(e.Data)) == 0 {
			continue
		}
		messages, err := jsonrpc.Decode(e.Data)
		if err != nil {
			l.sink.stray(clip(e.Data))
			continue
		}
		for _, m := range messages {
			l.receive(m, id)
			answered = answered || id != noCause && m.IsResponse() && m.CallID() == id
		}
		if answered {
			return true, nil
		}
	}
	return false, nil
}

// negotiated begins to listen to what the server says outside of calls; a
// modern server says that in answer to a call.
func (l *streamable) negotiated(version string) {
	l.mu.Lock()
	l.version = version
	l.mu.Unlock()
	if l.modern() {
		return
	}
	stands := make(chan struct{})
	if !l.start(func() { l.listen(sync.OnceFunc(func() { close(stands) })) }) {
		return
	}
	patience := time.NewTimer(listenTimeout)
	defer patience.Stop()
	select {
	case <-stands:
	case <-patience.C:
	}
}

// listen keeps a stream open as long as the link lives. A server that offers
// none is left alone; one that cannot be reached any more is gone.
func (l *streamable) listen(stands func()) {
	defer stands()
	var at place
	for failures, had := 0, false; ; {
		resp, err := l.do(l.ctx, http.MethodGet, at.id, outgoing{})
		switch {
		case l.ctx.Err() != nil:
			closeBody(resp)
			return
		case err != nil:
			if failures++; failures > resumptions {
				l.sink.fail(err)
				return
			}
		case resp.StatusCode == http.StatusOK && isEventStream(resp):
			stands()
			failures, had = 0, true
			if _, err := l.stream(resp, noCause, &at); errors.Is(err, mcp.ErrTooLong) {
				closeBody(resp)
				l.sink.fail(gone(err))
				return
			}
		case resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests:
			closeBody(resp)
			// At first that only says that there is no such stream; later on,
			// that the session which had one is over.
			if had && resp.StatusCode == http.StatusNotFound {
				l.sink.fail(ErrSessionLost)
			}
			return
		}
		closeBody(resp)
		if !pause(l.ctx, min(cmp.Or(at.retry, resumeDelay)<<failures, mcp.MaxRetryDelay)) {
			return
		}
	}
}

func closeBody(resp *http.Response) {
	if resp != nil {
		resp.Body.Close()
	}
}

// do makes one request. An error means that the server was not reached, or
// that ctx has ended.
func (l *streamable) do(ctx context.Context, method, lastEvent string, m outgoing) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, l.server.URL, bytes.NewReader(m.body))
	if err != nil {
		return nil, err
	}
	if m.body == nil {
		req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	}
	for name, value := range l.server.Headers {
		req.Header.Set(name, value)
	}
	l.setHeaders(req.Header, method)
	maps.Copy(req.Header, m.header)
	if lastEvent != "" {
		req.Header.Set("Last-Event-ID", lastEvent)
	}
	resp, err := l.client.Do(req)
	if err == nil {
		return resp, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL, which may hold a secret
	}
	return nil, gone(err)
}

func (l *streamable) setHeaders(h http.Header, method string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h.Set("Accept", "text/event-stream")
	if method == http.MethodPost {
		h.Set("Accept", "application/json, text/event-stream")
		h.Set("Content-Type", "application/json")
	}
	h.Del("Last-Event-ID")
	for _, name := range []string{mcp.SessionHeader, mcp.VersionHeader, mcp.MethodHeader, mcp.NameHeader} {
		h.Del(name)
	}
	if l.version != "" {
		h.Set(mcp.VersionHeader, l.version)
	}
	if l.session != "" {
		h.Set(mcp.SessionHeader, l.session)
	}
}

func (l *streamable) modern() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version == mcp.Modern
}

func (l *streamable) sessionID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// status is nil for what may be read on.
func (l *streamable) status(resp *http.Response) error {
	switch {
	case resp.StatusCode/100 == 2:
		return nil
	case resp.StatusCode == http.StatusNotFound && l.sessionID() != "":
		return ErrSessionLost
	case resp.StatusCode/100 == 3:
		return &HTTPError{Status: resp.StatusCode, Detail: "it redirects elsewhere; give its real URL"}
	}
	start, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
	return &HTTPError{Status: resp.StatusCode, Detail: strings.Map(printable, strings.TrimSpace(clip(start)))}
}

// close says goodbye where there is a session, and ends whatever still runs.
func (l *streamable) close() {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	if first {
		l.endSession()
	}
	l.cancel()
	l.wg.Wait()
	l.client.CloseIdleConnections()
}

func (l *streamable) endSession() {
	if l.sessionID() == "" {
		return
	}
	ctx, cancel := context.WithTimeout(l.ctx, deleteTimeout)
	defer cancel()
	if resp, err := l.do(ctx, http.MethodDelete, "", outgoing{}); err == nil {
		resp.Body.Close() // a server that has no DELETE says 405
	}
}

func isEventStream(resp *http.Response) bool { return mediaType(resp) == "text/event-stream" }
func isJSON(resp *http.Response) bool        { return mediaType(resp) == "application/json" }

func mediaType(resp *http.Response) string {
	t, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return t
}

// pause waits, and says whether it could wait to the end.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
