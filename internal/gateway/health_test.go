package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
)

func TestHealth(t *testing.T) {
	h := newHouse(t)
	if got := h.ask("", "GET", "/healthz", "").ok(200).body; got != "{\"status\":\"ok\"}\n" {
		t.Error(got)
	}
	if got := h.ask("", "GET", "/readyz", "").ok(200).body; got != "{\"status\":\"ready\"}\n" {
		t.Error(got)
	}
	if err := h.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.ask("", "GET", "/readyz", "").refused(503, parley.Unavailable)
	h.ask("", "GET", "/healthz", "").ok(200)
}

func TestWhoSeesMetrics(t *testing.T) {
	h := newHouse(t)
	remote := func(r *http.Request) { r.RemoteAddr = "192.168.1.9:1234" }
	proxied := func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.168.1.9") }
	named := func(r *http.Request) { r.Host = "parley.example" }
	for _, change := range []func(*http.Request){remote, proxied, named} {
		h.ask("", "GET", "/metrics", "", change).refused(401, parley.Unauthorized)
	}
	own := h.ask("agent", "GET", "/metrics", "", remote).ok(200).body
	if !strings.Contains(own, `space="demo"`) || strings.Contains(own, `space="lazy"`) {
		t.Error("a token does not show its own spaces alone")
	}
	both := h.ask("both", "GET", "/metrics", "", remote).ok(200).body
	if !strings.Contains(both, `space="demo"`) || !strings.Contains(both, `space="lazy"`) {
		t.Error("a token of two spaces does not show both")
	}
	h.ask("stranger", "GET", "/metrics", "").refused(401, parley.Unauthorized)
}
