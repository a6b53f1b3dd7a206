package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// A crowd is connections that another process holds, so that what they cost
// there does not count as the gateway's.
type crowd struct {
	in  io.WriteCloser // closing it ends the process
	out *bufio.Scanner
	cmd *exec.Cmd
}

const crowdEnv = "PARLEY_TEST_CROWD" // ADDRESS CONNECTIONS PARTICIPANTS

// gather has another process open connections, and returns when all are
// welcomed.
func (h *harness) gather(connections, participants int) *crowd {
	h.t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrowd$", "-test.timeout=120s")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", crowdEnv, strings.TrimPrefix(h.url, "http://"), connections, participants))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	c := &crowd{in: in, out: bufio.NewScanner(out), cmd: cmd}
	h.t.Cleanup(func() { c.leave() })
	if !c.heard("welcomed") {
		h.t.Fatal("the crowd did not come in")
	}
	return c
}

// heard waits until the process says a word.
func (c *crowd) heard(word string) bool {
	for c.out.Scan() {
		if c.out.Text() == word {
			return true
		}
	}
	return false
}

func (c *crowd) leave() {
	c.in.Close()
	_ = c.cmd.Wait() // it may have been waited for
}

// TestCrowd is no test: it is the other process.
func TestCrowd(t *testing.T) {
	var addr string
	var connections, participants int
	if n, _ := fmt.Sscanf(os.Getenv(crowdEnv), "%s %d %d", &addr, &connections, &participants); n != 3 {
		t.Skip("only as a process of its own")
	}
	var marked atomic.Int64
	for i := range connections {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		welcomed := make(chan bool, 1)
		go attend(nc, fmt.Sprintf("p%d", i%participants), welcomed, &marked)
		if !<-welcomed {
			t.Fatalf("connection %d is not welcomed", i)
		}
	}
	fmt.Println("welcomed")
	go func() {
		for marked.Load() < int64(connections) {
			time.Sleep(time.Millisecond)
		}
		fmt.Println("marked")
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// attend upgrades a connection and reads, looking for the welcome and a mark.
func attend(nc net.Conn, id string, welcomed chan<- bool, marked *atomic.Int64) {
	fmt.Fprintf(nc, "GET /ws?topic=demo HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer token-%s\r\n\r\n", id)
	r := bufio.NewReaderSize(nc, 4<<10)
	for _, sign := range []string{parley.KindWelcome, "end-mark"} {
		err := readPast(r, sign)
		if sign == parley.KindWelcome {
			welcomed <- err == nil
		}
		if err != nil {
			return
		}
	}
	marked.Add(1)
	_, _ = io.Copy(io.Discard, r)
}

// readPast reads until a quoted word went by.
func readPast(r *bufio.Reader, word string) error {
	for {
		piece, err := r.ReadSlice('"')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if string(piece) == word+`"` {
			return nil
		}
	}
}

// resident is the memory that this process takes, in bytes; 0 where nobody
// says it.
func resident() int {
	text, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize()
}

func crowded(participants int) Space {
	var people []string
	for i := range participants {
		people = append(people, fmt.Sprintf("p%d", i))
	}
	return demo(people...)
}

// Ten thousand connections of a hundred participants only wait: what each
// costs the process, everything included, has a bound, all are reached, and
// nothing is left of them.
func TestTenThousandConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten thousand sockets")
	}
	const connections, participants, most = 10_000, 100, 12 << 10
	s := crowded(participants)
	h := serve(t, Options{Spaces: []Space{s}, Logger: slog.New(slog.DiscardHandler)})
	runtime.GC()
	before, goroutines := resident(), runtime.NumGoroutine()
	c := h.gather(connections, participants)
	each := (resident() - before) / connections
	t.Logf("%d bytes for each, %d goroutines; heap and stack: %s", each, runtime.NumGoroutine()-goroutines, inUseText())
	if each > most && !raceEnabled {
		t.Errorf("%d bytes of memory for each connection, want at most %d", each, most)
	}
	if _, err := h.g.Submit(t.Context(), "demo", "p0", []byte(`{"kind":"end-mark"}`)); err != nil {
		t.Fatal(err)
	}
	if !c.heard("marked") {
		t.Error("not all were reached")
	}
	c.leave()
	for h.g.connections("demo") > 0 {
		time.Sleep(time.Millisecond)
	}
	_ = h.g.View(context.Background(), "demo", func(*space.State) {})
}

func inUseText() string {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("%d %d, %d released of %d", m.HeapInuse, m.StackInuse, m.HeapReleased, m.Sys)
}
