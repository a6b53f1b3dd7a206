package gateway

import (
	"context"
	"net/http"

	"github.com/parleyhq/parley/internal/journal"
)

// streamContext sends the envelopes of a context as JSON Lines, in their order,
// up to where the space stands now. What was cut off on the way was not whole.
func streamContext(w http.ResponseWriter, r *http.Request, c caller) error {
	p := readParams(r)
	rp := replaying{caller: c, after: p.position("after")}
	subtree := p.flag("subtree", false)
	if err := p.done(); err != nil {
		return err
	}
	if err := rp.begin(r.Context(), r.PathValue("id"), subtree); err != nil {
		return err
	}
	out := streamLines(w)
	for {
		piece, err := rp.piece(r.Context())
		if err != nil {
			return err
		}
		if len(piece) == 0 {
			return out.Flush()
		}
		for _, rec := range piece {
			if _, err := out.Write(append(onOneLine(rec.Wire()), '\n')); err != nil {
				return err
			}
		}
	}
}

// onOneLine makes blanks of the line breaks in some JSON, in place. They stand
// between values alone: in a string they would be escaped.
func onOneLine(v []byte) []byte {
	for i, c := range v {
		if c == '\n' || c == '\r' {
			v[i] = ' '
		}
	}
	return v
}

// replaying is a context that is being sent. Between pieces it holds nothing of
// the journal, so that whoever receives them may take their time.
type replaying struct {
	caller
	ids   []string // of the context, and of its descendants
	after uint64   // what was sent last
	last  uint64   // where it ends
	first uint64   // the oldest envelope that was kept when it began
}

// begin finds out what is to be sent; not_found where there is nothing.
func (rp *replaying) begin(ctx context.Context, id string, subtree bool) error {
	bounds, err := rp.room.record.Bounds(ctx)
	if err != nil {
		return err
	}
	rp.first = bounds.First
	return rp.reading(ctx, func(ctx context.Context) error {
		list, err := rp.chosen(ctx, id, subtree)
		if err != nil {
			return err
		}
		q := within(journal.Query{After: rp.after, Before: bounds.Last + 1}, list)
		rp.ids, rp.after, rp.last = q.Contexts, q.After, q.Before-1
		return nil
	})
}

func (rp *replaying) chosen(ctx context.Context, id string, subtree bool) ([]*journal.Context, error) {
	if subtree {
		list, err := rp.family(ctx, id, false)
		if err != nil || len(list) > 0 {
			return list, err
		}
	}
	one, err := rp.theContext(ctx, id)
	return []*journal.Context{one}, err
}

// piece is what comes next; nothing at the end.
func (rp *replaying) piece(ctx context.Context) (piece []*journal.Record, err error) {
	if rp.after >= rp.last {
		return nil, nil
	}
	q := journal.Query{Contexts: rp.ids, After: rp.after, Before: rp.last + 1, Limit: chunkOfLog}
	piece, more, err := rp.some(ctx, q)
	if err != nil {
		return nil, err
	}
	bounds, err := rp.room.record.Bounds(ctx)
	if err != nil {
		return nil, err
	}
	if bounds.First > rp.first && bounds.First > rp.after+1 { // what was to come may have been dropped
		return nil, journal.Overtaken()
	}
	if rp.after = rp.last; more {
		rp.after = piece[len(piece)-1].Seq
	}
	return piece, nil
}
