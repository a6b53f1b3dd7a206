package journaltest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

func checkpoint(n int, state string) *journal.Record {
	return journal.NewCheckpoint(start.Add(time.Duration(n)*time.Second), []byte(state), salt(state))
}

func marker(n int, d journal.Dropped) *journal.Record {
	return journal.NewMarker(start.Add(time.Duration(n)*time.Second), d, salt("m"))
}

// redact is the order to redact an envelope.
func redact(id string) *journal.Record {
	e := chat(0, "")
	e.ID, e.Kind, e.Payload = "redact-"+id, parley.KindRedact, []byte(`{"id":"`+id+`"}`)
	return record(e)
}

func (s *suite) checkpoint(r journal.Reader) *journal.Record {
	s.Helper()
	c, err := r.Checkpoint(s.Context())
	s.check(err)
	return c
}

func (s *suite) cut(l journal.Log, keep journal.Retention) journal.Dropped {
	s.Helper()
	d, err := l.Cut(s.Context(), keep)
	s.check(err)
	return d
}

// dropped is what a marker says that lets everything go up to an index.
func dropped(chain []*journal.Record, floor journal.Head, index uint64) journal.Dropped {
	h := floor
	for _, r := range chain {
		if r.Index <= index {
			h = journal.Head{Index: r.Index, Seq: max(h.Seq, r.Seq), Hash: r.Hash}
		}
	}
	return journal.Ledger{Floor: floor}.Drop(h)
}

func checkpoints(s *suite) {
	l, sink := s.open("demo")
	if c := s.checkpoint(l); c != nil {
		s.Fatalf("an empty log has the checkpoint %+v", c)
	}
	appendAll(l, chats(1, 10))
	sink.WaitDurable(10)
	if c := s.checkpoint(l); c != nil {
		s.Fatalf("a log without a checkpoint has %+v", c)
	}
	l.Append(checkpoint(10, `{"state":1}`))
	appendAll(l, chats(11, 20))
	l.Append(checkpoint(20, `{"state":2}`))
	l.Append(record(chat(21, "x")))
	written := sink.WaitDurable(23)
	look := func(r journal.Reader) {
		s.Helper()
		c := s.checkpoint(r)
		if c == nil || string(c.Body) != `{"state":2}` || c.Index != 22 || c.Type != journal.Checkpoint ||
			c.Epoch != written[21].Epoch || c.Hash != written[21].Hash || c.Salt != written[21].Salt {
			s.Errorf("the newest checkpoint is %+v", c)
		}
	}
	look(l)
	other, err := s.j.Reader(s.Context(), "demo")
	s.check(err)
	look(other)
	s.reopen()
	l, _ = s.open("demo")
	look(l)
	l2, _ := s.open("other")
	if c := s.checkpoint(l2); c != nil {
		s.Errorf("another space has %+v", c)
	}
	s.verify("demo", l)
}

func superseded(s *suite) {
	l, sink := s.open("demo")
	for i := 1; i <= 5; i++ {
		l.Append(record(chat(i, "x")))
		l.Append(checkpoint(i, fmt.Sprintf(`{"state":%d}`, i)))
		if i == 3 {
			sink.WaitDurable(6)
			s.reopen()
			l, sink = s.open("demo")
		}
	}
	sink.WaitDurable(4)
	bodies := func() (bodies []string) {
		for _, r := range s.read(l, journal.Query{Chain: true}) {
			if r.Type != journal.Checkpoint {
				continue
			}
			bodies = append(bodies, string(r.Body))
			if gone := len(r.Body) == 0; gone != r.Superseded || gone != (r.Salt == [16]byte{}) {
				s.Errorf("checkpoint %d has %d bytes, superseded is %v, salt %x", r.Index, len(r.Body), r.Superseded, r.Salt)
			}
		}
		return bodies
	}
	want := []string{"", "", "", `{"state":4}`, `{"state":5}`}
	if got := bodies(); !slices.Equal(got, want) {
		s.Errorf("the bodies are %q", got)
	}
	head := s.verify("demo", l)
	s.export("demo", l, head)
	s.reopen()
	l, _ = s.open("demo")
	if got := bodies(); !slices.Equal(got, want) {
		s.Errorf("then the bodies are %q", got)
	}
}

