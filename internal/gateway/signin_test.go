package gateway

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley"
)

// from is a request from another address.
func from(address string) func(*http.Request) {
	return func(r *http.Request) { r.RemoteAddr = address }
}

func TestSignOutEverywhere(t *testing.T) {
	h := newHouse(t)
	first, second, byOther, agent := h.login("human"), h.login("human"), h.login("both"), h.login("agent")
	link, agents := h.code("human"), h.code("agent")
	h.ask("", "DELETE", "/v1/session?everywhere=perhaps", "", first).refused(400, parley.InvalidArgument)
	h.ask("", "DELETE", "/v1/session?all=true", "", first).refused(400, parley.InvalidArgument)
	h.ask("", "DELETE", "/v1/session?everywhere=true", "").refused(401, parley.Unauthorized)
	h.ask("", "GET", "/v1/session", "", second).ok(200)

	if c := h.ask("", "DELETE", "/v1/session?everywhere=true", "", first).ok(204).cookie(); c.MaxAge >= 0 {
		t.Errorf("the cookie stays: %v", c)
	}
	for name, cookie := range map[string]func(*http.Request){"first": first, "second": second, "of another token": byOther} {
		if got := h.ask("", "GET", "/v1/session", "", cookie).status; got != 401 {
			t.Errorf("%s: %d", name, got)
		}
	}
	h.redeem(link).refused(401, parley.Unauthorized)
	h.ask("", "GET", "/v1/session", "", agent).ok(200)
	h.redeem(agents).ok(200)

	// Who has lost a browser, but not the token, does it with that.
	h.ask("agent", "DELETE", "/v1/session?everywhere=true", "").ok(204)
	h.ask("", "GET", "/v1/session", "", agent).refused(401, parley.Unauthorized)
	h.ask("agent", "GET", "/v1/spaces", "").ok(200)
}

// However much it is used, a session ends after a week.
func TestSessionEnds(t *testing.T) {
	h := newHouse(t)
	cookie := h.login("human")
	for range 15 { // 165 of 168 hours
		h.clock.add(11 * time.Hour)
		h.ask("", "GET", "/v1/spaces", "", cookie).ok(200)
	}
	if got := h.ask("", "GET", "/v1/session", "", cookie).ok(200).body; !strings.Contains(got, `"expires":"2026-11-27T12:00:00.000Z"`) {
		t.Errorf("it is %s", got)
	}
	h.login("agent") // one that is not over, and was used before
	h.clock.add(3*time.Hour - time.Millisecond)
	h.ask("", "GET", "/v1/spaces", "", cookie).ok(200)
	h.clock.add(time.Millisecond)
	h.ask("", "GET", "/v1/spaces", "", cookie).refused(401, parley.Unauthorized)
}

// A session opens what its token does: no other space, and nothing that the
// participant may not.
func TestSessionOfAnotherSpace(t *testing.T) {
	h := newHouse(t)
	human, agent := h.login("human"), h.login("agent")
	for _, path := range []string{"/v1/spaces/lazy/envelopes", "/v1/spaces/lazy/participants", "/v1/spaces/nowhere/envelopes", "/ws?space=lazy"} {
		h.ask("", "GET", path, "", human).refused(404, parley.NotFound)
	}
	h.ask("", "POST", "/v1/spaces/demo/envelopes", `{"kind":"space/kick","payload":{"participant":"human"}}`, agent).refused(403, parley.CapabilityViolation)
	h.ask("", "POST", "/v1/spaces/demo/envelopes", `{"kind":"chat","from":"human"}`, agent).refused(403, parley.IdentityMismatch)
}

// Another server of this machine can put a cookie beside ours, and so make a page
// act as somebody else.
func TestTwoCookies(t *testing.T) {
	h := newHouse(t)
	human, agent := h.login("human"), h.login("agent")
	h.ask("", "GET", "/v1/spaces", "", human, agent).refused(401, parley.Unauthorized)
	h.ask("", "GET", "/v1/spaces", "", human, human).ok(200)
}

