package journal

import (
	"fmt"
	"strconv"
	"time"

	"github.com/parleyhq/parley"
)

// What keeps a log from growing for ever: a checkpoint holds the space's state
// at its place, so that what came before it may go; a marker says what went, and
// drops it.

// Retention says what may stay. A zero field is no bound.
type Retention struct {
	Before time.Time // what is older goes
	Bytes  int64     // what is beyond so many goes, the oldest first; see [Record.Size]
}

// Dropped is what retention takes away: everything up to and including Through.
type Dropped struct {
	Through   Head
	Records   uint64 // of every type, since what was dropped before
	Envelopes uint64
}

// NewCheckpoint makes the record of a space's state at the place that it gets.
// The state is a JSON object, which it keeps.
func NewCheckpoint(ts time.Time, state []byte, salt [16]byte) *Record {
	return &Record{Type: Checkpoint, TS: ts, Body: state, Salt: salt, Rest: bodyRest(salt, state)}
}

// KeptCheckpoints is how many checkpoints of a log keep their body, the newest:
// where one cannot be read, the one before it can.
const KeptCheckpoints = 2

// Supersede is the checkpoint without its body. Rest stays, and the chain still
// verifies.
func (r *Record) Supersede() *Record {
	old := *r
	old.Body, old.Salt, old.Superseded = nil, [16]byte{}, true
	return &old
}

// NewMarker makes the record that drops what d names.
func NewMarker(ts time.Time, d Dropped, salt [16]byte) *Record {
	body := fmt.Appendf(nil, `{"index":%d,"seq":%d,"hash":"%s","records":%d,"envelopes":%d}`,
		d.Through.Index, d.Through.Seq, d.Through.Hash, d.Records, d.Envelopes)
	return &Record{Type: Marker, TS: ts, Body: body, Salt: salt, Rest: bodyRest(salt, body)}
}

// DecodeMarker reads the body of a Marker.
func (r *Record) DecodeMarker() (Dropped, error) {
	bad := r.Type != Marker
	number := func(name string) uint64 {
		n, err := strconv.ParseUint(string(parley.Member(r.Body, name)), 10, 63)
		bad = bad || err != nil
		return n
	}
	text, _ := parley.MemberString(r.Body, "hash")
	hash, err := ParseHash(text)
	d := Dropped{
		Through:   Head{Index: number("index"), Seq: number("seq"), Hash: hash},
		Records:   number("records"),
		Envelopes: number("envelopes"),
	}
	if bad || err != nil || d.Through.Seq > d.Through.Index {
		return Dropped{}, parley.Errorf(parley.InvalidArgument, "record %d does not say what was dropped", r.Index)
	}
	return d, nil
}

// Size is what a record takes on record, in bytes, about. The body of a
// checkpoint does not count: only the newest keep theirs, and no retention drops
// those.
func (r *Record) Size() int {
	n := SizeOverhead + len(r.ID) + len(r.From) + len(r.Kind) + len(r.Context) + len(r.Parent)
	for _, list := range [][]string{r.To, r.Correlations} {
		for _, id := range list {
			n += len(id) + 1
		}
	}
	if r.Type != Checkpoint {
		n += len(r.Body)
	}
	return n
}

// SizeOverhead is what a record takes beside its texts: hashes, salt, numbers.
const SizeOverhead = 128

// Ledger is what a log knows of itself when a marker comes.
type Ledger struct {
	Floor      Head   // what was dropped already ends there
	Head       Head   // where the chain ends
	Checkpoint uint64 // index of the newest checkpoint that has its body; 0 for none

	// At says where the chain stood at an index between Floor and Head.
	At func(index uint64) (Head, error)
}

// MayDrop says why a marker may not drop what it names, or returns nil: history
// goes only where a checkpoint stands after it, and the newest envelope stays,
// so that no position is used again. Only journals call it.
func (l Ledger) MayDrop(r *Record) error {
	d, err := r.DecodeMarker()
	if err != nil {
		return err
	}
	refuse := func(why string) error {
		return parley.Errorf(parley.InvalidArgument, "records up to %d cannot be dropped: %s", d.Through.Index, why)
	}
	switch {
	case d.Through.Index > l.Head.Index:
		return refuse(fmt.Sprintf("the last is %d", l.Head.Index))
	case d.Through.Index >= l.Checkpoint:
		return refuse("no checkpoint stands after them")
	case d.Through.Index <= l.Floor.Index:
		return refuse(fmt.Sprintf("those up to %d have been dropped already", l.Floor.Index))
	case d.Through.Seq >= l.Head.Seq:
		return refuse("the newest envelope is among them")
	}
	at, err := l.At(d.Through.Index)
	if err != nil {
		return err
	}
	if want := l.Drop(at); d != want {
		return refuse(fmt.Sprintf("the chain is at %s there, the marker says %s", at, d.Through))
	}
	return nil
}

// Drop is what goes when everything up to through does.
func (l Ledger) Drop(through Head) Dropped {
	return Dropped{
		Through:   through,
		Records:   through.Index - l.Floor.Index,
		Envelopes: through.Seq - l.Floor.Seq,
	}
}
