package tool

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	rpc "github.com/parleyhq/parley/internal/jsonrpc"
	wire "github.com/parleyhq/parley/internal/mcp"
)

// HandlerOptions are those of [Server.Handler]. The zero value works.
type HandlerOptions struct {
	// SessionTimeout is how long a session lasts after the last of its requests
	// has ended; its calls end with it. 0: 30 minutes. Clients of 2026-07-28 have
	// no sessions: a call ends when they hang up.
	SessionTimeout time.Duration
	// Origins are those whose web pages may call, beside the server's own, such
	// as "https://example.org".
	Origins []string
	// MaxBody is how long a request may be, in bytes; 0: 16 MiB.
	MaxBody int64
}

const (
	defaultSessionTimeout = 30 * time.Minute
	defaultMaxBody        = 16 << 20
)

// A Handler serves a server's tools over MCP's Streamable HTTP, to clients of
// 2025-11-25 and before, in sessions, and to those of 2026-07-28, on one path. It is
// made by [Server.Handler].
type Handler struct {
	server         *Server
	maxBody        int64
	guarded        http.Handler // what comes after the question where a request is from
	legacy, modern http.Handler
	sessions       httpSessions
	during         context.Context // ends with Close
	end            context.CancelCauseFunc
}

// Handler makes a handler. It knows its callers by nothing: who may reach it is
// for what stands in front of it to say. Web pages of other origins are refused,
// and so are names for this machine that are none of loopback.
//
// When the program has no more use for it, it calls [Handler.Close]. Handler
// panics where an origin is none.
func (s *Server) Handler(o HandlerOptions) *Handler {
	h := &Handler{
		server:   s,
		maxBody:  cmp.Or(o.MaxBody, defaultMaxBody),
		sessions: httpSessions{timeout: cmp.Or(o.SessionTimeout, defaultSessionTimeout)},
	}
	h.during, h.end = context.WithCancelCause(context.Background())
	server := func(*http.Request) *mcp.Server { return s.mcp }
	// The limit is kept before the SDK reads, and carriers are longer than what
	// they carry.
	const unlimited = -1
	h.legacy = mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{MaxRequestBodyBytes: unlimited})
	h.modern = mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		MaxRequestBodyBytes: unlimited, Stateless: true, PropagateRequestCancellation: true,
	})
	protection := http.NewCrossOriginProtection()
	for _, origin := range o.Origins {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			panic(fmt.Sprintf("tool: HandlerOptions.Origins: %v: write an origin like https://example.org", err))
		}
	}
	h.guarded = protection.Handler(http.HandlerFunc(h.route))
	return h
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.guarded.ServeHTTP(w, r) }

// Close ends all calls and sessions, and waits for them. New ones are refused.
// Runs that are kept are put away first, so that none looks cancelled.
func (h *Handler) Close() {
	h.server.stop(func(c *conversation) bool { return c.web })
	h.end(errClosed)
	h.sessions.close()
}

// route hands a request to whoever speaks its era.
func (h *Handler) route(w http.ResponseWriter, r *http.Request) {
	standsAlone := r.Header.Get(wire.VersionHeader) >= wire.Modern
	if r.Method == http.MethodPost {
		body, err := h.read(w, r)
		if err != nil {
			refuseBody(w, err)
			return
		}
		standsAlone = standsAlone || namesVersion(body)
		if body, err = carriedBody(body); err != nil {
			refuse(w, http.StatusBadRequest, rpc.CodeInvalidParams, err.Error())
			return
		}
		r = withBody(r, body)
	}
	if standsAlone {
		h.serveModern(w, r)
		return
	}
	h.serveSession(w, r)
}

// serveModern answers a request that stands for itself.
func (h *Handler) serveModern(w http.ResponseWriter, r *http.Request) {
	if !h.sessions.begin() {
		refuseForNow(w)
		return
	}
	defer h.sessions.alive.Done()
	ctx, done := until(r.Context(), h.during)
	defer done()
	ctx = context.WithValue(ctx, overKey{}, func() bool { return h.during.Err() != nil })
	h.modern.ServeHTTP(w, r.WithContext(ctx))
}