func TestBruteForce(t *testing.T) {
	h := newHouse(t)
	guess := func(body string, change ...func(*http.Request)) reply {
		t.Helper()
		return h.ask("", "POST", "/v1/session", body, change...)
	}
	link := h.code("human")
	for i := range guessBurst {
		h.login("human") // what is right costs nothing, and excuses nothing
		guess(fmt.Sprintf(`{"token":"guess-%d"}`, i)).refused(401, parley.Unauthorized)
	}
	r := guess(`{"token":"human-token"}`)
	p := r.refused(429, parley.RateLimited)
	if r.header.Get("Retry-After") != "3" || p["retry_after_ms"] != 3000.0 || r.header.Get("Set-Cookie") != "" {
		t.Errorf("%v, %v", r.header, p)
	}
	guess(`{"code":"`+strings.Repeat("x", 32)+`"}`).refused(429, parley.RateLimited)

	// Who has what cannot be guessed is not kept out by those who guess.
	h.redeem(link).ok(200)
	h.login("human", from("127.0.0.2:1"))

	h.clock.add(guessEvery)
	guess(`{"token":"guess"}`).refused(401, parley.Unauthorized)
	guess(`{"token":"guess"}`).refused(429, parley.RateLimited)
	h.clock.add(guessBurst * guessEvery)
	h.login("human")

	body := h.ask("", "GET", "/metrics", "").ok(200).body
	for _, want := range []string{
		`parley_sign_ins_total{result="accepted"} 23`, `parley_sign_ins_total{result="refused"} 21`, `parley_sign_ins_total{result="limited"} 3`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
}

// A network of IPv6 is one guesser, and those who are remembered are bounded.
func TestGuessers(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	at := func(address string) *http.Request { return &http.Request{RemoteAddr: address} }
	a := newAttempts(slog.New(slog.DiscardHandler))
	for i := range guessBurst {
		a.failed(addressOf(at(fmt.Sprintf("[2001:db8::%d]:1", i))), now)
	}
	for address, waits := range map[string]bool{
		"[2001:db8::99]:1": true, "[2001:db8:0:0:1::%eth0]:1": true, "[2001:db8:0:1::]:1": false, "192.0.2.1:1": false, "": false,
	} {
		if got := a.wait(addressOf(at(address)), now) > 0; got != waits {
			t.Errorf("%s waits: %v", address, got)
		}
	}
	if addressOf(at("[::ffff:192.0.2.1]:1")) != addressOf(at("192.0.2.1:2")) {
		t.Error("one address is two")
	}
	for i := range 2 * mostAddresses {
		a.failed(addressOf(at(fmt.Sprintf("10.0.%d.%d:1", i/256, i%256))), now)
	}
	if len(a.byFrom) != mostAddresses || a.last.Len() != mostAddresses {
		t.Errorf("%d and %d are remembered", len(a.byFrom), a.last.Len())
	}
}

// dialBy opens a WebSocket as a page does that has a cookie.
func dialBy(t *testing.T, client *http.Client, url string, c *http.Cookie) (*websocket.Conn, error) {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), url+"/ws?space=demo&presence=off", &websocket.DialOptions{
		HTTPClient: client,
		HTTPHeader: http.Header{"Cookie": {c.Name + "=" + c.Value}, "Origin": {url}},
	})
	if err == nil {
		t.Cleanup(func() { _ = ws.CloseNow() })
	}
	return ws, err
}

