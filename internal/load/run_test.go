package load

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/sqlite"
)

// The test binary is a worker where it is told so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "load-worker" {
		if Work(context.Background(), os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else each worker takes a second to end under -race
	os.Exit(m.Run())
}

func testWorker(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, "load-worker"}
}

// hub is the plainest server: what a sender sends goes to all receivers.
type hub struct {
	drop  int // leave out one write of so many
	close int // hang up after so many writes

	mu        sync.Mutex
	receivers []net.Conn
	writes    int
}

// start serves until the test ends, and returns where.
func (h *hub) start(t *testing.T) Target {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { h.serve(nc) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		conns.Wait() // every load has ended its connections
	})
	return Target{Protocol: "floor", Address: l.Addr().String(), Size: 300}
}

func (h *hub) serve(nc net.Conn) {
	defer nc.Close()
	role := make([]byte, 1)
	if _, err := io.ReadFull(nc, role); err != nil {
		return
	}
	nc.Write([]byte{FloorReady})
	if role[0] == FloorReceiver {
		h.mu.Lock()
		h.receivers = append(h.receivers, nc)
		h.mu.Unlock()
		io.Copy(io.Discard, nc)
		return
	}
	frame := make([]byte, 304) // as it comes from the sender, header and all
	for {
		if _, err := io.ReadFull(nc, frame); err != nil {
			return
		}
		h.pass(frame)
	}
}

func (h *hub) pass(frame []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes++
	for i, nc := range h.receivers {
		switch {
		case h.drop > 0 && (h.writes+i)%h.drop == 0:
		case h.close > 0 && h.writes > h.close:
			nc.Close()
		default:
			nc.Write(frame)
		}
	}
}

func testFanout(t *testing.T, target Target) Fanout {
	return Fanout{
		Setting: Setting{
			Target: target, Command: testWorker(t), PID: os.Getpid(),
			Warmup: 10 * time.Millisecond, Duration: 150 * time.Millisecond,
		},
		Receivers: 5, Senders: 2, Window: 32,
	}
}

// What is counted at both ends of a run agrees.
func TestFanout(t *testing.T) {
	for name, rate := range map[string]float64{"window": 0, "rate": 2_000} {
		t.Run(name, func(t *testing.T) {
			f := testFanout(t, new(hub).start(t))
			f.Rate = rate
			begun := 0
			f.Measuring = func() { begun++ }
			r, err := f.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r.Messages == 0 || r.Deliveries == 0 || r.Lost != 0 || r.Errors != 0 || begun != 1 {
				t.Errorf("%+v", r)
			}
			if d := int(r.Deliveries) - 5*int(r.Messages); rate == 0 && (d < -5*32 || d > 5*32) {
				t.Errorf("%d messages to 5, %d deliveries, a window of 32", r.Messages, r.Deliveries)
			}
			if rate > 0 && float64(r.Messages) > rate*r.Seconds*1.5+10 {
				t.Errorf("%d messages in %g s at a rate of %g", r.Messages, r.Seconds, rate)
			}
			if l := r.Latency; l.Samples == 0 || l.P50 <= 0 || l.P50 > l.P99 || l.P99 > l.P999 || l.P999 > l.Max*1.01 {
				t.Errorf("%+v", l)
			}
		})
	}
}

// What a server drops is counted, and keeps nobody waiting.
func TestFanoutCountsWhatIsLost(t *testing.T) {
	f := testFanout(t, (&hub{drop: 10}).start(t))
	f.Rate = 1_000
	r, err := f.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Lost == 0 || r.Lost > r.Deliveries {
		t.Errorf("of %d messages to 5, one of ten was left out: %d deliveries, %d lost", r.Messages, r.Deliveries, r.Lost)
	}
}

// A receiver that is hung up on ends the run, with a reason and without a trace.
func TestFanoutEndsWithItsReceivers(t *testing.T) {
	f := testFanout(t, (&hub{close: 50}).start(t))
	f.Duration = time.Minute
	_, err := f.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "unavailable: the load cannot go on") {
		t.Fatalf("it ended with %v", err)
	}
	nothingLeft(t)
}

