package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/parleyhq/parley"
)

// Audit is what a walk along a whole chain found.
type Audit struct {
	Space     string
	Head      Head
	Records   uint64 // of every type
	Envelopes uint64
	Refusals  uint64 // as records; a flood is one
	Redacted  uint64

	Checkpoints uint64
	Markers     uint64
	Dropped     uint64 // records that retention dropped before the chain begins
}

// Verify walks the chain of a log and holds it against heads that were kept
// elsewhere. The error is a [*Break] where the chain does not hold, else the
// reader's own; the audit then says how far it came.
//
// It begins anew where retention drops what was to be read next.
func Verify(ctx context.Context, space string, log Reader, kept ...Head) (Audit, error) {
	for range 3 {
		audit, err := verify(ctx, space, log, kept)
		if !IsOvertaken(err) {
			return audit, err
		}
	}
	return verify(ctx, space, log, kept)
}

func verify(ctx context.Context, space string, log Reader, kept []Head) (Audit, error) {
	w := newWalk(space)
	if err := w.against(kept); err != nil {
		return w.Audit, err
	}
	if err := w.all(log.Read(ctx, Query{Chain: true})); err != nil {
		return w.Audit, err
	}
	return w.Audit, w.v.End()
}

// VerifyExport does the same with what [Export] wrote, and holds it against the
// head that it carries as well. A line that is none of an export is a break of
// the chain, and so is a missing end.
func VerifyExport(r io.Reader, kept ...Head) (Audit, error) {
	x, err := ReadExport(r)
	if err == io.EOF {
		return Audit{}, parley.Errorf(parley.InvalidArgument, "the export is empty").WithHint("parley log export writes one")
	}
	if err != nil {
		return Audit{}, err
	}
	w := newWalk(x.Space)
	if err := w.against(kept); err != nil {
		return w.Audit, err
	}
	if err := w.all(x.Records()); err != nil {
		return w.Audit, w.asBreak(err)
	}
	head, ok := x.Head()
	if !ok {
		return w.Audit, w.broken("cut off: the export does not end with a head")
	}
	if head.Index < w.Head.Index {
		return w.Audit, w.broken(fmt.Sprintf("edited: the export's own head is record %d", head.Index))
	}
	if err := w.v.Against(head); err != nil {
		return w.Audit, err
	}
	return w.Audit, w.v.End()
}

// ExportVerified writes the chain of a log as [Export] does, and checks it on the
// way. The error is a [*Break] where it does not hold; it is written all the
// same, to be looked at.
func ExportVerified(ctx context.Context, w io.Writer, space string, log Reader) (Audit, error) {
	x := newWalk(space)
	var broken error
	_, err := Export(w, space, func(yield func(*Record, error) bool) {
		for r, err := range log.Read(ctx, Query{Chain: true}) {
			if err == nil && broken == nil {
				broken = x.check(r)
			}
			if !yield(r, err) {
				return
			}
		}
	})
	if err == nil && broken == nil {
		broken = x.v.End()
	}
	return x.Audit, errors.Join(broken, err)
}

// walk is a verifier that counts.
type walk struct {
	Audit
	v *Verifier
}

func newWalk(space string) *walk {
	return &walk{Audit: Audit{Space: space, Head: Origin(space)}, v: NewVerifier(Origin(space))}
}

func (w *walk) against(kept []Head) error {
	for _, h := range kept {
		if err := w.v.Against(h); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) all(records iter.Seq2[*Record, error]) error {
	for r, err := range records {
		if err != nil {
			return err
		}
		if err := w.check(r); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) check(r *Record) error {
	if err := w.v.Check(r); err != nil {
		return err
	}
	w.count(r)
	return nil
}

func (w *walk) count(r *Record) {
	w.Head = w.v.Head()
	w.Records++
	if w.Records == 1 {
		w.Dropped = r.Index - 1
	}
	switch r.Type {
	case Admitted:
		w.Envelopes++
	case Refused, Flood:
		w.Refusals++
	case Checkpoint:
		w.Checkpoints++
	case Marker:
		w.Markers++
	}
	if r.Redacted {
		w.Redacted++
	}
}

// broken is a break where the walk stands.
func (w *walk) broken(reason string) *Break {
	return &Break{Index: w.Head.Index + 1, Seq: w.Head.Seq + 1, Reason: reason}
}

// asBreak turns a line that could not be read into the break that it is.
func (w *walk) asBreak(err error) error {
	if e, ok := errors.AsType[*parley.Error](err); ok && e.Code == parley.InvalidArgument {
		return w.broken("edited: " + e.Message)
	}
	return err
}
