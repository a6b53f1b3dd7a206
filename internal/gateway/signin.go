package gateway

import (
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/parleyhq/parley"
)

// signIn is the body that starts a session: one of the two.
type signIn struct {
	Token string `json:"token"`
	Code  string `json:"code"`
}

// startSession gives a browser a cookie for a token, so that no page has to
// keep the token where a script could read it.
func (a *api) startSession(w http.ResponseWriter, r *http.Request) error {
	var body signIn
	if err := decodeBody(w, r, &body); err != nil {
		return err
	}
	if (body.Token == "") == (body.Code == "") {
		return parley.Errorf(parley.InvalidArgument, "the body has to have one of token and code").
			WithHint(`write {"token": "…"}, or {"code": "…"} with that of a one-time link`)
	}
	token, err := a.admitSignIn(r, body)
	if err != nil {
		return err
	}
	a.endSessionOf(r) // whoever had the browser before
	value, begun := a.sessions.start(token, a.g.now())
	who := a.g.tokens[token]
	note(w, who[0].id)
	a.g.log.Info("signed in", "participant", who[0].id, "from", r.RemoteAddr, "by_link", body.Code != "")
	setSessionCookie(w, r, value)
	return writeSession(w, who, begun.expires())
}

// admitSignIn finds the token that somebody signs in with, unless they guess too
// often.
func (a *api) admitSignIn(r *http.Request, body signIn) (TokenHash, error) {
	now := a.g.now()
	from := addressOf(r)
	wait := a.attempts.wait(from, now)
	if wait > 0 && body.guessable() {
		return TokenHash{}, a.tooManySignIns(wait)
	}
	token, err := a.tokenOf(body, now)
	switch {
	case err == nil:
		a.metrics.signIns.accepted.Inc()
	case wait > 0:
		err = a.tooManySignIns(wait)
	default:
		a.attempts.failed(from, now)
		a.metrics.signIns.refused.Inc()
	}
	return token, err
}

func (a *api) tooManySignIns(wait time.Duration) error {
	a.metrics.signIns.limited.Inc()
	return tooManyWrong(wait)
}

func tooManyWrong(wait time.Duration) *parley.Error {
	err := parley.Errorf(parley.RateLimited, "too many wrong tokens or codes came from your address").
		WithHint("wait, then come with the right one; a token of %d characters or more, as parley token makes them, need not wait", unguessable)
	err.RetryAfterMS = max(1, wait.Milliseconds())
	return err
}

// tokenOf is the token that is meant: itself, or that of the code, which is used
// up by this.
func (a *api) tokenOf(body signIn, now time.Time) (TokenHash, error) {
	if body.Code != "" {
		if token, ok := a.codes.redeem(body.Code, now); ok && a.g.tokens[token] != nil {
			return token, nil
		}
		return TokenHash{}, parley.Errorf(parley.Unauthorized, "this link was used already, or is older than %d minutes", codeLife/time.Minute).
			WithHint("parley token link makes another one; or sign in with a token")
	}
	token := TokenHash(sha256.Sum256([]byte(body.Token)))
	if a.g.tokens[token] == nil {
		return TokenHash{}, parley.Errorf(parley.Unauthorized, "the token is not known here").
			WithHint("it has to be the token of a participant, whole and without blanks")
	}
	return token, nil
}

// showSession says whom the browser's cookie stands for.
func (a *api) showSession(w http.ResponseWriter, r *http.Request) error {
	one, ok := a.sessions.find(sessionValue(r), a.g.now())
	who := a.g.tokens[one.token]
	if !ok || who == nil {
		return noSession()
	}
	note(w, who[0].id)
	return writeSession(w, who, one.expires())
}

func noSession() error {
	return parley.Errorf(parley.Unauthorized, "there is no session").
		WithHint(`POST /v1/session {"token": "…"} starts one`)
}

// endSession forgets the browser's session, for which there need not be one, or
// all of the participant.
func (a *api) endSession(w http.ResponseWriter, r *http.Request) error {
	p := readParams(r)
	everywhere := p.flag("everywhere", false)
	if err := p.done(); err != nil {
		return err
	}
	if everywhere {
		if err := a.endEverywhere(w, r); err != nil {
			return err
		}
	} else {
		a.endSessionOf(r)
	}
	setSessionCookie(w, r, "")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// endSessionOf ends the session of the request's cookie, if there is one.
func (a *api) endSessionOf(r *http.Request) {
	if a.sessions.end(sessionValue(r)) {
		a.g.closeSignedOut()
		a.g.saveSessions()
	}
}

// endEverywhere ends all sessions of whoever asks, by cookie or by token, also
// those of their other tokens, and what could begin one without a token.
func (a *api) endEverywhere(w http.ResponseWriter, r *http.Request) error {
	who, err := a.identify(r)
	if err != nil {
		return err
	}
	note(w, who[0].id)
	tokens := tokensOf(who)
	a.codes.drop(tokens)
	ended := a.sessions.endAll(tokens)
	a.g.closeSignedOut()
	a.g.saveSessions()
	links := a.approvals.end(approvalSignedOut, a.g.now(), func(l *approval) bool {
		one, ok := in(who, l.space)
		return ok && one.id == l.decider
	})
	a.g.saveApprovals()
	a.g.log.Info("signed out everywhere", "participant", who[0].id, "from", r.RemoteAddr, "sessions", ended, "approval_links", links)
	return nil
}

// tokensOf are all tokens of somebody, in the spaces that they belong to.
func tokensOf(who []identity) map[TokenHash]bool {
	all := map[TokenHash]bool{}
	for _, one := range who {
		for _, token := range one.room.people[one.id].Tokens {
			all[token] = true
		}
	}
	return all
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
