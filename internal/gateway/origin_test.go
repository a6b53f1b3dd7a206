package gateway

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
)

func TestOriginGuard(t *testing.T) {
	guard, err := newOriginGuard([]string{"Parley.Example:443"}, []string{"https://console.example"})
	if err != nil {
		t.Fatal(err)
	}
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	const loopback, outside = "127.0.0.1:7717", "192.168.1.5:7717"
	for _, c := range []struct {
		what, method, host string
		at                 string // where it arrived
		header             http.Header
		ok                 bool
	}{
		{"a program", "POST", "localhost:7717", loopback, nil, true},
		{"a program by address", "POST", "127.0.0.1:7717", loopback, nil, true},
		{"a program by IPv6", "POST", "[::1]:7717", loopback, nil, true},
		{"without a port", "GET", "[::1]", loopback, nil, true},
		{"a full name", "GET", "localhost.:7717", loopback, nil, true},
		{"a name below localhost", "GET", "demo.localhost:7717", loopback, nil, true},
		{"the configured name", "GET", "parley.example", loopback, nil, true},
		{"the configured name in capitals", "GET", "PARLEY.EXAMPLE:8443", loopback, nil, true},
		{"the address that it arrived at", "GET", "192.168.1.5:7717", outside, nil, true},

		{"a rebound name", "GET", "evil.example:7717", loopback, nil, false},
		{"a rebound name from outside", "GET", "evil.example:7717", outside, nil, false},
		{"a name that only begins like ours", "GET", "localhost.evil.example", loopback, nil, false},
		{"a name that only ends like ours", "GET", "evillocalhost", loopback, nil, false},
		{"an address that looks like one", "GET", "127.0.0.1.evil.example", loopback, nil, false},
		{"an address that is not ours", "GET", "6.6.6.6", loopback, nil, false},
		{"the address that means all", "GET", "0.0.0.0:7717", loopback, nil, false},
		{"no host", "GET", "", loopback, nil, false},
		{"a host that is none", "GET", "localhost:7717@evil.example", loopback, nil, false},
		{"a token, whatever the host", "POST", "evil.example", loopback, header("Authorization", "Bearer x", "Origin", "http://evil.example"), true},
		{"what is no token", "POST", "localhost:7717", loopback, header("Authorization", "Basic eDp5", "Origin", "http://evil.example"), false},
		{"what is no token, under a rebound name", "GET", "evil.example", loopback, header("Authorization", "Basic eDp5"), false},

		{"our page", "POST", "localhost:7717", loopback, header("Origin", "http://localhost:7717"), true},
		{"our page in a browser of today", "POST", "localhost:7717", loopback, header("Origin", "http://localhost:7717", "Sec-Fetch-Site", "same-origin"), true},
		{"our page behind a proxy that changes the host", "POST", "127.0.0.1:7717", loopback, header("Origin", "https://parley.example", "Sec-Fetch-Site", "same-origin"), true},
		{"a page that is trusted", "POST", "localhost:7717", loopback, header("Origin", "https://console.example", "Sec-Fetch-Site", "cross-site"), true},
		{"a page that reads", "GET", "localhost:7717", loopback, header("Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site"), true},

		{"another page", "POST", "localhost:7717", loopback, header("Origin", "http://evil.example"), false},
		{"another page that deletes", "DELETE", "localhost:7717", loopback, header("Origin", "http://evil.example"), false},
		{"another server on this machine", "POST", "localhost:7717", loopback, header("Origin", "http://localhost:3000"), false},
		{"another server on this machine, says the browser", "POST", "localhost:7717", loopback, header("Origin", "http://localhost:3000", "Sec-Fetch-Site", "same-site"), false},
		{"a page from nowhere", "POST", "localhost:7717", loopback, header("Origin", "null"), false},
		{"a file", "POST", "localhost:7717", loopback, header("Origin", "file://"), false},
		{"an origin that cannot be read", "POST", "localhost:7717", loopback, header("Origin", "http://[::1"), false},
		{"another page that hides its origin", "POST", "localhost:7717", loopback, header("Sec-Fetch-Site", "cross-site"), false},
		{"a rebound page that its browser takes for ours", "POST", "evil.example:7717", loopback, header("Origin", "http://evil.example:7717", "Sec-Fetch-Site", "same-origin"), false},

		{"a WebSocket of a program", "GET", "localhost:7717", loopback, header("Upgrade", "websocket"), true},
		{"a WebSocket of our page", "GET", "localhost:7717", loopback, header("Upgrade", "websocket", "Origin", "http://localhost:7717"), true},
		{"a WebSocket of a trusted page", "GET", "localhost:7717", loopback, header("Upgrade", "websocket", "Origin", "https://console.example"), true},
		{"a WebSocket of another page", "GET", "localhost:7717", loopback, header("Upgrade", "websocket", "Origin", "http://evil.example"), false},
		{"a WebSocket from nowhere", "GET", "localhost:7717", loopback, header("Upgrade", "websocket", "Origin", "null"), false},
		{"a WebSocket of another server here", "GET", "localhost:7717", loopback, header("Upgrade", "websocket", "Origin", "http://localhost:3000"), false},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "/v1/spaces", nil)
			r.Host = c.host
			if c.header != nil {
				r.Header = c.header
			}
			at, err := net.ResolveTCPAddr("tcp", c.at)
			if err != nil {
				t.Fatal(err)
			}
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(at)))
			err = guard.check(r)
			if (err == nil) != c.ok {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestOriginsThatAreNone(t *testing.T) {
	for _, o := range []string{"example.org", "https://", "https://example.org/path", "https://[::1"} {
		if _, err := newOriginGuard(nil, []string{o}); err == nil {
			t.Errorf("%q is taken for an origin", o)
		}
	}
}

// The guard stands before everything, also before what asks for no token.
func TestHostileRequests(t *testing.T) {
	h := newHouse(t)
	for _, path := range []string{"/v1/spaces", "/healthz", "/readyz", "/metrics", "/v1/session", "/ws?topic=demo", "/nothing"} {
		h.ask("", "GET", path, "", func(r *http.Request) { r.Host = "evil.example" }).refused(403, parley.Unauthorized)
	}
	cookie := h.login("human")
	evil := func(r *http.Request) { cookie(r); r.Header.Set("Origin", "http://evil.example") }
	h.ask("", "POST", "/v1/spaces/demo/envelopes", `{"kind":"chat"}`, evil).refused(403, parley.Unauthorized)
	h.ask("", "POST", "/v1/session", `{"token":"agent-token"}`, evil).refused(403, parley.Unauthorized)
	h.ask("", "DELETE", "/v1/session", ``, evil).refused(403, parley.Unauthorized)
	for _, upgrades := range [][]string{{"websocket"}, {"", "websocket"}} {
		h.ask("", "GET", "/ws?topic=demo", ``, evil, func(r *http.Request) {
			r.Header.Set("Connection", "Upgrade")
			r.Header["Upgrade"] = upgrades
		}).refused(403, parley.Unauthorized)
	}
	h.ask("", "POST", "/v1/spaces/demo/envelopes", `{"kind":"chat"}`, cookie).ok(202)
}

// Whatever Host and Origin say, a page that opens a WebSocket without a token
// is one of ours.
func FuzzOriginGuard(f *testing.F) {
	f.Add("localhost:7717", "http://localhost:7717")
	f.Add("parley.example", "https://parley.example")
	f.Add("evil.example", "http://evil.example")
	f.Add("localhost:7717", "http://localhost:7717@evil.example")
	f.Add("[::1%25lo]:1", "null")
	guard, err := newOriginGuard([]string{"parley.example"}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, host, origin string) {
		r := &http.Request{Method: "GET", Host: host, URL: &url.URL{}, Header: http.Header{"Upgrade": {"websocket"}, "Origin": {origin}}}
		if guard.check(r) != nil || origin == "" {
			return
		}
		u, err := url.Parse(origin)
		if err != nil || u.Host != host {
			t.Fatalf("%q may act on %q", origin, host)
		}
		if name := u.Hostname(); !strings.EqualFold(strings.TrimSuffix(name, "."), "parley.example") && !isLoopback(hostname(u.Host)) {
			t.Fatalf("%q is one of ours", name)
		}
	})
}
