package gateway

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyhq/parley"
)

// bridges are servers that do nothing.
type bridges struct {
	mu        sync.Mutex
	list      []Bridge
	restarted []string
}

func (b *bridges) Of(space string) []Bridge {
	if space != "demo" {
		return nil
	}
	return b.list
}

func (b *bridges) Restart(space, participant string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.restarted = append(b.restarted, space+"/"+participant)
}

func (b *bridges) all() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.restarted, " ")
}

func TestBridges(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	all := &bridges{list: []Bridge{
		{Participant: "files", Transport: "stdio", State: "running", Since: at, PID: 7, Restarts: 1, Era: "modern", Protocol: "2026-07-28", Tools: 8, Stderr: []string{"a", `"b"`}},
		{Participant: "agent", Transport: "http", State: "failed", Since: at, Restarts: 3, Failures: 2, RetryAt: at, ExitAt: at, Exit: "it ended", Tools: -1},
	}}
	h := newHouse(t, func(o *Options) { o.Bridges = all })
	const want = `{"may_restart":true,"items":[` +
		`{"participant":"agent","transport":"http","state":"failed","since":"2026-11-20T12:00:00.000Z","restarts":3,"failures":2,"retry_at":"2026-11-20T12:00:00.000Z","last_exit":{"at":"2026-11-20T12:00:00.000Z","reason":"it ended"},"stderr":[]},` +
		`{"participant":"files","transport":"stdio","state":"running","since":"2026-11-20T12:00:00.000Z","restarts":1,"era":"modern","protocol":"2026-07-28","tools":8,"pid":7,"stderr":["a","\"b\""]}]}` + "\n"
	if got := h.get("human", "bridges").body; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if got := h.get("hasty", "bridges").body; !strings.HasPrefix(got, `{"may_restart":false,`) || strings.Contains(got, "stderr") || strings.Contains(got, "it ended") || strings.Contains(got, "pid") {
		t.Errorf("who may not restart them is told %s", got)
	}
	if got := h.ask("both", "GET", "/v1/spaces/lazy/bridges", "").ok(200).body; got != "{\"may_restart\":false,\"items\":[]}\n" {
		t.Errorf("another space has %s", got)
	}
	h.ask("hasty", "POST", "/v1/spaces/demo/bridges/files/restart", "").refused(403, parley.CapabilityViolation)
	h.ask("human", "POST", "/v1/spaces/demo/bridges/hasty/restart", "").refused(404, parley.NotFound)
	if got := all.all(); got != "" {
		t.Errorf("restarted are %s", got)
	}

	// Each order counts once, whichever way it comes; it takes effect once it is on
	// record, also where the server is down.
	h.post("human", "bridges/files/restart", `{"id":"r1","reason":"stuck"}`)
	h.post("human", "envelopes", `{"kind":"space/restart-bridge","payload":{"participant":"agent"}}`)
	for deadline := time.Now().Add(time.Minute); all.all() != "demo/files demo/agent"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("restarted are %s", all.all())
		}
	}
	if got := h.get("agent", "envelopes/r1").body; !strings.Contains(got, `"from":"human"`) || !strings.Contains(got, `"payload":{"participant":"files","reason":"stuck"}`) {
		t.Errorf("on record is %s", got)
	}
}

// Without servers there is nothing to restart.
func TestNoBridges(t *testing.T) {
	h := newHouse(t)
	if got := h.get("human", "bridges").body; got != "{\"may_restart\":true,\"items\":[]}\n" {
		t.Errorf("there are %s", got)
	}
	h.post("human", "envelopes", `{"kind":"space/restart-bridge","payload":{"participant":"files"}}`)
	h.chat("human", "c1")
}
