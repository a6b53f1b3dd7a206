package journal_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// dropping is a chain in which two markers drop records up to the 4th and up to
// the 7th; what they drop is still there.
func dropping() []*journal.Record {
	at := time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
	all := extend(chain(9), journal.NewCheckpoint(at, []byte(`{"state":1}`), [16]byte{1}))
	mark := func(index, records, envelopes uint64) {
		d := journal.Dropped{Through: through(all, index), Records: records, Envelopes: envelopes}
		all = extend(all, journal.NewMarker(at, d, [16]byte{2}))
	}
	mark(4, 4, 3)
	mark(7, 3, 3)
	return extend(all, envelope("last", "chat", `{"text":"x"}`))
}

// through is where a chain stands at an index.
func through(all []*journal.Record, index uint64) (h journal.Head) {
	for _, r := range all[:index] {
		h = journal.Head{Index: r.Index, Seq: max(h.Seq, r.Seq), Hash: r.Hash}
	}
	return h
}

func TestChainThatBeginsLater(t *testing.T) {
	whole := dropping()
	last := through(whole, 16)
	other := func(h journal.Head) journal.Head { h.Hash[0]++; return h }
	forge := func(f func(d *journal.Dropped)) []*journal.Record {
		d, err := whole[14].DecodeMarker()
		if err != nil {
			t.Fatal(err)
		}
		f(&d)
		return extend(whole[:14], journal.NewMarker(whole[14].TS, d, [16]byte{2}))
	}
	for _, c := range []struct {
		name  string
		chain []*journal.Record
		kept  []journal.Head
		index uint64 // of the break; 0 where there is none
		says  string
	}{
		{"whole, not dropped yet", whole, []journal.Head{through(whole, 3), last}, 0, ""},
		{"from the first marker's place", whole[4:], []journal.Head{last}, 0, ""},
		{"from the second marker's place", whole[7:], []journal.Head{last}, 0, ""},
		{"from a place of no marker", whole[5:], []journal.Head{last}, 1, "records 1 to 5 are missing"},
		{"behind its markers", whole[15:], []journal.Head{last}, 1, "cut off at its beginning"},
		{"before it met a marker", whole[7:12], nil, 1, "cut off at its beginning"},
		{"cut off at both ends", whole[5:12], []journal.Head{last}, 13, "cut off"},
		{"from a note", whole[7:], nil, 0, ""},
		{"a record of before turns up", append(append([]*journal.Record{}, whole[7:10]...), whole[6]), nil, 1, "cut off at its beginning"},
		{"one cut out further on", append(append([]*journal.Record{}, whole[7:10]...), whole[11:]...), nil, 11, "record 11 is missing"},

		{"a head at the beginning", whole[7:], []journal.Head{through(whole, 7)}, 0, ""},
		{"another head at the beginning", whole[7:], []journal.Head{other(through(whole, 7))}, 7, "written anew"},
		{"a head of another seq at the beginning", whole[7:], []journal.Head{{Index: 7, Seq: 5, Hash: whole[6].Hash}}, 7, "written anew"},
		{"a head behind the beginning", whole[7:], []journal.Head{through(whole, 8), through(whole, 9)}, 0, ""},
		{"another head behind the beginning", whole[7:], []journal.Head{other(through(whole, 9))}, 9, "written anew"},
		{"a head before the beginning", whole[7:], []journal.Head{through(whole, 3)}, 0, "cannot be checked any more"},
		{"one of them before the beginning", whole[7:], []journal.Head{last, through(whole, 6)}, 0, "cannot be checked any more"},
		{"a head before a beginning without a marker", whole[5:], []journal.Head{through(whole, 3)}, 1, "cut off at its beginning"},

		{"a marker of another hash", forge(func(d *journal.Dropped) { d.Through.Hash[0]++ })[7:], nil, 8, "does not follow from what was dropped"},
		{"a marker of another seq", forge(func(d *journal.Dropped) { d.Through.Seq = 5 })[7:], nil, 8, "behind seq 6, the marker says 5"},
		{"a marker of itself", forge(func(d *journal.Dropped) { d.Through.Index = 15 }), nil, 15, "does not say what was dropped"},
		{"a marker that says nothing", extend(whole[:14], &journal.Record{Type: journal.Marker}), nil, 15, "body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := walk(c.chain, c.kept...)
			b, broken := errors.AsType[*journal.Break](err)
			switch {
			case c.says == "" && err != nil, c.says != "" && err == nil:
				t.Errorf("the walk says %v", err)
			case c.index > 0 && (!broken || b.Index != c.index), c.index == 0 && broken:
				t.Errorf("it is found at the wrong place: %v", err)
			case err != nil && !strings.Contains(err.Error(), c.says):
				t.Errorf("the walk says %v, want %s", err, c.says)
			}
		})
	}
	if err := walk(whole[7:], through(whole, 3)); !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		t.Errorf("a head that cannot be checked any more: %v", err)
	}
}

