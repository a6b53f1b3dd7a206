package gateway

import (
	"container/list"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/parleyhq/parley"
)

const (
	sessionCookie = "parley_session"
	sessionLife   = 12 * time.Hour // since it was last used
	sessionBytes  = 32             // of randomness in its id
	mostSessions  = 4_096
	mostPerToken  = 64
)

// sessions are those of browsers: what a cookie says, and for whose token it
// stands. They live as long as the process; at most mostSessions are kept, and
// mostPerToken of one token, so that nobody crowds others out: the ones used
// last.
//
// A session holds no rights of its own. It stands for a token, so that one that
// is no longer in the configuration opens nothing by cookie either.
type sessions struct {
	most int

	mu   sync.Mutex
	byID map[sessionID]*list.Element // of *session
	used *list.List                  // least recently used first, which is also who expires first
}

// sessionID is the hash of a cookie's value: what can be read out of this
// process's memory opens nothing.
type sessionID [sha256.Size]byte

type session struct {
	id      sessionID
	token   TokenHash
	expires time.Time
}

func newSessions(most int) *sessions {
	return &sessions{most: most, byID: make(map[sessionID]*list.Element), used: list.New()}
}

// start begins a session for a token and returns the cookie's value.
func (s *sessions) start(token TokenHash, now time.Time) (value string) {
	var random [sessionBytes]byte
	rand.Read(random[:])
	value = base64.RawURLEncoding.EncodeToString(random[:])

	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	s.makeRoom(token)
	one := &session{id: sha256.Sum256([]byte(value)), token: token, expires: now.Add(sessionLife)}
	s.byID[one.id] = s.used.PushBack(one)
	return value
}

// makeRoom lets the sessions go that were not used for longest.
func (s *sessions) makeRoom(token TokenHash) {
	for len(s.byID) >= s.most {
		s.remove(s.used.Front())
	}
	n := 0
	for e := s.used.Back(); e != nil; {
		before := e.Prev()
		if e.Value.(*session).token == token {
			if n++; n >= mostPerToken {
				s.remove(e)
			}
		}
		e = before
	}
}

// find is the token that a cookie's value stands for, and when that ends. It
// counts as a use.
func (s *sessions) find(value string, now time.Time) (token TokenHash, expires time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	e := s.byID[sha256.Sum256([]byte(value))]
	if e == nil {
		return token, expires, false
	}
	one := e.Value.(*session)
	one.expires = now.Add(sessionLife)
	s.used.MoveToBack(e)
	return one.token, one.expires, true
}

// end forgets a session.
func (s *sessions) end(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byID[sha256.Sum256([]byte(value))]; e != nil {
		s.remove(e)
	}
}

func (s *sessions) expire(now time.Time) {
	for e := s.used.Front(); e != nil && !now.Before(e.Value.(*session).expires); e = s.used.Front() {
		s.remove(e)
	}
}

func (s *sessions) remove(e *list.Element) {
	delete(s.byID, e.Value.(*session).id)
	s.used.Remove(e)
}

// sessionValue is the value of the request's session cookie, "" without one.
func sessionValue(r *http.Request) string {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// setSessionCookie gives a browser the session's value; an empty one takes it
// back. It is for our pages alone, and for no script. The browser keeps it until
// it is closed; when it ends before, we say.
func setSessionCookie(w http.ResponseWriter, r *http.Request, value string) {
	c := &http.Cookie{
		Name: sessionCookie, Value: value, Path: "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: overTLS(r),
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// overTLS reports whether the browser speaks TLS, to us or to a proxy in front:
// then its page has an https origin.
func overTLS(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https://")
}

// sessionRequest is the body that starts a session.
type sessionRequest struct {
	Token string `json:"token"`
}

// startSession gives a browser a cookie for a token, so that no page has to
// keep the token where a script could read it.
func (a *api) startSession(w http.ResponseWriter, r *http.Request) error {
	var body sessionRequest
	if err := decodeBody(w, r, &body); err != nil {
		return err
	}
	if body.Token == "" {
		return parley.Errorf(parley.InvalidArgument, "token is missing").WithHint(`write {"token": "…"}`)
	}
	token := TokenHash(sha256.Sum256([]byte(body.Token)))
	who := a.g.tokens[token]
	if who == nil {
		return unauthorized("the token is not known here")
	}
	a.sessions.end(sessionValue(r)) // whoever had the browser before
	now := a.g.now()
	setSessionCookie(w, r, a.sessions.start(token, now))
	return writeSession(w, who, now.Add(sessionLife))
}

// showSession says whom the browser's cookie stands for.
func (a *api) showSession(w http.ResponseWriter, r *http.Request) error {
	token, expires, ok := a.sessions.find(sessionValue(r), a.g.now())
	who := a.g.tokens[token]
	if !ok || who == nil {
		return parley.Errorf(parley.Unauthorized, "there is no session").
			WithHint(`POST /v1/session {"token": "…"} starts one`)
	}
	return writeSession(w, who, expires)
}

// endSession forgets the session; without one there is nothing to do.
func (a *api) endSession(w http.ResponseWriter, r *http.Request) error {
	a.sessions.end(sessionValue(r))
	setSessionCookie(w, r, "")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func writeSession(w http.ResponseWriter, who []identity, expires time.Time) error {
	b := []byte(`{"spaces":[`)
	for i, one := range who {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuote(append(b, `{"name":`...), one.room.name)
		b = appendQuote(append(b, `,"me":`...), one.id)
		b = append(b, '}')
	}
	b = appendTime(append(b, `],"expires":`...), expires)
	return writeJSON(w, http.StatusOK, append(b, '}', '\n'))
}

// bySession is who a request comes from, by its session cookie; nil where it
// has none that holds.
func (a *api) bySession(r *http.Request) []identity {
	token, _, ok := a.sessions.find(sessionValue(r), a.g.now())
	if !ok {
		return nil
	}
	return a.g.tokens[token]
}
