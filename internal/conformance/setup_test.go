package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// scratch is a folder for all tests.
var scratch string

func TestMain(m *testing.M) {
	if tally := os.Getenv(tallyEnv); tally != "" {
		serveApproved(tally)
		return
	}
	if era := os.Getenv(curiousEnv); era != "" {
		serveCurious(era)
		return
	}
	var err error
	if scratch, err = os.MkdirTemp("", "conformance-"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(scratch)
		os.Exit(code)
	}))
}

// cache is what scripts/fetch-test-deps fills.
const cache = "../../.cache"

// fetched is the path of something in the cache. Without it the test is skipped.
func fetched(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(filepath.Join(cache, path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(abs); err != nil {
		t.Skipf("there is no %s; scripts/fetch-test-deps fetches it", path)
	}
	return abs
}

func node(t *testing.T) string { return fetched(t, "npm-conformance/node_modules/.bin/node") }

// program is the parley that is tested, built once for all tests.
func program(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "parley")
	args := slices.Concat([]string{"build"}, buildFlags, []string{"-o", path, "../../cmd/parley"})
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building parley: %w\n%s", err, out)
	}
	return path, nil
})

// freePort finds a port below those that the system gives to clients.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(12000)
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatal("no port is free")
	return 0
}

const (
	startTime = 30 * time.Second // in which a server has to answer
	stopTime  = 10 * time.Second // in which it has to end when it is told to
)

// run starts a server that the test ends. What it said is logged where the test
// failed.
func run(t *testing.T, dir string, command ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0") // else it takes a second to end under -race
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTime
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := cmd.Wait(); errors.Is(err, exec.ErrWaitDelay) {
			t.Errorf("%s did not end when it was told to", command[0])
		}
		if code := cmd.ProcessState.ExitCode(); code > 0 { // the race detector's is 66
			t.Errorf("%s ended with exit code %d", command[0], code)
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(command[0]), end(said.String(), 20))
		}
	})
}

// alone says, when the test ends, what still runs that was started with a path
// in a folder of the test's own. It is to be called before run.
func alone(t *testing.T, dir string) {
	t.Cleanup(func() {
		tick, late := time.NewTicker(20*time.Millisecond), time.After(stopTime)
		defer tick.Stop()
		for left := running(dir); len(left) > 0; left = running(dir) {
			select {
			case <-tick.C:
			case <-late:
				t.Errorf("left behind: %q", left)
				return
			}
		}
	})
}

// running is the command lines that hold a text, where the system tells them.
func running(text string) (commands []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte(text)) { // it may have ended meanwhile
			commands = append(commands, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return commands
}

// end is the last lines of a text.
func end(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// answers waits until an endpoint answers a first request with something that
// holds want, since much of the suite also passes against a dead port.
func answers(t *testing.T, url, version, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := hello(ctx, client, url, version)
		if err == nil && strings.Contains(got, want) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s does not answer as %s does: %q, %v", url, want, end(got, 5), err)
		}
	}
}

// hello makes the first request of a client, and ends the session it was given.
func hello(ctx context.Context, client *http.Client, url, version string) (string, error) {
	method, params := "initialize", `{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`
	if version == modern {
		method, params = "server/discover", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"`+version+`","io.modelcontextprotocol/clientCapabilities":{}}}`
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", version)
	req.Header.Set("Mcp-Method", method)
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Sprint(resp.Status, " ", string(got)), err
	}
	if session := resp.Header.Get("Mcp-Session-Id"); session != "" {
		return string(got), goodbye(ctx, client, url, session)
	}
	return string(got), nil
}

func goodbye(ctx context.Context, client *http.Client, url, session string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Mcp-Session-Id", session)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
