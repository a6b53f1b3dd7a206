package mcpfront

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// Serve answers one request to /mcp, /mcp/{space} or /mcp/{space}/{participant},
// where the path values are set. An error, a *parley.Error, is for the caller
// to write: it concerns HTTP alone.
func (f *Front) Serve(w http.ResponseWriter, r *http.Request) error {
	at, err := f.place(r)
	if err != nil {
		return err
	}
	target := r.PathValue("participant")
	if target != "" && !f.has(at.Space, target) {
		return parley.Errorf(parley.NotFound, "%.80q is no MCP server of the space %s", target, at.Space).
			WithHint("its servers are %s", strings.Join(f.house.Servers(at.Space), ", "))
	}
	switch r.Method {
	case http.MethodPost:
		return f.post(w, r, at, target)
	case http.MethodGet, http.MethodDelete:
		return f.bySession(w, r, at, target)
	}
	w.Header().Set("Allow", "POST, GET, DELETE")
	w.WriteHeader(http.StatusMethodNotAllowed)
	return nil
}

// place is where a request acts.
func (f *Front) place(r *http.Request) (Place, error) {
	places, err := f.house.Who(r)
	if err != nil {
		return Place{}, err
	}
	space := r.PathValue("space")
	if space == "" && len(places) > 1 {
		return Place{}, parley.Errorf(parley.InvalidArgument, "the token belongs to %d spaces", len(places)).
			WithHint("name one: /mcp/%s", places[0].Space)
	}
	for _, p := range places {
		if space == "" || p.Space == space {
			return p, nil
		}
	}
	return Place{}, parley.Errorf(parley.NotFound, "there is no space %.80q here for you", space).
		WithHint("GET /v1/spaces lists those that the token belongs to")
}

func (f *Front) has(space, server string) bool {
	return slices.Contains(f.house.Servers(space), server)
}

// bySession answers what only sessions have: the listening stream, and the end.
func (f *Front) bySession(w http.ResponseWriter, r *http.Request, at Place, target string) error {
	id := r.Header.Get(mcp.SessionHeader)
	if id == "" {
		w.Header().Set("Allow", http.MethodPost)
		writeRPC(w, http.StatusMethodNotAllowed, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "there is no " + mcp.SessionHeader})
		return nil
	}
	s := f.session(id, at, target)
	switch {
	case s == nil:
		writeUnknownSession(w, nil)
	case r.Method == http.MethodDelete:
		f.endSession(s)
		w.WriteHeader(http.StatusNoContent)
	case !accepts(r.Header, "text/event-stream"):
		writeNotAcceptable(w, "text/event-stream")
	default:
		f.serveListen(w, r, s)
	}
	return nil
}

func writeUnknownSession(w http.ResponseWriter, id jsontext.Value) {
	writeRPC(w, http.StatusNotFound, id, &jsonrpc.Error{Code: codeRefused, Message: "the session has ended, or was never here: begin with initialize"})
}

// post answers one message of a client.
func (f *Front) post(w http.ResponseWriter, r *http.Request, at Place, target string) error {
	body, err := f.read(w, r)
	if err != nil {
		writeRPC(w, statusOfBody(err), nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the body was not read: " + err.Error()})
		return nil
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		writeRPC(w, http.StatusUnsupportedMediaType, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the Content-Type is not application/json"})
		return nil
	}
	if !accepts(r.Header, "application/json") && !accepts(r.Header, "text/event-stream") {
		writeNotAcceptable(w, "application/json or text/event-stream")
		return nil
	}
	m, problem := decode(body)
	if problem != nil {
		if s := f.session(r.Header.Get(mcp.SessionHeader), at, target); s != nil && m.Fault != nil && m.IsResponse() {
			s.answered(m) // who waits for it need not wait on
		}
		writeRPC(w, http.StatusBadRequest, m.ID, problem)
		return nil
	}
	if isModern(r.Header, m) {
		return f.postModern(w, r, at, target, m)
	}
	return f.postLegacy(w, r, at, target, m)
}

// accepts reports whether a client takes a type; one that does not say takes
// all. How much it likes it does not matter.
func accepts(h http.Header, want string) bool {
	values := h.Values("Accept")
	family, _, _ := strings.Cut(want, "/")
	for _, line := range values {
		for part := range strings.SplitSeq(line, ",") {
			switch t, _, _ := mime.ParseMediaType(part); t {
			case want, family + "/*", "*/*":
				return true
			}
		}
	}
	return len(values) == 0
}

func writeNotAcceptable(w http.ResponseWriter, types string) {
	writeRPC(w, http.StatusNotAcceptable, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the Accept header leaves out " + types})
}

func (f *Front) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(f.opts.BodyTime)) // where it is not supported there is none
	defer rc.SetReadDeadline(time.Time{})                   // else the request would end with it
	limited := http.MaxBytesReader(w, r.Body, int64(f.opts.MaxBody))
	const trusted = 64 << 10 // what somebody says that he will send takes no more room than this
	var body bytes.Buffer
	if n := r.ContentLength; n > 0 {
		body.Grow(int(min(n, trusted)) + bytes.MinRead)
	}
	_, err := body.ReadFrom(limited)
	return body.Bytes(), err
}

func statusOfBody(err error) int {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// decode reads one message, strictly: what two parsers could read differently
// is refused here.
func decode(body []byte) (jsonrpc.Message, *jsonrpc.Error) {
	if !jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return jsonrpc.Message{}, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the body is not JSON"}
	}
	if jsontext.Value(bytes.TrimSpace(body)).Kind() == '[' {
		return jsonrpc.Message{}, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "batches are not taken: send one message in each POST"}
	}
	list, err := jsonrpc.Decode(body)
	if err != nil || len(list) != 1 {
		return jsonrpc.Message{}, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the body is no JSON-RPC message"}
	}
	m := list[0]
	switch id := member(body, "id"); {
	case m.Fault != nil:
		if !m.ID.IsValid() {
			m.ID = nil // it cannot come back
		}
		return m, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the message can be read in more than one way: " + m.Fault.Error()}
	case string(member(body, "jsonrpc")) != `"2.0"`:
		return m, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: `the message does not say "jsonrpc":"2.0"`}
	case m.Method != "" && (m.Result != nil || m.Error != nil):
		return m, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the message has both a method and an answer"}
	case m.ID == nil && id != nil:
		return m, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the id is neither a string nor a number"}
	case m.Params != nil && m.Params.Kind() != '{' && m.Method != "":
		return m, invalidParams("params is not an object")
	}
	return m, nil
}

