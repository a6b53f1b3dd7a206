package gateway

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/sqlite"
	"github.com/parleyhq/parley/internal/space"
)

// kept is a gateway on a journal file, which can be started again.
type kept struct {
	t       *testing.T
	path    string
	opts    Options
	g       *Gateway
	journal *sqlite.Journal
}

func keep(t *testing.T, opts Options) *kept {
	k := &kept{t: t, opts: opts, path: filepath.Join(t.TempDir(), "parley.db")}
	if k.opts.Spaces == nil {
		k.opts.Spaces = []Space{demo("ann", "bob", "cy")}
	}
	k.opts.Logger = textLog(logOf(t))
	k.start()
	t.Cleanup(k.stop)
	return k
}

func (k *kept) start() {
	k.t.Helper()
	var err error
	if k.journal, err = sqlite.Open(k.t.Context(), sqlite.Options{Path: k.path, Sync: sqlite.Off}); err != nil {
		k.t.Fatal(err)
	}
	k.opts.Journal = k.journal
	if k.g, err = New(k.t.Context(), k.opts); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kept) stop() {
	k.t.Helper()
	if err := errors.Join(k.g.Shutdown(context.Background()), k.journal.Close()); err != nil {
		k.t.Error(err)
	}
}

// restart ends the gateway and starts another one, perhaps configured anew.
func (k *kept) restart(change ...func(*Options)) {
	k.t.Helper()
	k.stop()
	for _, c := range change {
		c(&k.opts)
	}
	k.start()
}

func (k *kept) room() *room { return k.g.rooms["demo"] }

// send has somebody send something, and returns its id.
func (k *kept) send(from, text string) string {
	k.t.Helper()
	receipt, err := k.g.Submit(k.t.Context(), "demo", from, []byte(text))
	if err != nil {
		k.t.Fatalf("%s sends %s: %v", from, text, err)
	}
	return receipt.ID
}

func (k *kept) refused(code parley.Code, from, text string) {
	k.t.Helper()
	_, err := k.g.Submit(k.t.Context(), "demo", from, []byte(text))
	if !errors.Is(err, &parley.Error{Code: code}) {
		k.t.Errorf("%s sends %s: got %v, not %s", from, text, err, code)
	}
}

// save makes a checkpoint and waits for it.
func (k *kept) save() {
	k.t.Helper()
	done := make(chan error, 1)
	if err := k.room().do(k.t.Context(), func() { k.room().save(func(err error) { done <- err }) }); err != nil {
		k.t.Fatal(err)
	}
	if err := <-done; err != nil {
		k.t.Fatal(err)
	}
}

// records are the journal's, of one type.
func (k *kept) records(typ journal.Type) (list []*journal.Record) {
	k.t.Helper()
	for rec, err := range k.room().record.Read(k.t.Context(), journal.Query{Chain: true}) {
		if err != nil {
			k.t.Fatal(err)
		}
		if rec.Type == typ {
			list = append(list, rec)
		}
	}
	return list
}

func (k *kept) verify() journal.Audit {
	k.t.Helper()
	audit, err := journal.Verify(k.t.Context(), "demo", k.room().record)
	if err != nil {
		k.t.Fatal(err)
	}
	return audit
}

const propose = `{"to":["bob"],"kind":"mcp/proposal:tools/call:x","payload":{"method":"tools/call","params":{"name":"x","arguments":{"word":"albatross"}}}}`

// A start reads the newest checkpoint and what follows it, and nothing else.
func TestStartFromACheckpoint(t *testing.T) {
	k := keep(t, Options{})
	open := k.send("ann", propose)
	closed := k.send("ann", propose)
	k.send("cy", `{"kind":"mcp/reject:tools/call:x","correlation_id":"`+closed+`","payload":{"reason":"no"}}`)
	k.send("ann", `{"kind":"capability/revoke","payload":{"recipient":"cy","capabilities":["note"]}}`)
	k.save()
	later := k.send("ann", propose)
	k.restart()
	r := k.room()
	if r.saver.index == 0 {
		t.Error("it did not start from the checkpoint")
	}
	for _, one := range []struct {
		id   string
		want space.ProposalState
	}{{open, space.Open}, {closed, space.Rejected}, {later, space.Open}} {
		if p, _ := r.state.Proposal(one.id); p.State != one.want {
			t.Errorf("proposal %s is %q, not %s", one.id, p.State, one.want)
		}
	}
	k.refused(parley.CapabilityViolation, "cy", `{"kind":"note","payload":{}}`)
	k.refused(parley.DuplicateID, "ann", `{"id":"`+open+`","kind":"chat","payload":{}}`)
	k.verify()
}

