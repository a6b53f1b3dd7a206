package main

import (
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a bridge does is among the gateway's figures, also while its server
// cannot be started.
func TestBridgesAreCounted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.yaml")
	err := os.WriteFile(path, []byte(`
listen: 127.0.0.1:0
spaces:
  demo:
    mcp_servers:
      files: {command: `+filepath.Join(dir, "missing")+`}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	c, err := loadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	h, err := openHouse(t.Context(), &plan{config: c, log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if err := h.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.bridge(h.invite(t.Context()), &announcer{t: &terminal{out: io.Discard, err: io.Discard}, house: h})
	res, err := http.Get(h.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`parley_bridge_state{server="files",space="demo",state="up"} 0`,
		`parley_bridge_restarts_total{server="files",space="demo"} `,
		`parley_bridge_calls_total{outcome="lost",server="files",space="demo"} 0`,
		`parley_journal_size_bytes{file="record"} `,
		`parley_journal_writable 1`,
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("no %s", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", body)
	}
}
