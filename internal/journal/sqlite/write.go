package sqlite

import (
	"errors"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley/internal/journal"
)

// writer is the connection that writes, with its statements.
type writer struct {
	conn     *sqlite3.Conn
	look     *reader // the same connection, to read with
	begin    *sqlite3.Stmt
	commit   *sqlite3.Stmt
	envelope *sqlite3.Stmt
	note     *sqlite3.Stmt
	marked   bool // as being written, which ends with a clean close

	pages int // of the -wal file, after the last commit
	moved int // of these when they were last moved into the journal itself

	sweeping []*space    // that may have rows to be removed
	stuck    bool        // the last attempt to remove some failed
	retry    *time.Timer // to scrub
}

func (w *writer) prepare() error {
	for _, s := range []struct {
		stmt **sqlite3.Stmt
		sql  string
	}{
		{&w.begin, `BEGIN IMMEDIATE`},
		{&w.commit, `COMMIT`},
		{&w.envelope, insertEnvelope},
		{&w.note, insertNote},
	} {
		stmt, _, err := w.conn.PrepareFlags(s.sql, sqlite3.PREPARE_PERSISTENT)
		if err != nil {
			return err
		}
		*s.stmt = stmt
	}
	return nil
}

// write is the writer's goroutine: it works off the queue until that is closed
// and empty, then marks the journal as whole. Between two batches it removes a
// few rows of those that retention dropped.
func (j *Journal) write() {
	j.writer.marked = true
	for more := false; ; more = j.sweep() {
		items, open := j.queue.take(!more)
		if !open && len(items) == 0 {
			return
		}
		for len(items) > 0 {
			n := 0
			for n < len(items) && items[n].task == nil {
				n++
			}
			j.appendAll(items[:n])
			if n < len(items) {
				items[n].task()
				n++
			}
			items = items[n:]
		}
		j.writer.moveLog()
	}
}

// logPages is how far the -wal file grows before it is moved into the journal
// itself.
const logPages = 1000

// followLog has SQLite leave it to the writer when the -wal file is moved. By
// itself it does so within a commit, and the senders wait for that.
func (w *writer) followLog() {
	w.conn.WALHook(func(_ *sqlite3.Conn, _ string, pages int) error {
		w.pages = pages
		return nil
	})
}

// moveLog moves the -wal file when it has grown enough. While somebody reads an
// older state it cannot begin anew, and is only moved as far as it grows.
func (w *writer) moveLog() {
	if w.pages < w.moved {
		w.moved = 0 // it has begun anew
	}
	if w.pages-w.moved < logPages {
		return
	}
	// What fails is done the next time; the journal is whole as it is.
	_, _, _ = w.conn.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
	w.moved = w.pages
}

// appendAll puts records on record in one transaction, and tells their sinks.
func (j *Journal) appendAll(items []item) {
	logs := deal(items)
	if len(logs) == 0 {
		return
	}
	err := guarded(func() error { return j.insertAll(logs) })
	if err == nil {
		if err = guarded(j.writer.commit.Exec); err != nil && j.committed(logs) {
			err = nil
		}
	}
	if err != nil && !j.writer.conn.GetAutocommit() {
		// What failed says why; after it there may be nothing to roll back.
		_ = j.writer.conn.Exec(`ROLLBACK`)
	}
	if err != nil {
		j.writer.reset()
		j.writer.overwrite(j.opts.Sync)
	}
	for _, l := range logs {
		l.settle(err)
	}
	if err == nil {
		j.index.wake()
	}
}

// deal gives each log its part of the items. Those that have failed pass them
// on to their sinks at once and are not among what is returned.
func deal(items []item) (logs []*log) {
	var all []*log
	for _, it := range items {
		l := it.log
		if len(l.batch) == 0 {
			all = append(all, l)
		}
		l.batch = append(l.batch, it.record)
	}
	for _, l := range all {
		if l.failed == nil {
			logs = append(logs, l)
		} else {
			l.settle(l.failed)
		}
	}
	return logs
}

func (j *Journal) insertAll(logs []*log) error {
	if err := j.writer.begin.Exec(); err != nil {
		return err
	}
	for _, l := range logs {
		l.next = l.space.tail
		for i, r := range l.batch {
			err := j.writer.append(l.space, &l.next, r)
			if refused, ok := errors.AsType[*refusal](err); ok {
				l.refuse(i, refused.error)
				break
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// committed looks whether a transaction whose COMMIT returned an error is on
// record nevertheless. Where even that cannot be seen the answer is no, and
// Recover removes what nobody was told of.
func (j *Journal) committed(logs []*log) bool {
	if !j.writer.conn.GetAutocommit() {
		return false
	}
	i := slices.IndexFunc(logs, func(l *log) bool { return len(l.batch) > 0 })
	if i < 0 {
		return false
	}
	l, r := logs[i], logs[i].batch[0]
	table, n := "envelopes", r.Seq
	if r.Type != journal.Admitted {
		table, n = "notes", r.Index
	}
	stmt, _, err := j.writer.conn.Prepare(`SELECT hash FROM ` + table + ` WHERE key = ?`)
	if err != nil {
		return false
	}
	defer stmt.Close()
	if stmt.BindInt64(1, key(l.space.id, n)) != nil || !stmt.Step() {
		return false
	}
	return string(stmt.ColumnRawBlob(0)) == string(r.Hash[:])
}

// reset makes the statements usable again. What it returns is how they failed.
func (w *writer) reset() {
	for _, stmt := range []*sqlite3.Stmt{w.begin, w.commit, w.envelope, w.note} {
		_ = guarded(stmt.Reset)
		_ = guarded(stmt.ClearBindings)
	}
}

// overwrite makes sure that a transaction that failed does not come back. Where
// only its sync failed, all of it stands in the -wal file, and would be read from
// there after a crash. Any other transaction takes its place; that one need not
// reach the disk, since a process that is killed does not lose it.
func (w *writer) overwrite(sync Sync) {
	if w.conn.Exec(`PRAGMA synchronous = OFF`) == nil {
		// Where this fails as well, the disk takes nothing at all any more.
		_ = w.conn.Exec(`UPDATE journal SET probe = probe + 1`)
	}
	_ = w.conn.Exec(sync.pragma()) // touches no disk
}

// close marks the journal as whole and closes the connection. With the last
// connection SQLite moves everything into the file itself.
func (w *writer) close() error {
	if w.conn == nil {
		return nil
	}
	w.retry.Stop()
	var errs []error
	if w.marked {
		errs = append(errs,
			w.conn.Exec(`PRAGMA synchronous = FULL`),
			w.conn.Exec(`UPDATE journal SET open = 0`))
	}
	return errors.Join(append(errs, closeConn(w.conn))...)
}
