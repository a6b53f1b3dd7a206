package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

var cases = []struct {
	name string
	run  func(s *suite)
}{
	{"an empty log", empty},
	{"places follow the order of appending", order},
	{"records read back as they were written", roundTrip},
	{"several spaces at once", severalSpaces},
	{"tokens are handed back and not kept", tokens},
	{"a log is open once", openOnce},
	{"readers of a space that is not there", noSuchSpace},
	{"queries", queries},
	{"queries against a model", queriesAgainstModel},
	{"pages", pages},
	{"the chain, with notes among envelopes", chain},
	{"reading while writing", readWhileWriting},
	{"a reader that stops, and one whose context ends", stopReading},
	{"close waits for what was appended", closeFlushes},
	{"reopening goes on where it was", reopening},
	{"failed appends fail in order until recovery", failing},
	{"a failure keeps to what could not be written", failingSpaces},
	{"a full queue holds its senders", backPressure},
	{"huge bodies", hugeBodies},
	{"unicode", unicodeTexts},
	{"odd searches", oddSearches},
	{"redaction", redaction},
	{"a record that is too large", tooLarge},
	{"an id that is used again", redactingOneOfSeveral},
	{"every type of record", everyType},
	{"the newest checkpoint", checkpoints},
	{"checkpoints give up their bodies", superseded},
	{"a large checkpoint", largeCheckpoint},
	{"a marker drops", dropping},
	{"markers that may not drop", badMarkers},
	{"a marker that fails", failingMarker},
	{"what has to go", cuts},
	{"a read that retention overtakes", overtaken},
	{"contexts", contexts},
	{"kinds within a context", contextKinds},
	{"contexts and summaries", contextsSummedUp},
	{"contexts and redacted summaries", contextsSummaryRedacted},
	{"contexts and redaction", contextsRedacted},
	{"contexts and retention", contextsDropped},
	{"contexts against a model", contextsAgainstModel},
	{"envelopes of many contexts", manyContexts},
}

func empty(s *suite) {
	l, _ := s.open("demo")
	b := s.bounds(l)
	if b.Epoch == "" {
		s.Error("a new log has no epoch")
	}
	b.Epoch = ""
	if b != (journal.Bounds{Head: journal.Origin("demo")}) {
		s.Errorf("the bounds of an empty log: %+v", b)
	}
	if got := s.read(l, journal.Query{}); len(got) > 0 {
		s.Errorf("an empty log holds %v", seqs(got))
	}
	if got := s.read(l, journal.Query{Chain: true, Newest: true}); len(got) > 0 {
		s.Errorf("an empty chain holds %d records", len(got))
	}
	names, err := s.j.Spaces(s.Context())
	s.check(err)
	if !slices.Equal(names, []string{"demo"}) {
		s.Errorf("spaces: %q", names)
	}
}

func order(s *suite) {
	const n = 500
	l, sink := s.open("demo")
	appendAll(l, chats(1, n))
	got := sink.WaitDurable(n)
	for i, r := range got {
		if r.ID != fmt.Sprintf("e-%d", i+1) || r.Seq != uint64(i+1) || r.Index != uint64(i+1) {
			s.Fatalf("record %d is %s with index %d, seq %d", i+1, r.ID, r.Index, r.Seq)
		}
		if r.Epoch == "" || r.Hash == (journal.Hash{}) {
			s.Fatalf("record %d came without epoch or hash", i+1)
		}
	}
	b := s.bounds(l)
	if b.First != 1 || b.Last != n || b.Head.Index != n || b.Head.Hash != got[n-1].Hash || b.Epoch != got[0].Epoch {
		s.Errorf("bounds after %d records: %+v", n, b)
	}
	s.verify("demo", l)
}

// corner is an envelope that uses every field.
func corner() *parley.Envelope {
	return &parley.Envelope{
		Protocol:    parley.ProtocolMCPP,
		ID:          "corner",
		TS:          start.Add(123 * time.Millisecond),
		From:        "ann",
		To:          []string{"files", "bob"},
		Kind:        "mcp/request:tools/call",
		Correlation: parley.CorrelateWith("a", "b", "c"),
		Context:     &parley.Context{ID: "c-2", Type: "reasoning", Parent: "c-1", Metadata: []byte(`{"step": 1}`)},
		Amends:      true,
		Payload:     []byte(`{"method":"tools/call","params":{"name":"read_file"}}`),
		Extra:       []byte(`"x-trace":"1","y":[1, 2]`),
	}
}

