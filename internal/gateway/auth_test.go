package gateway

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
)

const longToken = "a-token-that-nobody-finds-by-trying"

// guessed is a house with a route beside the gateway's own, where the human has
// a token that is long as well.
func guessed(t *testing.T) *house {
	h := newHouse(t, func(o *Options) {
		human := o.Spaces[0].Participants["human"]
		human.Tokens = append(human.Tokens, sha256.Sum256([]byte(longToken)))
		o.Spaces[0].Participants["human"] = human
	})
	h.handler = h.Handler(Route{Pattern: "/mcp", Serve: func(w http.ResponseWriter, r *http.Request) error {
		_, err := h.Identify(r)
		return err
	}})
	return h
}

// bring is a request with a header of its own.
func (h *house) bring(authorization, call string, change ...func(*http.Request)) reply {
	h.t.Helper()
	method, path, _ := strings.Cut(call, " ")
	set := func(r *http.Request) { r.Header.Set("Authorization", authorization) }
	return h.ask("", method, path, "", append(change, set)...)
}

// Wherever somebody tries tokens, wrong ones are counted together, and those that
// could be guessed have to wait then; what cannot be is let in, for who guesses may
// be behind the same proxy.
func TestGuessedTokens(t *testing.T) {
	h := guessed(t)
	cookie := h.login("human")
	calls := []string{"GET /v1/spaces", "GET /v1/spaces/demo/participants", "GET /ws?space=demo", "GET /mcp", "GET /metrics",
		"POST /v1/session/code", "DELETE /v1/session?everywhere=true"}
	for i := range guessBurst {
		h.ask("agent", "GET", "/v1/spaces", "").ok(200) // what is right costs nothing, and excuses nothing
		r := h.bring(fmt.Sprintf("Bearer guess-%d", i), calls[i%len(calls)])
		r.refused(401, parley.Unauthorized)
		if r.header.Get("WWW-Authenticate") == "" {
			t.Error("401 without WWW-Authenticate")
		}
	}
	for _, call := range calls {
		for _, token := range []string{"guess", "agent-token", strings.Repeat("x", unguessable)} {
			r := h.bring("Bearer "+token, call)
			if p := r.refused(429, parley.RateLimited); r.header.Get("Retry-After") != "3" || p["retry_after_ms"] != 3000.0 {
				t.Errorf("%s: %v, %v", call, r.header, p)
			}
		}
	}
	h.ask("", "POST", "/v1/session", `{"token":"human-token"}`).refused(429, parley.RateLimited)

	for _, call := range []string{"GET /v1/spaces", "GET /mcp"} {
		h.bring("Bearer "+longToken, call).ok(200)
		h.bring("Bearer agent-token", call, from("127.0.0.2:1")).ok(200)
	}
	h.bring("Bearer "+longToken, "GET /ws?space=demo").refused(400, parley.InvalidArgument) // no handshake
	h.ask("", "GET", "/v1/spaces", "", cookie).ok(200)

	h.clock.add(guessEvery)
	h.bring("Bearer guess", "GET /mcp").refused(401, parley.Unauthorized)
	h.bring("Bearer guess", "GET /v1/spaces").refused(429, parley.RateLimited)
	h.clock.add(guessBurst * guessEvery)
	h.ask("agent", "GET", "/v1/spaces", "").ok(200)

	body := h.ask("", "GET", "/metrics", "").ok(200).body
	for _, want := range []string{
		`parley_tokens_refused_total{reason="unknown"} 21`, fmt.Sprintf(`parley_tokens_refused_total{reason="limited"} %d`, 3*len(calls)+1),
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
}

// Who brings no token guesses none.
func TestNoTokenIsNoGuess(t *testing.T) {
	h := guessed(t)
	for range 2 * guessBurst {
		h.ask("", "GET", "/v1/spaces", "").refused(401, parley.Unauthorized)
		h.bring("Bearer ", "GET /v1/spaces").refused(401, parley.Unauthorized)
		h.bring("Basic aHVtYW46cGFzcw==", "GET /v1/spaces").refused(401, parley.Unauthorized)
		h.bring("Bearer agent-token", "GET /v1/spaces/lazy/envelopes").refused(404, parley.NotFound)
	}
	h.ask("agent", "GET", "/v1/spaces", "").ok(200)
}

// The log says that somebody guesses, wherever they do it, and not each time.
func TestGuessesAreLogged(t *testing.T) {
	h := guessed(t)
	warned := func() int { return strings.Count(h.log.String(), "level=WARN msg=\"somebody tries wrong tokens") }
	for range 3 * guessBurst {
		h.bring("Bearer guess", "GET /mcp")
		h.bring("Bearer guess", "GET /mcp", from("192.0.2.1:1"))
	}
	if n := warned(); n != 1 {
		t.Errorf("%d warnings", n)
	}
	if !strings.Contains(h.log.String(), "from=127.0.0.1") || strings.Contains(h.log.String(), "Bearer") {
		t.Errorf("the log: %s", h.log)
	}
	h.clock.add(warnEvery)
	for range guessBurst {
		h.ask("", "POST", "/v1/session", `{"token":"guess"}`)
	}
	if n := warned(); n != 2 {
		t.Errorf("%d warnings a minute later", n)
	}
}
