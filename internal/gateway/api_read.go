package gateway

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

const (
	readTime     = 30 * time.Second // that one reading of the journal may take
	apiReads     = 4                // calls that read the journal at once, apart from connections that resume
	readsWaiting = 64               // calls of one token that wait for that
	chunkOfLog   = 512              // records of a stream that are read at a time
	scanMost     = 8 * pageMost     // proposals that are looked at for one page
	scanAtOnce   = 256              // of them, between looks into the state
	scanBetween  = 64               // envelopes that are read over between two open proposals
)

// read collects the records that a query selects, until keep says that it has
// enough. It must not wait for anything.
func (c caller) read(ctx context.Context, q journal.Query, keep func(*journal.Record) bool) error {
	return c.reading(ctx, func(ctx context.Context) error {
		for rec, err := range c.room.record.Read(ctx, q) {
			if err != nil {
				return err
			}
			if !keep(rec) {
				return nil
			}
		}
		return nil
	})
}

// reading calls fn, which reads the journal, when it is its turn, and gives it
// up after readTime: what takes longer keeps others waiting.
func (c caller) reading(ctx context.Context, fn func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	release, err := c.reads.acquire(within, string(c.token[:]))
	if err == nil {
		defer release()
		err = fn(within)
	}
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return parley.Errorf(parley.Unavailable, "the journal was not read within %v", readTime).
			WithHint("ask for less: a narrower range with after and before, or since and until")
	}
	return err
}

// one is the record that a query selects, nil for none.
func (c caller) one(ctx context.Context, q journal.Query) (found *journal.Record, err error) {
	err = c.reading(ctx, func(ctx context.Context) error {
		found, err = recordOf(ctx, c.room.record, q)
		return err
	})
	return found, err
}

// recordOf is the first record that a query selects, nil for none.
func recordOf(ctx context.Context, log journal.Reader, q journal.Query) (*journal.Record, error) {
	q.Limit = 1
	for rec, err := range log.Read(ctx, q) {
		return rec, err
	}
	return nil, nil
}

// some are the records that a query selects, until they have pageBytes; more
// reports that there may be others.
func (c caller) some(ctx context.Context, q journal.Query) (records []*journal.Record, more bool, err error) {
	size := 0
	err = c.read(ctx, q, func(rec *journal.Record) bool {
		records = append(records, rec)
		size += len(rec.Body)
		return size < pageBytes
	})
	return records, len(records) == q.Limit || size >= pageBytes, err
}

// view looks into the space's state.
func (c caller) view(ctx context.Context, fn func(*space.State)) error {
	return c.room.g.View(ctx, c.room.name, fn)
}

// chain yields the records of the chain after an index, up to where it ends
// now. Between pieces it holds nothing of the journal, so that whoever receives
// them may take their time. It ends with [journal.Overtaken] where retention drops
// meanwhile what comes next.
func (c caller) chain(ctx context.Context, after uint64) iter.Seq2[*journal.Record, error] {
	return func(yield func(*journal.Record, error) bool) {
		s := stream{caller: c, after: after}
		for range streamRounds {
			bounds, err := c.room.record.Bounds(ctx)
			if err == nil {
				s.changed = false
				err = s.upTo(ctx, bounds.Head.Index, yield)
			}
			switch {
			case errors.Is(err, errReceiverGone):
				return
			case err != nil:
				yield(nil, err)
				return
			case !s.changed:
				return
			}
		}
		yield(nil, parley.Errorf(parley.Unavailable, "the record grows faster than it is received").
			WithHint("ask for it when the space is quieter, or read a backup of the journal"))
	}
}

// stream is a chain that is being sent.
type stream struct {
	caller
	after uint64 // the last record that was sent; of none, where to begin
	begun bool

	// changed says that records were sent that are not as they once were. What
	// explains that, the order for a redaction or newer checkpoints, may have come
	// after the end was looked up, and has come by now.
	changed bool
}

// streamRounds is how often the end is looked up anew.
const streamRounds = 16

var errReceiverGone = errors.New("the receiver wants no more")

// upTo sends the records up to an index.
func (s *stream) upTo(ctx context.Context, last uint64, yield func(*journal.Record, error) bool) error {
	for s.after < last {
		piece, err := s.piece(ctx, last)
		if err != nil {
			return err
		}
		if len(piece) == 0 { // all of it has been dropped
			return journal.Overtaken()
		}
		for _, rec := range piece {
			if s.begun && rec.Index != s.after+1 {
				return journal.Overtaken()
			}
			if !yield(rec, nil) {
				return errReceiverGone
			}
			s.after, s.begun = rec.Index, true
			s.changed = s.changed || rec.Redacted || rec.Superseded
		}
	}
	return nil
}

// piece is what comes next of the records up to an index.
func (s *stream) piece(ctx context.Context, last uint64) (piece []*journal.Record, err error) {
	piece, _, err = s.some(ctx, journal.Query{Chain: true, After: s.after, Before: last + 1, Limit: chunkOfLog})
	return piece, err
}