// postLegacy answers a message of 2025-11-25 and before.
func (f *Front) postLegacy(w http.ResponseWriter, r *http.Request, at Place, target string, m jsonrpc.Message) error {
	if m.Method == "initialize" && m.ID != nil {
		return f.initialize(w, r, at, target, m)
	}
	id := r.Header.Get(mcp.SessionHeader)
	if id == "" {
		writeRPC(w, http.StatusBadRequest, m.ID, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
			Message: "there is no " + mcp.SessionHeader + " and no " + mcp.MetaVersion + " in _meta: begin with initialize or server/discover"})
		return nil
	}
	s := f.session(id, at, target)
	if s == nil {
		writeUnknownSession(w, m.ID)
		return nil
	}
	leave := s.enter()
	defer leave()
	switch {
	case m.IsResponse():
		s.answered(m)
		w.WriteHeader(http.StatusAccepted)
	case m.IsNotification():
		s.heard(m)
		w.WriteHeader(http.StatusAccepted)
	default:
		s.serve(w, r, m)
	}
	return nil
}

// serve answers one request of a session. The client may hang up meanwhile: that
// is no cancellation in its era, so the call goes on.
func (s *session) serve(w http.ResponseWriter, r *http.Request, m jsonrpc.Message) {
	ctx, done, err := s.begin(m.ID)
	if err != nil {
		writeRPC(w, http.StatusOK, m.ID, rpcError(err))
		return
	}
	x := &exchange{caller: &s.caller, front: s.front, msg: m, w: w, http: r.Context(), out: newOutlet(s.nextOutlet())}
	result, err := x.run(ctx)
	cancelled := errors.Is(context.Cause(ctx), errCancelled)
	done() // who has the answer may use the id again
	if cancelled {
		// Nobody waits for an answer: only the response has to end.
		x.abandon()
		return
	}
	x.finish(encodeAnswer(m.ID, result, err), http.StatusOK)
}

// abandon ends the response without an answer.
func (x *exchange) abandon() {
	x.mu.Lock()
	x.finished = true
	pumping := x.pumping
	x.mu.Unlock()
	if pumping {
		x.out.finish(nil, nil)
		x.pump.Wait()
		return
	}
	x.w.WriteHeader(http.StatusAccepted)
}

func (s *session) nextOutlet() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastOut++
	return fmt.Sprintf("r%d", s.lastOut)
}

func encodeAnswer(id, result jsontext.Value, err error) []byte {
	if err != nil {
		return jsonrpc.EncodeError(id, rpcError(err))
	}
	return jsonrpc.EncodeResult(id, result)
}

func writeRPC(w http.ResponseWriter, status int, id jsontext.Value, e *jsonrpc.Error) {
	_ = writeJSON(w, status, jsonrpc.EncodeError(id, e)) // a client that is gone needs no error
}

func writeJSON(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

// member is one member of an object; nil where it is not there.
func member(obj jsontext.Value, name string) jsontext.Value { return parley.Member(obj, name) }
