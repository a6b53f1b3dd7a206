package sqlite

import (
	"errors"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley/internal/journal"
)

// tail is what a log must know of what is on record to append to it. It is a
// value, so that a transaction works on a copy of its own.
type tail struct {
	head   journal.Head
	floor  journal.Head                    // what was dropped ends here
	states [journal.KeptCheckpoints]uint64 // indexes of the checkpoints that have their body, the newest last
	block  block                           // that the next record goes into
}

// newest is the index of the newest checkpoint with its body; 0 for none.
func (t *tail) newest() uint64 { return t.states[len(t.states)-1] }

// loadTail reads it. It needs a transaction around it.
func (r *reader) loadTail(s *space) (t tail, epoch string, err error) {
	b, err := r.bounds(s)
	if err != nil {
		return tail{}, "", err
	}
	t.head = b.Head
	t.block = beginBlock(t.head.Index)
	if t.floor, err = r.floor(s); err != nil {
		return tail{}, "", err
	}
	stmt, err := r.query(`SELECT key FROM checkpoints WHERE key > ? AND key <= ? ORDER BY key`, key(s.id, t.floor.Index), key(s.id, maxSeq))
	if err != nil {
		return tail{}, "", err
	}
	defer stmt.Reset()
	for stmt.Step() {
		t.keep(uint64(stmt.ColumnInt64(0)) & maxSeq)
	}
	return t, b.Epoch, stmt.Err()
}

// keep makes a checkpoint the newest, and returns the one that has to give up
// its body for it; 0 for none.
func (t *tail) keep(index uint64) (superseded uint64) {
	superseded = t.states[0]
	copy(t.states[:], t.states[1:])
	t.states[len(t.states)-1] = index
	return superseded
}

// drop moves the floor.
func (t *tail) drop(through journal.Head) {
	t.floor = through
	for i, index := range t.states {
		if index <= through.Index {
			t.states[i] = 0
		}
	}
}

// append puts a record behind the log's end, within a transaction. Where it
// refuses one, nothing was written of it and the error is a [*refusal].
func (w *writer) append(s *space, t *tail, r *journal.Record) error {
	if err := r.Fits(); err != nil {
		return &refusal{err}
	}
	stmt := w.envelope
	if r.Type != journal.Admitted {
		stmt = w.note
	}
	if r.Type == journal.Marker {
		if err := w.mayDrop(s, t, r); err != nil {
			return err
		}
	}
	r.Epoch = s.epoch
	before := t.head.Seq
	t.head = r.Place(t.head)
	err := insert(stmt, s.id, r, before)
	if err == nil && t.block.add(r) {
		err = w.closeBlock(s, t)
	}
	if err != nil {
		return err
	}
	switch r.Type {
	case journal.Checkpoint:
		return w.keep(s, t, r.Index)
	case journal.Marker:
		return w.drop(s, t, r)
	}
	return nil
}

// refusal is why a record may not be appended, which is no fault of the disk.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

func (w *writer) mayDrop(s *space, t *tail, r *journal.Record) error {
	var failed error // to look
	books := journal.Ledger{
		Floor: t.floor, Head: t.head, Checkpoint: t.newest(),
		At: func(index uint64) (h journal.Head, err error) {
			h, failed = w.look.headAt(s, t.floor, index)
			return h, failed
		},
	}
	if err := books.MayDrop(r); err != nil && failed == nil {
		return &refusal{err}
	}
	return failed
}

// keep notes a checkpoint and takes the body from the one that it makes too many.
func (w *writer) keep(s *space, t *tail, index uint64) error {
	err := exec(w.conn, `INSERT INTO checkpoints VALUES (?)`, key(s.id, index))
	old := t.keep(index)
	if err != nil || old == 0 {
		return err
	}
	// It may quote what is redacted later.
	return errors.Join(
		w.conn.Exec(`PRAGMA secure_delete = ON`),
		exec(w.conn, `UPDATE notes SET flags = flags | ?, salt = x'', body = x'' WHERE key = ?`, int64(flagSuperseded), key(s.id, old)),
		exec(w.conn, `DELETE FROM checkpoints WHERE key = ?`, key(s.id, old)),
		w.conn.Exec(`PRAGMA secure_delete = FAST`))
}

