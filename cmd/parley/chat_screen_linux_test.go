package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
)

// screened is somebody at a whole screen, in tmux, as somebody over ssh would be.
type screened struct {
	*testing.T
	dir string
	env []string
}

// opensScreen lets a shell run a command line in tmux, on a screen of that size.
func opensScreen(t *testing.T, width, height int, line string, env ...string) *screened {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: apt-get install tmux")
	}
	dir, err := os.MkdirTemp("", "parley-tmux") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	s := &screened{t, dir, append(os.Environ(), env...)}
	s.tmux("new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "echo before; "+line+`; echo "left with $?"; exec cat`)
	t.Cleanup(func() {
		s.tmux("kill-server")
		os.RemoveAll(dir)
	})
	return s
}

func (s *screened) tmux(args ...string) string {
	s.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(s.dir, "s"), "-f", os.DevNull, "-u"}, args...)...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// keys presses keys, by their names in tmux, and types writes text.
func (s *screened) keys(names ...string) {
	s.Helper()
	s.tmux(append([]string{"send-keys"}, names...)...)
}

func (s *screened) types(text string) {
	s.Helper()
	s.tmux("send-keys", "-l", text)
}

// presses presses a key again and again until the screen shows a pattern: what has
// only just appeared cannot be approved.
func (s *screened) presses(key, pattern string) {
	s.Helper()
	s.pressesEvery(100*time.Millisecond, key, pattern)
}

// settled is longer than what has just come into sight takes no key.
const settled = 600 * time.Millisecond

func (s *screened) pressesEvery(pause time.Duration, key, pattern string) {
	s.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	tick := time.NewTicker(pause)
	defer tick.Stop()
	late := time.After(patience)
	for !re.MatchString(s.tmux("capture-pane", "-p")) {
		s.keys(key)
		select {
		case <-tick.C:
		case <-late:
			s.Fatalf("%s never leads to %s", key, pattern)
		}
	}
}

// await waits until the screen shows a pattern, and returns the screen.
func (s *screened) await(pattern string) string {
	s.Helper()
	return s.awaits(pattern, "capture-pane", "-p")
}

// awaits waits until a command of tmux answers with a pattern.
func (s *screened) awaits(pattern string, command ...string) string {
	s.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for {
		shown := s.tmux(command...)
		if re.MatchString(shown) {
			return shown
		}
		select {
		case <-tick.C:
		case <-late:
			s.Fatalf("the screen does not show %s:\n%s", pattern, shown)
		}
	}
}

// sitsAtScreen lets you take part on a whole screen.
func sitsAtScreen(t *testing.T, g *parleytest.Gateway, width, height int, env ...string) *screened {
	t.Helper()
	s := opensScreen(t, width, height, fmt.Sprintf("parley chat --url %s --space %s --token-file %s", g.URL, g.Space, tokenFile(t, g, "you")), env...)
	s.await(`you are you|demo`)
	return s
}

func tokenFile(t *testing.T, g *parleytest.Gateway, who string) string {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(g.Token(who)), 0o600); err != nil {
		t.Fatal(err)
	}
	return token
}

// decided are those who take part in what is proposed here.
var decided = &parleytest.Options{Participants: map[string][]string{
	"you": {"mcp/*", "chat"}, "agent": {"mcp/proposal:*", "chat", "reflection"}, "files": {"mcp/response:*", "mcp/request:elicitation/*"},
}}

