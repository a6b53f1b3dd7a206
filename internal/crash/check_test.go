package crash

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/journal"
)

// book is a small record, written as a journal would.
type book struct {
	epoch   string
	head    journal.Head
	records []*journal.Record
}

// write puts an envelope on record.
func (b *book) write(e parley.Envelope) *journal.Record {
	e.Protocol, e.TS = parley.ProtocolMCPx, time.UnixMilli(1_700_000_000_000).UTC()
	r := journal.Envelope(&e, parley.SplitKind(e.Kind), [16]byte{})
	r.Epoch = b.epoch
	b.head = r.Place(b.head)
	b.records = append(b.records, r)
	return r
}

// story is what the cases start from: a proposal that is fulfilled and
// answered, with some talk around it.
func story() *book {
	b := &book{epoch: "epoch", head: NewChecker().Head()}
	b.write(parley.Envelope{ID: "1", From: "ann", Kind: "chat"})
	b.write(parley.Envelope{ID: "2", From: "agent", To: []string{"files"}, Kind: "mcp/proposal:tools/call:x"})
	b.write(parley.Envelope{ID: "3", From: "ann", To: []string{"files"}, Kind: "mcp/request:tools/call:x", Correlation: parley.CorrelateWith("2")})
	b.write(parley.Envelope{ID: "4", From: "files", To: []string{"ann"}, Kind: "mcp/response:tools/call:x", Correlation: parley.CorrelateWith("3")})
	b.write(parley.Envelope{ID: "5", From: "bob", Kind: "acme/status"})
	return b
}

func (b *book) arrives(t *testing.T, who string, seq uint64) Promise {
	t.Helper()
	e, err := b.records[seq-1].Decode()
	if err != nil {
		t.Fatal(err)
	}
	return delivered(who, e)
}

var views = []View{{Me: "all"}, {Me: "ann", Directed: true, EchoOff: true}, {Me: "talk", Types: []string{"chat", "acme/"}}}

// Each case is one promise too many, or one record changed.
func TestChecker(t *testing.T) {
	joined := func(who string, after uint64) Promise {
		return Promise{Type: Joined, Who: who, Seq: after, Epoch: "epoch"}
	}
	ack := func(who, id string, seq uint64) Promise {
		return Promise{Type: Acknowledged, Who: who, ID: id, Seq: seq, Epoch: "epoch"}
	}
	for _, c := range []struct {
		name string
		edit func(*book)
		told []Promise
		want string // part of the only fault; "" is none
	}{
		{"acknowledged", nil, []Promise{ack("ann", "1", 1), ack("bob", "5", 5)}, ""},
		{"acknowledged and lost", nil, []Promise{ack("ann", "9", 6)}, "9 was acknowledged at 6, and is not on record"},
		{"acknowledged elsewhere", nil, []Promise{ack("ann", "1", 2)}, "on record it is at epoch/1"},
		{"acknowledged to another", nil, []Promise{ack("bob", "1", 1)}, "from ann"},
		{"acknowledged in another epoch", nil, []Promise{{Type: Acknowledged, Who: "ann", ID: "1", Seq: 1, Epoch: "late"}}, "acknowledged at late/1"},
		{"refused", nil, []Promise{{Type: Refused, ID: "9"}}, ""},
		{"refused and on record", nil, []Promise{{Type: Refused, ID: "1"}}, "1 was refused, and is on record at 1"},
		{"ended", nil, []Promise{{Type: Ended, ID: "2", Ref: "3"}}, ""},
		{"ended by another", nil, []Promise{{Type: Ended, ID: "2", Ref: "9"}}, `9 ended the proposal 2; on record it is "3"`},
		{"undecided", nil, []Promise{{Type: Undecided, ID: "2"}}, "was not decided in time"},
		{"acted on", nil, []Promise{{Type: Acted, ID: "3", Ref: "2"}}, ""},
		{"acted on twice", nil, []Promise{{Type: Acted, ID: "3", Ref: "2"}, {Type: Acted, ID: "3", Ref: "2"}}, "acted on twice"},
		{"acted on without a record", nil, []Promise{{Type: Acted, ID: "9", Ref: "2"}}, "acted on 9, which is not on record"},
		{"acted on for one that did not win", nil, []Promise{{Type: Acted, ID: "5", Ref: "2"}}, `acted on 5 at 5 for the proposal 2, which "3" ended`},
		{"welcomed beyond the record", nil, []Promise{{Type: Welcomed, Who: "all", Seq: 6, Epoch: "epoch"}}, "welcomed at seq 6, the record ends at 5"},
		{"welcomed in another epoch", nil, []Promise{{Type: Welcomed, Who: "all", Seq: 5, Epoch: "late"}}, "welcomed in the epoch late"},
		{"a right that is gone", nil, []Promise{{Type: Bereft, Who: "novice"}}, "novice: a right that was given is gone"},
		{"a right that came back", nil, []Promise{{Type: Stolen, Who: "thief", Seq: 9}}, "thief: used a right at 9 that was taken"},
		{"a resume with a gap", nil, []Promise{{Type: Torn, Who: "all", Seq: 3}}, "could not resume after 3"},
		{"two ends", func(b *book) {
			b.write(parley.Envelope{ID: "6", From: "bob", Kind: "mcp/reject:tools/call:x", Correlation: parley.CorrelateWith("2")})
		}, nil, "the proposal 2 has two ends: 3, and 6"},
		{"two answers", func(b *book) {
			b.write(parley.Envelope{ID: "6", From: "files", Kind: "mcp/response:tools/call:x", Correlation: parley.CorrelateWith("3")})
		}, nil, "the request 3 has two ends: 4, and 6"},
		{"an id twice", func(b *book) { b.write(parley.Envelope{ID: "1", From: "ann", Kind: "chat"}) }, nil, "1 is on record twice"},
		{"another epoch", func(b *book) {
			b.epoch = "late"
			b.write(parley.Envelope{ID: "6", From: "ann", Kind: "chat"})
		}, nil, "record 6 is of the epoch late"},
		{"an edit", func(b *book) { b.records[4].From = "eve" }, nil, "the chain breaks at seq 5"},
		{"a filter", nil, []Promise{joined("talk", 0)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := story()
			if c.edit != nil {
				c.edit(b)
			}
			ch := NewChecker(views...)
			for _, r := range b.records {
				ch.Record(r)
			}
			ch.Check(c.told)
			expect(t, ch.Faults(), c.want)
		})
	}
}

