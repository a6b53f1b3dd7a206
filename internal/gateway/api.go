package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/console"
)

// api serves section 10 of the contract: what a WebSocket does, for those who
// ask and are answered, and what is read rather than received. The rules are
// those of the WebSocket, because the way of an envelope is the same one.
type api struct {
	g        *Gateway
	guard    *originGuard
	sessions *sessions
	saving   sync.Mutex // held while they are written
	codes    *codes
	attempts *attempts
	pages    *console.Console
	metrics  *metrics
	reads    *turns // of the journal

	approvals    *approvals
	approvalFile approvalFile
}

// identity is who a token is in one space.
type identity struct {
	room  *room
	id    string // of the participant
	token TokenHash
}

// caller is who calls, in the space that the call is about.
type caller struct {
	identity
	reads *turns
}

// A call answers, or returns why not, which is then told to the client: a
// *parley.Error. Any other error is a fault of ours, for the log. A call that
// has begun to answer and fails then breaks the connection off, so that nobody
// takes what came for the whole.
type (
	call      func(w http.ResponseWriter, r *http.Request) error
	tokenCall func(w http.ResponseWriter, r *http.Request, who []identity) error
	spaceCall func(w http.ResponseWriter, r *http.Request, c caller) error
)

// register adds the calls to a mux. Whatever is added besides has to be in
// front of [api.wrap] as well.
func (a *api) register(mux *http.ServeMux) {
	const space = "/v1/spaces/{space}"
	for pattern, f := range map[string]spaceCall{
		"POST " + space + "/envelopes":                      postEnvelope,
		"GET " + space + "/envelopes":                       listEnvelopes,
		"GET " + space + "/envelopes/{id}":                  getEnvelope,
		"GET " + space + "/envelopes/{id}/chain":            getChain,
		"GET " + space + "/contexts":                        listContexts,
		"GET " + space + "/contexts/{id}":                   getContext,
		"GET " + space + "/contexts/{id}/digest":            getDigest,
		"GET " + space + "/contexts/{id}/replay":            streamContext,
		"GET " + space + "/participants":                    listParticipants,
		"GET " + space + "/participants/{id}":               getParticipant,
		"POST " + space + "/participants/{id}/capabilities": changeCapabilities,
		"POST " + space + "/participants/{id}/may":          askMay,
		"GET " + space + "/proposals":                       listProposals,
		"GET " + space + "/tools":                           listTools,
		"GET " + space + "/proposals/{id}":                  getProposal,
		"POST " + space + "/proposals/{id}/fulfil":          fulfil,
		"POST " + space + "/proposals/{id}/reject":          reject,
		"POST " + space + "/proposals/{id}/withdraw":        withdraw,
		"POST " + space + "/proposals/{id}/links":           makeLink,
		"GET " + space + "/bridges":                         listBridges,
		"POST " + space + "/bridges/{id}/restart":           restartBridge,
		"GET " + space + "/journal":                         streamJournal,
		"GET " + space + "/head":                            getHead,
	} {
		mux.Handle(pattern, a.inSpace(f))
	}
	mux.Handle("GET /v1/spaces", a.withToken(listSpaces))
	mux.Handle("POST /v1/session", a.answer(a.startSession))
	mux.Handle("GET /v1/session", a.answer(a.showSession))
	mux.Handle("DELETE /v1/session", a.answer(a.endSession))
	mux.Handle("POST /v1/session/code", a.answer(a.makeCode))
	mux.Handle("POST /v1/approval", a.answer(a.showApproval))
	mux.Handle("POST /v1/approval/fulfil", a.answer(a.approve))
	mux.Handle("POST /v1/approval/reject", a.answer(a.turnDown))
	mux.Handle("GET "+consolePath, a.answer(a.serveConsole))
	mux.Handle("GET /{$}", a.answer(a.toConsole))
	mux.Handle("GET /healthz", a.answer(a.healthy))
	mux.Handle("GET /readyz", a.answer(a.ready))
	mux.Handle("GET /metrics", a.answer(a.serveMetrics))
}

// answer is a call as a handler.
func (a *api) answer(f call) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			a.fail(w, r, err)
		}
	})
}

// withToken is a call for whoever brings a token or a session.
func (a *api) withToken(f tokenCall) http.Handler {
	return a.answer(func(w http.ResponseWriter, r *http.Request) error {
		who, err := a.identify(r)
		if err != nil {
			return err
		}
		note(w, who[0].id)
		return f(w, r, who)
	})
}

