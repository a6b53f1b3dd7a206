// Package journaltest is the one suite that every journal passes.
//
//	func TestJournal(t *testing.T) {
//		journaltest.Run(t, func(t *testing.T) journaltest.Harness {
//			m := journal.NewMemory(journal.MemoryOptions{})
//			return journaltest.Harness{
//				Open:  func() journal.Journal { return m },
//				Break: m.Fail,
//				Heal:  m.Heal,
//				Queue: 1024,
//			}
//		})
//	}
//
// Each case runs in a bubble of testing/synctest, so that nothing in it waits
// for a clock.
package journaltest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// Harness is how the suite gets at a journal.
type Harness struct {
	// Open opens the journal, the same one each time. It is called again only
	// after it has been closed.
	Open func() journal.Journal

	// Break makes every write fail from now on, as a broken disk would, and
	// Heal ends that.
	Break func(err error)
	Heal  func()

	// Queue is how many records may be on their way at most.
	Queue int

	// Settle waits until a space's search index has read up to seq. nil where
	// it never lags.
	Settle func(j journal.Journal, space string, seq uint64)
}

// Run runs the suite. start is called once for each case and makes an empty
// journal.
func Run(t *testing.T, start func(t *testing.T) Harness) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t)
				s := &suite{T: t, h: h}
				s.j = h.Open()
				t.Cleanup(func() { s.check(s.j.Close()) })
				c.run(s)
			})
		})
	}
}

// suite is one case that runs.
type suite struct {
	*testing.T
	h Harness
	j journal.Journal
}

func (s *suite) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *suite) reopen() {
	s.Helper()
	s.check(s.j.Close())
	s.j = s.h.Open()
}

func (s *suite) open(space string) (journal.Log, *Sink) {
	s.Helper()
	sink := NewSink()
	l, err := s.j.Open(s.Context(), space, sink)
	s.check(err)
	return l, sink
}

// settle waits until everything can be searched quickly.
func (s *suite) settle(space string, seq uint64) {
	if s.h.Settle != nil {
		s.h.Settle(s.j, space, seq)
	}
}

// read collects what a query yields.
func (s *suite) read(r journal.Reader, q journal.Query) []*journal.Record {
	s.Helper()
	var all []*journal.Record
	for rec, err := range r.Read(s.Context(), q) {
		s.check(err)
		all = append(all, rec)
	}
	return all
}

func (s *suite) bounds(r journal.Reader) journal.Bounds {
	s.Helper()
	b, err := r.Bounds(s.Context())
	s.check(err)
	return b
}

// verify walks the whole chain, holds it against heads, and returns its end.
func (s *suite) verify(space string, r journal.Reader, kept ...journal.Head) journal.Head {
	s.Helper()
	audit, err := journal.Verify(s.Context(), space, r, kept...)
	s.check(err)
	if b := s.bounds(r); b.Head != audit.Head {
		s.Fatalf("the chain ends at %v, Bounds says %v", audit.Head, b.Head)
	}
	return audit.Head
}

// redact redacts an id below before, which stands at these places.
func (s *suite) redact(l journal.Log, id string, before uint64, want ...uint64) {
	s.Helper()
	got, err := l.Redact(s.Context(), id, before)
	s.check(err)
	if !slices.Equal(got, want) {
		s.Errorf("%s was redacted at %d, want %d", id, got, want)
	}
}

// Sink collects what it hears.
type Sink struct {
	mu      sync.Mutex
	changed sync.Cond
	durable []*journal.Record
	failed  []*journal.Record
	errs    []error
	hold    bool
}

// NewSink makes a sink that has heard nothing.
func NewSink() *Sink {
	s := &Sink{}
	s.changed.L = &s.mu
	return s
}

// Durable implements [journal.Sink].
func (s *Sink) Durable(records []*journal.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.hold {
		s.changed.Wait()
	}
	s.durable = append(s.durable, records...)
	s.changed.Broadcast()
}

// Failed implements [journal.Sink].
func (s *Sink) Failed(records []*journal.Record, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = append(s.failed, records...)
	s.errs = append(s.errs, err)
	s.changed.Broadcast()
}

// WaitDurable waits until n records have become durable in all, and returns
// those that have.
func (s *Sink) WaitDurable(n int) []*journal.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.durable) < n {
		s.changed.Wait()
	}
	return s.durable
}

// WaitFailed waits until n records have failed in all, and returns those that
// have, and the errors.
func (s *Sink) WaitFailed(n int) ([]*journal.Record, []error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.failed) < n {
		s.changed.Wait()
	}
	return s.failed, s.errs
}

// setHold makes Durable wait, or lets it go on.
func (s *Sink) setHold(hold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = hold
	s.changed.Broadcast()
}

// start is when all records of the suite begin.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// chat is a plain envelope with a text.
func chat(n int, text string) *parley.Envelope {
	payload, _ := jsontext.AppendQuote([]byte(`{"text":`), text)
	return &parley.Envelope{
		Protocol: parley.ProtocolMCPx,
		ID:       fmt.Sprintf("e-%d", n),
		TS:       start.Add(time.Duration(n) * time.Second),
		From:     "ann",
		Kind:     parley.KindChat,
		Payload:  append(payload, '}'),
	}
}

// record makes an envelope's record.
func record(e *parley.Envelope) *journal.Record {
	return journal.Envelope(e, parley.SplitKind(e.Kind), salt(e.ID))
}

func chats(from, to int) []*journal.Record {
	var all []*journal.Record
	for n := from; n <= to; n++ {
		all = append(all, record(chat(n, fmt.Sprintf("message %d", n))))
	}
	return all
}

// refusal is a note: something that was refused.
func refusal(n int) *journal.Record {
	id := fmt.Sprintf("x-%d", n)
	return journal.NewRefusal(start.Add(time.Duration(n)*time.Second), "eve", id, "chat",
		journal.Refusal{Code: parley.CapabilityViolation, Digest: sha256.Sum256([]byte(id)), Bytes: n}, salt(id))
}

// salt is not random, so that a failing case fails alike each time.
func salt(id string) (s [16]byte) {
	for _, c := range []byte(id) {
		binary.BigEndian.PutUint64(s[:], binary.BigEndian.Uint64(s[:])*31+uint64(c))
	}
	return s
}

func appendAll(l journal.Log, records []*journal.Record) {
	for _, r := range records {
		l.Append(r)
	}
}

func seqs(records []*journal.Record) []uint64 {
	all := []uint64{}
	for _, r := range records {
		all = append(all, r.Seq)
	}
	return all
}

// canceled is a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
