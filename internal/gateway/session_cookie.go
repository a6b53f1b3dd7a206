package gateway

import (
	"net/http"
	"strings"
)

const sessionCookie = "parley_session"

// sessionValue is the value of the request's session cookie, "" without one.
// Cookies are not parted by port: another server of this machine can put one of
// the same name beside ours. Of two that differ none counts, so that nobody acts
// unknowingly as somebody else.
func sessionValue(r *http.Request) string {
	value := ""
	for _, c := range r.CookiesNamed(sessionCookie) {
		if value != "" && c.Value != value {
			return ""
		}
		value = c.Value
	}
	return value
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

// sessionOf is the session that a request comes by, which also counts as a use.
// What brings a header comes by that.
func (a *api) sessionOf(r *http.Request) (session, bool) {
	if r.Header.Get("Authorization") != "" {
		return session{}, false
	}
	return a.sessions.find(sessionValue(r), a.g.now())
}

// bySession is who a request comes from, by its session cookie; nil where it
// has none that holds.
func (a *api) bySession(r *http.Request) []identity {
	one, ok := a.sessionOf(r)
	if !ok {
		return nil
	}
	return a.g.tokens[one.token]
}
