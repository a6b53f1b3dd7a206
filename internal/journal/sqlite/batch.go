package sqlite

import (
	"errors"
	"runtime"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley/internal/journal"
)

// batch is what the search index does in one transaction: it forgets what was
// redacted and what retention dropped, and reads on.
type batch struct {
	*index
	spaces    []leg
	omissions []*omission
	books     map[int64]*contextBook // by space

	followed int64 // the last redaction
	n        int   // envelopes that were read or forgotten
}

// leg is what there is to do for a space, and how far it got.
type leg struct {
	space      *space
	floor, end uint64

	indexed, forgotten uint64
}

func (b *batch) run() error {
	if err := b.work(); err != nil {
		return err
	}
	for _, book := range b.books {
		if err := b.writer.write(book); err != nil {
			return err
		}
	}
	return nil
}

// book is what the batch knows of a space's contexts.
func (b *batch) book(s *space) *contextBook {
	if b.books[s.id] == nil {
		b.books[s.id] = newContextBook(&b.lookup, b.reader, s.id, true)
	}
	return b.books[s.id]
}

func (b *batch) work() error {
	if err := b.followOmissions(); err != nil {
		return err
	}
	last, err := b.lastRedaction()
	if err != nil {
		return unread(err)
	}
	if last > b.followed {
		// Rows were redacted, and what stood there is told in a moment. Until
		// then they can be neither read nor forgotten.
		return nil
	}
	for i := range b.spaces {
		if err := b.advance(&b.spaces[i]); err != nil {
			return err
		}
	}
	return nil
}

// followOmissions takes the words of redacted records out of the index, and out
// of its file.
func (b *batch) followOmissions() error {
	b.followed = b.index.followed.Load()
	if len(b.omissions) == 0 {
		return nil
	}
	if err := b.secureDelete(1); err != nil {
		return err
	}
	for _, o := range b.omissions {
		if o.failed {
			if err := b.doubt(); err != nil {
				return err
			}
		}
		if o.n <= b.followed {
			continue // an index that was made anew never read it
		}
		b.followed = o.n
		if err := b.omit(o); err != nil {
			return err
		}
	}
	return errors.Join(b.secureDelete(0), exec(b.conn, `UPDATE about SET redactions = ?`, b.followed))
}

// doubt looks whether a redaction that was called failed is on record
// nevertheless.
func (b *batch) doubt() error {
	last, err := b.lastRedaction()
	if err != nil {
		return unread(err)
	}
	if last > b.followed {
		return errLost
	}
	return nil
}

// secureDelete makes FTS5 remove entries from its file instead of marking them.
// That takes milliseconds for each record, so only redaction asks for it.
func (b *batch) secureDelete(on int64) error {
	return exec(b.conn, `INSERT INTO words (words, rank) VALUES ('secure-delete', ?)`, on)
}

func (b *batch) omit(o *omission) error {
	for _, r := range o.records {
		if s := o.space; r.old.Seq > s.indexed.Load() || r.old.Seq <= s.forgotten.Load() {
			continue // not read yet, or not there any more
		}
		k := key(o.space.id, r.old.Seq)
		err := errors.Join(b.change(b.index.remove, k, r.old), b.change(b.insert, k, r.new),
			b.book(o.space).redact(r.old, o.space.forgotten.Load()))
		if err != nil {
			return err
		}
	}
	return nil
}

// advance forgets what was dropped of a space and reads on, as far as there is
// room in the batch.
func (b *batch) advance(l *leg) error {
	before := *l
	if l.forgotten < l.floor {
		// What was dropped before it was read was never there.
		last := min(l.floor, l.indexed, l.forgotten+b.room())
		n, err := b.each(l.space, l.forgotten, last, b.index.remove, b.book(l.space).drop)
		if err == nil {
			err = b.book(l.space).rise(last, l.indexed)
		}
		if err != nil {
			return err
		}
		if l.forgotten+n < last {
			return errLost // the rows went first, and their words are not known any more
		}
		if l.forgotten = last; last >= l.indexed {
			l.forgotten = l.floor
		}
	}
	if l.forgotten >= l.floor {
		from := max(l.indexed, l.floor)
		l.indexed = max(from, min(l.end, from+b.room()))
		if _, err := b.each(l.space, from, l.indexed, b.insert, b.book(l.space).add); err != nil {
			return err
		}
	}
	if *l == before {
		return nil
	}
	return exec(b.conn, `REPLACE INTO places VALUES (?, ?, ?)`, l.space.id, int64(l.indexed), int64(l.forgotten))
}

// yieldEvery is after how many envelopes others go first: often enough for them
// where there is one processor, and so that the index keeps up where all are busy.
const yieldEvery = 64

// room is how many envelopes the batch still takes.
func (b *batch) room() uint64 { return uint64(max(indexMost-b.n, 0)) }

// each puts the envelopes after from, up to to, into a statement and a book, and
// counts them.
func (b *batch) each(s *space, from, to uint64, into *sqlite3.Stmt, book func(*journal.Record) error) (n uint64, err error) {
	if from >= to {
		return 0, nil
	}
	stmt, err := b.reader.query(`SELECT `+columns+` FROM envelopes WHERE key > ? AND key <= ? ORDER BY key`, key(s.id, from), key(s.id, to))
	if err != nil {
		return 0, unread(err)
	}
	defer stmt.Reset()
	for ; stmt.Step(); n++ {
		if b.stopping() {
			return n, errStopping
		}
		var r journal.Record
		scanHeader(stmt, &r)
		scanBody(stmt, &r)
		if err := errors.Join(b.change(into, stmt.ColumnInt64(0), &r), book(&r)); err != nil {
			return n, err
		}
		if n%yieldEvery == 0 {
			runtime.Gosched() // whoever commits or delivers need not wait for all of it
		}
	}
	b.n += int(n)
	return n, unread(stmt.Err())
}

// change puts a record's terms into a statement.
func (b *batch) change(stmt *sqlite3.Stmt, k int64, r *journal.Record) error {
	b.terms = appendTerms(b.terms[:0], r, b.seen)
	return errors.Join(stmt.BindInt64(1, k), stmt.BindRawText(2, b.terms), stmt.Exec())
}