func roundTrip(s *suite) {
	l, sink := s.open("demo")
	full := journal.Envelope(corner(), parley.SplitKind("mcp/request:tools/call:read_file"), salt("s"))
	bare := record(&parley.Envelope{ID: "bare", TS: start, From: "bob", Kind: "chat"})
	note := refusal(7)
	appendAll(l, []*journal.Record{full, bare, note})
	written := sink.WaitDurable(3)
	for i, r := range s.read(l, journal.Query{Chain: true}) {
		if !reflect.DeepEqual(r, written[i]) {
			s.Errorf("written: %+v\n   read: %+v", written[i], r)
		}
	}
	if got := written[2].DecodeRefusal(); got.Code != parley.CapabilityViolation || got.Bytes != 7 {
		s.Errorf("the refusal reads %+v", got)
	}
}

func severalSpaces(s *suite) {
	const spaces, n = 5, 200
	var running sync.WaitGroup
	for i := range spaces {
		running.Go(func() {
			name := fmt.Sprintf("space-%d", i)
			l, sink := s.open(name)
			appendAll(l, chats(1, n+i))
			for k, r := range sink.WaitDurable(n + i) {
				if r.Seq != uint64(k+1) {
					s.Errorf("%s: record %d has seq %d", name, k+1, r.Seq)
					return
				}
			}
		})
	}
	running.Wait()
	names, err := s.j.Spaces(s.Context())
	s.check(err)
	if want := []string{"space-0", "space-1", "space-2", "space-3", "space-4"}; !slices.Equal(names, want) {
		s.Errorf("spaces %q, want %q", names, want)
	}
	epochs := map[string]bool{}
	for i, name := range names {
		r, err := s.j.Reader(s.Context(), name)
		s.check(err)
		if got := len(s.read(r, journal.Query{})); got != n+i {
			s.Errorf("%s holds %d, want %d", name, got, n+i)
		}
		s.verify(name, r)
		epochs[s.bounds(r).Epoch] = true
	}
	if len(epochs) != spaces {
		s.Errorf("%d spaces have %d epochs", spaces, len(epochs))
	}
}

func tokens(s *suite) {
	l, sink := s.open("demo")
	type token struct{ n int }
	sent := map[string]*token{}
	for i, r := range chats(1, 20) {
		r.Token = &token{i}
		sent[r.ID] = r.Token.(*token)
		l.Append(r)
	}
	for _, r := range sink.WaitDurable(20) {
		if r.Token != any(sent[r.ID]) {
			s.Errorf("%s came back with another token", r.ID)
		}
	}
	for _, r := range s.read(l, journal.Query{}) {
		if r.Token != nil {
			s.Errorf("%s is on record with a token", r.ID)
		}
	}
}

func openOnce(s *suite) {
	s.open("demo")
	_, err := s.j.Open(s.Context(), "demo", NewSink())
	if !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
		s.Errorf("opening a log twice: %v", err)
	}
	s.reopen()
	s.open("demo")
}

func noSuchSpace(s *suite) {
	s.open("demo")
	_, err := s.j.Reader(s.Context(), "other")
	if !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		s.Errorf("a reader of no space: %v", err)
	}
}

func pages(s *suite) {
	const n = 3000
	l, sink := s.open("demo")
	for i := 1; i <= n; i++ {
		e := chat(i, "x")
		if i%3 == 0 {
			e.From = "bob"
		}
		l.Append(record(e))
	}
	sink.WaitDurable(n)
	walk := func(q journal.Query) (all []uint64) {
		q.Limit = 70
		for {
			page := seqs(s.read(l, q))
			all = append(all, page...)
			if len(page) < q.Limit {
				return all
			}
			if q.Newest {
				q.Before = page[len(page)-1]
			} else {
				q.After = page[len(page)-1]
			}
		}
	}
	for _, from := range []string{"", "bob"} {
		oldest, newest := walk(journal.Query{From: from}), walk(journal.Query{From: from, Newest: true})
		slices.Reverse(newest)
		if !slices.Equal(oldest, newest) || !slices.Equal(oldest, seqs(s.read(l, journal.Query{From: from}))) {
			s.Errorf("from %q: pages from both ends and one read differ", from)
		}
		want := n
		if from != "" {
			want = n / 3
		}
		if len(oldest) != want {
			s.Errorf("from %q: pages hold %d, want %d", from, len(oldest), want)
		}
	}
}

