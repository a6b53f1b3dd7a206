package main

import (
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyhq/parley/internal/config"
)

// openedHouse is a house that serves, until the test ends.
func openedHouse(t *testing.T, text string) *house {
	t.Helper()
	c, err := config.Parse("parley.yaml", []byte(text), config.Env{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	h, err := openHouse(t.Context(), &plan{config: c, urlFile: filepath.Join(t.TempDir(), "url"), log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	if err := h.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

// The names and origins of the configuration are those of the gateway.
func TestHostsAndOrigins(t *testing.T) {
	const text = "listen: 127.0.0.1:0\nhosts: [parley.example]\norigins: ['https://pages.example']\nspaces: {demo: }\n"
	h := openedHouse(t, text)
	for _, c := range []struct {
		host, origin string
		refused      bool
	}{
		{"parley.example", "", false}, {"other.example", "", true}, {"localhost", "", false},
		{"localhost", "https://pages.example", false}, {"localhost", "https://other.example", true},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, h.url+"/v1/session", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = c.host
		if c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if refused := res.StatusCode == http.StatusForbidden; refused != c.refused {
			t.Errorf("as %q, from %q: %s", c.host, c.origin, res.Status)
		}
	}
}

// Whoever comes through a proxy, or by a name that others know, is somebody else
// than who sits at this machine, and does not get in without a token.
func TestAnonymousFromThisMachineAlone(t *testing.T) {
	const text = "listen: 127.0.0.1:0\nhosts: [parley.example]\nspaces: {demo: {mcp: {anonymous: guest}, participants: {guest: {capabilities: [chat]}}}}\n"
	h := openedHouse(t, text)
	for _, c := range []struct {
		header, value string
		want          int
	}{
		{"", "", http.StatusOK},
		{"Host", "parley.example", http.StatusUnauthorized},
		{"X-Forwarded-For", "192.0.2.9", http.StatusUnauthorized},
		{"X-Real-Ip", "192.0.2.9", http.StatusUnauthorized},
		{"Forwarded", "for=192.0.2.9", http.StatusUnauthorized},
		{"Via", "1.1 proxy", http.StatusUnauthorized},
		{"Authorization", "Bearer nonsense", http.StatusUnauthorized},
	} {
		const ask = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+"/mcp/demo", strings.NewReader(ask))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if c.header == "Host" {
			req.Host = c.value
		} else if c.header != "" {
			req.Header.Set(c.header, c.value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%s %s: %s", c.header, c.value, res.Status)
		}
	}
}