// closesWith reads until the connection is closed.
func closesWith(t *testing.T, ws *websocket.Conn) websocket.StatusCode {
	t.Helper()
	for {
		if _, _, err := ws.Read(t.Context()); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// Signing out ends what is open, also elsewhere; a connection by token stays.
func TestSignOutEndsWebSockets(t *testing.T) {
	h := newHouse(t)
	srv := httptest.NewServer(h.handler)
	t.Cleanup(srv.Close)
	signIn := func(who string) *http.Cookie {
		return h.ask("", "POST", "/v1/session", `{"token":"`+who+`-token"}`).ok(200).cookie()
	}
	dial := func(c *http.Cookie) *websocket.Conn {
		t.Helper()
		ws, err := dialBy(t, srv.Client(), srv.URL, c)
		if err != nil {
			t.Fatal(err)
		}
		return ws
	}
	here, there, other := signIn("human"), signIn("human"), signIn("agent")
	atHere, atThere, atOther := dial(here), dial(there), dial(other)
	h.join("human") // by token
	both, _, err := websocket.Dial(t.Context(), srv.URL+"/ws?space=demo&presence=off", &websocket.DialOptions{
		HTTPHeader: http.Header{"Cookie": {here.Name + "=" + here.Value}, "Authorization": {"Bearer human-token"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer both.CloseNow() // by token as well, since that counts

	h.ask("", "DELETE", "/v1/session", "", func(r *http.Request) { r.AddCookie(here) }).ok(204)
	if code := closesWith(t, atHere); code != statusUnauthorized {
		t.Errorf("here closes with %d", code)
	}
	again := dial(there)
	h.ask("", "DELETE", "/v1/session?everywhere=true", "", func(r *http.Request) { r.AddCookie(there) }).ok(204)
	for _, ws := range []*websocket.Conn{atThere, again} {
		if code := closesWith(t, ws); code != statusUnauthorized {
			t.Errorf("there closes with %d", code)
		}
	}
	if _, err := dialBy(t, srv.Client(), srv.URL, there); err == nil {
		t.Error("who is signed out comes in again")
	}
	h.chat("human", "c1")
	for name, ws := range map[string]*websocket.Conn{"the agent's page": atOther, "who brought a token as well": both} {
		if err := hears(t, ws, "this is c1"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// hears reads until something comes that says so.
func hears(t *testing.T, ws *websocket.Conn, text string) error {
	t.Helper()
	for {
		if _, data, err := ws.Read(t.Context()); err != nil || strings.Contains(string(data), text) {
			return err
		}
	}
}

// A page that is open is in use, for a week; then its connection ends as well.
func TestSessionEndsUnderItsWebSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &clock{t: time.Now()}
		h := memory(t, Options{Now: clock.now})
		req, err := http.NewRequestWithContext(t.Context(), "POST", h.url+"/v1/session", strings.NewReader(`{"token":"token-ann"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := h.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		began := clock.now()
		ws, err := dialBy(t, h.client, h.url, resp.Cookies()[0])
		if err != nil {
			t.Fatal(err)
		}
		closed := make(chan websocket.StatusCode, 1)
		go func() { closed <- closesWith(t, ws) }()
		for {
			select {
			case code := <-closed:
				if lasted := clock.now().Sub(began); code != statusUnauthorized || lasted < sessionLife || lasted > sessionLife+11*time.Hour {
					t.Errorf("it closes with %d after %v", code, lasted)
				}
				return
			case <-time.After((sessionLooks + 1) * time.Second): // the sweeper has looked
				clock.add(11 * time.Hour)
			}
		}
	})
}

// Whatever is sent, nobody is signed in but who has a token, and nothing of it
// comes back.
func FuzzSignIn(f *testing.F) {
	for _, body := range []string{
		`{"token":"human-token"}`, `{"code":"human-token"}`, `{"token":"human-token","code":""}`, `{"token":"human-token","token":"x"}`,
		`{"Token":"human-token"}`, `["human-token"]`, `{"token":{"token":"human-token"}}`, "\xff", `{"token":"secret-secret-secret"`, `null`, ``,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		h := newHouse(t)
		r := h.ask("", "POST", "/v1/session", body)
		var sent signIn
		valid := json.Unmarshal([]byte(body), &sent, json.RejectUnknownMembers(true)) == nil
		known := h.tokens[tokenOf(strings.TrimSuffix(sent.Token, "-token"))] != nil && strings.HasSuffix(sent.Token, "-token")
		if want := valid && known && sent.Code == ""; (r.status == 200) != want || (r.header.Get("Set-Cookie") != "") != want {
			t.Errorf("%d, %v", r.status, r.header)
		}
		if r.status != 200 && r.status != 400 && r.status != 401 && r.status != 413 {
			t.Errorf("status %d", r.status)
		}
		for _, secret := range []string{sent.Token, sent.Code} {
			if len(secret) > 12 && strings.Contains(r.body+h.log.String(), secret) {
				t.Errorf("%q comes back", secret)
			}
		}
	})
}
