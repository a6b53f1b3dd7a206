package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// many is how many runs wait at once.
func many() int {
	if raceEnabled {
		return 1_000 // the race detector has a limit of goroutines
	}
	return DefaultMaxRuns
}

// soon fails a test that takes longer than the bound, which is generous: what
// these tests look for takes for ever.
func soon(t *testing.T) {
	t.Helper()
	began := time.Now()
	t.Cleanup(func() {
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}

// Ten thousand calls of modern clients wait for answers. One more is refused, those
// that are answered come to their end, and the others end with the server.
func TestManyRunsWait(t *testing.T) {
	soon(t)
	n := many()
	s, l := manyWaiting(t, Options{MaxRuns: n}, n)
	if now := runtime.NumGoroutine(); now < n {
		t.Errorf("%d goroutines are there for %d runs", now, n)
	}
	l.callModern("more", "consent", "{}", "")
	if m := l.next(); !strings.Contains(string(m.Result), `"error_code":"resource_exhausted"`) {
		t.Errorf("one more is told %s %s", m.Result, m.Error)
	}
	l.answerSome(n / 2)
	s.Close()
	for _, w := range l.waiting[:100] { // which a client sees that comes back
		l.callModern("late", "consent", "{}", w.state, allAnswered(w.asked, consented)...)
		if m := l.next(); m.Error == nil || !strings.Contains(string(m.Error), "outcome_unknown") {
			t.Fatalf("who comes back is told %s %s", m.Result, m.Error)
		}
	}
	s.Wait()
}

// Runs that are kept wait as well, and are gone on with by the next server.
func TestManyRunsAreKept(t *testing.T) {
	soon(t)
	const n = 50
	dir := t.TempDir()
	s, l := manyWaiting(t, Options{Runs: dir}, n)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	next, again := consentServer(t, Options{Runs: dir})
	again.waiting = l.waiting
	again.answerSome(n)
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
}

// Ten thousand calls that come some other way wait, and all end with their contexts.
func TestManyCallsWait(t *testing.T) {
	soon(t)
	n := many()
	s, _ := consentServer(t, Options{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	p := &counting{reached: make(chan struct{}), left: n}
	var calls sync.WaitGroup
	for range n {
		calls.Go(func() {
			if _, err := s.Do(ctx, Request{Tool: "consent", Peer: p}); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	<-p.reached
	stop()
	calls.Wait()
	s.Wait()
}

// counting is a peer that says nothing, and tells when it was asked often enough.
type counting struct {
	consenting
	mu      sync.Mutex
	left    int
	reached chan struct{}
}

func (p *counting) Ask(ctx context.Context, q Question) (jsontext.Value, error) {
	p.mu.Lock()
	if p.left--; p.left == 0 {
		close(p.reached)
	}
	p.mu.Unlock()
	return (&consenting{silent: true}).Ask(ctx, q)
}

// crowd is a client with many calls.
type crowd struct {
	*lines
	waiting []parkedCall
}

// parkedCall is one that waits for answers.
type parkedCall struct {
	state string
	asked []string
}

// consentServer serves one client a handoff that asks for consent.
func consentServer(t *testing.T, o Options) (*Server, *crowd) {
	t.Helper()
	s, err := NewServer(quiet(o))
	if err != nil {
		t.Fatal(err)
	}
	AddHandoff(s, Tool{Name: "consent", Needs: []Ability{Elicitation}}, Handoff[none, none, none, string]{
		Before: func(context.Context, *Call, none) (none, error) { return none{}, nil },
		Client: func(ctx context.Context, c *Call, _ none) (none, error) { return none{}, askConsent(ctx, c) },
		After:  func(context.Context, *Call, none, none, none) (string, error) { return "done", nil },
	})
	return s, &crowd{lines: newLines(t, func(in io.ReadCloser, out io.WriteCloser) error {
		return s.Serve(context.Background(), &mcp.IOTransport{Reader: in, Writer: out})
	})}
}

// manyWaiting makes calls that wait.
func manyWaiting(t *testing.T, o Options, n int) (*Server, *crowd) {
	t.Helper()
	s, c := consentServer(t, o)
	for i := range n {
		c.callModern(fmt.Sprint(i), "consent", "{}", "")
		state, asked := c.required()
		c.waiting = append(c.waiting, parkedCall{state, asked})
	}
	return s, c
}

// answerSome answers those who wait the longest, all of whom come to their end.
func (c *crowd) answerSome(n int) {
	c.t.Helper()
	for _, w := range c.waiting[:n] {
		c.callModern("a", "consent", "{}", w.state, allAnswered(w.asked, consented)...)
		if m := c.next(); !strings.Contains(string(m.Result), `{"data":"done"}`) {
			c.t.Fatalf("it ends with %s %s", m.Result, m.Error)
		}
	}
	c.waiting = c.waiting[n:]
}
