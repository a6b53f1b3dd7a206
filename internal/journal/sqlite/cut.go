package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/parleyhq/parley/internal/journal"
)

// Checkpoint implements [journal.Reader].
func (s *spaceReader) Checkpoint(ctx context.Context) (*journal.Record, error) {
	r, err := s.j.readers.get(ctx)
	if err != nil {
		return nil, err
	}
	defer s.j.readers.put(r)
	var found *journal.Record
	err = r.snapshot(func() (err error) {
		found, err = r.checkpoint(s.space)
		return err
	})
	return found, readError(ctx, err)
}

func (r *reader) checkpoint(s *space) (*journal.Record, error) {
	floor, err := r.floor(s)
	if err != nil || !r.upToDate {
		return nil, err // the first version had no checkpoints
	}
	stmt, err := r.query(`SELECT `+columns+` FROM notes WHERE key =
		(SELECT max(key) FROM checkpoints WHERE key > ? AND key <= ?)`, key(s.id, floor.Index), key(s.id, maxSeq))
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	if !stmt.Step() {
		return nil, stmt.Err()
	}
	rec := new(journal.Record)
	scanHeader(stmt, rec)
	scanBody(stmt, rec)
	epochs, err := r.epochs(s)
	rec.Epoch = epochs.at(rec.Index)
	return rec, err
}

// Cut implements [journal.Log]. It adds up blocks, and looks at the records of
// three of them at most; a block without a row is measured once.
func (l *log) Cut(ctx context.Context, keep journal.Retention) (journal.Dropped, error) {
	r, err := l.j.readers.get(ctx)
	if err != nil {
		return journal.Dropped{}, err
	}
	c := cut{reader: r, space: l.space, measured: map[uint64]block{}}
	var d journal.Dropped
	err = r.snapshot(func() (err error) {
		d, err = c.find(keep)
		return err
	})
	l.j.readers.put(r)
	if len(c.measured) > 0 {
		err = errors.Join(err, l.storeBlocks(ctx, c.measured))
	}
	if err != nil {
		return journal.Dropped{}, readError(ctx, err)
	}
	return d, nil
}

// storeBlocks keeps what was measured of whole blocks.
func (l *log) storeBlocks(ctx context.Context, measured map[uint64]block) error {
	return l.j.onWriter(context.WithoutCancel(ctx), func() error {
		w := &l.j.writer
		err := transact(w.conn, func() error {
			for n, b := range measured {
				if err := w.storeBlock(l.space, n, b); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return writeError(err)
		}
		return nil
	})
}

// cut looks for the place up to which records have to go.
type cut struct {
	*reader
	space    *space
	floor    journal.Head
	blocks   map[uint64]block // that have a row
	measured map[uint64]block // whole ones that had none
	newest   uint64           // index of the newest envelope
	last     uint64           // the block that the chain's end is in
}

func (c *cut) find(keep journal.Retention) (d journal.Dropped, err error) {
	if err := c.load(); err != nil || c.newest == 0 {
		return d, err
	}
	through := c.floor.Index
	for _, bound := range []func(journal.Retention) (uint64, error){c.byAge, c.bySize} {
		index, err := bound(keep)
		if err != nil {
			return d, err
		}
		through = max(through, index)
	}
	through = min(through, c.newest-1)
	if through <= c.floor.Index {
		return d, nil
	}
	head, err := c.headAt(c.space, c.floor, through)
	if err != nil {
		return d, err
	}
	return journal.Ledger{Floor: c.floor}.Drop(head), nil
}

func (c *cut) load() (err error) {
	if c.floor, err = c.reader.floor(c.space); err != nil {
		return err
	}
	b, err := c.bounds(c.space)
	if err != nil || b.Last == c.floor.Seq {
		return err
	}
	stmt, err := c.query(`SELECT place FROM envelopes WHERE key = ?`, key(c.space.id, b.Last))
	if err != nil {
		return err
	}
	defer stmt.Reset()
	if stmt.Step() {
		c.newest = uint64(stmt.ColumnInt64(0))
	}
	c.last = blockOf(b.Head.Index)
	return errors.Join(stmt.Err(), c.loadBlocks())
}

func (c *cut) loadBlocks() error {
	stmt, err := c.query(`SELECT key, bytes, newest FROM blocks WHERE key >= ? AND key < ?`,
		key(c.space.id, c.first()), key(c.space.id, c.last))
	if err != nil {
		return err
	}
	defer stmt.Reset()
	c.blocks = map[uint64]block{}
	for stmt.Step() {
		c.blocks[uint64(stmt.ColumnInt64(0))&maxSeq] = block{bytes: stmt.ColumnInt64(1), newest: stmt.ColumnInt64(2), whole: true}
	}
	return stmt.Err()
}

// first is the block of the first record that is there.
func (c *cut) first() uint64 { return blockOf(c.floor.Index + 1) }

// block is one of those from first to last.
func (c *cut) block(n uint64) (block, error) {
	if b, ok := c.blocks[n]; ok {
		return b, nil
	}
	lines, err := c.lines(c.space, c.floor, n)
	b := measure(lines)
	if err == nil && n < c.last {
		c.blocks[n], c.measured[n] = b, b
	}
	return b, err
}

// byAge is the index of the last record before which everything is too old.
func (c *cut) byAge(keep journal.Retention) (uint64, error) {
	if keep.Before.IsZero() {
		return 0, nil
	}
	for n := c.first(); n <= c.last; n++ {
		if b, err := c.block(n); err != nil {
			return 0, err
		} else if !b.older(keep.Before) {
			return c.lastOlder(n, keep.Before)
		}
	}
	return (c.last + 1) << blockBits, nil
}

func (c *cut) lastOlder(n uint64, t time.Time) (uint64, error) {
	lines, err := c.lines(c.space, c.floor, n)
	index := n << blockBits
	for _, l := range lines {
		if l.ts >= t.UnixMilli() {
			break
		}
		index = l.index
	}
	return index, err
}

// bySize is the index of the newest record that there is no room for.
func (c *cut) bySize(keep journal.Retention) (uint64, error) {
	if keep.Bytes <= 0 {
		return 0, nil
	}
	left := keep.Bytes
	for n := c.last; ; n-- {
		b, err := c.block(n)
		if err != nil {
			return 0, err
		}
		if b.bytes > left {
			return c.lastBeyond(n, left)
		}
		left -= b.bytes
		if n == c.first() {
			return 0, nil
		}
	}
}

func (c *cut) lastBeyond(n uint64, left int64) (uint64, error) {
	lines, err := c.lines(c.space, c.floor, n)
	for i := len(lines) - 1; i >= 0; i-- {
		if left -= lines[i].bytes; left < 0 {
			return lines[i].index, err
		}
	}
	// The block's row counts what has been dropped of it since.
	return 0, err
}