// serves answers every call with what it was given, until the test ends.
func serves(t *testing.T, g *parleytest.Gateway) *client.Room {
	t.Helper()
	room, err := client.Dial(t.Context(), g.URL, &client.Options{Token: g.Token("files"), Space: g.Space,
		Handler: func(_ context.Context, r *client.Request) (any, error) {
			return map[string]any{"content": []any{map[string]any{"type": "text", "text": "ran with " + string(parley.Member(r.Params, "arguments"))}}}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(room.Close)
	return room
}

func proposes(t *testing.T, agent *client.Room, params string, opts ...client.SendOption) *client.Proposal {
	t.Helper()
	p, err := agent.Propose(t.Context(), "files", "tools/call", jsontext.Value(params), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func outcomeOf(t *testing.T, p *client.Proposal) client.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	o, err := p.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A newcomer starts the demo, sits down in it, approves what its agent proposes, and
// verifies the record of it, by what the screen says.
func TestScreenOfTheDemo(t *testing.T) {
	dir := t.TempDir()
	up := opensScreen(t, 120, 40, "cd "+dir+" && parley up --listen 127.0.0.1:0")
	shown := up.await(`Ctrl-C ends it all`)
	line := regexp.MustCompile(`(?m)^  (parley chat .*)$`).FindStringSubmatch(shown)
	if line == nil {
		t.Fatalf("nothing says how to sit down:\n%s", shown)
	}
	you := opensScreen(t, 80, 24, "cd "+dir+" && "+strings.TrimSpace(line[1]))
	you.await(`1 proposal waits: write_file by agent — press a to approve`)
	you.keys("a")
	you.await(`(?s)"path": "hello.txt".*Exactly as it will be sent.*Enter runs it`)
	you.presses("Enter", `^(running|done) by you`)
	you.await(`^done by you\n→ created hello\.txt`)
	you.keys("Escape")
	you.await(`proposes write_file +\[done by you\]`)
	you.await(`Now hello\.txt reads`)
	if _, err := os.Stat(filepath.Join(dir, ".parley", "files", "hello.txt")); err != nil {
		t.Error(err)
	}
	you.keys("v")
	you.await(`the chain of demo holds: \d+ envelopes`)
	you.keys("C-c")
	you.await(`^before\nleft with 0`)
	up.keys("C-c")
	up.await(`^Done\.$`)
}

// Rejecting says why; amending sends other arguments as one's own, all digits kept.
func TestScreenDecides(t *testing.T) {
	g := parleytest.Start(t, decided)
	serves(t, g)
	agent := joins(t, g, "agent")
	you := sitsAtScreen(t, g, 80, 24)

	first := proposes(t, agent, `{"name":"delete_file","arguments":{"path":"notes.txt"}}`)
	you.await(`1 proposal waits: delete_file by agent`)
	you.keys("r")
	you.await(`(?s)"path": "notes\.txt".*Reject: disagree`)
	you.keys("Tab")
	you.types("it holds my notes")
	you.keys("Enter")
	if o := outcomeOf(t, first); o.Decision != client.Rejected || o.Reason != "unsafe" || o.Message != "it holds my notes" {
		t.Errorf("the agent is told %+v", o)
	}
	you.await(`^rejected by you\n→ unsafe: it holds my notes`)

	second := proposes(t, agent, `{"name":"write_file","arguments":{"path":"a.txt","size":12345678901234567890.10}}`)
	you.await(`1 waits`)
	you.keys("n")
	you.await(`Proposal write_file`)
	you.keys("m")
	you.await(`Ctrl-S shows the difference`)
	you.keys("Down", "End", "Left", "Left")
	you.types("x")
	you.await(`"a\.txtx"`)
	you.keys("C-s")
	you.await(`(?s)-   "path": "a\.txt",\n\+   "path": "a\.txtx",.*as your own\?`)
	you.keys("Enter")
	o := outcomeOf(t, second)
	if o.Decision != client.Amended || o.By != "you" || !strings.Contains(string(o.Reply.Result), `{\"path\":\"a.txtx\",\"size\":12345678901234567890.10}`) {
		t.Errorf("the agent is told %s by %s: %s", o.Decision, o.By, o.Reply.Result)
	}
	you.await(`^done by you`)
}

// Long arguments are approved on a small screen once their end was in sight.
func TestScreenReadsOn(t *testing.T) {
	g := parleytest.Start(t, decided)
	serves(t, g)
	agent := joins(t, g, "agent")
	you := sitsAtScreen(t, g, 40, 12)
	long := proposes(t, agent, `{"name":"write_file","arguments":{"path":"a.txt","content":"`+strings.Repeat("word ", 60)+`","force":true}}`)
	you.await(`1 waits: write_file`)
	you.keys("a")
	you.await(`Enter reads on`)
	you.pressesEvery(settled, "Enter", `(?s)true\}\}\n.*Enter runs it|^(running|done) by you`)
	you.pressesEvery(settled, "Enter", `^(running|done) by you`)
	if o := outcomeOf(t, long); o.Decision != client.Fulfilled {
		t.Errorf("the agent is told %+v", o)
	}
}

// Several are chosen and rejected for one reason.
func TestScreenRejectsSeveral(t *testing.T) {
	g := parleytest.Start(t, decided)
	agent := joins(t, g, "agent")
	you := sitsAtScreen(t, g, 80, 24)
	var all []*client.Proposal
	for i := range 3 {
		all = append(all, proposes(t, agent, fmt.Sprintf(`{"name":"delete_file","arguments":{"path":"%d.txt"}}`, i)))
	}
	you.await(`3 proposals wait`)
	you.keys("q", "End", "x")
	you.await(`1 chosen, of 3 that wait`)
	you.keys("Home", "X", "R")
	you.await(`(?s)Reject 3 proposals.*Enter rejects these 3`)
	you.types("not today")
	you.presses("Enter", `^3 are rejected\.`)
	for _, p := range all {
		if o := outcomeOf(t, p); o.Decision != client.Rejected || o.Reason != "disagree" || o.Message != "not today" {
			t.Errorf("the agent is told %+v", o)
		}
	}
	you.presses("Escape", `Nothing waits for a decision\.|\[rejected by you\]`)
}

// A form is filled in on the screen.
func TestScreenFillsForms(t *testing.T) {
	g := parleytest.Start(t, chatters)
	files := joins(t, g, "files")
	answer := asks(t.Context(), files, "what now?") // before anybody sits there
	you := sitsAtScreen(t, g, 80, 24)
	you.await(`1 form waits: files asks you something — press e`)
	you.keys("e")
	you.await(`what now\?`)
	you.types("this")
	you.keys("C-s")
	you.await(`Enter sends`)
	you.keys("Enter")
	wants(t, answer, `{"action":"accept","content":{"text":"this"}}`)
	you.await(`^Sent\.`)
}

// A link is shown on the screen, and agreed to by who has seen all of it.
func TestScreenShowsLinks(t *testing.T) {
	g := parleytest.Start(t, chatters)
	files := joins(t, g, "files")
	answer := asksFor(t.Context(), files, `{"mode":"url","message":"Sign in","url":"https://example.com/login?state=`+strings.Repeat("0123456789", 40)+`"}`)
	you := sitsAtScreen(t, g, 40, 12)
	you.await(`1 question waits — press e`)
	you.keys("e")
	you.await(`(?s)It asks you to open a page of\n *example\.com.*Enter reads on`)
	you.pressesEvery(settled, "Enter", `Agree to open it\?|^Sent\.`)
	you.pressesEvery(settled, "Enter", `^Sent\.`)
	wants(t, answer, `{"action":"accept"}`)
}

// With --bell the terminal's bell rings for what newly waits, and not for what was there.
func TestScreenRings(t *testing.T) {
	g := parleytest.Start(t, decided)
	agent := joins(t, g, "agent")
	proposes(t, agent, `{"name":"write_file","arguments":{"path":"a.txt"}}`)
	you := opensScreen(t, 80, 24, fmt.Sprintf("parley chat --bell --url %s --space %s --token-file %s", g.URL, g.Space, tokenFile(t, g, "you")))
	you.await(`1 proposal waits`)
	rang := []string{"display-message", "-p", "#{window_bell_flag}"}
	if you.tmux(rang...) != "0\n" {
		t.Error("it rang for what was there")
	}
	proposes(t, agent, `{"name":"write_file","arguments":{"path":"b.txt"}}`)
	you.await(`2 proposals wait`)
	you.awaits(`^1$`, rang...)
}

// What happens while the gateway restarts is there afterwards, once.
func TestScreenReconnects(t *testing.T) {
	g := parleytest.Start(t, decided)
	you := sitsAtScreen(t, g, 80, 40)
	say := func(text string) {
		t.Helper()
		room := joins(t, g, "agent")
		defer room.Close()
		if _, err := room.Chat(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	say("message-1")
	you.await(`agent: message-1`)
	you.keys("i")
	g.Stop()
	you.await(`connection lost, trying again`)
	you.types("from-me")
	you.keys("Enter")
	you.await(`sent as soon as it is back`)
	g.Restart()
	say("message-2")
	you.await(`agent: message-2`)
	you.await(`you: from-me`)
	shown := you.await(`connected *$`)
	for _, text := range []string{"agent: message-1", "agent: message-2", "you: from-me"} {
		if n := strings.Count(shown, text); n != 1 {
			t.Errorf("%q is shown %d times:\n%s", text, n, shown)
		}
	}
}

// The screen may be of any size, and change.
func TestScreenIsResized(t *testing.T) {
	g := parleytest.Start(t, decided)
	agent := joins(t, g, "agent")
	you := sitsAtScreen(t, g, 40, 12)
	proposes(t, agent, `{"name":"write_file","arguments":{"path":"a.txt"}}`)
	you.await(`1 waits: write_file — press a`)
	you.tmux("resize-window", "-x", "120", "-y", "40")
	you.await(`Here now 2`)
	you.await(`1 proposal waits: write_file by agent`)
	you.keys("a")
	you.await(`Run write_file at files, in your name\?`)
	you.tmux("resize-window", "-x", "20", "-y", "5")
	you.tmux("resize-window", "-x", "40", "-y", "12")
	you.await(`(?s)"path": "a\.txt".*Enter runs it`)
	you.keys("Escape")
	you.await(`a approve`)
	you.keys("Escape")
	you.await(`1 waits: write_file`)
}

// Colours are left out where they are not wanted, and on a terminal that can do
// nothing there is no screen.
func TestScreenWithoutColours(t *testing.T) {
	g := parleytest.Start(t, decided)
	agent := joins(t, g, "agent")
	proposes(t, agent, `{"name":"write_file","arguments":{"path":"a.txt"}}`)
	coloured := regexp.MustCompile(`\x1b\[[0-9;]*\b(3[0-7]|9[0-7])[0-9;]*m`)
	for env, want := range map[string]bool{"NO_COLOR=1": false, "NO_COLOR=": true} {
		you := sitsAtScreen(t, g, 80, 24, env)
		you.await(`1 proposal waits`)
		if got := coloured.MatchString(you.tmux("capture-pane", "-p", "-e")); got != want {
			t.Errorf("with %s there are colours: %t, want %t", env, got, want)
		}
	}
	line := fmt.Sprintf("TERM=dumb parley chat --url %s --space %s --token-file %s", g.URL, g.Space, tokenFile(t, g, "you"))
	dumb := opensScreen(t, 80, 24, line)
	dumb.await(`you are you in demo; /help lists what can be typed`)
}

// What participants write cannot write to the terminal, however long it is.
func TestScreenIsNotWrittenTo(t *testing.T) {
	g := parleytest.Start(t, decided)
	agent := joins(t, g, "agent")
	you := sitsAtScreen(t, g, 80, 24)
	for _, text := range []string{
		"\x1b[2J\x1b[H\x1b]0;pwned\x07\x1b]52;c;cHduZWQ=\x07\u009b31mred \u202egnp.exe",
		strings.Repeat("x", 900<<10),
		"the last",
	} {
		if _, err := agent.Chat(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	shown := you.await(`agent: the last`)
	for _, want := range []string{`⟨U+001B⟩[2J⟨U+001B⟩[H⟨U+001B⟩]0;pwned⟨U+0007⟩`, `⟨U+009B⟩31mred`, `⟨U+202E⟩gnp`, `Enter shows all`} {
		if !strings.Contains(strings.ReplaceAll(shown, "\n         ", ""), want) {
			t.Errorf("the screen does not show %s:\n%s", want, shown)
		}
	}
	if title := you.tmux("display-message", "-p", "#{pane_title}"); strings.Contains(title, "pwned") {
		t.Errorf("the title of the window is %q", title)
	}
	you.keys("Up", "Enter") // all of the long one
	you.await(`^#\d+ *$`)
	you.keys("End")
	you.await(`^x{80}\n`)
}

// However it ends, the terminal is given back.
func TestScreenIsGivenBack(t *testing.T) {
	g := parleytest.Start(t, decided)
	for name, end := range map[string]func(*screened){
		"Ctrl-C": func(s *screened) { s.keys("C-c") },
		"/quit":  func(s *screened) { s.types("/quit"); s.keys("Enter") },
		"SIGTERM": func(s *screened) {
			s.signal(syscall.SIGTERM)
		},
	} {
		you := sitsAtScreen(t, g, 80, 24)
		end(you)
		you.await(`^before\nleft with 0\n`)
		you.types("typed")
		you.keys("Enter")
		you.await(`^typed\ntyped\n`) // the shell's terminal echoes again
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// signal sends a signal to the program that runs in the shell.
func (s *screened) signal(sig syscall.Signal) {
	s.Helper()
	shell := strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_pid}"))
	children, err := os.ReadFile(filepath.Join("/proc", shell, "task", shell, "children"))
	if err != nil {
		s.Skip("there is no list of children: ", err)
	}
	var pid int
	if _, err := fmt.Sscan(string(children), &pid); err != nil {
		s.Fatal(err)
	}
	if err := syscall.Kill(pid, sig); err != nil {
		s.Fatal(err)
	}
}