// export writes the chain and verifies what was written.
func (s *suite) export(space string, r journal.Reader, kept ...journal.Head) journal.Audit {
	s.Helper()
	var out bytes.Buffer
	_, err := journal.Export(&out, space, r.Read(s.Context(), journal.Query{Chain: true}))
	s.check(err)
	audit, err := journal.VerifyExport(&out, kept...)
	s.check(err)
	return audit
}

func largeCheckpoint(s *suite) {
	l, sink := s.open("demo")
	body := append(bytes.Repeat([]byte(" "), 20<<20), `{"state":1}`...)
	copy(body, `{"pad":"`)
	copy(body[len(body)-11:], `","state":1`)
	body = append(body, '}')
	l.Append(record(chat(1, "before")))
	l.Append(journal.NewCheckpoint(start, body, salt("c")))
	appendAll(l, chats(2, 200))
	l.Append(refusal(1))
	sink.WaitDurable(202)
	if c := s.checkpoint(l); c == nil || !bytes.Equal(c.Body, body) {
		s.Error("the checkpoint is not what was written")
	}
	if got := len(s.read(l, journal.Query{Chain: true, After: 1, Limit: 70})); got != 70 {
		s.Errorf("a page behind it has %d records", got)
	}
	if got := seqs(s.read(l, journal.Query{Chain: true, Newest: true, Before: 3})); !slices.Equal(got, []uint64{0, 1}) {
		s.Errorf("backwards, before it come %d", got)
	}
	if got := s.cut(l, journal.Retention{Bytes: 1 << 20}); got != (journal.Dropped{}) {
		s.Errorf("its body counts as what may be dropped: %+v", got)
	}
	if a := s.export("demo", l); a.Records != 202 || a.Checkpoints != 1 {
		s.Errorf("the export has %+v", a)
	}
}

