package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/parleyhq/parley"
)

// login starts a session and returns what adds its cookie to a request.
func (h *house) login(who string, change ...func(*http.Request)) func(*http.Request) {
	h.t.Helper()
	r := h.ask("", "POST", "/v1/session", `{"token":"`+who+`-token"}`, change...).ok(200)
	c := r.cookie()
	return func(r *http.Request) { r.AddCookie(c) }
}

func (r reply) cookie() *http.Cookie {
	r.t.Helper()
	cookies := (&http.Response{Header: r.header}).Cookies()
	if len(cookies) != 1 || cookies[0].Name != sessionCookie {
		r.t.Fatalf("cookies %v", cookies)
	}
	return cookies[0]
}

func TestSession(t *testing.T) {
	h := newHouse(t)
	r := h.ask("", "POST", "/v1/session", `{"token":"both-token"}`).ok(200)
	want := `{"spaces":[{"name":"demo","me":"human"},{"name":"lazy","me":"reader"}],"expires":"2026-11-21T00:00:00.000Z"}` + "\n"
	if r.body != want {
		t.Errorf("got  %swant %s", r.body, want)
	}
	c := r.cookie()
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.MaxAge != 0 || !c.Expires.IsZero() || c.Secure || len(c.Value) != 43 {
		t.Errorf("cookie %s", c)
	}
	with := func(r *http.Request) { r.AddCookie(c) }
	if got := h.ask("", "GET", "/v1/session", "", with).ok(200).body; got != want {
		t.Errorf("it is %s", got)
	}
	if got := h.ask("", "GET", "/v1/spaces", "", with).ok(200).body; !strings.Contains(got, `"me":"reader"`) {
		t.Errorf("by cookie: %s", got)
	}
	// A token that is there counts, and not the cookie.
	h.ask("stranger", "GET", "/v1/spaces", "", with).refused(401, parley.Unauthorized)

	out := h.ask("", "DELETE", "/v1/session", "", with).ok(204)
	if c := out.cookie(); c.MaxAge >= 0 || c.Value != "" {
		t.Errorf("cookie %s", c)
	}
	h.ask("", "GET", "/v1/spaces", "", with).refused(401, parley.Unauthorized)
	h.ask("", "GET", "/v1/session", "", with).refused(401, parley.Unauthorized)
	h.ask("", "DELETE", "/v1/session", "").ok(204)
}

func TestSessionRefused(t *testing.T) {
	h := newHouse(t)
	for body, code := range map[string]parley.Code{
		``:                         parley.InvalidArgument,
		`{}`:                       parley.InvalidArgument,
		`{"token":1}`:              parley.InvalidArgument,
		`{"token":"x","user":"y"}`: parley.InvalidArgument,
		`{"token":"stranger"}`:     parley.Unauthorized,
	} {
		r := h.ask("", "POST", "/v1/session", body)
		r.refused(statusOf(code), code)
		if r.header.Get("Set-Cookie") != "" {
			t.Errorf("%s is given a cookie", body)
		}
	}
	h.ask("", "GET", "/v1/spaces", "", func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: sessionCookie, Value: "made-up"})
	}).refused(401, parley.Unauthorized)
}

func TestSessionSlides(t *testing.T) {
	h := newHouse(t)
	cookie := h.login("human")
	for range 3 {
		h.clock.add(11 * time.Hour)
		h.ask("", "GET", "/v1/spaces", "", cookie).ok(200)
	}
	h.clock.add(12 * time.Hour)
	h.ask("", "GET", "/v1/spaces", "", cookie).refused(401, parley.Unauthorized)
}

func TestSessionOverTLS(t *testing.T) {
	h := newHouse(t)
	r := h.ask("", "POST", "/v1/session", `{"token":"human-token"}`, func(r *http.Request) {
		r.Host = "parley.example"
		r.Header.Set("Origin", "https://parley.example")
	}).ok(200)
	if !r.cookie().Secure {
		t.Error("the cookie may travel without TLS")
	}
}

// A second login in the same browser ends the session of the first.
func TestSessionReplaces(t *testing.T) {
	h := newHouse(t)
	first := h.login("human")
	second := h.login("agent", first)
	h.ask("", "GET", "/v1/spaces", "", first).refused(401, parley.Unauthorized)
	if got := h.ask("", "GET", "/v1/spaces", "", second).ok(200).body; !strings.Contains(got, `"me":"agent"`) {
		t.Errorf("second is %s", got)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	s := newSessions(3)
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	token := tokenOf("human")
	start := func(token TokenHash) string { value, _ := s.start(token, now); return value }
	a, b, c := start(token), start(token), start(token)
	if _, ok := s.find(a, now); !ok {
		t.Error("a is gone")
	}
	d := start(token)
	for name, value := range map[string]string{"a": a, "b": b, "c": c, "d": d} {
		if _, ok := s.find(value, now); ok != (name != "b") {
			t.Errorf("%s: %v", name, ok)
		}
	}
	if len(s.byID) != 3 || s.used.Len() != 3 {
		t.Errorf("%d and %d are kept", len(s.byID), s.used.Len())
	}
	s.find(a, now.Add(sessionIdle))
	if len(s.byID) != 0 || s.used.Len() != 0 {
		t.Errorf("%d and %d are kept after their time", len(s.byID), s.used.Len())
	}
}

// Who starts sessions without end ends only their own.
func TestSessionsOfOneToken(t *testing.T) {
	s := newSessions(mostSessions)
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	other, _ := s.start(tokenOf("agent"), now)
	var values []string
	for range mostPerToken + 1 {
		value, _ := s.start(tokenOf("human"), now)
		values = append(values, value)
	}
	for _, c := range []struct {
		value string
		kept  bool
	}{{other, true}, {values[0], false}, {values[1], true}, {values[mostPerToken], true}} {
		if _, ok := s.find(c.value, now); ok != c.kept {
			t.Errorf("kept %v, want %v", ok, c.kept)
		}
	}
}

// A browser joins with its cookie alone.
func TestSessionOpensAWebSocket(t *testing.T) {
	h := newHouse(t)
	srv := httptest.NewServer(h.handler)
	t.Cleanup(srv.Close)
	cookie := h.ask("", "POST", "/v1/session", `{"token":"human-token"}`).ok(200).cookie()
	dial := func(origin string) (*http.Response, error) {
		ws, resp, err := websocket.Dial(t.Context(), srv.URL+"/ws?topic=demo", &websocket.DialOptions{
			HTTPHeader: http.Header{"Cookie": {cookie.Name + "=" + cookie.Value}, "Origin": {origin}},
		})
		if err == nil {
			t.Cleanup(func() { _ = ws.CloseNow() })
		}
		return resp, err
	}
	if _, err := dial(srv.URL); err != nil {
		t.Error(err)
	}
	if resp, err := dial("http://evil.example"); err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("another page joins: %v", err)
	}
}