// What each view has to receive of the story, and every way to get it wrong.
func TestArrivals(t *testing.T) {
	for _, c := range []struct {
		name  string
		who   string
		after uint64
		seqs  []uint64
		want  string
	}{
		{"everything", "all", 0, []uint64{1, 2, 3, 4, 5}, ""},
		{"everything since", "all", 3, []uint64{4, 5}, ""},
		{"named or broadcast, not my own", "ann", 0, []uint64{4, 5}, ""},
		{"by kind", "talk", 0, []uint64{1, 5}, ""},
		{"a hole", "all", 0, []uint64{1, 2, 4, 5}, "all: 3 (3) never came; 4 came next"},
		{"a hole in a filter", "talk", 0, []uint64{5}, "talk: 1 (1) never came; 5 came next"},
		{"the end is missing", "all", 0, []uint64{1, 2, 3, 4}, "all: 5 (5) never came"},
		{"a repeat", "all", 0, []uint64{1, 2, 2, 3, 4, 5}, "all: 2 came again, or late, after 2"},
		{"from before", "all", 3, []uint64{3, 4, 5}, "all: 3 came again, or late, after 3"},
		{"through the filter", "talk", 0, []uint64{1, 2, 5}, "talk: 2 (2) came through a filter"},
		{"through the filter, last", "ann", 4, []uint64{5, 3}, "ann: 3 came again, or late"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := story()
			ch := NewChecker(views...)
			for _, r := range b.records {
				ch.Record(r)
			}
			for _, v := range views { // the others come when all is over
				after := uint64(5)
				if v.Me == c.who {
					after = c.after
				}
				ch.Check([]Promise{{Type: Joined, Who: v.Me, Seq: after, Epoch: "epoch"}})
			}
			for _, seq := range c.seqs {
				ch.Check([]Promise{b.arrives(t, c.who, seq)})
			}
			ch.Close(5)
			expect(t, ch.Faults(), c.want)
		})
	}
}