func TestFanoutEndsWithItsContext(t *testing.T) {
	f := testFanout(t, new(hub).start(t))
	f.Duration = time.Minute
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	f.Measuring = func() { cancel(why) }
	if _, err := f.Run(ctx); !errors.Is(err, why) {
		t.Fatalf("it ended with %v", err)
	}
	nothingLeft(t)
}

// nothingLeft wants no board of this process's to be left.
func nothingLeft(t *testing.T) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(cmp.Or(boardDir(), os.TempDir()), boardName()+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	f := testFanout(t, Target{Protocol: "floor", Address: l.Addr().String(), Size: 300})
	if _, err := f.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v", err)
	}
	f.Target.Protocol = "none"
	if _, err := f.Run(t.Context()); err == nil || !strings.Contains(err.Error(), `no protocol "none"`) {
		t.Errorf("%v", err)
	}
	f.Receivers = 0
	if _, err := f.Run(t.Context()); err == nil {
		t.Error("a fan-out to nobody ran")
	}
}

// Whoever waits for answers where nobody gives any is told.
func TestExchangeWithoutAnswers(t *testing.T) {
	f := testFanout(t, new(hub).start(t))
	_, err := Exchange{Setting: f.Setting, Senders: 2, Window: 3}.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "answered") {
		t.Errorf("%v", err)
	}
}

// A journal that was made has everything, and its rows can be taken elsewhere.
func TestMakeJournalAndBare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	if err := MakeJournal(t.Context(), path, "room", []string{"ann", "bob"}, 300, 400, nil); err != nil {
		t.Fatal(err)
	}
	j, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := j.Reader(t.Context(), "room")
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Bounds(t.Context())
	if err != nil || b.First != 1 || b.Last != 300 {
		t.Errorf("it holds %d to %d, %v", b.First, b.Last, err)
	}
	for rec, err := range r.Read(t.Context(), journal.Query{After: 298}) {
		if err != nil || len(rec.Wire()) < 350 || len(rec.Wire()) > 450 {
			t.Errorf("an envelope of %d bytes, %v", len(rec.Wire()), err)
		}
	}
	j.Close()
	res, err := Bare(t.Context(), path, "off", 7, 20*time.Millisecond)
	if err != nil || res.Rows == 0 || res.RowsPerSecond <= 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "bare-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if _, err := Bare(t.Context(), filepath.Join(t.TempDir(), "none.db"), "off", 7, time.Millisecond); err == nil {
		t.Error("rows came out of nowhere")
	}
}

func TestWorkRefusesWhatIsNoJob(t *testing.T) {
	for _, in := range []string{"", "{", `{"role":"receive","target":{"protocol":"floor"},"board":"/nowhere/at/all"}`, `{"role":"none"}`} {
		var out strings.Builder
		if err := Work(t.Context(), strings.NewReader(in), &out); err == nil {
			t.Errorf("%q was done, and said %q", in, out.String())
		}
	}
}

// An envelope has the length that was asked for where it is delivered, and the
// stamp in what the gateway hands on of it.
func TestTemplates(t *testing.T) {
	for _, work := range []string{WorkBroadcast, WorkCall} {
		target := Target{Size: 400, Work: work, To: "echo"}
		e, err := newTemplate(target)
		if err != nil {
			t.Fatal(err)
		}
		one, two := e.append(nil, 1), e.append(nil, 2)
		if at, ok := findStamp(two); !ok || at != 2 || len(one) != len(two) {
			t.Errorf("%q has the stamp %d", two, at)
		}
		if at, _ := findStamp(one); at != 1 {
			t.Errorf("%q has the stamp %d", one, at)
		}
	}
	if _, err := newTemplate(Target{Size: 100}); err == nil {
		t.Error("an envelope of 100 bytes was made")
	}
}