// Checkpoints come by themselves, and one at an orderly end.
func TestCheckpointsComeByThemselves(t *testing.T) {
	s := demo("ann")
	s.Rules.Limits.Burst = 2 * checkpointAtEnd
	k := keep(t, Options{CheckpointEvery: 10, Spaces: []Space{s}})
	for i := range 35 {
		k.send("ann", chat(fmt.Sprint(i)))
	}
	k.save() // behind those that came by themselves
	if n := len(k.records(journal.Checkpoint)); n < 2 || n > 4 {
		t.Errorf("%d checkpoints in 35 envelopes", n)
	}
	k.restart(func(o *Options) { o.CheckpointEvery = 0 })
	for i := range checkpointAtEnd {
		k.send("ann", chat(fmt.Sprint(i)))
	}
	k.restart()
	if unsaved := k.room().saver.unsaved; unsaved != 0 {
		t.Errorf("an orderly end left %d envelopes to be read", unsaved)
	}
}

// A checkpoint that cannot be read costs time, and nothing else, as long as
// everything is on record.
func TestUnreadableCheckpoint(t *testing.T) {
	k := keep(t, Options{})
	id := k.send("ann", propose)
	done := make(chan error, 1)
	err := k.room().do(t.Context(), func() {
		rec := journal.NewCheckpoint(k.room().now(), []byte(`{"index":1,"state":{"seq":"nonsense"}}`), [16]byte{1})
		k.room().putCheckpoint(rec, place{1, 1}, nil, func(err error) { done <- err })
	})
	if err = errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	k.restart()
	if p, _ := k.room().state.Proposal(id); p.State != space.Open {
		t.Errorf("the proposal is %q", p.State)
	}
}

