package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parleyhq/parley"
)

// String is the head's text, INDEX:SEQ:HASH, as [ParseHead] reads it.
func (h Head) String() string { return fmt.Sprintf("%d:%d:%s", h.Index, h.Seq, h.Hash) }

// ParseHead reads what [Head.String] wrote: invalid_argument for anything else.
func ParseHead(s string) (Head, error) {
	fields := strings.Split(s, ":")
	if len(fields) == 3 {
		index, ok1 := parseNumber(fields[0])
		seq, ok2 := parseNumber(fields[1])
		hash, err := ParseHash(fields[2])
		if ok1 && ok2 && err == nil && seq <= index {
			return Head{Index: index, Seq: seq, Hash: hash}, nil
		}
	}
	return Head{}, parley.Errorf(parley.InvalidArgument, "%.120q is not the head of a chain", s).
		WithHint("write INDEX:SEQ:HASH, as parley log head prints it")
}

// parseNumber reads a number in the one form that String writes.
func parseNumber(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	return n, err == nil && s == strconv.FormatUint(n, 10)
}

// Break is the first place where a chain does not hold.
type Break struct {
	Index  uint64 // the record's place in the chain
	Seq    uint64 // the envelope's place in the order, or that of the last one before it
	Reason string // one clause, for people
}

// Error says where the chain broke, and how.
func (b *Break) Error() string {
	return fmt.Sprintf("the chain breaks at seq %d (record %d): %s", b.Seq, b.Index, b.Reason)
}

// Verifier checks a chain record by record, as a walk in its order
// ([Query].Chain) yields them.
//
//	v := journal.NewVerifier(journal.Origin("demo"))
//	for r, err := range log.Read(ctx, journal.Query{Chain: true}) {
//		…
//		if err := v.Check(r); err != nil {
//			return err // a *Break
//		}
//	}
//	return v.End()
//
// What holds is proof that no record was changed, cut out or moved. That none
// was cut off at the end, and that the end was not written anew, shows only
// against a head that was kept elsewhere: [Verifier.Against].
//
// A chain may begin later than with its first record if a marker in it says that
// everything before was dropped; End fails where none does. What is marked as
// redacted needs the order to redact it, later in the chain, and a checkpoint
// that is marked as superseded the newer ones that have replaced it; End fails
// where there is none.
type Verifier struct {
	head   Head
	kept   []Head // not reached yet, in order
	begin  beginning
	orders orders
	states states
}

// NewVerifier starts a walk behind start: [Origin] for a whole chain, or any
// head that is known.
func NewVerifier(start Head) *Verifier {
	v := &Verifier{head: start}
	v.begin.known(start)
	return v
}

// NewVerifierAt starts a walk behind the record with that index, whose hash is
// not known: the first record's is taken on trust.
func NewVerifierAt(index uint64) *Verifier {
	v := &Verifier{head: Head{Index: index}}
	v.begin.trust(index)
	return v
}

// Head is where the walk stands.
func (v *Verifier) Head() Head { return v.head }

// Against holds the chain against a head that was kept elsewhere. Before the
// walk passes it there is nothing to say yet: Check fails where the chain says
// otherwise, and End where it never gets there, or where the chain begins later,
// so that the head proves nothing any more. Against fails with a [*Break] where
// the walk stands at that place and the chain says otherwise, and with
// invalid_argument where the walk has left the place behind.
func (v *Verifier) Against(h Head) error {
	switch {
	case h.Index < v.head.Index:
		return parley.Errorf(parley.InvalidArgument, "the head at record %d lies before the part that is checked", h.Index)
	case h.Index == v.head.Index:
		if v.begin.adopt(h) {
			v.head = h
			return nil
		}
		return v.compare(h)
	}
	at, _ := slices.BinarySearchFunc(v.kept, h, func(a, b Head) int { return cmp.Compare(a.Index, b.Index) })
	v.kept = slices.Insert(v.kept, at, h)
	return nil
}

// End reports, as a [*Break], what the chain still owes when it has been walked:
// a head that it was held against, a marker of what is missing at its beginning,
// the order for a redaction, what replaces a checkpoint. A head that lies before its beginning is not_found.
func (v *Verifier) End() error {
	if len(v.kept) > 0 {
		return &Break{
			Index:  v.head.Index + 1,
			Seq:    min(v.head.Seq+1, v.kept[0].Seq),
			Reason: fmt.Sprintf("cut off: the chain ends here, the head that was kept is record %d", v.kept[0].Index),
		}
	}
	if b := v.begin.missing(); b != nil {
		return b
	}
	if b := earlier(v.orders.missing(), v.states.missing()); b != nil {
		return b
	}
	return v.begin.passed()
}

// Check reports, as a [*Break], that r does not follow the record that was
// checked before it. The walk then stays where it was.
func (v *Verifier) Check(r *Record) error {
	if v.head.Index == 0 && r.Index > 1 {
		v.kept = v.begin.later(r.Index-1, v.kept)
		v.head = Head{Index: r.Index - 1}
	}
	if reason := v.place(r); reason != "" {
		return v.broken(r, reason)
	}
	if reason := checkContent(r); reason != "" {
		return v.broken(r, reason)
	}
	if !v.begin.takes(r) && r.chainHash(v.head.Hash) != r.Hash {
		return v.broken(r, "edited: the hash does not follow from the record before and this one's header")
	}
	before := v.head
	v.head = Head{Index: r.Index, Seq: max(r.Seq, v.head.Seq), Hash: r.Hash}
	if err := v.passKept(); err != nil {
		v.head = before
		return err
	}
	if r.Type == Marker {
		if err := v.marker(r); err != nil {
			v.head = before
			return err
		}
	}
	v.states.pass(r, v.head.Seq)
	return v.orders.pass(r)
}

