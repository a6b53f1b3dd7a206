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
	batch   []*journal.Record // this log's part of the transaction
	next    tail              // of the log if it commits
	refused []*journal.Record // what comes behind the batch and was refused
	cause   error             // why
	failed  error             // why nothing is taken
}

// Append implements [journal.Log].
func (l *log) Append(r *journal.Record) {
	l.j.queue.push(item{log: l, record: r})
}

// settle ends a transaction for a log, which succeeded where err is nil.
func (l *log) settle(err error) {
	batch, refused, cause := l.batch, l.refused, l.cause
	l.batch, l.refused, l.cause = nil, nil, nil
	if err == nil && len(batch) > 0 {
		l.settled(batch)
	}
	if err != nil {
		refused, cause = append(batch, refused...), writeError(err)
	}
	if cause == nil {
		return
	}
	l.failed = cause
	for _, r := range refused {
		r.Index, r.Seq, r.Hash = 0, 0, journal.Hash{}
	}
	l.sink.Failed(refused, cause)
}

// settled makes what has been committed known.
func (l *log) settled(batch []*journal.Record) {
	s := l.space
	dropped := l.next.floor.Index > s.tail.floor.Index
	s.tail = l.next
	s.durable.Store(s.tail.head.Seq)
	if dropped {
		s.dropped.Store(s.tail.floor.Seq)
		l.j.writer.sweepSoon(s)
	}
	l.sink.Durable(batch)
}

// refuse takes what comes from the i-th record on out of the batch.
func (l *log) refuse(i int, cause error) {
	l.batch, l.refused, l.cause = l.batch[:i:i], l.batch[i:], cause
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
	w, s := &l.j.writer, l.space
	var found tail
	err := transact(w.conn, func() (err error) {
		head := s.tail.head
		for _, rows := range []struct {
			table string
			first uint64
		}{{"envelopes", head.Seq + 1}, {"notes", head.Index + 1}, {"checkpoints", head.Index + 1}, {"blocks", blockOf(head.Index + 1)}} {
			if err := exec(w.conn, `DELETE FROM `+rows.table+` WHERE key >= ? AND key <= ?`, key(s.id, rows.first), key(s.id, maxSeq)); err != nil {
				return err
			}
		}
		if err := w.setFloor(s, s.tail.floor); err != nil {
			return err
		}
		// A checkpoint that was superseded has no body to go back to.
		if found, _, err = w.look.loadTail(s); err != nil {
			return err
		}
		return w.conn.Exec(`UPDATE journal SET probe = probe + 1`)
	})
	if err == nil {
		s.tail = found
	}
	return err
}