// What retention drops leaves a marker; rights that were taken stay taken, open
// proposals stay open, and whoever resumes from before is told.
func TestRecordIsDropped(t *testing.T) {
	s := demo("ann", "bob", "cy")
	s.Retention = Retention{Bytes: 50_000}
	k := keep(t, Options{RetainEvery: time.Hour, Spaces: []Space{s}})
	k.send("ann", `{"kind":"capability/revoke","payload":{"recipient":"cy","capabilities":["note"]}}`)
	open := k.send("ann", propose)
	for i := range 200 {
		k.send("ann", chat(fmt.Sprint(i, strings.Repeat("x", 1_000))))
	}
	r := k.room()
	for range 2 { // the second time there is little left to do
		if err := r.retain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	bounds, err := r.record.Bounds(t.Context())
	if err != nil || bounds.First < 100 {
		t.Fatalf("the record begins at %d: %v", bounds.First, err)
	}
	if len(k.records(journal.Marker)) == 0 {
		t.Error("no marker")
	}
	audit := k.verify()
	k.restart()
	if audit.Head.Seq != 202 || k.room().state.Seq() < 202 {
		t.Errorf("verified up to %d, state at %d", audit.Head.Seq, k.room().state.Seq())
	}
	if p, _ := k.room().state.Proposal(open); p.State != space.Open {
		t.Errorf("the proposal is %q", p.State)
	}
	k.refused(parley.CapabilityViolation, "cy", `{"kind":"note","payload":{}}`)
	k.refused(parley.DuplicateID, "ann", `{"id":"`+open+`","kind":"chat","payload":{}}`)
	if k.room().first != bounds.First {
		t.Errorf("first is %d, was %d", k.room().first, bounds.First)
	}
}

func TestRecordIsDroppedByAge(t *testing.T) {
	var late atomic.Bool
	clock := func() time.Time {
		now := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
		if late.Load() {
			now = now.Add(time.Hour)
		}
		return now
	}
	s := demo("ann")
	s.Retention = Retention{Age: time.Minute}
	k := keep(t, Options{Now: clock, RetainEvery: time.Hour, Spaces: []Space{s}})
	k.send("ann", chat("old"))
	r := k.room()
	late.Store(true)
	k.send("ann", chat("new"))
	if err := r.retain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if bounds, err := r.record.Bounds(t.Context()); bounds.First != 2 || err != nil {
		t.Errorf("the record begins at %d: %v", bounds.First, err)
	}
	k.verify()
}

// What is redacted is gone from the record, from memory and from checkpoints,
// and the order is on record.
func TestRedact(t *testing.T) {
	k := keep(t, Options{})
	id := k.send("ann", propose)
	no := k.send("cy", `{"kind":"mcp/reject:tools/call:x","correlation_id":"`+id+`","payload":{"reason":"albatross"}}`)
	k.save()
	k.save()
	for _, one := range []string{id, no} {
		k.send("bob", `{"kind":"space/redact","payload":{"id":"`+one+`","reason":"a word"}}`)
	}
	k.untilRedacted(id)
	k.untilRedacted(no)
	if text := k.everything(); strings.Contains(text, "albatross") {
		t.Errorf("it is still on record: %s", text)
	}
	if first, _ := k.room().frames.bounds(); first <= 2 {
		t.Error("the frame is still in memory")
	}
	if audit := k.verify(); audit.Redacted != 2 {
		t.Errorf("%d are redacted", audit.Redacted)
	}
	k.restart()
	if p, _ := k.room().state.Proposal(id); p.State != space.Rejected || p.Closed.Reason != "" {
		t.Errorf("the proposal is %s: %q", p.State, p.Closed.Reason)
	}
	k.refused(parley.KindMismatch, "bob", `{"kind":"space/redact","payload":{"id":"`+k.send("bob", `{"kind":"space/kick","payload":{"participant":"cy"}}`)+`"}}`)
}

// An order that cannot be carried out is answered with a notice; one that was
// cut short is carried out at the next start.
func TestRedactionsThatWait(t *testing.T) {
	k := keep(t, Options{})
	k.send("bob", `{"kind":"space/redact","payload":{"id":"nowhere"}}`)
	k.until("a notice", func() bool {
		list := k.records(journal.Admitted)
		last := list[len(list)-1]
		return last.Kind == parley.KindNotice && strings.Contains(string(last.Body), `"redaction_failed"`)
	})
	id := k.send("ann", chat("albatross"))
	k.restart()
	// The order is on record, and nobody is there to carry it out.
	r := k.room()
	_ = r.do(t.Context(), func() { r.saver.busy = true })
	k.send("bob", `{"kind":"space/redact","payload":{"id":"`+id+`"}}`)
	_ = r.do(t.Context(), func() { r.saver.busy, r.saver.waiting = false, nil })
	k.restart()
	k.untilRedacted(id)
	if text := k.everything(); strings.Contains(text, "albatross") {
		t.Error("it is still on record")
	}
	k.verify()
}

// untilRedacted waits until the words are gone, from memory as well.
func (k *kept) untilRedacted(id string) {
	k.t.Helper()
	k.until(id+" is redacted", func() bool {
		var left []space.Redaction
		_ = k.room().do(k.t.Context(), func() { left = k.room().state.Redacting() })
		return !slices.ContainsFunc(left, func(order space.Redaction) bool { return order.ID == id })
	})
}

func (k *kept) until(what string, holds func() bool) {
	k.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			k.t.Fatal("waited in vain: ", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// everything is all that the journal holds, as one text.
func (k *kept) everything() string {
	k.t.Helper()
	var b strings.Builder
	for rec, err := range k.room().record.Read(k.t.Context(), journal.Query{Chain: true}) {
		if err != nil {
			k.t.Fatal(err)
		}
		b.Write(rec.Body)
	}
	return b.String()
}
