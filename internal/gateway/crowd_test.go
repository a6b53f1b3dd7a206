package gateway

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
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

const crowdEnv = "PARLEY_TEST_CROWD" // ADDRESS CONNECTIONS PARTICIPANTS DIALERS QUERY

// gather has another process open connections, so many at a time.
func (h *harness) gather(connections, participants, dialers int, query string) *crowd {
	h.t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrowd$", "-test.timeout=120s")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d %d %s",
		crowdEnv, strings.TrimPrefix(h.url, "http://"), connections, participants, dialers, cmp.Or(query, "echo=on")))
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

// TestCrowd is no test: it is the other process. It says when all are welcomed,
// and when all have received a mark.
func TestCrowd(t *testing.T) {
	var addr, query string
	var connections, participants, dialers int
	if n, _ := fmt.Sscanf(os.Getenv(crowdEnv), "%s %d %d %d %s", &addr, &connections, &participants, &dialers, &query); n != 5 {
		return
	}
	var welcomed, marked sync.WaitGroup
	welcomed.Add(connections)
	marked.Add(connections)
	next := make(chan int)
	for range dialers {
		go func() {
			for i := range next {
				nc, err := net.Dial("tcp", addr)
				if err != nil {
					panic(err) // a goroutine cannot fail a test
				}
				in := make(chan bool)
				go attend(nc, fmt.Sprintf("p%d", i%participants), query, in, &marked)
				if !<-in {
					panic("not welcomed")
				}
				welcomed.Done()
			}
		}()
	}
	go func() {
		for i := range connections {
			next <- i
		}
		welcomed.Wait()
		fmt.Println("welcomed")
		marked.Wait()
		fmt.Println("marked")
	}()
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is to end
	os.Exit(0)
}

// attend upgrades a connection and reads, looking for the welcome and a mark.
func attend(nc net.Conn, id, query string, welcomed chan<- bool, marked *sync.WaitGroup) {
	fmt.Fprintf(nc, "GET /ws?topic=demo&%s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer token-%s\r\n\r\n", query, id)
	r := bufio.NewReaderSize(nc, 4<<10)
	err := readPast(r, parley.KindWelcome)
	welcomed <- err == nil
	if err == nil && readPast(r, "end-mark") == nil {
		marked.Done()
		_, _ = io.Copy(io.Discard, r)
	}
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

// live is traffic that goes on: one sends, so many times a second, and another
// one's waits are noted.
type live struct {
	stop  chan struct{}
	over  sync.WaitGroup
	mu    sync.Mutex
	waits []time.Duration
}

func (h *harness) traffic(from, to string, every time.Duration) *live {
	l := &live{stop: make(chan struct{})}
	receiver := h.join(to, "presence=off&kinds=end-*")
	began := time.Now()
	l.over.Go(func() {
		for {
			e, err := receiver.read()
			if err != nil {
				return
			}
			var at int64
			if n, _ := fmt.Sscanf(string(e.Payload), "%d", &at); n == 1 {
				l.mu.Lock()
				l.waits = append(l.waits, time.Since(began)-time.Duration(at))
				l.mu.Unlock()
			}
		}
	})
	sender := h.join(from, "presence=off&kinds=x")
	l.over.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				sender.send(fmt.Sprintf(`{"kind":"end-live","payload":%d}`, time.Since(began)))
			case <-l.stop:
				sender.ws.CloseNow()
				receiver.ws.CloseNow()
				return
			}
		}
	})
	return l
}

// quantile takes the waits so far, and says what so much of them stays below.
func (l *live) quantiles(of ...float64) (list []time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.waits)
	for _, q := range of {
		list = append(list, l.waits[int(q*float64(len(l.waits)-1))])
	}
	l.waits = nil
	return list
}

// What a thousand who join at once, with a thousand envelopes of history, do to
// live traffic.
func BenchmarkJoinHerd(b *testing.B) {
	s := crowded(100)
	for _, id := range []string{"ann", "bob"} {
		one := demo(id)
		s.Rules.Participants[id], s.Participants[id] = one.Rules.Participants[id], one.Participants[id]
	}
	s.Rules.Limits.Rate, s.Rules.Limits.Burst = 1e6, 1e6
	for range b.N {
		h := serve(b, Options{Spaces: []Space{s}, Logger: slog.New(slog.DiscardHandler)})
		for i := range 999 {
			if _, err := h.g.Submit(b.Context(), "demo", "ann", frameOf(i, 300)); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := h.g.Submit(b.Context(), "demo", "ann", []byte(`{"kind":"end-mark"}`)); err != nil {
			b.Fatal(err)
		}
		l := h.traffic("ann", "bob", 2*time.Millisecond)
		time.Sleep(time.Second)
		quiet := l.quantiles(0.5, 0.99)
		began := time.Now()
		c := h.gather(1_000, 100, 1_000, "history=1000&presence=off&kinds=mcp/*,end-mark")
		if !c.heard("marked") {
			b.Fatal("not all came in")
		}
		took := time.Since(began)
		herd := l.quantiles(0.5, 0.99, 1)
		close(l.stop)
		l.over.Wait()
		c.leave()
		b.ReportMetric(float64(quiet[0].Microseconds()), "quiet-p50-µs")
		b.ReportMetric(float64(quiet[1].Microseconds()), "quiet-p99-µs")
		b.ReportMetric(float64(herd[0].Microseconds()), "herd-p50-µs")
		b.ReportMetric(float64(herd[1].Microseconds()), "herd-p99-µs")
		b.ReportMetric(float64(herd[2].Microseconds()), "herd-most-µs")
		b.ReportMetric(took.Seconds(), "s/herd")
		b.ReportMetric(0, "ns/op")
	}
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
	c := h.gather(connections, participants, 8, "")
	if !c.heard("welcomed") {
		t.Fatal("the crowd did not come in")
	}
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