func chain(s *suite) {
	const n = 600
	l, sink := s.open("demo")
	want := []string{}
	for i := 1; i <= n; i++ {
		r := record(chat(i, "x"))
		if i%7 == 3 || i%100 > 90 || i < 3 {
			r = refusal(i)
		}
		want = append(want, r.ID)
		l.Append(r)
	}
	sink.WaitDurable(n)
	ids := func(q journal.Query) []string {
		q.Chain = true
		got := []string{}
		for _, r := range s.read(l, q) {
			got = append(got, r.ID)
		}
		return got
	}
	if got := ids(journal.Query{}); !slices.Equal(got, want) {
		s.Fatalf("the chain has %d records and should have %d", len(got), n)
	}
	for _, at := range []int{0, 1, 2, 3, 4, 9, 10, 11, 90, 91, 92, 99, 100, 101, 191, 300, 598, 599, 600} {
		if got := ids(journal.Query{After: uint64(at), Limit: 5}); !slices.Equal(got, want[at:min(at+5, n)]) {
			s.Errorf("after %d: %q, want %q", at, got, want[at:min(at+5, n)])
		}
		if at == 0 {
			continue
		}
		back := slices.Clone(want[max(0, at-6) : at-1])
		slices.Reverse(back)
		if got := ids(journal.Query{Before: uint64(at), Limit: 5, Newest: true}); !slices.Equal(got, back) {
			s.Errorf("before %d: %q, want %q", at, got, back)
		}
	}
	if got := ids(journal.Query{After: 10, Before: 14}); !slices.Equal(got, want[10:13]) {
		s.Errorf("between 10 and 14: %q", got)
	}
	if got := ids(journal.Query{From: "eve", Limit: 2}); !slices.Equal(got, []string{"x-1", "x-2"}) {
		s.Errorf("of one sender: %q", got)
	}
	if got := ids(journal.Query{After: n + 5}); len(got) > 0 {
		s.Errorf("after the end: %q", got)
	}
	s.verify("demo", l)
}

func readWhileWriting(s *suite) {
	const n = 2000
	l, sink := s.open("demo")
	r, err := s.j.Reader(s.Context(), "demo")
	s.check(err)
	var reading sync.WaitGroup
	for i := range 3 {
		reading.Go(func() {
			for last := uint64(0); last < n; {
				var q journal.Query
				if i > 0 {
					q.After = last
				}
				next := q.After
				for rec, err := range r.Read(s.Context(), q) {
					if err != nil {
						s.Error(err)
						return
					}
					if next++; rec.Seq != next {
						s.Errorf("read seq %d where %d should be", rec.Seq, next)
						return
					}
				}
				last = next
				// A loop that never blocks would stop the bubble's clock, which a
				// backend may be sleeping by.
				sink.WaitDurable(min(int(last)+1, n))
				if b := s.bounds(r); b.Last < last {
					s.Errorf("bounds end at %d, %d was read", b.Last, last)
					return
				}
			}
		})
	}
	appendAll(l, chats(1, n))
	sink.WaitDurable(n)
	reading.Wait()
}

func stopReading(s *suite) {
	l, sink := s.open("demo")
	appendAll(l, chats(1, 300))
	sink.WaitDurable(300)
	for range 20 {
		for range l.Read(s.Context(), journal.Query{}) {
			break
		}
	}
	var err error
	for _, err = range l.Read(canceled(), journal.Query{}) {
		break
	}
	if err == nil {
		s.Error("a read whose context has ended goes on")
	}
	if got := len(s.read(l, journal.Query{})); got != 300 {
		s.Errorf("then %d records are read", got)
	}
}

func closeFlushes(s *suite) {
	const n = 2000
	l, sink := s.open("demo")
	appendAll(l, chats(1, n))
	s.check(s.j.Close())
	if got := len(sink.WaitDurable(0)); got != n {
		s.Errorf("after Close %d of %d are durable", got, n)
	}
	l.Append(record(chat(n+1, "too late")))
	s.j = s.h.Open()
	r, err := s.j.Reader(s.Context(), "demo")
	s.check(err)
	if got := len(s.read(r, journal.Query{})); got != n {
		s.Errorf("%d of %d are on record", got, n)
	}
	if got := len(sink.WaitDurable(0)); got != n {
		s.Errorf("%d records are durable of %d that were taken", got, n)
	}
}

