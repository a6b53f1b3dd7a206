package sqlite

import (
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// What retention dropped is gone at once for whoever reads. Its rows go here, a
// few between two batches of appends, and their pages are used again.

const (
	sweepRows  = "256"   // of a chunk
	sweepBytes = 1 << 20 // of their bodies, about
)

// sweepSoon has the writer look for rows of a space to remove.
func (w *writer) sweepSoon(s *space) {
	if !slices.Contains(w.sweeping, s) {
		w.sweeping = append(w.sweeping, s)
	}
}

// sweepFurther is told by the search index that it has forgotten some more.
func (j *Journal) sweepFurther(s *space) {
	j.queue.push(item{task: func() { j.writer.sweepSoon(s) }})
}

// sweep removes a chunk of rows, and reports whether there are more that can go
// now. What fails is tried again when something has been appended; nothing is
// lost by leaving it.
func (j *Journal) sweep() bool {
	w := &j.writer
	if len(w.sweeping) == 0 {
		return false
	}
	removed, err := w.sweepSpace(w.sweeping[0])
	if err != nil {
		if !w.stuck {
			j.opts.Log.Warn("the rows of what was dropped cannot be removed", "path", j.path, "error", err)
		}
		w.stuck = true
		return false
	}
	w.stuck = false
	if !removed {
		w.sweeping = w.sweeping[1:]
	}
	return len(w.sweeping) > 0
}

// sweepSpace removes a chunk of a space's rows, if there are some that can go.
func (w *writer) sweepSpace(s *space) (removed bool, err error) {
	floor := s.tail.floor
	// An envelope waits until its words have left the search index, which needs
	// it to know them.
	envelopes, err := w.chunk(s, "envelopes", min(floor.Seq, s.forgotten.Load()))
	if err != nil {
		return false, err
	}
	notes, err := w.chunk(s, "notes", floor.Index)
	if err != nil {
		return false, err
	}
	err = transact(w.conn, func() error {
		for _, q := range []struct {
			query string
			end   int64
		}{
			{`DELETE FROM envelopes WHERE key > ? AND key <= ?`, envelopes},
			{`DELETE FROM notes WHERE key > ? AND key <= ?`, notes},
			{`DELETE FROM blocks WHERE key >= ? AND key < ?`, key(s.id, blockOf(floor.Index+1))},
		} {
			if err := exec(w.conn, q.query, key(s.id, 0), q.end); err != nil {
				return err
			}
		}
		return nil
	})
	return envelopes > 0 || notes > 0, err
}

// chunk is the key up to which the next rows go, of those up to last; 0 for none.
func (w *writer) chunk(s *space, table string, last uint64) (end int64, err error) {
	stmt, err := w.look.query(`SELECT key, octet_length(body) FROM `+table+` WHERE key > ? AND key <= ? ORDER BY key LIMIT `+sweepRows,
		key(s.id, 0), key(s.id, last))
	if err != nil {
		return 0, err
	}
	defer stmt.Reset()
	for bytes := int64(0); bytes < sweepBytes && stmt.Step(); {
		end = stmt.ColumnInt64(0)
		bytes += stmt.ColumnInt64(1)
	}
	return end, stmt.Err()
}

// scrub empties the -wal file, which holds what was redacted until then. While
// somebody reads an older state of the journal, who may take his time, that
// cannot be; it is tried again.
func (j *Journal) scrub() {
	w := &j.writer
	_ = w.conn.BusyTimeout(scrubWait)
	_, _, err := w.conn.WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE)
	_ = w.conn.BusyTimeout(busyWait)
	if err != nil {
		again := func() { j.queue.push(item{task: j.scrub}) }
		w.retry.Stop()
		w.retry = time.AfterFunc(scrubRetry, again)
	}
}

const (
	busyWait   = 5 * time.Second
	scrubWait  = 20 * time.Millisecond // that appends may have to wait
	scrubRetry = time.Second
)
