package sqlite

import (
	"context"
	"errors"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley/internal/journal"
)

// Redact implements [journal.Log]. What it drops is overwritten in the journal,
// then taken out of the search index and overwritten there, and both -wal files
// are emptied, that of the journal when nobody reads an older state of it any
// more. Copies elsewhere, as backups, are not its business.
//
// Where it was done already, the files are emptied again: whoever did it may
// have been killed in between.
func (l *log) Redact(ctx context.Context, id string, before uint64) ([]uint64, error) {
	todo, err := journal.NewRedaction(ctx, l, id, before)
	if err != nil {
		return nil, err
	}
	if err := l.forget(ctx, l.omission(todo)); err != nil {
		return nil, err
	}
	return todo.Seqs, nil
}

func (l *log) omission(todo *journal.Redaction) *omission {
	o := &omission{space: l.space, done: make(chan error, 1)}
	for i := range todo.Old {
		o.records = append(o.records, redaction{todo.Old[i], todo.New[i]})
	}
	return o
}

func (l *log) forget(ctx context.Context, o *omission) error {
	if err := l.j.onWriter(ctx, func() error { return l.redact(o) }); err != nil {
		return err
	}
	select {
	case err := <-o.done:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return l.j.onWriter(ctx, func() error { return nil }) // the index has ordered the scrub
}

// omission is what the search index has to forget of redacted records.
type omission struct {
	space   *space
	records []redaction
	n       int64      // of the last redaction in the journal's table; 0 where there was none
	failed  bool       // it seems; it may be on record nevertheless
	done    chan error // hears when the index has followed
}

// redaction is a record before and after.
type redaction struct{ old, new *journal.Record }

// redact runs on the writer.
func (l *log) redact(o *omission) error {
	if l.failed != nil {
		return l.failed
	}
	err := l.j.writer.redact(o, l.j.index.followed.Load())
	o.failed = err != nil
	l.j.index.omit(o)
	if err != nil {
		return writeError(err)
	}
	return nil
}

// redact writes what is left of records. Rows of redactions that the search
// index has followed need not be kept.
func (w *writer) redact(o *omission, followed int64) error {
	if err := w.conn.Exec(`PRAGMA secure_delete = ON`); err != nil {
		return err
	}
	var changed []redaction
	var last int64
	err := transact(w.conn, func() error {
		if err := exec(w.conn, `DELETE FROM redactions WHERE n <= ?`, followed); err != nil {
			return err
		}
		for _, r := range o.records {
			again, err := redact(w.conn, key(o.space.id, r.new.Seq), r.new)
			if err != nil {
				return err
			}
			if !again {
				changed, last = append(changed, r), w.conn.LastInsertRowID()
			}
		}
		return nil
	})
	if err == nil {
		o.records, o.n = changed, last
	}
	return errors.Join(err, w.conn.Exec(`PRAGMA secure_delete = FAST`))
}

// redact writes a row anew, unless somebody else did meanwhile, or another
// record stands there, after one that was not to be.
func redact(c *sqlite3.Conn, k int64, r *journal.Record) (again bool, err error) {
	stmt, _, err := c.Prepare(`UPDATE envelopes SET flags = flags | ?, salt = ?, body = ? WHERE key = ? AND flags & 2 = 0 AND hash = ?`)
	if err != nil {
		return false, err
	}
	defer stmt.Close()
	b := binder{stmt: stmt}
	b.number(flagRedacted)
	b.blob(r.Salt[:])
	b.blob(r.Body)
	b.number(k)
	b.blob(r.Hash[:])
	b.keep(stmt.Exec())
	if b.err != nil || c.Changes() == 0 {
		return true, b.err
	}
	return false, exec(c, `INSERT INTO redactions (key) VALUES (?)`, k)
}