func reopening(s *suite) {
	l, sink := s.open("demo")
	appendAll(l, chats(1, 10))
	l.Append(refusal(1))
	sink.WaitDurable(11)
	before := s.bounds(l)
	s.reopen()
	l, sink = s.open("demo")
	after := s.bounds(l)
	before.Indexed, after.Indexed = 0, 0
	if before != after {
		s.Fatalf("bounds before %+v and after %+v", before, after)
	}
	l.Append(record(chat(11, "on")))
	r := sink.WaitDurable(1)[0]
	if r.Seq != 11 || r.Index != 12 || r.Epoch != before.Epoch {
		s.Errorf("the next record has index %d, seq %d, epoch %s", r.Index, r.Seq, r.Epoch)
	}
	head := s.verify("demo", l)
	v := journal.NewVerifier(journal.Origin("demo"))
	s.check(v.Against(before.Head))
	s.check(v.Against(head))
	for _, r := range s.read(l, journal.Query{Chain: true}) {
		s.check(v.Check(r))
	}
	s.check(v.End())
}

func failing(s *suite) {
	l, sink := s.open("demo")
	appendAll(l, chats(1, 10))
	sink.WaitDurable(10)
	before := s.bounds(l)

	s.h.Break(errors.New("the disk is gone"))
	appendAll(l, chats(11, 60))
	failed, errs := sink.WaitFailed(50)
	for i, r := range failed {
		if want := fmt.Sprintf("e-%d", i+11); r.ID != want {
			s.Fatalf("failure %d is %s, want %s", i, r.ID, want)
		}
	}
	for _, err := range errs {
		if err == nil {
			s.Error("a failure without an error")
		}
	}
	if _, err := l.Recover(s.Context()); err == nil {
		s.Fatal("the log recovered from a disk that is gone")
	}
	s.h.Heal()

	l.Append(record(chat(61, "not recovered yet")))
	if failed, _ := sink.WaitFailed(51); failed[50].ID != "e-61" {
		s.Errorf("failure 51 is %s", failed[50].ID)
	}
	b, err := l.Recover(s.Context())
	s.check(err)
	if b.Last != before.Last || b.Head != before.Head || b.Epoch != before.Epoch {
		s.Errorf("bounds after recovery %+v, want %+v", b, before)
	}
	appendAll(l, chats(11, 20))
	got := sink.WaitDurable(20)
	if got[10].ID != "e-11" || got[10].Seq != 11 {
		s.Errorf("after recovery %s has seq %d", got[10].ID, got[10].Seq)
	}
	s.verify("demo", l)
	if failed, _ := sink.WaitFailed(0); len(failed) != 51 {
		s.Errorf("%d failed, want 51", len(failed))
	}
}

func failingSpaces(s *suite) {
	a, sinkA := s.open("a")
	b, sinkB := s.open("b")
	a.Append(record(chat(1, "x")))
	sinkA.WaitDurable(1)
	s.h.Break(errors.New("the disk is gone"))
	a.Append(record(chat(2, "x")))
	sinkA.WaitFailed(1)
	s.h.Heal()
	b.Append(record(chat(1, "x")))
	sinkB.WaitDurable(1)
	a.Append(record(chat(3, "x")))
	sinkA.WaitFailed(2)
	_, err := a.Recover(s.Context())
	s.check(err)
	a.Append(record(chat(2, "x")))
	if got := sinkA.WaitDurable(2); got[1].Seq != 2 {
		s.Errorf("after recovery the next has seq %d", got[1].Seq)
	}
}

func backPressure(s *suite) {
	l, sink := s.open("demo")
	sink.setHold(true)
	total := 3*s.h.Queue + 10
	appended := 0
	var sending sync.WaitGroup
	sending.Go(func() {
		for i := range total {
			l.Append(record(chat(i, "x")))
			appended++
		}
	})
	synctest.Wait() // until everybody waits for somebody
	// One batch is with the sink, as many wait behind it.
	if most := 2*s.h.Queue + 2; appended > most {
		s.Errorf("%d records are on their way, at most %d may be", appended, most)
	}
	sink.setHold(false)
	sending.Wait()
	sink.WaitDurable(total)
}

