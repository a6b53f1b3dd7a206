package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/journaltest"
)

func ExampleNewMemory() {
	j := journal.NewMemory(journal.MemoryOptions{})
	defer j.Close()
	sink := journaltest.NewSink() // the gateway's own delivers
	log, err := j.Open(ctx, "demo", sink)
	if err != nil {
		panic(err)
	}
	e := &parley.Envelope{ID: "e-1", From: "ann", Kind: "chat", Payload: []byte(`{"text":"hello"}`)}
	log.Append(journal.Envelope(e, parley.SplitKind(e.Kind), [16]byte{}))
	for _, r := range sink.WaitDurable(1) {
		fmt.Println(r.Seq, r.From, string(r.Wire()))
	}
	// Output:
	// 1 ann {"seq":1,"id":"e-1","from":"ann","kind":"chat","payload":{"text":"hello"}}
}

func ExampleVerifier() {
	v := journal.NewVerifier(journal.Origin("demo"))
	for _, r := range chain(3) {
		if r.Seq == 2 {
			r.Body = []byte(strings.Replace(string(r.Body), "two", "too", 1))
		}
		if err := v.Check(r); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// the chain breaks at seq 2 (record 2): edited: payload, context or unknown fields do not match their hash
}

var ctx = context.Background()

// chain is a chain of n envelopes and, after every third, a refusal.
func chain(n int) []*journal.Record {
	words := []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var all []*journal.Record
	head := journal.Origin("demo")
	add := func(r *journal.Record) {
		r.Epoch = "epoch"
		head = r.Place(head)
		all = append(all, r)
	}
	for i := range n {
		e := &parley.Envelope{
			Protocol: parley.ProtocolMCPx, ID: fmt.Sprintf("e-%d", i+1), TS: at, From: "ann", To: []string{"bob"}, Kind: "chat",
			Correlation: parley.CorrelateWith("a"), Context: &parley.Context{ID: "c", Parent: "p", Metadata: []byte(`{"x":1}`)},
			Payload: []byte(`{"text":"` + words[i%9] + `"}`), Extra: []byte(`"extra":1`),
		}
		add(journal.Envelope(e, parley.SplitKind("chat:x:y"), [16]byte{byte(i)}))
		if i%3 == 2 {
			add(journal.NewRefusal(at, "eve", fmt.Sprintf("x-%d", i), "chat", journal.Refusal{Code: parley.RateLimited}, [16]byte{9}))
		}
	}
	return all
}

func walk(all []*journal.Record, kept ...journal.Head) error {
	v := journal.NewVerifier(journal.Origin("demo"))
	for _, h := range kept {
		if err := v.Against(h); err != nil {
			return err
		}
	}
	for _, r := range all {
		if err := v.Check(r); err != nil {
			return err
		}
	}
	return v.End()
}

func headOf(r *journal.Record, seq uint64) journal.Head {
	return journal.Head{Index: r.Index, Seq: seq, Hash: r.Hash}
}

// Whatever is done to a chain of nine envelopes and three refusals is found,
// at its place.
func TestVerifierFindsEveryChange(t *testing.T) {
	edit := func(index int, f func(r *journal.Record)) func([]*journal.Record) []*journal.Record {
		return func(all []*journal.Record) []*journal.Record {
			f(all[index-1])
			return all
		}
	}
	body := func(old, new string) func(r *journal.Record) {
		return func(r *journal.Record) {
			if !strings.Contains(string(r.Body), old) {
				panic(old + " is not in " + string(r.Body))
			}
			r.Body = []byte(strings.Replace(string(r.Body), old, new, 1))
		}
	}
	for _, c := range []struct {
		name       string
		do         func([]*journal.Record) []*journal.Record
		index, seq uint64
		reason     string
	}{
		{"a payload", edit(6, body("five", "six")), 6, 5, "do not match their hash"},
		{"context metadata", edit(6, body(`"x":1`, `"x":2`)), 6, 5, "do not match their hash"},
		{"an unknown field", edit(6, body(`"extra":1`, `"extra":2`)), 6, 5, "do not match their hash"},
		{"the protocol", edit(6, body("mcpx", "mcpp")), 6, 5, "do not match their hash"},
		{"the form of the correlation", edit(6, body(`"a"`, `["a"]`)), 6, 5, "do not match their hash"},
		{"blanks in the body", edit(6, body(`"kind":`, `"kind": `)), 6, 5, "not as it was written"},
		{"a body that is none", edit(6, func(r *journal.Record) { r.Body = []byte("{") }), 6, 5, "not an envelope"},
		{"id in the body", edit(6, body("e-5", "e-6")), 6, 5, "disagree on id"},
		{"ts in the body", edit(6, body("12:00", "12:01")), 6, 5, "disagree on ts"},
		{"from in the body", edit(6, body("ann", "eve")), 6, 5, "disagree on from"},
		{"to in the body", edit(6, body("bob", "eve")), 6, 5, "disagree on to"},
		{"kind in the body", edit(6, body("chat", "note")), 6, 5, "disagree on kind"},
		{"correlation in the body", edit(6, body(`"a"`, `"b"`)), 6, 5, "disagree on correlation_id"},
		{"context in the body", edit(6, body(`"c"`, `"d"`)), 6, 5, "disagree on context"},
		{"parent in the body", edit(6, body(`"p"`, `"q"`)), 6, 5, "disagree on context"},
		{"amends in the body", edit(6, body(`"payload"`, `"amends":true,"payload"`)), 6, 5, "not as it was written"},
		{"id in the header", edit(6, func(r *journal.Record) { r.ID = "x" }), 6, 5, "disagree on id"},
		{"amends in the header", edit(6, func(r *journal.Record) { r.Amends = true }), 6, 5, "disagree on amends"},
		{"id in both", edit(6, func(r *journal.Record) { body("e-5", "e-x")(r); r.ID = "e-x" }), 6, 5, "hash does not follow"},
		{"the effective kind", edit(6, func(r *journal.Record) { r.Effective = "chat" }), 6, 5, "hash does not follow"},
		{"the epoch", edit(6, func(r *journal.Record) { r.Epoch = "other" }), 6, 5, "hash does not follow"},
		{"the salt", edit(6, func(r *journal.Record) { r.Salt[0]++ }), 6, 5, "do not match their hash"},
		{"the salted hash", edit(6, func(r *journal.Record) { r.Rest[0]++ }), 6, 5, "do not match their hash"},
		{"the hash", edit(6, func(r *journal.Record) { r.Hash[0]++ }), 6, 5, "hash does not follow"},
		{"the hash of the record before", edit(5, func(r *journal.Record) { r.Hash[0]++ }), 5, 4, "hash does not follow"},
		{"the seq", edit(6, func(r *journal.Record) { r.Seq = 9 }), 6, 9, "seq is 9 and should be 5"},
		{"a refusal's body", edit(4, body("rate", "Rate")), 4, 3, "body does not match"},
		{"a refusal's header", edit(4, func(r *journal.Record) { r.From = "ann" }), 4, 3, "hash does not follow"},
		{"a refusal with a seq", edit(4, func(r *journal.Record) { r.Seq = 4 }), 4, 4, "has seq 4"},
		{"a refusal marked as redacted", edit(4, func(r *journal.Record) { r.Redacted = true; r.Body = []byte(`{"code":"chat"}`) }), 4, 3, "marked as redacted"},
		{"a refusal made an envelope", edit(4, func(r *journal.Record) { r.Type, r.Seq = journal.Admitted, 4 }), 4, 4, "not an envelope"},
		{"marked as redacted", edit(6, func(r *journal.Record) { r.Redacted = true }), 6, 5, "marked as redacted"},
		{"one cut out", func(all []*journal.Record) []*journal.Record { return slices.Delete(all, 5, 6) }, 6, 5, "record 6 is missing"},
		{"several cut out", func(all []*journal.Record) []*journal.Record { return slices.Delete(all, 5, 8) }, 6, 5, "records 6 to 8 are missing"},
		{"the first cut out", func(all []*journal.Record) []*journal.Record { return all[1:] }, 1, 1, "record 1 is missing"},
		{"two swapped", func(all []*journal.Record) []*journal.Record { all[5], all[6] = all[6], all[5]; return all }, 6, 5, "record 6 is missing"},
		{"one twice", func(all []*journal.Record) []*journal.Record { return slices.Insert(all, 6, all[5]) }, 7, 6, "stands where record 7 should"},
		{"places swapped", func(all []*journal.Record) []*journal.Record {
			all[5].Index, all[6].Index = all[6].Index, all[5].Index
			all[5].Seq, all[6].Seq = all[6].Seq, all[5].Seq
			all[5], all[6] = all[6], all[5]
			return all
		}, 6, 5, "hash does not follow"},
		{"cut off", func(all []*journal.Record) []*journal.Record { return all[:10] }, 11, 9, "cut off"},
		{"all cut off", func(all []*journal.Record) []*journal.Record { return nil }, 1, 1, "cut off"},
		{"written anew from a place on", func(all []*journal.Record) []*journal.Record {
			head := headOf(all[7], 6)
			for _, r := range all[8:] {
				r.From, r.Body = "eve", []byte(strings.Replace(string(r.Body), "ann", "eve", 1))
				head = r.Place(head)
			}
			return all
		}, 12, 9, "written anew"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := chain(9)
			last := headOf(all[11], 9)
			if err := walk(all, last); err != nil {
				t.Fatalf("before anything was done: %v", err)
			}
			err := walk(c.do(all), last)
			b, ok := errors.AsType[*journal.Break](err)
			if !ok {
				t.Fatalf("the walk says %v", err)
			}
			if b.Index != c.index || b.Seq != c.seq || !strings.Contains(b.Reason, c.reason) {
				t.Errorf("found at record %d, seq %d: %s\nwant %d, %d: %s", b.Index, b.Seq, b.Reason, c.index, c.seq, c.reason)
			}
		})
	}
}

