package filetool

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveForTest makes the test binary a server, as the verb would.
func serveForTest(dir string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := Run(ctx, dir, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serverCommand(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), "FILETOOL_TEST_SERVE="+dir)
	return cmd
}

func TestRunOverStdio(t *testing.T) {
	dir := t.TempDir()
	cmd := serverCommand(t, dir)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &room{t: t, dir: dir, call: session}
	ok[writeOutput](r, "write_file", args{"path": "a/b.txt", "content": "over stdio\n"})
	if got := r.get("a/b.txt"); got != "over stdio\n" {
		t.Errorf("on disk: %q", got)
	}
	r.refused("forbidden", "read_file", args{"path": "../x"})
	if err := session.Close(); err != nil {
		t.Errorf("the server did not end well when its input ended: %v", err)
	}
}

func TestRunStopsWithItsContext(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM")
	}
	cmd := serverCommand(t, t.TempDir())
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if _, err := stdout.Read(make([]byte, 4096)); err != nil { // it is up
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestRunRefusesAMissingFolder(t *testing.T) {
	if err := Run(t.Context(), t.TempDir()+"/absent", nil); err == nil || !strings.HasPrefix(err.Error(), "not_found: ") {
		t.Errorf("%v", err)
	}
}
