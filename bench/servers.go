package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/parleyhq/parley/internal/load"
)

// server is something that passes messages on.
type server struct {
	name     string // as the table calls it
	protocol string // as package load calls it
	program  string // in the folder of servers; "" for those of our own
	command  func(b *bench, folder string, port int) ([]string, error)
}

// The servers, in the order of the table. Each runs as its makers' documentation
// has it, less what would make it drop messages, or keep them on a disk.
var servers = []server{
	{"parley", "parley", "", func(b *bench, folder string, port int) ([]string, error) {
		return parleyCommand(b, folder, port, gateway{sync: "normal"})
	}},
	{"parley, sync: full", "parley", "", func(b *bench, folder string, port int) ([]string, error) {
		return parleyCommand(b, folder, port, gateway{sync: "full"})
	}},
	{"floor, 256 frames per write", "floor", "", floorOf(256)},
	{"floor, 16 frames per write", "floor", "", floorOf(16)},
	{"floor, 1 frame per write", "floor", "", floorOf(1)},
	{"nats-server, WebSocket", "nats-ws", "nats-server", func(b *bench, folder string, port int) ([]string, error) {
		conf, err := write(folder, "nats.conf", fmt.Sprintf(
			"listen: \"127.0.0.1:-1\"\nwebsocket { listen: %q, no_tls: true }\n", at(port)))
		return []string{b.program("nats-server"), "-c", conf}, err
	}},
	{"nats-server, plain", "nats", "nats-server", func(b *bench, _ string, port int) ([]string, error) {
		return []string{b.program("nats-server"), "-a", "127.0.0.1", "-p", fmt.Sprint(port)}, nil
	}},
	{"Redis pub/sub", "redis", "redis-server", func(b *bench, folder string, port int) ([]string, error) {
		return []string{b.program("redis-server"), "--bind", "127.0.0.1", "--port", fmt.Sprint(port), "--dir", folder,
			"--save", "", "--appendonly", "no", "--client-output-buffer-limit", "pubsub 0 0 0"}, nil
	}},
	{"mosquitto", "mqtt", "mosquitto", func(b *bench, folder string, port int) ([]string, error) {
		conf, err := write(folder, "mosquitto.conf", fmt.Sprintf(
			"listener %d 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\npersistence false\n"+
				"max_queued_messages 0\nmax_queued_bytes 0\nmax_inflight_messages 0\nlog_type error\n", port))
		return []string{b.program("mosquitto"), "-c", conf}, err
	}},
	{"Node ws", "ws", "ws", func(b *bench, _ string, port int) ([]string, error) {
		return []string{"node", "bench/broadcast.mjs", fmt.Sprint(port)}, nil
	}},
}

func floorOf(frames int) func(*bench, string, int) ([]string, error) {
	return func(b *bench, _ string, port int) ([]string, error) {
		return []string{b.self, "floor", "-frames", fmt.Sprint(frames), "-listen", at(port)}, nil
	}
}

func findServer(name string) server {
	for _, s := range servers {
		if s.name == name {
			return s
		}
	}
	panic("no server " + name)
}

func at(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

func (b *bench) program(name string) string { return filepath.Join(b.bin, name) }

// missing is why a server cannot be had, or "".
func (b *bench) missing(s server) string {
	if s.program == "" {
		return ""
	}
	if reason, err := os.ReadFile(b.program(s.program + ".missing")); err == nil {
		return strings.TrimSpace(string(reason))
	}
	if s.program == "ws" { // a package, no program
		return ""
	}
	if _, err := os.Stat(b.program(s.program)); err != nil {
		return "it was not fetched"
	}
	return ""
}

func write(folder, name, text string) (path string, err error) {
	path = filepath.Join(folder, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// gateway says how Parley is configured.
type gateway struct {
	sync   string
	spaces int // that nothing happens in, besides the one that is measured
}

const (
	spaceName   = "bench"
	journalName = "bench.db"
	tokens      = 16
)

func token(i int) string { return fmt.Sprintf("a-token-of-the-bench-%02d", i) }

// parleyCommand writes the configuration of a gateway that refuses nothing of
// the load.
func parleyCommand(b *bench, folder string, port int, g gateway) ([]string, error) {
	var conf strings.Builder
	fmt.Fprintf(&conf, "listen: %s\njournal: {path: %s, sync: %s}\nspaces:\n", at(port), journalName, g.sync)
	for i := range g.spaces + 1 {
		name := spaceName
		if i > 0 {
			name = fmt.Sprint("other", i)
		}
		fmt.Fprintf(&conf, "  %s:\n    limits: {rate: 1000000, burst: 1000000}\n    participants:\n", name)
		for i := range tokens {
			fmt.Fprintf(&conf, "      p%d: {token: %s, capabilities: [chat]}\n", i, token(i))
		}
	}
	path, err := write(folder, "parley.yaml", conf.String())
	return []string{b.parley, "up", "--config", path}, err
}

// running is a server that runs.
type running struct {
	target  load.Target
	pid     int
	command *exec.Cmd
	said    *tail // to be read once it has ended
	ended   chan struct{}
	folder  string
}

// start starts a server in a folder of its own, and waits until it listens.
func (b *bench) start(ctx context.Context, s server) (*running, error) {
	folder, err := os.MkdirTemp(b.scratch, "server-")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	command, err := s.command(b, folder, port)
	if err != nil {
		return nil, err
	}
	command = b.cores.server(command...)
	r := &running{folder: folder, said: new(tail), ended: make(chan struct{}), command: exec.CommandContext(ctx, command[0], command[1:]...)}
	r.command.Stdout, r.command.Stderr = r.said, r.said
	r.command.Cancel = func() error { return r.command.Process.Signal(syscall.SIGTERM) }
	r.command.WaitDelay = stopTime
	r.command.Env = append(os.Environ(), "BENCH_MODULES="+filepath.Join(b.bin, "../npm"))
	r.target = load.Target{Protocol: s.protocol, Address: at(port), Size: size, Space: spaceName}
	for i := range tokens {
		r.target.Tokens = append(r.target.Tokens, token(i))
	}
	if err := r.command.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	go func() { // until stop
		_ = r.command.Wait()
		close(r.ended)
	}()
	r.pid = r.command.Process.Pid // taskset becomes the server
	if err := r.listening(ctx); err != nil {
		r.stop()
		return nil, fmt.Errorf("%s: %w; it said: %s", s.name, err, r.said)
	}
	return r, nil
}

const (
	startTime = 20 * time.Second // in which a server has to listen
	stopTime  = 5 * time.Second  // in which it has to end when it is told to
)

func (r *running) listening(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, errors.New("it does not listen"))
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		nc, err := new(net.Dialer).DialContext(ctx, "tcp", r.target.Address)
		if err == nil {
			return nc.Close()
		}
		select {
		case <-tick.C:
		case <-r.ended:
			return errors.New("it ended")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// stop ends the server, and removes what it wrote.
func (r *running) stop() {
	_ = r.command.Cancel()
	select {
	case <-r.ended:
	case <-time.After(stopTime):
		_ = r.command.Process.Kill()
		<-r.ended
	}
	_ = os.RemoveAll(r.folder)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// tail keeps the end of what a program says. The program's output is copied to
// it by one goroutine, which has ended when it is read.
type tail struct{ buf []byte }

const tailSize = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - tailSize; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(bytes.TrimSpace(t.buf)) }