func TestVerifierFromTheMiddle(t *testing.T) {
	all := chain(9)
	v := journal.NewVerifier(headOf(all[4], 4))
	if err := v.Against(headOf(all[4], 4)); err != nil {
		t.Error(err)
	}
	if err := v.Against(headOf(all[3], 3)); !errors.Is(err, &parley.Error{Code: parley.InvalidArgument}) {
		t.Errorf("a head before the start: %v", err)
	}
	other := headOf(all[4], 4)
	other.Hash[0]++
	if _, ok := errors.AsType[*journal.Break](v.Against(other)); !ok {
		t.Error("another head at the start passes")
	}
	for _, at := range []int{11, 7, 9} { // in any order
		seq := max(all[at].Seq, all[at-1].Seq)
		if err := v.Against(headOf(all[at], seq)); err != nil {
			t.Error(err)
		}
	}
	for _, r := range all[5:] {
		if err := v.Check(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.End(); err != nil {
		t.Error(err)
	}
	if v.Head() != headOf(all[11], 9) {
		t.Errorf("the walk ends at %v", v.Head())
	}
}

func TestRedactedRecordsVerify(t *testing.T) {
	all := chain(9)
	for i, r := range all {
		if r.Type != journal.Admitted {
			continue
		}
		var err error
		if all[i], err = r.Redact(); err != nil {
			t.Fatal(err)
		}
		if body := string(all[i].Body); strings.Contains(body, `"text"`) || strings.Contains(body, "metadata") || strings.Contains(body, "extra") {
			t.Errorf("redacted, it is %s", body)
		}
	}
	b, ok := errors.AsType[*journal.Break](walk(all))
	if !ok || b.Index != 1 || b.Seq != 1 || b.Reason != "redacted without an order on record" {
		t.Errorf("without orders, the walk says %v", b)
	}
	ordered := all
	for _, r := range all {
		if r.Type == journal.Admitted {
			ordered = extend(ordered, order(r.ID))
		}
	}
	if err := walk(ordered); err != nil {
		t.Error(err)
	}
	if b, ok := errors.AsType[*journal.Break](walk(ordered[:len(ordered)-1])); !ok || b.Seq != 9 {
		t.Errorf("without the last order, the walk says %v", b)
	}
	all[0].Body = []byte(strings.Replace(string(all[0].Body), "true", `"no"`, 1))
	if err := walk(ordered); err == nil {
		t.Error("a redacted record that says something passes")
	}
}

// An order counts for what stands before it, and where it says what it is for.
func TestRedactionsNeedTheirOrders(t *testing.T) {
	all := chain(2)
	redacted, err := all[0].Redact()
	if err != nil {
		t.Fatal(err)
	}
	emptied := order("e-1")
	for _, c := range []struct {
		name  string
		chain []*journal.Record
		holds bool
	}{
		{"ordered", extend([]*journal.Record{redacted, all[1]}, order("e-1")), true},
		{"ordered, not done yet", extend(all, order("e-1")), true},
		{"by a chat", extend([]*journal.Record{redacted, all[1]}, envelope("x", "chat", `{"id":"e-1"}`)), false},
		{"for another", extend([]*journal.Record{redacted, all[1]}, order("e-2")), false},
		{"before it", func() []*journal.Record {
			late := extend(nil, order("e-1"), envelope("e-1", "chat", `{"text":"x"}`))
			late[1], _ = late[1].Redact()
			return late
		}(), false},
		{"an order that was redacted itself", func() []*journal.Record {
			late := extend([]*journal.Record{redacted, all[1]}, emptied, order(emptied.ID))
			late[2], _ = late[2].Redact()
			return late
		}(), false},
	} {
		if err := walk(c.chain); (err == nil) != c.holds {
			t.Errorf("%s: the walk says %v", c.name, err)
		}
	}
}

// What an order cannot have taken away was taken by somebody else.
func TestKindsThatAreNeverRedacted(t *testing.T) {
	for kind, holds := range map[string]bool{
		"chat": true, "mcp/request:tools/call:x": true, "spaceship": true, "space": true,
		"capability/revoke": false, "capability/grant": false, "space/kick": false, "system/notice": false,
	} {
		all := extend(nil, envelope("a", kind, `{"text":"x"}`), order("a"))
		redacted, err := all[0].Redact()
		if err != nil {
			t.Fatal(err)
		}
		all[0] = redacted
		err = walk(all)
		if b, broken := errors.AsType[*journal.Break](err); broken == holds || broken && (b.Index != 1 || !strings.Contains(b.Reason, "its kind cannot be")) {
			t.Errorf("%s: the walk says %v", kind, err)
		}
	}
}

// Only newer checkpoints take the place of one.
func TestSupersededCheckpointsHaveSuccessors(t *testing.T) {
	at := time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		superseded string // which of four checkpoints, at 5, 7, 8 and 10
		from       int    // records that were cut away before them
		at         uint64 // of the break; 0 where there is none
	}{
		{"", 0, 0},
		{"1", 0, 0},
		{"12", 0, 0},
		{"123", 0, 8},
		{"1234", 0, 8},
		{"4", 0, 10},
		{"124", 0, 10},
		{"34", 6, 8},
	} {
		all := chain(3)
		for i := range 4 {
			all = extend(all, journal.NewCheckpoint(at, []byte(`{"state":1}`), [16]byte{byte(i)}))
			if i%2 == 0 {
				all = extend(all, envelope(fmt.Sprintf("x-%d", i), "chat", `{"text":"x"}`))
			}
		}
		n := 0
		for i, r := range all {
			if r.Type != journal.Checkpoint {
				continue
			}
			if n++; strings.Contains(c.superseded, fmt.Sprint(n)) {
				all[i] = r.Supersede()
			}
		}
		v := journal.NewVerifierAt(uint64(c.from))
		for _, r := range all[c.from:] {
			if err := v.Check(r); err != nil {
				t.Fatal(err)
			}
		}
		b, _ := errors.AsType[*journal.Break](v.End())
		switch {
		case c.at == 0 && b != nil, c.at > 0 && (b == nil || b.Index != c.at || !strings.Contains(b.Reason, "superseded")):
			t.Errorf("superseded are %q, and the walk says %v", c.superseded, b)
		}
	}
}

// envelope is an envelope's record without a place.
func envelope(id, kind, payload string) *journal.Record {
	e := &parley.Envelope{
		Protocol: parley.ProtocolMCPx, ID: id, TS: time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC), From: "ann", Kind: kind,
		Payload: []byte(payload),
	}
	return journal.Envelope(e, parley.SplitKind(kind), [16]byte{3})
}

