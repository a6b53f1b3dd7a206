package gateway

import (
	"container/list"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

const (
	codeLife      = 10 * time.Minute
	codeBytes     = 24 // of randomness
	mostCodes     = 4_096
	mostCodesEach = 16 // of one token
)

// codes are those of one-time links: who brings one may begin one session for the
// token that it was made with. They are kept in memory alone, hashed. Of one token
// there are at most mostCodesEach, the newest.
type codes struct {
	mu     sync.Mutex
	byHash map[[sha256.Size]byte]*list.Element // of *code
	oldest *list.List                          // oldest first, which is also who expires first
}

type code struct {
	hash    [sha256.Size]byte
	token   TokenHash
	expires time.Time
}

func newCodes() *codes {
	return &codes{byHash: make(map[[sha256.Size]byte]*list.Element), oldest: list.New()}
}

// add makes a code for a token.
func (c *codes) add(token TokenHash, now time.Time) (text string, expires time.Time) {
	text, hash := secret(codeBytes)
	expires = now.Add(codeLife)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire(now)
	c.makeRoom(token)
	c.byHash[hash] = c.oldest.PushBack(&code{hash: hash, token: token, expires: expires})
	return text, expires
}

func (c *codes) makeRoom(token TokenHash) {
	for len(c.byHash) >= mostCodes {
		c.remove(c.oldest.Front())
	}
	n := 0
	for e := c.oldest.Back(); e != nil; {
		before := e.Prev()
		if e.Value.(*code).token == token {
			if n++; n >= mostCodesEach {
				c.remove(e)
			}
		}
		e = before
	}
}

// redeem is the token that a code was made with. Of all that bring it one is
// told.
func (c *codes) redeem(text string, now time.Time) (TokenHash, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire(now)
	e := c.byHash[sha256.Sum256([]byte(text))]
	if e == nil {
		return TokenHash{}, false
	}
	c.remove(e)
	return e.Value.(*code).token, true
}

// drop forgets the codes of all these tokens.
func (c *codes) drop(tokens map[TokenHash]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.oldest.Front(); e != nil; {
		next := e.Next()
		if tokens[e.Value.(*code).token] {
			c.remove(e)
		}
		e = next
	}
}

func (c *codes) expire(now time.Time) {
	for e := c.oldest.Front(); e != nil && !now.Before(e.Value.(*code).expires); e = c.oldest.Front() {
		c.remove(e)
	}
}

func (c *codes) remove(e *list.Element) {
	delete(c.byHash, e.Value.(*code).hash)
	c.oldest.Remove(e)
}

// SignInCode makes the code of a one-time link for a token of the configuration.
// Whoever brings it first, within 10 minutes, is signed in with that token, which
// they never see. The error is unauthorized where the token is not known.
func (g *Gateway) SignInCode(token TokenHash) (code string, expires time.Time, err error) {
	if g.tokens[token] == nil {
		return "", time.Time{}, unauthorized("the token is not known here")
	}
	code, expires = g.api.codes.add(token, g.now())
	return code, expires, nil
}

// makeCode makes a code for whoever shows a token. A session makes none: it would
// outlive itself by them.
func (a *api) makeCode(w http.ResponseWriter, r *http.Request) error {
	who, err := a.g.bearer(r)
	if err != nil {
		return err
	}
	note(w, who[0].id)
	text, expires, err := a.g.SignInCode(who[0].token)
	if err != nil {
		return err
	}
	b := appendQuote([]byte(`{"code":`), text)
	b = appendTime(append(b, `,"expires":`...), expires)
	return writeJSON(w, http.StatusCreated, append(b, '}', '\n'))
}

func (s signIn) guessable() bool { return guessable(s.Token) && guessable(s.Code) }
