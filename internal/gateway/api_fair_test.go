package gateway

import (
	"context"
	"iter"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// observed is a journal that counts how often it is read, and hides one place.
type observed struct {
	journal.Journal
	reads  atomic.Int64
	hidden atomic.Uint64
}

func (j *observed) Open(ctx context.Context, space string, sink journal.Sink) (journal.Log, error) {
	l, err := j.Journal.Open(ctx, space, sink)
	return &observedLog{l, j}, err
}

type observedLog struct {
	journal.Log
	all *observed
}

func (l *observedLog) Read(ctx context.Context, q journal.Query) iter.Seq2[*journal.Record, error] {
	l.all.reads.Add(1)
	return func(yield func(*journal.Record, error) bool) {
		for rec, err := range l.Log.Read(ctx, q) {
			if (err != nil || rec.Seq != l.all.hidden.Load()) && !yield(rec, err) {
				return
			}
		}
	}
}

// Open proposals that stand close together are read in one go, those far apart
// one by one, and what is no longer on record is listed all the same.
func TestOpenProposalsAreReadTogether(t *testing.T) {
	j := &observed{}
	h := newHouse(t, func(o *Options) {
		j.Journal = o.Journal
		o.Journal = j
	})
	chats := func(n int) {
		for range n {
			if _, err := h.Submit(t.Context(), "demo", "human", []byte(`{"kind":"chat","payload":{"text":"between"}}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	chats(3)
	h.propose("p1", `[]`)
	chats(scanBetween)
	for _, id := range []string{"p2", "p3"} {
		h.propose(id, `[]`)
	}
	chats(scanBetween - 1)
	h.propose("p4", `[]`)
	h.propose("closed", `[]`)
	h.post("human", "proposals/closed/reject", `{"reason":"busy"}`)
	h.propose("p5", `[]`)
	for _, hide := range []string{"", "p1", "p3", "p5"} {
		if hide != "" {
			var e struct{ Seq uint64 }
			h.get("human", "envelopes/"+hide).into(&e)
			j.hidden.Store(e.Seq)
		}
		for query, want := range map[string]string{
			"":                        "p1 p2 p3 p4 p5",
			"order=desc":              "p5 p4 p3 p2 p1",
			"limit=3":                 "p1 p2 p3",
			"order=desc&limit=2":      "p5 p4",
			"limit=5":                 "p1 p2 p3 p4 p5",
			"after=4&order=desc":      "p5 p4 p3 p2",
			"limit=1&after=4":         "p2",
			"order=desc&limit=1":      "p5",
			"order=desc&limit=4":      "p5 p4 p3 p2",
			"before=5&order=desc":     "p1",
			"before=4":                "",
			"after=4&before=5":        "",
			"order=asc&before=100000": "p1 p2 p3 p4 p5",
		} {
			before := j.reads.Load()
			got := h.get("human", "proposals?state=open&"+query)
			if n := j.reads.Load() - before; n > 2 {
				t.Errorf("%q: %d reads", query, n)
			}
			ids, _ := got.items()
			if strings.Join(ids, " ") != want {
				t.Errorf("%q without %q: %q, want %s", query, hide, ids, want)
			}
			payloads := strings.Count(got.body, `"payload":`)
			for _, id := range ids {
				if id == hide {
					payloads++
				}
			}
			if payloads != len(ids) {
				t.Errorf("%q without %q: %d payloads of %d", query, hide, payloads, len(ids))
			}
		}
		j.hidden.Store(0)
	}
}

// gated is a journal whose searches for a word wait until they are let go.
type gated struct {
	journal.Journal
	reached chan struct{}
	letGo   chan struct{}
}

func (g *gated) Open(ctx context.Context, space string, sink journal.Sink) (journal.Log, error) {
	l, err := g.Journal.Open(ctx, space, sink)
	return &gatedLog{l, g}, err
}

type gatedLog struct {
	journal.Log
	gate *gated
}

func (l *gatedLog) Read(ctx context.Context, q journal.Query) iter.Seq2[*journal.Record, error] {
	if q.Text == "" {
		return l.Log.Read(ctx, q)
	}
	return func(yield func(*journal.Record, error) bool) {
		l.gate.reached <- struct{}{}
		<-l.gate.letGo
		l.Log.Read(ctx, q)(yield)
	}
}

// One token cannot keep the readings of others waiting.
func TestOneTokenDoesNotTakeAllReadings(t *testing.T) {
	gate := &gated{reached: make(chan struct{}, apiReads), letGo: make(chan struct{})}
	h := newHouse(t, func(o *Options) {
		gate.Journal = o.Journal
		o.Journal = gate
	})
	h.chat("human", "c1")
	slow := func() int {
		req := httptest.NewRequest("GET", "/v1/spaces/demo/envelopes?q=this", nil)
		req.Host = "localhost:7717"
		req.Header.Set("Authorization", "Bearer agent-token")
		rec := httptest.NewRecorder()
		h.handler.ServeHTTP(rec, req)
		return rec.Code
	}
	var greedy sync.WaitGroup
	status := make(chan int, readsWaiting+apiReads)
	for range apiReads / 2 {
		greedy.Go(func() { status <- slow() })
		<-gate.reached
	}
	for range readsWaiting {
		greedy.Go(func() { status <- slow() })
	}
	waiting := func() int {
		reads, token := h.api.reads, tokenOf("agent")
		reads.mu.Lock()
		defer reads.mu.Unlock()
		if p := reads.of[string(token[:])]; p != nil {
			return len(p.waiting)
		}
		return 0
	}
	for deadline := time.Now().Add(20 * time.Second); waiting() < readsWaiting; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d wait", waiting())
		}
	}

	if got := h.get("human", "envelopes").body; !strings.Contains(got, `"c1"`) {
		t.Errorf("while somebody reads a lot another one is told %s", got)
	}
	p := h.ask("agent", "GET", "/v1/spaces/demo/envelopes?q=this", "").refused(429, parley.RateLimited)
	if p["retry_after_ms"] == nil {
		t.Errorf("one too many is not told when to try again: %v", p)
	}
	close(gate.letGo)
	go func() {
		for range gate.reached {
		}
	}()
	greedy.Wait()
	close(gate.reached)
	close(status)
	for code := range status {
		if code != 200 {
			t.Errorf("who waited was told %d", code)
		}
	}
}
