package main

import (
	"log/slog"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/parleyhq/parley/internal/config"
)

// The names and origins of the configuration are those of the gateway.
func TestHostsAndOrigins(t *testing.T) {
	const text = "listen: 127.0.0.1:0\nhosts: [parley.example]\norigins: ['https://pages.example']\nspaces: {demo: }\n"
	c, err := config.Parse("parley.yaml", []byte(text), config.Env{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	h, err := openHouse(t.Context(), &plan{config: c, urlFile: filepath.Join(t.TempDir(), "url"), log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if err := h.open(t.Context()); err != nil {
		t.Fatal(err)
	}
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