func dropping(s *suite) {
	l, sink := s.open("demo")
	for i := 1; i <= 100; i++ {
		l.Append(record(chat(i, fmt.Sprintf("word%d common", i))))
		if i%10 == 0 {
			l.Append(refusal(i))
		}
	}
	sink.WaitDurable(110)
	s.settle("demo", 100)
	old := s.verify("demo", l)
	all := s.read(l, journal.Query{Chain: true})
	first := dropped(all, journal.Head{}, 44) // 40 envelopes and 4 refusals
	before := s.bounds(l)
	l.Append(checkpoint(100, `{"state":1}`))
	l.Append(marker(100, first))
	sink.WaitDurable(112)

	look := func(floor journal.Head, records int) {
		s.Helper()
		b := s.bounds(l)
		if b.First != floor.Seq+1 || b.Last != 100 || b.Epoch != before.Epoch {
			s.Errorf("bounds %+v, dropped were records up to %v", b, floor)
		}
		for what, got := range map[string][]*journal.Record{
			"read":      s.read(l, journal.Query{}),
			"read on":   s.read(l, journal.Query{After: 3}),
			"backwards": s.read(l, journal.Query{Newest: true}),
			"found":     s.read(l, journal.Query{Text: "common"}),
			"sent":      s.read(l, journal.Query{From: "ann"}),
		} {
			if len(got) != int(100-floor.Seq) || slices.ContainsFunc(got, func(r *journal.Record) bool { return r.Seq <= floor.Seq }) {
				s.Errorf("%s: %d", what, seqs(got))
			}
		}
		for _, q := range []journal.Query{
			{ID: "e-1"}, {ID: fmt.Sprintf("e-%d", floor.Seq)}, {Text: "word1"}, {Before: floor.Seq + 1},
			{Chain: true, Before: floor.Index + 1}, {Chain: true, Newest: true, Before: floor.Index + 1},
		} {
			if got := s.read(l, q); len(got) > 0 {
				s.Errorf("%+v reads %d", q, seqs(got))
			}
		}
		if got := s.read(l, journal.Query{ID: fmt.Sprintf("e-%d", floor.Seq+1)}); len(got) != 1 {
			s.Errorf("the first that is kept is found %d times", len(got))
		}
		chain := s.read(l, journal.Query{Chain: true})
		if len(chain) != records || chain[0].Index != floor.Index+1 {
			s.Errorf("the chain has %d records from %d on", len(chain), chain[0].Index)
		}
		for _, at := range []uint64{0, floor.Index, floor.Index + 1, floor.Index + 11, 112} {
			want := uint64(max(0, int64(112+records-int(112-floor.Index))-int64(max(at, floor.Index))))
			if got := len(s.read(l, journal.Query{Chain: true, After: at})); got != int(want) {
				s.Errorf("behind %d the chain has %d records, want %d", at, got, want)
			}
		}
		if _, err := l.Redact(s.Context(), "e-1", 0); !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
			s.Errorf("redacting what was dropped: %v", err)
		}
		s.verify("demo", l, old, floor)
		if a := s.export("demo", l, old, floor); a.Dropped != floor.Index || a.Records != uint64(records) {
			s.Errorf("the export is of %+v", a)
		}
		early := all[1]
		_, err := journal.Verify(s.Context(), "demo", l, journal.Head{Index: early.Index, Seq: early.Seq, Hash: early.Hash})
		if !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
			s.Errorf("against a head that was dropped: %v", err)
		}
	}
	look(first.Through, 112-44)
	s.settle("demo", 100)
	look(first.Through, 112-44)
	s.reopen()
	l, sink = s.open("demo")
	look(first.Through, 112-44)

	second := dropped(all, first.Through, 66)
	if second.Records != 22 || second.Envelopes != 20 {
		s.Fatalf("the second drop is of %+v", second)
	}
	l.Append(marker(101, second))
	sink.WaitDurable(1)
	look(second.Through, 113-66)
	if c := s.checkpoint(l); c == nil || c.Index != 111 {
		s.Errorf("the checkpoint is %+v", c)
	}
	s.reopen()
	l, sink = s.open("demo")
	look(second.Through, 113-66)
	l.Append(record(chat(101, "on")))
	if r := sink.WaitDurable(1)[0]; r.Seq != 101 || r.Index != 114 {
		s.Errorf("the next has seq %d, index %d", r.Seq, r.Index)
	}
	s.verify("demo", l, old)
}

