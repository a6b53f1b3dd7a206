package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
)

func TestConsole(t *testing.T) {
	h := newHouse(t)
	page := h.ask("", "GET", "/console/", "").ok(200)
	if !strings.HasPrefix(strings.ToLower(page.body), "<!doctype html>") {
		t.Errorf("the page is %.80q", page.body)
	}
	for name, want := range map[string]string{
		"Content-Type":               "text/html; charset=utf-8",
		"Cache-Control":              "no-cache",
		"X-Content-Type-Options":     "nosniff",
		"Referrer-Policy":            "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin",
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
			"connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
	} {
		if got := page.header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	packed := h.ask("", "GET", "/console/", "", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") }).ok(200)
	if packed.header.Get("Content-Encoding") == "gzip" && len(packed.body) >= len(page.body) {
		t.Error("compressed it is longer")
	}
	h.ask("", "GET", "/console/", "", func(r *http.Request) { r.Header.Set("If-None-Match", page.header.Get("ETag")) }).ok(304)
	if got := h.ask("", "HEAD", "/console/", "").ok(200).body; got != "" {
		t.Errorf("HEAD has a body: %.80q", got)
	}

	for from, to := range map[string]string{"/": "/console/", "/console": "/console/"} {
		if r := h.ask("", "GET", from, ""); r.status/100 != 3 || r.header.Get("Location") != to {
			t.Errorf("%s leads to %q, %d", from, r.header.Get("Location"), r.status)
		}
	}
	for _, path := range []string{"/console/no.js", "/console/room", "/console/vendor/", "/console/%2e%2e%2fembed.go", "/console/..%5cembed.go"} {
		missed := h.ask("", "GET", path, "")
		missed.refused(404, parley.NotFound)
		if got := missed.header.Get("Content-Security-Policy"); got != "default-src 'none'; frame-ancestors 'none'" {
			t.Errorf("%s: %s", path, got)
		}
	}
	h.ask("", "POST", "/console/", "").refused(405, parley.InvalidArgument)
	h.ask("", "GET", "/console/", "", func(r *http.Request) { r.Host = "evil.example" }).refused(403, parley.Unauthorized)
}
