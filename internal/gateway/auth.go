package gateway

import (
	"crypto/sha256"
	"net/http"
	"strings"

	"github.com/parleyhq/parley"
)

// addTokens indexes the tokens of a space's participants by their hashes.
// Looking one up by its hash takes a time that says nothing of other tokens.
func (g *Gateway) addTokens(r *room) error {
	for id, p := range r.people {
		if _, known := r.rules.Participants[id]; !known {
			return parley.Errorf(parley.InvalidConfig, "the rules of space %q do not know %q", r.name, id)
		}
		for _, hash := range p.Tokens {
			if other, taken := in(g.tokens[hash], r.name); taken && other.id != id {
				return parley.Errorf(parley.InvalidConfig, "%q and %q of space %q have the same token", other.id, id, r.name)
			}
			g.tokens[hash] = append(g.tokens[hash], identity{room: r, id: id, token: hash})
		}
	}
	return nil
}

// in finds who somebody is in a space.
func in(who []identity, space string) (identity, bool) {
	for _, one := range who {
		if one.room.name == space {
			return one, true
		}
	}
	return identity{}, false
}

// bearer finds out who a request comes from, by the token that it carries. The
// error is unauthorized, or rate_limited where wrong ones came too often from the
// same address. A right one that nobody finds by trying is looked at no further.
func (g *Gateway) bearer(req *http.Request) ([]identity, error) {
	header := req.Header.Get("Authorization")
	if header == "" {
		return nil, unauthorized("the request has no token")
	}
	scheme, token, _ := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nil, unauthorized("the Authorization header is not a bearer token")
	}
	who := g.tokens[sha256.Sum256([]byte(token))]
	if len(who) == 0 || guessable(token) {
		if err := g.api.admitToken(req, len(who) > 0); err != nil {
			return nil, err
		}
	}
	return who, nil
}

// admitToken refuses a wrong token, and counts it. From an address where somebody
// guesses it refuses right ones as well, so that guessing finds out nothing.
func (a *api) admitToken(r *http.Request, right bool) error {
	if right && a.attempts.quiet() {
		return nil
	}
	now, from := a.g.now(), addressOf(r)
	if wait := a.attempts.wait(from, now); wait > 0 {
		a.metrics.refused.limited.Inc()
		return tooManyWrong(wait)
	}
	if right {
		return nil
	}
	a.attempts.failed(from, now)
	a.metrics.refused.unknown.Inc()
	return unauthorized("the token is not known here")
}

func unauthorized(message string) *parley.Error {
	return parley.Errorf(parley.Unauthorized, "%s", message).
		WithHint("send the header Authorization: Bearer TOKEN, with a token of the space's configuration")
}