// earlier is the one of two breaks that comes first; nil is none.
func earlier(a, b *Break) *Break {
	if a == nil || b != nil && b.Index < a.Index {
		return b
	}
	return a
}

// passKept holds the walk against the heads of the place that it has come to.
func (v *Verifier) passKept() error {
	for len(v.kept) > 0 && v.kept[0].Index == v.head.Index {
		if err := v.compare(v.kept[0]); err != nil {
			return err
		}
		v.kept = v.kept[1:]
	}
	return nil
}

// marker reads what a marker says of the beginning.
func (v *Verifier) marker(r *Record) error {
	d, err := r.DecodeMarker()
	if err != nil || d.Through.Index >= r.Index {
		return &Break{Index: r.Index, Seq: v.head.Seq, Reason: "edited: it does not say what was dropped"}
	}
	seq, err := v.begin.explain(d.Through)
	if err != nil {
		return err
	}
	v.head.Seq = max(v.head.Seq, seq)
	return nil
}

// compare holds the walk's own place against a head.
func (v *Verifier) compare(h Head) error {
	if h == v.head || h.Index == v.head.Index && h.Hash == v.head.Hash && !v.begin.seqKnown {
		return nil
	}
	return &Break{Index: h.Index, Seq: v.head.Seq, Reason: "written anew: it differs from the head that was kept elsewhere"}
}

func (v *Verifier) broken(r *Record, reason string) *Break {
	if b := v.begin.missing(); b != nil && r.Index <= v.begin.start.Index {
		return b // what is missing at the beginning stands further on
	}
	b := &Break{Index: r.Index, Seq: r.Seq, Reason: reason}
	if b.Seq == 0 {
		b.Seq = v.head.Seq
	}
	if r.Index != v.head.Index+1 {
		// What is wrong is what should stand here.
		b.Index, b.Seq = v.head.Index+1, v.head.Seq+1
	}
	return b
}

// place says what is wrong with a record's place, or nothing.
func (v *Verifier) place(r *Record) string {
	want := v.head.Index + 1
	switch {
	case r.Index > want && r.Index == want+1:
		return fmt.Sprintf("cut out: record %d is missing", want)
	case r.Index > want:
		return fmt.Sprintf("cut out: records %d to %d are missing", want, r.Index-1)
	case r.Index < want:
		return fmt.Sprintf("swapped: record %d stands where record %d should", r.Index, want)
	case r.Type != Admitted && r.Seq != 0:
		return fmt.Sprintf("edited: a record of type %s has seq %d", r.Type, r.Seq)
	case r.Type == Admitted && !v.begin.seqKnown && (r.Seq == 0 || r.Seq > r.Index):
		return fmt.Sprintf("edited: record %d has seq %d", r.Index, r.Seq)
	case r.Type == Admitted && v.begin.seqKnown && r.Seq != v.head.Seq+1:
		return fmt.Sprintf("edited: seq is %d and should be %d", r.Seq, v.head.Seq+1)
	}
	return ""
}

// checkContent holds a record's body against its header and its salted hash.
func checkContent(r *Record) string {
	if r.Type != Admitted {
		switch {
		case r.Redacted: // only envelopes ever are
			return "edited: it is marked as redacted and is not"
		case r.Superseded && (r.Type != Checkpoint || len(r.Body) > 0 || r.Salt != [16]byte{}):
			return "edited: it is marked as superseded and is not"
		case r.Superseded:
			return ""
		case bodyRest(r.Salt, r.Body) != r.Rest:
			return "edited: the body does not match its hash"
		}
		return ""
	}
	e, err := r.Decode()
	if err != nil {
		return "edited: the body is not an envelope: " + message(err)
	}
	e.Seq = 0
	if !bytes.Equal(e.AppendBody(nil), r.Body) {
		return "edited: the body is not as it was written"
	}
	if field := differingField(r, e); field != "" {
		return "edited: header and body disagree on " + field
	}
	if r.Superseded {
		return "edited: it is marked as superseded and is not"
	}
	if r.Redacted {
		switch {
		case !isRedacted(e):
			return "edited: it is marked as redacted and is not"
		case !r.Redactable():
			return "edited: it is marked as redacted, and its kind cannot be"
		}
		return ""
	}
	if envelopeRest(r.Salt, e) != r.Rest {
		return "edited: payload, context or unknown fields do not match their hash"
	}
	return ""
}

// differingField names a field in which a record's header and body disagree.
func differingField(r *Record, e *parley.Envelope) string {
	var context parley.Context
	if e.Context != nil {
		context = *e.Context
	}
	switch {
	case r.ID != e.ID:
		return "id"
	case !r.TS.Equal(e.TS):
		return "ts"
	case r.From != e.From:
		return "from"
	case len(r.To) < len(e.To) || !slices.Equal(r.To[:len(e.To)], e.To):
		return "to"
	case r.Kind != e.Kind:
		return "kind"
	case !slices.Equal(r.Correlations, e.Correlation.IDs):
		return "correlation_id"
	case r.Context != context.ID || r.Parent != context.Parent:
		return "context"
	case r.Amends != e.Amends:
		return "amends"
	}
	return ""
}

func message(err error) string {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return e.Message
	}
	return err.Error()
}
