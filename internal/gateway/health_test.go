package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

func TestHealth(t *testing.T) {
	h := newHouse(t)
	if got := h.ask("", "GET", "/healthz", "").ok(200).body; got != "{\"status\":\"ok\"}\n" {
		t.Error(got)
	}
	if got := h.ask("", "GET", "/readyz", "").ok(200).body; got != "{\"status\":\"ready\"}\n" {
		t.Error(got)
	}
	if err := h.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.ask("", "GET", "/readyz", "").refused(503, parley.Unavailable)
	h.ask("", "GET", "/healthz", "").ok(200)
}

func TestWhoSeesMetrics(t *testing.T) {
	h := newHouse(t)
	remote := func(r *http.Request) { r.RemoteAddr = "192.168.1.9:1234" }
	proxied := func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.168.1.9") }
	named := func(r *http.Request) { r.Host = "parley.example" }
	for _, change := range []func(*http.Request){remote, proxied, named} {
		h.ask("", "GET", "/metrics", "", change).refused(401, parley.Unauthorized)
	}
	own := h.ask("agent", "GET", "/metrics", "", remote).ok(200).body
	if !strings.Contains(own, `space="demo"`) || strings.Contains(own, `space="lazy"`) {
		t.Error("a token does not show its own spaces alone")
	}
	both := h.ask("both", "GET", "/metrics", "", remote).ok(200).body
	if !strings.Contains(both, `space="demo"`) || !strings.Contains(both, `space="lazy"`) {
		t.Error("a token of two spaces does not show both")
	}
	h.ask("stranger", "GET", "/metrics", "").refused(401, parley.Unauthorized)
}

// tried is a journal that can be tried, and counts how often it was.
type tried struct {
	journal.Journal
	times atomic.Int64
	fault atomic.Pointer[parley.Error]
	stuck chan struct{} // nil unless probes are to hang
}

func (j *tried) Probe(ctx context.Context) error {
	j.times.Add(1)
	if j.stuck != nil {
		select {
		case <-j.stuck:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := j.fault.Load(); err != nil {
		return err
	}
	return nil
}

// Readiness tries the journal where nobody else does, and not too often.
func TestReadinessTriesTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := journal.NewMemory(journal.MemoryOptions{Epoch: "e1"})
		defer memory.Close()
		j := &tried{Journal: memory}
		h := start(t, Options{Journal: j, Logger: textLog(io.Discard)})
		synctest.Wait()
		times := func(want int64) {
			t.Helper()
			if got := j.times.Load(); got != want {
				t.Errorf("the journal was tried %d times, want %d", got, want)
			}
		}
		time.Sleep(time.Minute)
		gone, leave := context.WithCancel(t.Context())
		leave()
		_ = h.g.writable(gone) // it is tried for the others all the same
		for range 100 {
			if err := h.g.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		times(1)

		full := parley.Errorf(parley.Unavailable, "the journal cannot be written: the disk is full")
		j.fault.Store(full)
		time.Sleep(probeEvery)
		for range 100 {
			if err := h.g.Ready(t.Context()); !errors.Is(err, full) {
				t.Fatalf("on a full disk: %v", err)
			}
		}
		times(2)
		if body := scrape(t, h.g); !strings.Contains(body, "parley_journal_writable 0\n") {
			t.Error("figures say that it can be written")
		}
		j.fault.Store(nil)
		time.Sleep(probeEvery)
		if err := h.g.Ready(t.Context()); err != nil {
			t.Errorf("with room again: %v", err)
		}
		if body := scrape(t, h.g); !strings.Contains(body, "parley_journal_writable 1\n") {
			t.Error("figures say that it cannot be written")
		}
		times(3)

		time.Sleep(time.Minute)
		if _, err := h.g.Submit(t.Context(), "demo", "ann", []byte(chat("hi"))); err != nil {
			t.Fatal(err)
		}
		if err := h.g.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		times(3) // somebody has just written

		time.Sleep(time.Minute)
		j.stuck = make(chan struct{})
		began := time.Now()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := h.g.Ready(t.Context()); !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
					t.Errorf("a journal that hangs: %v", err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took != readyTime {
			t.Errorf("twenty were told after %v", took)
		}
		times(4)
	})
}
