package sqlite

import (
	"context"

	"github.com/parleyhq/parley/internal/journal"
)

// log is a space that is open for appending.
type log struct {
	spaceReader
	sink journal.Sink

	// Owned by the writer.
	batch  []*journal.Record // this log's part of the transaction
	next   journal.Head      // where the chain ends if it commits
	failed error             // why nothing is taken
}

// Append implements [journal.Log].
func (l *log) Append(r *journal.Record) {
	l.j.queue.push(item{log: l, record: r})
}

// settle ends a transaction for a log, which succeeded where err is nil.
func (l *log) settle(err error) {
	batch := l.batch
	l.batch = nil
	if err == nil {
		l.space.head = l.next
		l.space.durable.Store(l.next.Seq)
		l.sink.Durable(batch)
		return
	}
	l.failed = writeError(err)
	for _, r := range batch {
		r.Index, r.Seq, r.Hash = 0, 0, journal.Hash{}
	}
	l.sink.Failed(batch, l.failed)
}

// Recover implements [journal.Log]. It writes to see whether the disk takes
// it, and removes what a commit without an answer may have left behind: the
// sink was told that it is not on record.
func (l *log) Recover(ctx context.Context) (journal.Bounds, error) {
	err := l.j.onWriter(ctx, func() error {
		if err := l.probe(); err != nil {
			return writeError(err)
		}
		l.failed = nil
		return nil
	})
	if err != nil {
		return journal.Bounds{}, err
	}
	return l.Bounds(ctx)
}

func (l *log) probe() error {
	c, s := l.j.writer.conn, l.space
	return transact(c, func() error {
		if err := exec(c, `DELETE FROM envelopes WHERE key > ? AND key <= ?`, key(s.id, s.head.Seq), key(s.id, maxSeq)); err != nil {
			return err
		}
		if err := exec(c, `DELETE FROM notes WHERE key > ? AND key <= ?`, key(s.id, s.head.Index), key(s.id, maxSeq)); err != nil {
			return err
		}
		return c.Exec(`UPDATE journal SET probe = probe + 1`)
	})
}