// drop moves the floor to where a marker says. The rows go later: [writer.sweep].
func (w *writer) drop(s *space, t *tail, r *journal.Record) error {
	d, err := r.DecodeMarker()
	if err != nil {
		return err
	}
	t.drop(d.Through)
	return errors.Join(w.setFloor(s, t.floor),
		exec(w.conn, `DELETE FROM checkpoints WHERE key > ? AND key <= ?`, key(s.id, 0), key(s.id, d.Through.Index)))
}

func (w *writer) setFloor(s *space, floor journal.Head) error {
	stmt, _, err := w.conn.Prepare(`REPLACE INTO floors VALUES (?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer stmt.Close()
	b := binder{stmt: stmt}
	b.number(s.id)
	b.number(int64(floor.Index))
	b.number(int64(floor.Seq))
	b.blob(floor.Hash[:])
	b.keep(stmt.Exec())
	return b.err
}

// floor is where what retention dropped from a space ends; the origin where it
// dropped nothing.
func (r *reader) floor(s *space) (journal.Head, error) {
	h := journal.Head{}
	if ok, err := r.hasFloors(); err != nil || !ok {
		return h, err
	}
	stmt, err := r.query(`SELECT place, seq, hash FROM floors WHERE space = ?`, s.id)
	if err != nil {
		return h, err
	}
	defer stmt.Reset()
	if stmt.Step() {
		h.Index, h.Seq = uint64(stmt.ColumnInt64(0)), uint64(stmt.ColumnInt64(1))
		copy(h.Hash[:], stmt.ColumnRawBlob(2))
	}
	return h, stmt.Err()
}

// hasFloors reports whether the journal's schema knows of retention. One of the
// first version is brought up to date by whoever writes it, not by a reader.
func (r *reader) hasFloors() (bool, error) {
	if r.upToDate {
		return true, nil
	}
	stmt, err := r.query(`PRAGMA user_version`)
	if err != nil {
		return false, err
	}
	defer stmt.Reset()
	if stmt.Step() {
		r.upToDate = stmt.ColumnInt64(0) > 1
	}
	return r.upToDate, stmt.Err()
}

// seqAt is the seq of the last envelope whose index is at most index, or of
// where it would be.
func (r *reader) seqAt(s *space, floor journal.Head, index uint64) (uint64, error) {
	if index >= maxSeq {
		return maxSeq, nil
	}
	if index <= floor.Index {
		return floor.Seq, nil
	}
	// Between two notes, and before the first, there are only envelopes.
	stmt, err := r.query(`SELECT key, place FROM notes WHERE key > ? AND key <= ? ORDER BY key DESC LIMIT 1`,
		key(s.id, floor.Index), key(s.id, index))
	if err != nil {
		return 0, err
	}
	defer stmt.Reset()
	if !stmt.Step() {
		return floor.Seq + index - floor.Index, stmt.Err()
	}
	return uint64(stmt.ColumnInt64(1)) + index - uint64(stmt.ColumnInt64(0))&maxSeq, nil
}

// headAt is where the chain stood at an index that is on record.
func (r *reader) headAt(s *space, floor journal.Head, index uint64) (journal.Head, error) {
	h := journal.Head{Index: index}
	if index == floor.Index {
		return floor, nil
	}
	var err error
	if h.Seq, err = r.seqAt(s, floor, index); err != nil {
		return h, err
	}
	for _, row := range []struct {
		query string
		n     uint64
	}{
		{`SELECT hash, place FROM envelopes WHERE key = ?`, h.Seq},
		{`SELECT hash, key & 1099511627775 FROM notes WHERE key = ?`, index},
	} {
		found, err := r.hash(row.query, key(s.id, row.n), index, &h.Hash)
		if found || err != nil {
			return h, err
		}
	}
	return h, sqlite3.CORRUPT
}

// hash reads the hash of a row, if it is of the record at index.
func (r *reader) hash(query string, k int64, index uint64, h *journal.Hash) (found bool, err error) {
	stmt, err := r.query(query, k)
	if err != nil {
		return false, err
	}
	defer stmt.Reset()
	if !stmt.Step() || uint64(stmt.ColumnInt64(1)) != index {
		return false, stmt.Err()
	}
	copy(h[:], stmt.ColumnRawBlob(0))
	return true, nil
}