func badMarkers(s *suite) {
	l, sink := s.open("demo")
	appendAll(l, chats(1, 10))
	l.Append(checkpoint(10, `{"state":1}`))
	l.Append(record(chat(11, "x")))
	sink.WaitDurable(12)
	all := s.read(l, journal.Query{Chain: true})
	good := dropped(all, journal.Head{}, 5)
	edit := func(f func(d *journal.Dropped)) *journal.Record {
		d := good
		f(&d)
		return marker(1, d)
	}
	garbage := journal.NewMarker(start, good, salt("m"))
	garbage.Body = []byte(`{"index":5}`)
	durable, failed := 12, 0
	for _, c := range []struct {
		what   string
		marker *journal.Record
	}{
		{"behind the checkpoint", marker(1, dropped(all, journal.Head{}, 12))},
		{"the checkpoint itself", marker(1, dropped(all, journal.Head{}, 11))},
		{"beyond the end", edit(func(d *journal.Dropped) { d.Through.Index, d.Records = 99, 99 })},
		{"far beyond the end", edit(func(d *journal.Dropped) { d.Through.Index = 1 << 62 })},
		{"nothing", edit(func(d *journal.Dropped) { *d = journal.Dropped{} })},
		{"another hash", edit(func(d *journal.Dropped) { d.Through.Hash[0]++ })},
		{"another seq", edit(func(d *journal.Dropped) { d.Through.Seq = 4 })},
		{"another count", edit(func(d *journal.Dropped) { d.Records = 4 })},
		{"another count of envelopes", edit(func(d *journal.Dropped) { d.Envelopes = 6 })},
		{"garbage", garbage},
	} {
		l.Append(record(chat(durable, "before it")))
		l.Append(c.marker)
		l.Append(record(chat(0, "behind it")))
		durable, failed = durable+1, failed+2
		sink.WaitDurable(durable)
		if got, errs := sink.WaitFailed(failed); got[failed-2].Type != journal.Marker || !errors.Is(errs[len(errs)-1], &parley.Error{Code: parley.InvalidArgument}) {
			s.Errorf("%s: %v", c.what, errs[len(errs)-1])
		}
		b, err := l.Recover(s.Context())
		s.check(err)
		if b.First != 1 || int(b.Head.Index) != durable {
			s.Errorf("%s: then bounds are %+v", c.what, b)
		}
	}
	l.Append(marker(1, good))
	sink.WaitDurable(durable + 1)
	if b := s.bounds(l); b.First != 6 {
		s.Errorf("a good marker leaves %+v", b)
	}
	l.Append(marker(1, good))
	if _, errs := sink.WaitFailed(failed + 1); !errors.Is(errs[len(errs)-1], &parley.Error{Code: parley.InvalidArgument}) {
		s.Errorf("the same marker again: %v", errs[len(errs)-1])
	}
	_, err := l.Recover(s.Context())
	s.check(err)
	s.verify("demo", l)

	// The newest envelope stays, also where a checkpoint stands behind it.
	l.Append(checkpoint(20, `{"state":2}`))
	sink.WaitDurable(durable + 2)
	all = s.read(l, journal.Query{Chain: true})
	newest := all[len(all)-3]
	if newest.Type != journal.Admitted {
		s.Fatalf("%+v is no envelope", newest)
	}
	l.Append(marker(1, dropped(all, good.Through, newest.Index)))
	if _, errs := sink.WaitFailed(failed + 2); !errors.Is(errs[len(errs)-1], &parley.Error{Code: parley.InvalidArgument}) {
		s.Errorf("dropping the newest envelope: %v", errs[len(errs)-1])
	}
	_, err = l.Recover(s.Context())
	s.check(err)
	l.Append(marker(1, dropped(all, good.Through, newest.Index-1)))
	sink.WaitDurable(durable + 3)
	if b := s.bounds(l); b.First != newest.Seq || b.Last != newest.Seq {
		s.Errorf("of all but the newest it leaves %+v", b)
	}
	s.verify("demo", l)
}

func failingMarker(s *suite) {
	l, sink := s.open("demo")
	appendAll(l, chats(1, 10))
	for i := range journal.KeptCheckpoints {
		l.Append(checkpoint(10+i, fmt.Sprintf(`{"state":%d}`, i+1)))
	}
	sink.WaitDurable(12)
	before := s.bounds(l)
	d := dropped(s.read(l, journal.Query{Chain: true}), journal.Head{}, 5)
	s.h.Break(errors.New("the disk is gone"))
	l.Append(checkpoint(20, `{"state":"lost"}`))
	l.Append(marker(20, d))
	sink.WaitFailed(2)
	s.h.Heal()
	_, err := l.Recover(s.Context())
	s.check(err)
	if b := s.bounds(l); b != before {
		s.Errorf("bounds %+v, before %+v", b, before)
	}
	if c := s.checkpoint(l); string(c.Body) != `{"state":2}` {
		s.Errorf("the newest checkpoint is %s", c.Body)
	}
	l.Append(marker(20, d))
	sink.WaitDurable(13)
	if b := s.bounds(l); b.First != 6 {
		s.Errorf("bounds after the drop %+v", b)
	}
	s.verify("demo", l)
}