// Every record of a chain that begins later is checked, the first one too.
func TestEditsInAChainThatBeginsLater(t *testing.T) {
	for i := 7; i < 16; i++ {
		all := dropping()[7:]
		last := headOf(all[8], 10)
		r := *all[i-7]
		r.ID += "x"
		if r.Type == journal.Admitted {
			r.Body = []byte(strings.Replace(string(r.Body), `"id":"`, `"id":"x`, 1))
			r.ID = "x" + strings.TrimSuffix(r.ID, "x")
		}
		all[i-7] = &r
		if b, ok := errors.AsType[*journal.Break](walk(all, last)); !ok || b.Index != r.Index {
			t.Errorf("record %d was edited, and the walk says %v", r.Index, b)
		}
	}
}

func TestVerifierOnTrust(t *testing.T) {
	whole := dropping()
	for at := range 15 {
		v := journal.NewVerifierAt(uint64(at))
		last := through(whole, 16)
		if err := v.Against(last); err != nil {
			t.Fatal(err)
		}
		for _, r := range whole[at:] {
			if err := v.Check(r); err != nil {
				t.Fatalf("from %d: %v", at, err)
			}
		}
		if err := v.End(); err != nil {
			t.Errorf("from %d: %v", at, err)
		}
		if v.Head() != last {
			t.Errorf("from %d it ends at %v", at, v.Head())
		}
	}
	v := journal.NewVerifierAt(5)
	if err := v.Check(whole[6]); err == nil {
		t.Error("it begins later than it was told")
	}
	known := through(whole, 5)
	if err := v.Against(known); err != nil {
		t.Error(err)
	}
	forged := *whole[5]
	forged.Link(journal.Hash{1})
	if err := v.Check(&forged); err == nil {
		t.Error("what does not follow a head that is known passes")
	}
	if err := v.Check(whole[5]); err != nil {
		t.Error(err)
	}
}

func TestDecodeMarker(t *testing.T) {
	d := journal.Dropped{Through: journal.Head{Index: 7, Seq: 6, Hash: journal.Hash{1, 2}}, Records: 7, Envelopes: 6}
	r := journal.NewMarker(time.Now(), d, [16]byte{})
	if got, err := r.DecodeMarker(); err != nil || got != d {
		t.Errorf("it reads as %+v, %v", got, err)
	}
	good := string(r.Body)
	for _, body := range []string{
		"", "{}", `{"index":7}`, strings.Replace(good, `"seq":6`, `"seq":8`, 1), strings.Replace(good, `:7,`, `:-7,`, 1),
		strings.Replace(good, `:7,`, `:7.0,`, 1), strings.Replace(good, `:7,`, `:99999999999999999999,`, 1), strings.Replace(good, "0102", "01", 1),
	} {
		r.Body = []byte(body)
		if got, err := r.DecodeMarker(); err == nil {
			t.Errorf("%s reads as %+v", body, got)
		}
	}
}
