package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestRoom is what the server is for: it joins a space, an agent reads a function
// and proposes another one, a person approves, and what is then in the file
// compiles. All of it by the built programs.
func TestRoom(t *testing.T) {
	r := newRoom(t)

	read := r.parley("agent", "send", "request", "code", "extract_code", "path=greet.go", "symbol=greet")
	for _, want := range []string{`"symbol":"greet"`, `func greet(name string) string`, `"line":3`} {
		if !strings.Contains(read, want) {
			t.Fatalf("extract_code lacks %s: %s", want, read)
		}
	}
	update := []string{"code", "update_symbol", "path=greet.go", "symbol=greet", "code=" + better}
	if said := r.refused("agent", append([]string{"send", "request"}, update...)...); !strings.Contains(said, "capability_violation") {
		t.Fatalf("an agent may change the code itself: %s", said)
	}
	proposed := r.parley("agent", append([]string{"send", "propose"}, update...)...)
	id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(proposed)
	if id == nil {
		t.Fatalf("proposed: %s", proposed)
	}
	if got := r.program(); got != "Hello, you\n" {
		t.Fatalf("before anybody has approved it, the program says %q", got)
	}
	done := r.parley("you", "send", "fulfil", id[1])
	if !strings.Contains(done, `"written":true`) || strings.Contains(done, `"isError":true`) {
		t.Fatalf("fulfilled: %s", done)
	}
	if got := r.program(); got != "Good morning, you!\n" {
		t.Errorf("the program says %q", got)
	}

	// What does not parse is not written, whoever approves it.
	broken := r.parley("agent", "send", "propose", "code", "update_symbol", "path=greet.go", "symbol=greet", "code=func greet(name string) string { return")
	id = regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(broken)
	if said := r.refused("you", "send", "fulfil", id[1]); !strings.Contains(said, `"error_code":"invalid_argument"`) {
		t.Errorf("broken code: %s", said)
	}
	if got := r.program(); got != "Good morning, you!\n" {
		t.Errorf("after broken code the program says %q", got)
	}
	if said := r.parley("you", "log", "verify"); !strings.Contains(said, `"ok":true`) {
		t.Errorf("the record: %s", said)
	}
}

const better = `func greet(name string) string {
	return "Good morning, " + name + "!"
}`

// room is a running gateway with the server in it.
type room struct {
	t      *testing.T
	dir    string
	bin    string
	url    string
	source string // the folder that is served
}

func newRoom(t *testing.T) *room {
	dir := t.TempDir()
	r := &room{t: t, dir: dir, bin: filepath.Join(dir, "bin"), source: filepath.Join(dir, "source")}
	build(t, "../../..", filepath.Join(r.bin, "parley"), "./cmd/parley")
	build(t, ".", filepath.Join(r.bin, "parley-code"), ".")
	for name, text := range map[string]string{
		"source/go.mod": "module greeting\n\ngo 1.26\n",
		"source/greet.go": `package main

// greet is what is said to whoever comes.
func greet(name string) string {
	return "Hello, " + name
}
`,
		"source/main.go": "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(greet(\"you\")) }\n",
		"you.token":      "the-token-of-you",
		"agent.token":    "the-token-of-agent",
		"parley.yaml": `
listen: 127.0.0.1:0
spaces:
  demo:
    participants:
      you: {token: the-token-of-you, capabilities: ["mcp/*"]}
      agent: {token: the-token-of-agent, capabilities: ["mcp/proposal:*", "mcp/request:tools/call:extract_*"]}
    mcp_servers:
      code: {command: ./bin/parley-code, args: [./source]}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.up()
	return r
}

// build builds a program of a module as a file.
func build(t *testing.T, module, file, pkg string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", file, pkg)
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s cannot be built: %v\n%s", file, err, out)
	}
}

// up starts the gateway, and waits until it listens and the server is there.
func (r *room) up() {
	cmd := exec.Command(filepath.Join(r.bin, "parley"), "up", "--config", "parley.yaml", "--json")
	cmd.Dir = r.dir
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			r.t.Errorf("the gateway ended: %v\n%s", err, said.String())
		}
	})
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	lines := bufio.NewScanner(out)
	for ready := false; !ready || r.url == ""; {
		if !lines.Scan() {
			r.t.Fatalf("the gateway does not start: %s", said.String())
		}
		var event struct{ Event, URL, Participant string }
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			r.t.Fatalf("%s: %v", lines.Text(), err)
		}
		if event.Event == "listening" {
			r.url = event.URL
		}
		ready = ready || event.Event == "ready" && event.Participant == "code"
	}
}

func (r *room) command(who string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.t.Context(), filepath.Join(r.bin, "parley"), append(args, "--json", "--url", r.url, "--token-file", filepath.Join(r.dir, who+".token"))...)
	cmd.Dir = r.dir
	return cmd
}

// parley runs the command line as somebody, which has to work.
func (r *room) parley(who string, args ...string) string {
	r.t.Helper()
	out, err := r.command(who, args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("parley %q as %s: %v\n%s", args, who, err, out)
	}
	return string(out)
}

// refused runs it where it has to fail.
func (r *room) refused(who string, args ...string) string {
	r.t.Helper()
	out, err := r.command(who, args...).CombinedOutput()
	if err == nil {
		r.t.Fatalf("parley %q as %s was not refused: %s", args, who, out)
	}
	return string(out)
}

// program compiles and runs what is in the folder.
func (r *room) program() string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "go", "run", ".")
	cmd.Dir = r.source
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("it does not compile: %v\n%s", err, out)
	}
	return string(out)
}
