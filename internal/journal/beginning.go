package journal

import (
	"fmt"

	"github.com/parleyhq/parley"
)

// beginning is what a [Verifier] knows of the place behind which the chain
// begins. Where retention dropped records, it does not know the hash there until
// it meets the marker that says so, further on in the same chain.
type beginning struct {
	start    Head
	linked   bool // start's hash is known
	trusted  bool // where it is not, that is no fault
	seqKnown bool // start's seq, too

	first  *Record // has been let in without its link, which is checked later
	kept   []Head  // right at start, to be held against it
	missed *Head   // the last of those before it
}

func (b *beginning) known(start Head) {
	b.start, b.linked, b.seqKnown = start, true, true
}

func (b *beginning) trust(index uint64) {
	b.start, b.trusted = Head{Index: index}, true
}

// later moves the beginning behind an index, and returns the heads that come
// after it.
func (b *beginning) later(index uint64, kept []Head) []Head {
	b.start, b.linked, b.seqKnown = Head{Index: index}, false, false
	for len(kept) > 0 && kept[0].Index <= index {
		if h := kept[0]; h.Index == index {
			b.kept = append(b.kept, h)
		} else {
			b.missed = &h
		}
		kept = kept[1:]
	}
	return kept
}

// adopt takes a head that is known for the one behind which a walk on trust
// begins, and reports whether it did.
func (b *beginning) adopt(h Head) bool {
	if b.linked || b.first != nil {
		return false
	}
	b.known(h)
	return true
}

// takes sees each record that stands in its place, and reports whether it is the
// first and its link cannot be checked yet.
func (b *beginning) takes(r *Record) bool {
	if r.Type == Admitted && !b.seqKnown {
		b.start.Seq, b.seqKnown = r.Seq-1, true
	}
	if b.linked || b.first != nil {
		return false
	}
	header := *r
	header.Body, header.Token = nil, nil
	b.first = &header
	return true
}

// explain hears of a place up to which a marker says that everything was
// dropped, and returns the seq there where it was not known.
func (b *beginning) explain(through Head) (seq uint64, err error) {
	if b.linked || through.Index != b.start.Index {
		return 0, nil // an earlier drop, or one that came while the chain was read
	}
	switch {
	case b.first.chainHash(through.Hash) != b.first.Hash:
		return 0, b.wrong("edited: it does not follow from what was dropped before it, as the marker names that")
	case b.seqKnown && b.start.Seq != through.Seq:
		return 0, b.wrong(fmt.Sprintf("edited: the envelopes begin behind seq %d, the marker says %d", b.start.Seq, through.Seq))
	}
	b.known(through)
	b.first = nil
	for _, h := range b.kept {
		if h != through {
			return 0, &Break{Index: h.Index, Seq: through.Seq, Reason: "written anew: it differs from the head that was kept elsewhere"}
		}
	}
	return through.Seq, nil
}

func (b *beginning) wrong(reason string) *Break {
	return &Break{Index: b.start.Index + 1, Seq: b.start.Seq + 1, Reason: reason}
}

// missing is the break that the beginning is where no marker explains it, or nil.
func (b *beginning) missing() *Break {
	if b.linked || b.trusted || b.first == nil {
		return nil
	}
	what := "record 1 is"
	if b.start.Index > 1 {
		what = fmt.Sprintf("records 1 to %d are", b.start.Index)
	}
	return &Break{Index: 1, Seq: 1, Reason: fmt.Sprintf("cut off at its beginning: %s missing, and no marker says that they were dropped", what)}
}

// passed is the error of a head that lies before the beginning.
func (b *beginning) passed() error {
	if b.missed == nil {
		return nil
	}
	return parley.Errorf(parley.NotFound, "the head at record %d cannot be checked any more: records up to %d were dropped",
		b.missed.Index, b.start.Index).
		WithHint("keep newer heads: parley log head prints one")
}
