package mcpstdio

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

var (
	// errUnreached: nothing of the request can have arrived.
	errUnreached = errors.New("the gateway is not reached")
	// errBroke: it is not known what became of the request.
	errBroke = errors.New("the connection to the gateway broke before the answer")
	// errSessionLost: the request was refused, and the session has to begin anew.
	errSessionLost = errors.New("the gateway forgot the session")
	// errNoSession: the handshake failed.
	errNoSession = errors.New("the gateway refused the session")
)

func newHTTPClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	t.MaxIdleConnsPerHost = 32
	t.MaxResponseHeaderBytes = 64 << 10
	// A redirect would carry the token elsewhere.
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (r *relay) post(ctx context.Context, body []byte, h http.Header) (*http.Response, error) {
	h.Set("Accept", "application/json, text/event-stream")
	h.Set("Content-Type", "application/json")
	return r.do(ctx, http.MethodPost, body, h)
}

// get asks for a session's stream of events, behind the last one that came.
func (r *relay) get(ctx context.Context, s *session, last string) (*http.Response, error) {
	h := s.headers()
	h.Set("Accept", "text/event-stream")
	if last != "" {
		h.Set("Last-Event-ID", last)
	}
	return r.do(ctx, http.MethodGet, nil, h)
}

// do makes one request. Its errors are errUnreached, errBroke, and that of ctx.
func (r *relay) do(ctx context.Context, method string, body []byte, h http.Header) (*http.Response, error) {
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(traced, method, r.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = h
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	resp, err := r.http.Do(req)
	if err == nil {
		return resp, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // the URL is said elsewhere
	}
	if connected.Load() {
		return nil, fmt.Errorf("%w: %w", errBroke, err)
	}
	return nil, fmt.Errorf("%w: %w", errUnreached, err)
}

// lost reports whether a response says that the server knows nothing of s.
func lost(resp *http.Response, s *session) bool {
	return resp.StatusCode == http.StatusNotFound && s != nil && s.id != ""
}

// accept is nil where a response may be read on.
func accept(resp *http.Response) error {
	if resp.StatusCode/100 == 2 {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return refusal(resp.StatusCode, body)
}

// refusal is why a request was refused: as JSON-RPC says it, as a problem of the
// gateway's, or as the status alone.
func refusal(status int, body []byte) error {
	if p := takeOne(body); p.bad == nil && p.msg.Error != nil && p.msg.Fault == nil {
		return jsonrpc.ReadError(p.msg.Error)
	}
	code := map[int]parley.Code{
		http.StatusUnauthorized: parley.Unauthorized, http.StatusNotFound: parley.NotFound, http.StatusTooManyRequests: parley.RateLimited,
		http.StatusServiceUnavailable: parley.Unavailable, http.StatusBadGateway: parley.Unavailable, http.StatusGatewayTimeout: parley.Unavailable,
	}[status]
	detail, hint := "", ""
	if v := jsontext.Value(body); v.IsValid() {
		named, _ := parley.MemberString(v, "code")
		code = cmp.Or(parley.Code(named), code)
		detail, _ = parley.MemberString(v, "detail")
		hint, _ = parley.MemberString(v, "hint")
	}
	message := fmt.Sprintf("the gateway answers with HTTP status %d", status)
	if detail != "" {
		message += ": " + detail
	}
	e := parley.Errorf(cmp.Or(code, parley.Internal), "%s", message)
	if hint == "" && status == http.StatusUnauthorized {
		hint = "show a participant's token with --token-file FILE or PARLEY_TOKEN"
	}
	if hint != "" {
		e = e.WithHint("%s", hint)
	}
	return e
}

// place is where a stream broke off.
type place struct {
	id    string
	retry time.Duration
}

func (p *place) delay() time.Duration { return cmp.Or(p.retry, time.Second) }

// messages yields what a response holds, one message or event after the other. A
// refusal, and a stream that breaks, is an error.
func (r *relay) messages(resp *http.Response, at *place) iter.Seq2[part, error] {
	return func(yield func(part, error) bool) {
		if err := accept(resp); err != nil {
			yield(part{}, err)
			return
		}
		switch mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); mediaType {
		case "text/event-stream":
			r.events(resp.Body, at, yield)
		case "application/json":
			r.body(resp.Body, yield)
		default:
			yield(part{}, parley.Errorf(parley.Internal, "the gateway answers with %q, which is not MCP", mediaType).
				WithHint("is there a Parley gateway at this URL?"))
		}
	}
}

func (r *relay) events(body io.Reader, at *place, yield func(part, error) bool) {
	for e, err := range mcp.Events(body, r.MaxMessage) {
		if errors.Is(err, mcp.ErrTooLong) {
			yield(part{}, tooLong())
			return
		}
		if err != nil {
			break
		}
		at.id, at.retry = cmp.Or(e.ID, at.id), cmp.Or(e.Retry, at.retry)
		if len(bytes.TrimSpace(e.Data)) == 0 {
			continue
		}
		for _, p := range takeApart(e.Data) {
			if !yield(p, nil) {
				return
			}
		}
	}
	yield(part{}, errBroke)
}

func (r *relay) body(body io.Reader, yield func(part, error) bool) {
	data, err := io.ReadAll(io.LimitReader(body, int64(r.MaxMessage)+1))
	switch {
	case err != nil:
		yield(part{}, fmt.Errorf("%w: %w", errBroke, err))
		return
	case len(data) > r.MaxMessage:
		yield(part{}, tooLong())
		return
	}
	for _, p := range takeApart(data) {
		if !yield(p, nil) {
			return
		}
	}
}

func tooLong() error {
	return parley.Errorf(parley.EnvelopeTooLarge, "the gateway's answer is too long")
}

// ask makes a request of our own, and waits for its result.
func (r *relay) ask(ctx context.Context, method string, params jsontext.Value, headers func(part) http.Header) (jsontext.Value, error) {
	id := jsontext.Value(`"parley-relay"`)
	p := takeOne(jsonrpc.EncodeRequest(id, method, params))
	resp, err := r.post(ctx, p.raw, headers(p))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var at place
	for p, err := range r.messages(resp, &at) {
		switch {
		case err != nil:
			return nil, err
		case p.bad != nil || !p.msg.IsResponse() || key(p.msg.ID) != key(id):
		case p.msg.Error != nil:
			return nil, jsonrpc.ReadError(p.msg.Error)
		default:
			return p.msg.Result, p.msg.Fault
		}
	}
	return nil, errBroke
}

// codeRelay is the JSON-RPC code of what Parley refuses; data says why.
const codeRelay int64 = -32000

// outcomeUnknown is what a call whose answer was lost is answered with.
const outcomeUnknown parley.Code = "outcome_unknown"

func codeData(code string) jsontext.Value {
	return append(jsonrpc.AppendString([]byte(`{"code":`), code), '}')
}

// failure answers a call that has no answer. A tool's is meant for the model, which
// alone can find out what became of it.
func failure(c *call, err error) []byte {
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return jsonrpc.EncodeError(c.msg.ID, rpc)
	}
	if errors.Is(err, errBroke) && c.is("tools/call") {
		text := string(outcomeUnknown) + ": the connection to the gateway broke before the answer, and the call may have been carried out. " +
			"If it waits for approval, make the same call again: you get its state or its result, and nothing happens twice. " +
			"Else look first at what it has done."
		result := append(jsonrpc.AppendString([]byte(`{"content":[{"type":"text","text":`), text), `}],"isError":true}`...)
		return jsonrpc.EncodeResult(c.msg.ID, result)
	}
	e := explain(err)
	data, _ := e.MarshalJSON() // never fails
	message := e.Error()
	if e.Hint != "" {
		message += " (" + e.Hint + ")"
	}
	return jsonrpc.EncodeError(c.msg.ID, &jsonrpc.Error{Code: codeRelay, Message: message, Data: data})
}

func explain(err error) *parley.Error {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return e
	}
	message := strings.ToValidUTF8(err.Error(), "\uFFFD")
	switch {
	case errors.Is(err, errUnreached):
		return parley.Errorf(parley.Unavailable, "%s", message).WithHint("start one with parley up")
	case errors.Is(err, errBroke):
		return parley.Errorf(outcomeUnknown, "%s", message)
	case errors.Is(err, errSessionLost), errors.Is(err, errNoSession):
		return parley.Errorf(parley.Unavailable, "%s", message)
	}
	return parley.Errorf(parley.Internal, "%s", message)
}