// inSpace is a call for the participants of the space that the path names.
func (a *api) inSpace(f spaceCall) http.Handler {
	return a.withToken(func(w http.ResponseWriter, r *http.Request, who []identity) error {
		one, ok := in(who, r.PathValue("space"))
		if !ok {
			// Whether the space exists is no business of who does not belong to it.
			return noSpace(r.PathValue("space")).WithHint("GET /v1/spaces lists those that the token belongs to")
		}
		note(w, one.id)
		readSlash(r)
		return f(w, r, caller{identity: one, reads: a.reads})
	})
}

// identify finds out who a request comes from: by its token or, without one, by
// the session of the browser. The error is unauthorized.
func (a *api) identify(r *http.Request) ([]identity, error) {
	if r.Header.Get("Authorization") == "" {
		if who := a.bySession(r); who != nil {
			return who, nil
		}
	}
	return a.g.bearer(r)
}

// fail answers with what went wrong.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	// Once the client is gone, and the context with it, whatever else fails is
	// no fault. It is answered all the same: a body that came too slowly
	// ends the context as well.
	if isFault(err) && r.Context().Err() == nil {
		a.g.log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	if begun(w) {
		panic(http.ErrAbortHandler)
	}
	asProblem(err).write(w)
}

// answerTime is how long a client may take to receive an answer that is no
// stream.
const answerTime = 60 * time.Second

// wrap is what every request passes, whoever answers it: the question where it
// came from, headers that keep browsers cautious, a record in the log at debug,
// and an end of panics, which concern that request alone.
func (a *api) wrap(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		rw := &response{ResponseWriter: w}
		defer a.done(rw, r, began)
		secure(rw.Header())
		if err := a.guard.check(r); err != nil {
			asProblem(err).write(rw)
			return
		}
		// A WebSocket clears the deadline when it takes the connection over.
		_ = http.NewResponseController(w).SetWriteDeadline(began.Add(answerTime)) // tests write into memory
		boundBody(w, r)
		a.route(mux, rw, r)
	})
}

// route finds who answers. What nobody does is refused like everything else.
func (a *api) route(mux *http.ServeMux, w *response, r *http.Request) {
	named := nameSlash(r)
	h, pattern := mux.Handler(named)
	if pattern != "" {
		mux.ServeHTTP(w, named)
		return
	}
	missed := &missed{header: w.Header()}
	h.ServeHTTP(missed, r)
	switch missed.status {
	case http.StatusNotFound:
		a.fail(w, r, parley.Errorf(parley.NotFound, "there is nothing at %.200q", r.URL.Path))
	case http.StatusMethodNotAllowed:
		a.fail(w, r, withStatus(missed.status, parley.Errorf(parley.InvalidArgument,
			"%.20s is not served here, %s is", r.Method, w.Header().Get("Allow"))))
	default: // a redirection to the path as it should be written
		w.WriteHeader(missed.status)
	}
}

// missed receives what the mux says where it has no handler: its headers count,
// and the status.
type missed struct {
	header http.Header
	status int
}

func (m *missed) Header() http.Header         { return m.header }
func (m *missed) WriteHeader(status int)      { m.status = status }
func (m *missed) Write(b []byte) (int, error) { return len(b), nil }

// secure tells browsers not to guess, frame, keep or pass on what we answer.
func secure(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// done ends a request: it takes a panic for what it is, counts, and logs.
func (a *api) done(w *response, r *http.Request, began time.Time) {
	fault := recover()
	if fault != nil && fault != http.ErrAbortHandler {
		a.g.log.Error("a request panicked", "method", r.Method, "path", r.URL.Path,
			"panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
		if w.status == 0 {
			fault = nil
			asProblem(errors.New("panicked")).write(w)
		}
	}
	took := time.Since(began)
	a.metrics.answered(r.Method, w.status, took)
	if a.g.log.Enabled(context.Background(), slog.LevelDebug) {
		a.g.log.Debug("request", "method", r.Method, "path", r.URL.Path, "status", w.status,
			"duration", took, "participant", w.who)
	}
	if fault != nil {
		panic(http.ErrAbortHandler) // breaks the connection off, without another word
	}
}

// response notes what is answered, for the log.
type response struct {
	http.ResponseWriter
	status int    // 0: nothing was answered yet
	who    string // the participant, once it is known
}

// Unwrap lets http.ResponseController find what is below.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack gives the connection to who made a WebSocket of it.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// note keeps for the log who asks.
func note(w http.ResponseWriter, participant string) {
	if rw, ok := w.(*response); ok {
		rw.who = participant
	}
}

// begun reports whether an answer is on its way.
func begun(w http.ResponseWriter) bool {
	rw, ok := w.(*response)
	return ok && rw.status != 0
}
