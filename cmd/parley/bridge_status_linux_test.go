package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bridgeItem is what the gateway says of a server.
type bridgeItem struct {
	Participant, Transport, State, Era, Protocol string
	PID, Restarts, Failures, Tools               int
	LastExit                                     struct{ Reason string } `json:"last_exit"`
	Stderr                                       []string
}

// asked is an answer of the gateway to somebody.
func (h *house) asked(t *testing.T, who, method, path, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, h.url+"/v1/spaces/demo/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+who+"-token-of-this-test")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(said)
}

// bridgeUntil asks how a server does until that is as wanted.
func (h *house) bridgeUntil(t *testing.T, id, what string, is func(bridgeItem) bool) (one bridgeItem) {
	t.Helper()
	for late := time.Now().Add(time.Minute); time.Now().Before(late); time.Sleep(5 * time.Millisecond) {
		status, answer := h.asked(t, "admin", "GET", "bridges", "")
		var list struct{ Items []bridgeItem }
		if err := json.Unmarshal([]byte(answer), &list); err != nil || status != 200 {
			t.Fatalf("%d %s, %v", status, answer, err)
		}
		i := slices.IndexFunc(list.Items, func(b bridgeItem) bool { return b.Participant == id })
		if i < 0 {
			continue // it is not begun yet
		}
		if one = list.Items[i]; is(one) {
			return one
		}
	}
	t.Fatalf("%s is not %s: %+v", id, what, one)
	return one
}

func isRunning(b bridgeItem) bool { return b.State == "running" && b.Tools > 0 }

// bridgedHouse is one with servers, and with somebody who may restart them.
func bridgedHouse(t *testing.T, servers string) *house {
	t.Helper()
	h := openedHouse(t, `
listen: 127.0.0.1:0
spaces:
  demo:
    participants:
      admin: {token: admin-token-of-this-test, capabilities: ["space/*", chat]}
      guest: {token: guest-token-of-this-test, capabilities: [chat]}
    mcp_servers:
`+servers)
	out := &terminal{out: io.Discard, err: io.Discard}
	h.bridge(h.invite(t.Context()), &announcer{t: out, house: h})
	return h
}

// shell is a server whose program is the words of a shell.
func shell(id, env, script string) string {
	return fmt.Sprintf("      %s: {command: sh, args: [-c, %q]%s}\n", id, script, env)
}

// fileTool runs the built-in tool for a folder: this program is called parley in
// PATH.
func fileTool(t *testing.T) string {
	t.Helper()
	return "exec parley tools files '" + t.TempDir() + "'"
}

func TestBridgesOverHTTP(t *testing.T) {
	const secret = "hush-hush-12345"
	h := bridgedHouse(t, shell("files", ", env: {KEY: "+secret+"}", `echo "the key is $KEY" >&2; `+fileTool(t)))
	first := h.bridgeUntil(t, "files", "up", isRunning)
	if first.Transport != "stdio" || first.PID == 0 || first.Restarts != 0 || first.Era != "modern" || first.Protocol != "2026-07-28" {
		t.Errorf("%+v", first)
	}
	h.bridgeUntil(t, "files", "heard", func(b bridgeItem) bool { return slices.Contains(b.Stderr, "the key is [redacted]") })

	// A kill is a restart, and a reason.
	if err := syscall.Kill(first.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second := h.bridgeUntil(t, "files", "up again", func(b bridgeItem) bool { return isRunning(b) && b.PID != first.PID })
	if second.Restarts != 1 || !strings.Contains(second.LastExit.Reason, "signal: killed") || strings.Contains(second.LastExit.Reason, secret) {
		t.Errorf("%+v", second)
	}

	// Who may not restart it sees that it runs, and no more.
	if status, answer := h.asked(t, "guest", "GET", "bridges", ""); status != 200 || !strings.Contains(answer, `"may_restart":false`) ||
		!strings.Contains(answer, `"state":"running"`) || strings.Contains(answer, "stderr") || strings.Contains(answer, "pid") || strings.Contains(answer, "last_exit") {
		t.Errorf("guest is told %d %s", status, answer)
	}
	for _, c := range []struct {
		who, path, body string
		status          int
	}{
		{"guest", "bridges/files/restart", "{}", 403}, {"admin", "bridges/guest/restart", "{}", 404},
		{"admin", "bridges/files/restart", `{"now":true}`, 400}, {"admin", "bridges/files/restart", `{"id":"a b"}`, 400},
	} {
		if status, answer := h.asked(t, c.who, "POST", c.path, c.body); status != c.status {
			t.Errorf("%+v: %d %s", c, status, answer)
		}
	}

	// A restart is on record, with who asked and why.
	if status, answer := h.asked(t, "admin", "POST", "bridges/files/restart", `{"id":"r1","reason":"a new version"}`); status != 202 {
		t.Fatalf("%d %s", status, answer)
	}
	h.bridgeUntil(t, "files", "restarted", func(b bridgeItem) bool { return isRunning(b) && b.Restarts == 2 && b.PID != second.PID })
	_, order := h.asked(t, "guest", "GET", "envelopes/r1", "")
	if !strings.Contains(order, `"from":"admin"`) || !strings.Contains(order, `"kind":"space/restart-bridge"`) || !strings.Contains(order, `"payload":{"participant":"files","reason":"a new version"}`) {
		t.Errorf("on record is %s", order)
	}
}

// A server that ends again and again has failed, says what it said, and is tried at
// once when somebody asks for that.
func TestCrashLoop(t *testing.T) {
	gate := t.TempDir() + "/gate"
	h := bridgedHouse(t, shell("broken", "", `test -e '`+gate+`' || { echo "no such folder" >&2; exit 3; }; `+fileTool(t)))
	failed := h.bridgeUntil(t, "broken", "failed", func(b bridgeItem) bool { return b.State == "failed" && b.Failures >= 3 })
	if failed.PID != 0 || failed.Restarts < 2 || failed.Tools != 0 || !strings.Contains(failed.LastExit.Reason, "exit status 3") ||
		!slices.Contains(failed.Stderr, "no such folder") {
		t.Errorf("%+v", failed)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, answer := h.asked(t, "admin", "POST", "bridges/broken/restart", ""); status != 202 {
		t.Fatalf("%d %s", status, answer)
	}
	if up := h.bridgeUntil(t, "broken", "up", isRunning); up.Failures != 0 {
		t.Errorf("%+v", up)
	}
}
