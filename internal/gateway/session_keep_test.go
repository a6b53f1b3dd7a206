package gateway

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
)

// keeping starts a house that keeps sessions in a file, and ends it.
func keeping(t *testing.T, path string, change ...func(*Options)) (*house, func()) {
	t.Helper()
	h := newHouse(t, append(change, func(o *Options) { o.Sessions = path })...)
	return h, func() {
		if err := h.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSessionsSurviveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions")
	h, end := keeping(t, path)
	cookie := h.ask("", "POST", "/v1/session", `{"token":"human-token"}`).ok(200).cookie()
	human := func(r *http.Request) { r.AddCookie(cookie) }
	agent, gone := h.login("agent"), h.login("human")
	h.clock.add(11 * time.Hour)
	h.ask("", "GET", "/v1/session", "", human).ok(200)
	h.ask("", "DELETE", "/v1/session", "", gone).ok(204)
	end()

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), cookie.Value) || strings.Contains(string(text), "human") {
		t.Errorf("the file says who, or with what: %s", text)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	// When each was last used is remembered.
	h, end = keeping(t, path, func(o *Options) { later := o.Now().Add(12 * time.Hour); o.Now = func() time.Time { return later } })
	h.ask("", "GET", "/v1/spaces", "", human).ok(200)
	h.ask("", "GET", "/v1/spaces", "", agent).refused(401, parley.Unauthorized)
	h.ask("", "GET", "/v1/spaces", "", gone).refused(401, parley.Unauthorized)
	end()
}

// Who signs out is signed out, even if the gateway is killed at once. A token that
// leaves the configuration takes its sessions along, for good.
func TestSessionsThatEndStayEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions")
	h, end := keeping(t, path)
	out, everywhere, human := h.login("agent"), h.login("hasty"), h.login("human")
	h.saveSessions()
	left := func(want int) {
		t.Helper()
		if kept, err := readSessions(path); err != nil || len(kept.Sessions) != want {
			t.Errorf("%d sessions are kept, want %d; %v", len(kept.Sessions), want, err)
		}
	}
	left(3)
	h.ask("", "DELETE", "/v1/session", "", out).ok(204)
	left(2)
	h.ask("", "DELETE", "/v1/session?everywhere=true", "", everywhere).ok(204)
	left(1)
	killed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end()
	if err := os.WriteFile(path, killed, 0o600); err != nil {
		t.Fatal(err)
	}

	h, end = keeping(t, path)
	h.ask("", "GET", "/v1/spaces", "", out).refused(401, parley.Unauthorized)
	h.ask("", "GET", "/v1/spaces", "", everywhere).refused(401, parley.Unauthorized)
	h.ask("", "GET", "/v1/spaces", "", human).ok(200)
	end()

	without := func(o *Options) {
		p := o.Spaces[0].Participants["human"]
		p.Tokens = p.Tokens[1:]
		o.Spaces[0].Participants["human"] = p
	}
	h, end = keeping(t, path, without)
	left(0)
	h.ask("", "GET", "/v1/spaces", "", human).refused(401, parley.Unauthorized)
	end()
	h, end = keeping(t, path)
	h.ask("", "GET", "/v1/spaces", "", human).refused(401, parley.Unauthorized)
	end()
}

// A file that is not as it was written signs nobody in, and stops nothing.
func TestSessionsThatCannotBeRead(t *testing.T) {
	const digits = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	one := func(id, began, used string) string {
		return `{"sessions":[{"id":"` + id + `","token":"` + digits + `","began":"` + began + `","used":"` + used + `"}]}`
	}
	for name, text := range map[string]string{
		"empty": "", "cut off": `{"sessions":[`, "no JSON": "\x00\xff", "another shape": `[]`, "more": `{"sessions":[],"admin":true}`,
		"a short hash": one("00", "2026-11-20T11:00:00Z", "2026-11-20T11:00:00Z"),
		"no hash":      one(strings.Repeat("x", 64), "2026-11-20T11:00:00Z", "2026-11-20T11:00:00Z"),
		"of nobody":    one(digits, "2026-11-20T11:00:00Z", "2026-11-20T11:00:00Z"),
		"of tomorrow":  one(digits, "2026-11-21T11:00:00Z", "2026-11-21T11:00:00Z"),
		"too long":     `{"sessions":[` + strings.Repeat(" ", mostKept) + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			h, end := keeping(t, path, func(o *Options) { // somebody has the token of the file, but for one case
				if name != "of nobody" {
					p := o.Spaces[0].Participants["human"]
					p.Tokens = append(p.Tokens, TokenHash{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
						0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff})
					o.Spaces[0].Participants["human"] = p
				}
			})
			if n := len(h.api.sessions.all()); n != 0 {
				t.Errorf("%d sessions come out of it", n)
			}
			cookie := h.login("human")
			end()
			h, end = keeping(t, path)
			h.ask("", "GET", "/v1/spaces", "", cookie).ok(200)
			end()
		})
	}
}

// Where the file cannot be written, sessions last as long as the process.
func TestSessionsThatCannotBeKept(t *testing.T) {
	h, end := keeping(t, filepath.Join(t.TempDir(), "no", "such", "folder"))
	cookie := h.login("human")
	h.ask("", "GET", "/v1/spaces", "", cookie).ok(200)
	h.ask("", "DELETE", "/v1/session", "", cookie).ok(204)
	end()
	if !strings.Contains(h.log.String(), "sessions are not kept") {
		t.Error("nobody is told")
	}
}
