package sqlite

import (
	"context"
	"errors"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley/internal/journal"
)

// Redact implements [journal.Log]. What it drops is overwritten in the file;
// copies elsewhere are not its business: backups, the -wal file until it is
// reused, and the words that the -search file no longer finds but holds until
// it is merged, or made anew.
func (l *log) Redact(ctx context.Context, id string) error {
	found, err := journal.FindRedactable(ctx, l, id)
	if err != nil {
		return err
	}
	return l.j.onWriter(ctx, func() error {
		if l.failed != nil {
			return l.failed
		}
		if err := l.j.writer.redact(l.space.id, found); err != nil {
			return writeError(err)
		}
		l.j.index.redacted()
		return nil
	})
}

func (w *writer) redact(space int64, records []*journal.Record) error {
	if err := w.conn.Exec(`PRAGMA secure_delete = ON`); err != nil {
		return err
	}
	err := transact(w.conn, func() error {
		for _, r := range records {
			if err := redact(w.conn, key(space, r.Seq), r); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, w.conn.Exec(`PRAGMA secure_delete = OFF`))
}

func redact(c *sqlite3.Conn, k int64, r *journal.Record) error {
	stmt, _, err := c.Prepare(`UPDATE envelopes SET flags = flags | ?, salt = ?, body = ? WHERE key = ?`)
	if err != nil {
		return err
	}
	defer stmt.Close()
	b := binder{stmt: stmt}
	b.number(flagRedacted)
	b.blob(r.Salt[:])
	b.blob(r.Body)
	b.number(k)
	if b.err != nil {
		return b.err
	}
	if err := stmt.Exec(); err != nil {
		return err
	}
	return exec(c, `INSERT INTO redactions (key) VALUES (?)`, k)
}