func hugeBodies(s *suite) {
	l, sink := s.open("demo")
	var want [][]byte
	for i := range 8 {
		e := chat(i, strings.Repeat("0123456789abcdef", (3<<20)*i/8/16))
		r := record(e)
		want = append(want, r.Body)
		l.Append(r)
	}
	sink.WaitDurable(8)
	for i, r := range s.read(l, journal.Query{}) {
		if !bytes.Equal(r.Body, want[i]) {
			s.Errorf("body %d of %d bytes came back with %d", i, len(want[i]), len(r.Body))
		}
	}
	s.verify("demo", l)
}

func unicodeTexts(s *suite) {
	texts := []string{"Grüße an alle", "наши ЗАМЕТКИ", "東京タワー", "שלום עולם", "emoji 🎉 party", "İstanbul ﬁn", "a\u0000b \uFFFD", "\u202Eright"}
	l, sink := s.open("ünïcode/空間")
	for i, text := range texts {
		l.Append(record(chat(i, text)))
	}
	sink.WaitDurable(len(texts))
	s.settle("ünïcode/空間", uint64(len(texts)))
	for _, c := range []struct {
		text string
		seq  uint64
	}{{"grüße", 1}, {"ALLE", 1}, {"заметки", 2}, {"京", 3}, {"東京", 3}, {"タワー", 3}, {"עולם", 4}, {"party", 5}, {"b a", 7}, {"right", 8}} {
		if got := seqs(s.read(l, journal.Query{Text: c.text})); !slices.Equal(got, []uint64{c.seq}) {
			s.Errorf("search for %q finds %d, want %d", c.text, got, c.seq)
		}
	}
	s.verify("ünïcode/空間", l)
}

func oddSearches(s *suite) {
	l, sink := s.open("demo")
	l.Append(record(chat(1, "the quick brown fox AND the NEAR dog")))
	sink.WaitDurable(1)
	s.settle("demo", 1)
	for text, found := range map[string]bool{
		"quick": true, "fox quick": true, `"quick"`: true, `quick*`: true, "-quick": true, "quick:fox": true,
		"(quick": true, "AND": true, "quick AND": true, "NEAR(fox dog)": true, "fox^2": false, "fox^": true, `fo"x`: false,
		"quick OR absent": false, `"`: false, "''": false, "*": false, "{}": false, "terms:quick": false,
		"qui": false, "\x00": false, "quick\x00fox": true, "\xff": false, "--": false, ";": false,
	} {
		if got := len(s.read(l, journal.Query{Text: text})) == 1; got != found {
			s.Errorf("search for %q finds it: %v, want %v", text, got, found)
		}
	}
}

func redaction(s *suite) {
	l, sink := s.open("demo")
	secret := corner()
	secret.Payload = []byte(`{"method":"tools/call","params":{"name":"read_file","password":"hunter2"}}`)
	appendAll(l, []*journal.Record{record(chat(1, "before")), record(secret), record(chat(2, "after"))})
	sink.WaitDurable(3)
	s.settle("demo", 3)
	head := s.verify("demo", l)
	if got := seqs(s.read(l, journal.Query{Text: "hunter2"})); !slices.Equal(got, []uint64{2}) {
		s.Fatalf("the search finds %d", got)
	}
	l.Append(redact(secret.ID))
	sink.WaitDurable(4)
	head = s.verify("demo", l)
	for _, id := range []string{"absent", ""} {
		if _, err := l.Redact(s.Context(), id, 0); !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
			s.Errorf("redacting %q: %v", id, err)
		}
	}
	for range 2 { // once more changes nothing
		s.redact(l, secret.ID, 4, 2)
	}
	look := func() {
		s.Helper()
		if got := s.verify("demo", l); got != head {
			s.Errorf("the chain ends at %v, before at %v", got, head)
		}
		if got := seqs(s.read(l, journal.Query{Text: "hunter2"})); len(got) > 0 {
			s.Errorf("the search still finds %d", got)
		}
		r := s.read(l, journal.Query{ID: secret.ID})[0]
		e, err := r.Decode()
		s.check(err)
		if !r.Redacted || r.Salt != [16]byte{} || string(e.Payload) != `{"redacted":true}` || e.Extra != nil ||
			e.Context.ID != "c-2" || e.Context.Parent != "c-1" || e.Context.Metadata != nil || bytes.Contains(r.Body, []byte("reasoning")) {
			s.Errorf("redacted, it is %+v with %s", r, r.Body)
		}
		if e.From != "ann" || e.Kind != secret.Kind || !slices.Equal(e.Correlation.IDs, secret.Correlation.IDs) || !e.Amends {
			s.Errorf("redaction took some of the header: %s", r.Body)
		}
	}
	look()
	s.settle("demo", 3)
	look()
	s.reopen()
	l, _ = s.open("demo")
	look()
}

