package mcpfront

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
)

// session is one client's of 2025-11-25 and before.
type session struct {
	// static
	caller
	front   *Front
	id      string
	general *outlet // what it is told outside of any request
	ctx     context.Context
	cancel  context.CancelCauseFunc

	mu       sync.Mutex
	used     time.Time
	busy     int                                // requests and listening streams
	level    jsontext.Value                     // what logging/setLevel said, as JSON; nil for nothing
	inflight map[string]context.CancelCauseFunc // its requests, by their raw id
	lastID   int64
	lastOut  int
	asked    map[int64]chan jsonrpc.Message // our requests to it
	outlets  map[string]*outlet             // of requests, that can be resumed
	watched  map[watch]bool                 // resources
}

var (
	errCancelled    = errors.New("the client has cancelled the request")
	errSessionEnded = errors.New("the session has ended")
	errLanded       = errors.New("the call that this belongs to is over")
	errNoAnswer     = errors.New("the client did not answer in time")
)

// newSession opens a session; the client holds its seat until the session ends.
func (f *Front) newSession(c caller) (*session, error) {
	s := &session{
		caller: c, front: f, id: rand.Text(), general: newOutlet("g"), used: time.Now(),
		inflight: map[string]context.CancelCauseFunc{}, asked: map[int64]chan jsonrpc.Message{},
		outlets: map[string]*outlet{}, watched: map[watch]bool{},
	}
	s.caller.session = s
	s.ctx, s.cancel = context.WithCancelCause(f.ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	each := 0
	for _, other := range f.sessions {
		if other.place == c.place {
			each++
		}
	}
	switch {
	case f.closed:
		return nil, parley.Errorf(parley.Unavailable, "the gateway is going away").WithHint("connect again in a moment")
	case each >= maxSessionsEach, len(f.sessions) >= maxSessions:
		return nil, parley.Errorf(parley.LimitReached, "sessions: %d are open, the limit is %d for one participant and %d for all", each, maxSessionsEach, maxSessions).
			WithHint("end a session with DELETE, or wait until idle ones have ended")
	}
	f.sessions[s.id] = s
	s.seat.hold()
	s.seat.listen(s)
	s.seat.count.session(1)
	return s, nil
}

// session finds a client's session. Somebody else's is as unknown as one that
// has ended, be it that its participant was put out of the room.
func (f *Front) session(id string, at Place, target string) *session {
	f.mu.Lock()
	s := f.sessions[id]
	f.mu.Unlock()
	if s == nil || s.place != at || s.target != target {
		return nil
	}
	if s.seat.gone() {
		f.endSession(s)
		return nil
	}
	return s
}

func (f *Front) endSession(s *session) {
	f.mu.Lock()
	known := f.sessions[s.id] == s
	delete(f.sessions, s.id)
	f.mu.Unlock()
	if known {
		s.end()
	}
}

// end ends whatever the session still does.
func (s *session) end() {
	s.seat.unlisten(s)
	s.seat.count.session(-1)
	s.general.finish(nil, nil)
	s.cancel(errSessionEnded)
	s.mu.Lock()
	var watched []watch
	for w := range s.watched {
		watched = append(watched, w)
	}
	clear(s.watched)
	s.mu.Unlock()
	if !s.front.start(func() { s.seat.unwatch(watched); s.seat.release() }) {
		s.seat.release()
	}
}

// enter notes that the session is in use until the function is called.
func (s *session) enter() (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy--
		s.used = time.Now()
	}
}

// idleSince is how long nobody has used the session.
func (s *session) idleSince(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, o := range s.outlets {
		if o.forgotten(now) {
			delete(s.outlets, name)
		}
	}
	if s.busy > 0 {
		return 0
	}
	return now.Sub(s.used)
}

// resumable is how long a request's stream can be asked for again once its
// answer is there.
const resumable = time.Minute

func (o *outlet) forgotten(now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.over && now.Sub(o.ended) > resumable
}

// maxResumable bounds what is kept of answered requests of one session, in bytes.
const maxResumable = 4 << 20

