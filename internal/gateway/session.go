package gateway

import (
	"container/list"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"
)

const (
	sessionIdle  = 12 * time.Hour     // since it was last used
	sessionLife  = 7 * 24 * time.Hour // since it began
	sessionBytes = 32                 // of randomness in its id
	mostSessions = 4_096
	mostPerToken = 64
	tellUses     = 10 * time.Minute // so old may be what is kept of when they were used, should the process be killed
)

// sessions are those of browsers: what a cookie says, and for whose token it
// stands. At most mostSessions are kept, and mostPerToken of one token, so that
// nobody crowds others out: the ones used last.
//
// A session holds no rights of its own. It stands for a token, so that one that
// is no longer in the configuration opens nothing by cookie either.
type sessions struct {
	most    int
	changed chan struct{} // has room for one: there is something that is not kept yet

	mu   sync.Mutex
	byID map[sessionID]*list.Element // of *session
	used *list.List                  // least recently used first
	told time.Time                   // when a use was last worth keeping
}

// sessionID is the hash of a cookie's value: what can be read out of this
// process's memory, or its file, opens nothing.
type sessionID [sha256.Size]byte

type session struct {
	id    sessionID
	token TokenHash
	began time.Time
	used  time.Time
}

// expires is when it ends unless it is used before, and at the latest.
func (s *session) expires() time.Time {
	idle, over := s.used.Add(sessionIdle), s.began.Add(sessionLife)
	if over.Before(idle) {
		return over
	}
	return idle
}

func newSessions(most int) *sessions {
	return &sessions{most: most, changed: make(chan struct{}, 1), byID: make(map[sessionID]*list.Element), used: list.New()}
}

// secret is a new random text of so many random bytes, and its hash.
func secret(bytes int) (text string, hash [sha256.Size]byte) {
	random := make([]byte, bytes)
	rand.Read(random)
	text = base64.RawURLEncoding.EncodeToString(random)
	return text, sha256.Sum256([]byte(text))
}

// start begins a session for a token and returns the cookie's value.
func (s *sessions) start(token TokenHash, now time.Time) (value string, begun session) {
	value, id := secret(sessionBytes)
	begun = session{id: id, token: token, began: now, used: now}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	s.add(begun)
	s.change()
	return value, begun
}

// add takes a session in, and lets those go that were not used for longest where
// there would be too many.
func (s *sessions) add(one session) {
	for len(s.byID) >= s.most {
		s.remove(s.used.Front())
	}
	n := 0
	for e := s.used.Back(); e != nil; {
		before := e.Prev()
		if e.Value.(*session).token == one.token {
			if n++; n >= mostPerToken {
				s.remove(e)
			}
		}
		e = before
	}
	s.byID[one.id] = s.used.PushBack(&one)
}

// find is the session that a cookie's value stands for. It counts as a use.
func (s *sessions) find(value string, now time.Time) (session, bool) {
	if value == "" {
		return session{}, false
	}
	return s.use(sha256.Sum256([]byte(value)), now)
}

func (s *sessions) use(id sessionID, now time.Time) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	e := s.byID[id]
	if e == nil {
		return session{}, false
	}
	one := e.Value.(*session)
	if !now.Before(one.expires()) {
		s.remove(e)
		return session{}, false
	}
	one.used = now
	s.used.MoveToBack(e)
	if now.Sub(s.told) >= tellUses {
		s.told = now
		s.change()
	}
	return *one, true
}

// end forgets the session of a cookie's value and reports whether there was one.
func (s *sessions) end(value string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byID[sha256.Sum256([]byte(value))]
	if e == nil {
		return false
	}
	s.remove(e)
	return true
}

// endAll forgets the sessions of all these tokens and returns how many they were.
func (s *sessions) endAll(tokens map[TokenHash]bool) (ended int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := s.used.Front(); e != nil; {
		next := e.Next()
		if tokens[e.Value.(*session).token] {
			s.remove(e)
			ended++
		}
		e = next
	}
	return ended
}

// expire forgets those that were not used for too long. One that is used to its
// last day is noticed when it is looked for.
func (s *sessions) expire(now time.Time) {
	for e := s.used.Front(); e != nil && !now.Before(e.Value.(*session).expires()); e = s.used.Front() {
		s.remove(e)
	}
}

func (s *sessions) remove(e *list.Element) {
	delete(s.byID, e.Value.(*session).id)
	s.used.Remove(e)
}

// all is a copy of them, least recently used first.
func (s *sessions) all() []session {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]session, 0, len(s.byID))
	for e := s.used.Front(); e != nil; e = e.Next() {
		list = append(list, *e.Value.(*session))
	}
	return list
}

// change says that something should be kept.
func (s *sessions) change() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