// cuts holds Cut against a model of it, with some ten thousand records.
func cuts(s *suite) {
	const n = 9000
	rnd := rand.New(rand.NewPCG(3, 4))
	l, sink := s.open("demo")
	if d := s.cut(l, journal.Retention{Before: start.Add(time.Hour), Bytes: 1}); d != (journal.Dropped{}) {
		s.Errorf("of an empty log %+v has to go", d)
	}
	var chain []*journal.Record
	at := 0
	for i := 1; i <= n; i++ {
		at += rnd.IntN(3)
		var r *journal.Record
		switch k := rnd.IntN(1000); {
		case k < 5:
			r = checkpoint(at, fmt.Sprintf(`{"state":%d,"pad":"%050d"}`, i, 0))
		case k < 100:
			r = refusal(at)
		default:
			e := chat(i, "some text that takes room"[:rnd.IntN(20)])
			e.TS = start.Add(time.Duration(at) * time.Second)
			if k%3 == 0 {
				e.To, e.Correlation = []string{"bob", "files"}, parley.CorrelateWith("e-1")
			}
			r = record(e)
		}
		chain = append(chain, r)
		l.Append(r)
		if i == n/2 {
			sink.WaitDurable(i)
			s.reopen()
			l, sink = s.open("demo")
		}
	}
	sink.WaitDurable(n - n/2)
	total := 0
	for _, r := range chain {
		total += r.Size()
	}
	floor := journal.Head{}
	try := func() {
		s.Helper()
		keep := journal.Retention{}
		if rnd.IntN(2) == 0 {
			keep.Before = start.Add(time.Duration(rnd.IntN(at+at/10)) * time.Second)
		}
		if rnd.IntN(2) == 0 {
			keep.Bytes = int64(rnd.IntN(total + total/10))
		}
		if got, want := s.cut(l, keep), modelCut(chain, floor, keep); got != want {
			s.Fatalf("to keep to %+v goes %+v, want %+v", keep, got, want)
		}
	}
	for range 40 {
		try()
	}
	if got, want := s.cut(l, journal.Retention{Bytes: 1}), modelCut(chain, floor, journal.Retention{Bytes: 1}); got != want {
		s.Errorf("of all but the newest goes %+v, want %+v", got, want)
	}

	last := checkpoint(at, `{"state":"last"}`)
	l.Append(last)
	d := s.cut(l, journal.Retention{Before: start.Add(time.Duration(at/2) * time.Second)})
	l.Append(marker(at, d))
	done := sink.WaitDurable(n - n/2 + 2)
	chain, floor = append(chain, done[len(done)-2:]...), d.Through
	for range 40 {
		try()
	}
	s.reopen()
	l, _ = s.open("demo")
	for range 20 {
		try()
	}
	s.verify("demo", l)
}

func modelCut(chain []*journal.Record, floor journal.Head, keep journal.Retention) journal.Dropped {
	goes, newest, room := uint64(0), uint64(0), keep.Bytes
	for _, r := range slices.Backward(chain) {
		if r.Type == journal.Admitted && newest == 0 {
			newest = r.Index
		}
		if room -= int64(r.Size()); keep.Bytes > 0 && room < 0 {
			goes = r.Index
			break
		}
	}
	for _, r := range chain {
		if keep.Before.IsZero() || r.Index > floor.Index && !r.TS.Before(keep.Before) {
			break
		}
		goes = max(goes, r.Index)
	}
	if goes = min(goes, newest-1); goes <= floor.Index {
		return journal.Dropped{}
	}
	return dropped(chain, floor, goes)
}

// overtaken reads while what it would come to next is dropped: it may go on with
// that or say so, but not pass over it.
func overtaken(s *suite) {
	const n = 3000
	for _, chain := range []bool{false, true} {
		l, sink := s.open(fmt.Sprintf("demo-%v", chain))
		appendAll(l, chats(1, n))
		l.Append(checkpoint(n, `{"state":1}`))
		all := sink.WaitDurable(n + 1)
		next := uint64(0)
		var ended error
		for r, err := range l.Read(s.Context(), journal.Query{Chain: chain}) {
			if err != nil {
				ended = err
				break
			}
			if next++; r.Index != next {
				s.Fatalf("after %d comes %d", next-1, r.Index)
			}
			if next == 10 {
				l.Append(marker(n, dropped(all, journal.Head{}, n-100)))
				sink.WaitDurable(n + 2)
			}
		}
		if ended == nil && next < n || ended != nil && !journal.IsOvertaken(ended) {
			s.Errorf("it ends behind %d with %v", next, ended)
		}
		if got := s.read(l, journal.Query{Chain: chain}); got[0].Index != n-99 {
			s.Errorf("a new read begins with %d", got[0].Index)
		}
		back := s.read(l, journal.Query{Newest: true})
		if len(back) != 100 {
			s.Errorf("backwards it reads %d", len(back))
		}
	}
}