// bodyTime is in what time a request has to arrive.
const bodyTime = time.Minute

func (h *Handler) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTime)) // where it is not supported there is none
	defer rc.SetReadDeadline(time.Time{})            // else a call would end with it
	return io.ReadAll(http.MaxBytesReader(w, r.Body, h.maxBody))
}

func withBody(r *http.Request, body []byte) *http.Request {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return r
}

func refuseBody(w http.ResponseWriter, err error) {
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		refuse(w, http.StatusRequestEntityTooLarge, rpc.CodeInvalidRequest, fmt.Sprintf("the body is longer than %d bytes", e.Limit))
		return
	}
	refuse(w, http.StatusBadRequest, rpc.CodeInvalidRequest, "the body was not read: "+err.Error())
}

// refuse answers what is not read any further, and whose id is therefore not known.
func refuse(w http.ResponseWriter, status int, code int64, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(rpc.EncodeError(jsontext.Value("null"), &rpc.Error{Code: code, Message: message})) // a client that is gone needs no error
}

// namesVersion reports whether a message says in its _meta which version it is
// of, as those of the modern era do. Where the header does not say so as well,
// it is for the SDK to tell what is wrong.
func namesVersion(body []byte) bool {
	if !mayName(body, wire.MetaVersion) {
		return false
	}
	return member(member(member(body, "params"), "_meta"), wire.MetaVersion) != nil
}

// member is the last member of a name, as the SDK reads it; nil: there is none.
func member(object jsontext.Value, name string) (value jsontext.Value) {
	for f, err := range rpc.Members(object, lenient...) {
		if err != nil {
			return nil
		}
		if f.Name == name {
			value = f.Value
		}
	}
	return value
}

// carriedBody is a body with carriers for the answers in it. One that holds none
// stays, and one that is not JSON-RPC is left to the SDK.
func carriedBody(body []byte) ([]byte, error) {
	if !mayName(body, "result") && !mayName(body, "inputResponses") {
		return body, nil
	}
	if jsontext.Value(body).Kind() == '[' {
		return carriedBatch(body)
	}
	msg, err := jsonrpc.DecodeMessage(body)
	if err != nil {
		return body, nil
	}
	out, err := carriedIn(msg)
	if err != nil || out == msg {
		return body, err
	}
	return jsonrpc.EncodeMessage(out)
}

// carriedBatch is carriedBody of each message of a batch, which clients of
// 2025-03-26 may send.
func carriedBatch(body []byte) ([]byte, error) {
	var parts [][]byte
	for part, err := range rpc.Values(body, lenient...) {
		if err != nil {
			return body, nil
		}
		if part.Kind() == '[' {
			return body, nil // no message, and no depth to follow it to
		}
		if len(parts) == rpc.MaxBatch {
			return nil, fmt.Errorf("the batch has more than %d messages", rpc.MaxBatch)
		}
		out, err := carriedBody(part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, out)
	}
	return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]")), nil
}

type handlerKey struct{}

// serveSession answers a request of a legacy client.
func (h *Handler) serveSession(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(wire.SessionHeader)
	if id == "" && !h.sessions.room() {
		refuseForNow(w)
		return
	}
	if r.Method == http.MethodDelete {
		if s := h.sessions.take(id, userOf(r.Context())); s != nil {
			s.end(errSessionEnded) // else the SDK would wait for its calls
			defer h.sessions.finish(s, errSessionEnded)
		}
	}
	defer h.sessions.enter(id)()
	h.legacy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), handlerKey{}, h)))
}

func refuseForNow(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "60")
	refuse(w, http.StatusServiceUnavailable, rpc.CodeInvalidRequest, "there are too many sessions, or the server is about to end: try again later")
}