// What arrives has to be what is on record, in content as well.
func TestArrivalOfOtherContent(t *testing.T) {
	b := story()
	ch := NewChecker(View{Me: "all"})
	for _, r := range b.records {
		ch.Record(r)
	}
	p := b.arrives(t, "all", 1)
	p.Digest++
	ch.Check([]Promise{{Type: Joined, Who: "all", Epoch: "epoch"}, p})
	expect(t, ch.Faults(), "1 (1) is on record with other content")
	ch.Check([]Promise{{Type: Delivered, Who: "all", ID: "9", Seq: 6}})
	expect(t, ch.Faults()[1:], "9 was delivered at 6, and is not on record there")
}

// What was redacted may arrive as it was, or as it is now; nothing else may differ.
func TestArrivalOfRedactedContent(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		b := story()
		if ordered {
			b.write(parley.Envelope{ID: "6", From: "ann", Kind: parley.KindRedact, Payload: []byte(`{"id":"1"}`)})
		}
		p := b.arrives(t, "all", 1)
		redacted, err := b.records[0].Redact()
		if err != nil {
			t.Fatal(err)
		}
		b.records[0] = redacted
		ch := NewChecker(View{Me: "all"})
		for _, r := range b.records {
			ch.Record(r)
		}
		ch.Check([]Promise{{Type: Joined, Who: "all", Epoch: "epoch"}, p})
		want := "1 (1) is on record with other content"
		if ordered {
			want = ""
		}
		expect(t, ch.Faults(), want)
	}
}

// Checkpoints and markers are part of the chain, and are counted.
func TestCheckerCounts(t *testing.T) {
	b := story()
	note := func(r *journal.Record) {
		r.Epoch = b.epoch
		b.head = r.Place(b.head)
		b.records = append(b.records, r)
	}
	third := b.records[2]
	note(journal.NewCheckpoint(third.TS, []byte(`{}`), [16]byte{}))
	note(journal.NewMarker(third.TS, journal.Dropped{
		Through: journal.Head{Index: third.Index, Seq: third.Seq, Hash: third.Hash}, Records: 3, Envelopes: 3}, [16]byte{}))
	ch := NewChecker()
	for _, r := range b.records {
		ch.Record(r)
	}
	expect(t, ch.Faults(), "")
	if ch.checkpoints != 1 || ch.markers != 1 || ch.dropped != 3 {
		t.Errorf("it counted %d checkpoints and %d markers, which dropped %d", ch.checkpoints, ch.markers, ch.dropped)
	}
}

// Somebody who never joined, and more faults than anybody wants to read.
func TestCheckerTellsEnough(t *testing.T) {
	ch := NewChecker(View{Me: "all"})
	ch.Close(0)
	expect(t, ch.Faults(), "all: never joined")
	for range mostFaults + 9 {
		ch.Check([]Promise{{Type: Torn}})
	}
	if got := ch.Faults(); len(got) != mostFaults+1 || got[mostFaults] != "and 10 more" {
		t.Errorf("%d faults, at last %q", len(got), got[len(got)-1])
	}
}

func expect(t *testing.T, faults []string, want string) {
	t.Helper()
	switch {
	case want == "" && len(faults) == 0:
	case want != "" && len(faults) == 1 && strings.Contains(faults[0], want):
	default:
		t.Errorf("faults are %q, want %q", faults, want)
	}
}

func TestLedger(t *testing.T) {
	l := new(Ledger)
	next := l.next()
	l.answered("ann", "1", client.Receipt{ID: "1", Seq: 1, Epoch: "epoch"}, nil)
	<-next
	unavailable := parley.Errorf(parley.Unavailable, "not now")
	l.answered("ann", "2", client.Receipt{}, parley.Errorf(parley.InvalidKind, "no"))
	l.answered("ann", "3", client.Receipt{}, unavailable)
	l.answered("ann", "4", client.Receipt{}, client.ErrUnacknowledged)
	l.answered("ann", "5", client.Receipt{}, fmt.Errorf("%w: %w", client.ErrUnacknowledged, unavailable))
	got := l.Take()
	want := []Promise{
		{Type: Acknowledged, Who: "ann", ID: "1", Seq: 1, Epoch: "epoch"},
		{Type: Refused, Who: "ann", ID: "2"},
		{Type: Unwritten, Who: "ann", ID: "3"},
	}
	if !slices.Equal(got, want) || len(l.Take()) > 0 || l.Total(Refused) != 1 {
		t.Errorf("the ledger has %+v", got)
	}
	if err := l.reach(t.Context(), Refused, 1); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.reach(ended, Refused, 2); err == nil {
		t.Error("one is two")
	}
}