// keep lets a request's stream be resumed, in the place of older ones where there
// is no room.
func (s *session) keep(o *outlet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outlets[o.id] = o
	for {
		oldest, bytes := "", 0
		var since time.Time
		for name, other := range s.outlets {
			n, over, ended := other.size()
			bytes += n
			if over && (oldest == "" || ended.Before(since)) {
				oldest, since = name, ended
			}
		}
		if oldest == "" || bytes <= maxResumable && len(s.outlets) <= maxCallsEach {
			return
		}
		delete(s.outlets, oldest)
	}
}

// begin makes a request one that can be cancelled; its id must not be in use.
func (s *session) begin(id jsontext.Value) (context.Context, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := string(id)
	switch {
	case s.inflight[key] != nil:
		return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a request with the id " + clip(key) + " is being answered already"}
	case len(s.inflight) >= maxCallsEach:
		return nil, nil, parley.Errorf(parley.LimitReached, "calls: %d are being answered, the limit of a session", len(s.inflight))
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	s.inflight[key] = cancel
	return ctx, func() {
		s.mu.Lock()
		delete(s.inflight, key)
		s.mu.Unlock()
		cancel(nil)
	}, nil
}

// heard takes a notification of the client.
func (s *session) heard(m jsonrpc.Message) {
	if m.Method != "notifications/cancelled" {
		return // initialized changes nothing; roots are never asked for unasked
	}
	id := member(m.Params, "requestId")
	s.mu.Lock()
	cancel := s.inflight[string(id)]
	s.mu.Unlock()
	if cancel != nil {
		cancel(errCancelled)
	}
}

// answered takes the client's answer to a request of ours.
func (s *session) answered(m jsonrpc.Message) {
	s.mu.Lock()
	answer := s.asked[m.CallID()]
	delete(s.asked, m.CallID())
	s.mu.Unlock()
	if answer != nil {
		answer <- m
	}
}

// maxAsked bounds our requests to one client that it has not answered.
const maxAsked = 64

// ask sends the client a request: with what goes back for x, or where that has
// ended outside of any request.
func (s *session) ask(ctx context.Context, x *exchange, method string, params jsontext.Value) (jsontext.Value, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, parkedFor, errNoAnswer)
	defer cancel()
	answer := make(chan jsonrpc.Message, 1)
	s.mu.Lock()
	if len(s.asked) >= maxAsked {
		s.mu.Unlock()
		return nil, parley.Errorf(parley.LimitReached, "the client has %d requests to answer", maxAsked)
	}
	s.lastID++
	id := s.lastID
	s.asked[id] = answer
	s.mu.Unlock()
	msg := jsonrpc.EncodeRequest(jsonrpc.Number(id), method, params)
	if x != nil {
		x.emit(msg, true)
	} else {
		s.general.put(msg, true)
	}
	select {
	case m := <-answer:
		return readAnswer(m)
	case <-ctx.Done():
		s.mu.Lock()
		delete(s.asked, id)
		s.mu.Unlock()
		s.general.put(jsonrpc.EncodeRequest(nil, "notifications/cancelled", jsontext.Value(`{"requestId":`+string(jsonrpc.Number(id))+`}`)), false)
		return nil, context.Cause(ctx)
	}
}

func readAnswer(m jsonrpc.Message) (jsontext.Value, error) {
	switch {
	case m.Fault != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the client's answer cannot be relayed: " + m.Fault.Error()}
	case m.Error != nil:
		return nil, jsonrpc.ReadError(m.Error)
	case m.Result == nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the client's answer has neither a result nor an error"}
	}
	return m.Result, nil
}

// serveListen answers a GET: what a session is told outside of its requests, or
// the rest of a stream that broke.
func (f *Front) serveListen(w http.ResponseWriter, r *http.Request, s *session) {
	leave := s.enter()
	defer leave()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	o, n := s.general, 0
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		name, number, ok := readEventID(last)
		if ok && name != o.id {
			s.mu.Lock()
			o = s.outlets[name]
			s.mu.Unlock()
		}
		if !ok || o == nil {
			writeRPC(w, http.StatusBadRequest, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "there is nothing to resume behind this Last-Event-ID"})
			return
		}
		n = number
	} else {
		n = o.sentUpTo()
	}
	_ = o.follow(ctx, w, n, o.claim()) // a client that is gone comes back, or does not
}