func order(id string) *journal.Record {
	return envelope("redact-"+id, "space/redact", `{"id":"`+id+`"}`)
}

// extend is a chain with more at its end.
func extend(all []*journal.Record, more ...*journal.Record) []*journal.Record {
	head := journal.Origin("demo")
	for _, r := range all {
		head = journal.Head{Index: r.Index, Seq: max(head.Seq, r.Seq), Hash: r.Hash}
	}
	all = slices.Clone(all)
	for _, r := range more {
		r.Epoch = "epoch"
		head = r.Place(head)
		all = append(all, r)
	}
	return all
}

func TestAChainBelongsToItsSpace(t *testing.T) {
	v := journal.NewVerifier(journal.Origin("another"))
	b, ok := errors.AsType[*journal.Break](v.Check(chain(1)[0]))
	if !ok || b.Index != 1 {
		t.Errorf("the chain of one space passes for another's: %v", b)
	}
}

func TestParseHead(t *testing.T) {
	for _, h := range []journal.Head{{}, journal.Origin("demo"), headOf(chain(9)[11], 9)} {
		if got, err := journal.ParseHead(h.String()); err != nil || got != h {
			t.Errorf("%v reads as %v, %v", h, got, err)
		}
	}
	hash := strings.Repeat("ab", 32)
	for _, s := range []string{"", "1", "1:1", "1:1:" + hash + ":", "1:1:" + hash[1:], "01:1:" + hash, "+1:1:" + hash, "1:2:" + hash, "-1:1:" + hash, " 1:1:" + hash} {
		if h, err := journal.ParseHead(s); !errors.Is(err, &parley.Error{Code: parley.InvalidArgument}) {
			t.Errorf("%q reads as %v, %v", s, h, err)
		}
	}
}

func FuzzParseHead(f *testing.F) {
	f.Add(journal.Head{}.String())
	f.Add(headOf(chain(3)[3], 3).String())
	f.Fuzz(func(t *testing.T, s string) {
		h, err := journal.ParseHead(s)
		if err != nil {
			return
		}
		if again, err := journal.ParseHead(h.String()); err != nil || again != h {
			t.Errorf("%q reads as %v, and that as %v, %v", s, h, again, err)
		}
	})
}

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                      nil,
		"  ... ":                nil,
		"Hello, World":          {"hello", "world"},
		"src/main_test.go:12":   {"src", "main", "test", "go", "12"},
		"Ünïcode ÉTÉ":           {"ünïcode", "été"},
		"東京 and タワー":            {"東", "京", "and", "タ", "ワ", "ー"},
		"a\x00b\xffc":           {"a", "b", "c"},
		strings.Repeat("x", 99): {strings.Repeat("x", 64)},
		strings.Repeat("é", 50): {strings.Repeat("é", 32)},
	} {
		if got := journal.Words(text); !slices.Equal(got, want) {
			t.Errorf("%q has the words %q, want %q", text, got, want)
		}
	}
}