func tooLarge(s *suite) {
	l, sink := s.open("demo")
	appendAll(l, chats(1, 2))
	sink.WaitDurable(2)
	l.Append(journal.NewCheckpoint(start, make([]byte, journal.MaxCheckpoint+1), salt("c")))
	_, errs := sink.WaitFailed(1)
	if !errors.Is(errs[0], &parley.Error{Code: parley.LimitReached}) {
		s.Errorf("it fails with %v", errs[0])
	}
	b, err := l.Recover(s.Context())
	s.check(err)
	if b.Head.Index != 2 {
		s.Errorf("then the head is %v", b.Head)
	}
	l.Append(record(chat(3, "on")))
	sink.WaitDurable(3)
	s.verify("demo", l)
}

// Beyond the window of ids, one may come again, also as something that is never
// redacted.
func redactingOneOfSeveral(s *suite) {
	l, sink := s.open("demo")
	said := func(id, kind, word string) *journal.Record {
		return record(&parley.Envelope{ID: id, TS: start, From: "ann", Kind: kind, Payload: []byte(`{"text":"` + word + `"}`)})
	}
	appendAll(l, []*journal.Record{
		said("x", "chat", "first"), said("x", "capability/grant", "second"), said("y", "system/notice", "third"),
		redact("x"), said("x", "chat", "fifth"),
	})
	sink.WaitDurable(5)
	s.settle("demo", 5)
	holds := func(want ...string) {
		s.Helper()
		for _, word := range []string{"first", "second", "third", "fifth"} {
			if got := len(s.read(l, journal.Query{Text: word})) == 1; got != slices.Contains(want, word) {
				s.Errorf("%q is found: %v", word, got)
			}
		}
		s.verify("demo", l)
	}
	for _, c := range []struct {
		id     string
		before uint64
		want   parley.Code
	}{{"x", 1, parley.NotFound}, {"y", 0, parley.KindMismatch}, {"y", 3, parley.NotFound}, {"z", 0, parley.NotFound}} {
		if seqs, err := l.Redact(s.Context(), c.id, c.before); !errors.Is(err, &parley.Error{Code: c.want}) || len(seqs) > 0 {
			s.Errorf("redacting %s below %d: %d, %v", c.id, c.before, seqs, err)
		}
	}
	holds("first", "second", "third", "fifth")
	s.redact(l, "x", 4, 1)
	holds("second", "third", "fifth")
	l.Append(redact("x"))
	sink.WaitDurable(6)
	s.redact(l, "x", 6, 1, 5)
	s.redact(l, "x", 0, 1, 5)
	holds("second", "third")
}

func everyType(s *suite) {
	l, sink := s.open("demo")
	flood := journal.NewRefusal(start, "eve", "", "chat", journal.Refusal{Code: parley.RateLimited, Count: 9}, salt("f"))
	checkpoint := journal.NewCheckpoint(start, []byte(`{"state":1}`), salt("c"))
	appendAll(l, []*journal.Record{record(chat(1, "x")), refusal(1), flood, checkpoint, record(chat(2, "y"))})
	sink.WaitDurable(5)
	var types []string
	for _, r := range s.read(l, journal.Query{Chain: true}) {
		types = append(types, r.Type.String())
	}
	if want := []string{"envelope", "refused", "flood", "checkpoint", "envelope"}; !slices.Equal(types, want) {
		s.Errorf("types %q, want %q", types, want)
	}
	if got := s.read(l, journal.Query{Chain: true})[2].DecodeRefusal().Count; got != 9 {
		s.Errorf("the flood counts %d", got)
	}
	s.verify("demo", l)
}
