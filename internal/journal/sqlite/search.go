package sqlite

import (
	"context"
	"errors"
	"maps"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"
)

// searcher is a reader's connection to the search index.
type searcher struct {
	contextLookup
	conn     *sqlite3.Conn
	begin    *sqlite3.Stmt
	rollback *sqlite3.Stmt
	places   *sqlite3.Stmt
}

const (
	searchAsc   = `SELECT rowid FROM words WHERE words MATCH ? AND rowid > ? AND rowid < ? ORDER BY rowid LIMIT ?`
	searchDesc  = `SELECT rowid FROM words WHERE words MATCH ? AND rowid > ? AND rowid < ? ORDER BY rowid DESC LIMIT ?`
	searchPlace = `SELECT seq, forgotten FROM places WHERE space = ?`
)

func (j *Journal) indexPath() string { return j.path + "-search" }

// openSearch opens this journal's index, if it has one.
func (j *Journal) openSearch() (_ *searcher, err error) {
	c, err := sqlite3.OpenFlags(Options{}.uri(j.indexPath(), "mode=ro"), sqlite3.OPEN_READONLY|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	s := &searcher{conn: c}
	defer func() {
		if err != nil {
			_ = closeConn(c) // the first error counts
		}
	}()
	if err := errors.Join(fts5.Register(c), c.Exec(`PRAGMA busy_timeout = 1000`)); err != nil {
		return nil, err
	}
	if of, err := indexOf(c); err != nil || of != j.uuid {
		return nil, errors.Join(errNoIndex, err)
	}
	all := s.statements()
	maps.Copy(all, map[string]**sqlite3.Stmt{`BEGIN`: &s.begin, `ROLLBACK`: &s.rollback, searchPlace: &s.places})
	for query, stmt := range all {
		if *stmt, _, err = c.PrepareFlags(query, sqlite3.PREPARE_PERSISTENT); err != nil {
			return nil, err
		}
	}
	return s, nil
}

var errNoIndex = errors.New("there is no search index of this journal")

// indexed says how far the index has read a space: 0 where there is none that
// can be used, since everything can be found without one.
func (r *reader) indexed(space int64) uint64 {
	if !r.canSearch() {
		return 0
	}
	seq, err := r.search.indexed(space)
	if err != nil {
		r.dropSearch()
	}
	return seq
}

// canSearch opens the index where it is not open yet, and reports whether it is.
func (r *reader) canSearch() bool {
	if r.search == nil {
		// Why not is of no interest: everything can be found without one.
		r.search, _ = r.j.openSearch()
	}
	return r.search != nil
}

// dropSearch makes the next search open the index anew.
func (r *reader) dropSearch() {
	if r.search != nil {
		_ = closeConn(r.search.conn) // it only read
		r.search = nil
	}
}

func (s *searcher) indexed(space int64) (uint64, error) {
	seq, _, err := s.place(space)
	return seq, err
}

// place says how far the index has read a space, and forgotten.
func (s *searcher) place(space int64) (seq, forgotten uint64, err error) {
	defer s.places.Reset()
	if err := s.places.BindInt64(1, space); err != nil {
		return 0, 0, err
	}
	if !s.places.Step() {
		return 0, 0, s.places.Err()
	}
	return uint64(s.places.ColumnInt64(0)), uint64(s.places.ColumnInt64(1)), nil
}

// snapshot runs f so that all that it reads of the index is of one moment.
func (s *searcher) snapshot(ctx context.Context, f func() error) (err error) {
	old := s.conn.SetInterrupt(ctx)
	defer s.conn.SetInterrupt(old)
	if err := s.begin.Exec(); err != nil {
		return err
	}
	defer func() {
		s.conn.SetInterrupt(context.Background())
		err = errors.Join(err, s.rollback.Exec())
	}()
	return f()
}

// find returns the keys between two others that have all terms, and how far
// the index has read, both of one moment.
func (s *searcher) find(ctx context.Context, space int64, terms string, after, before int64, newest bool, limit int) (keys []int64, indexed uint64, err error) {
	err = s.snapshot(ctx, func() error {
		if indexed, err = s.indexed(space); err != nil {
			return err
		}
		stmt := s.asc
		if newest {
			stmt = s.desc
		}
		defer stmt.Reset()
		b := binder{stmt: stmt}
		b.text(terms)
		b.number(after)
		b.number(before)
		b.number(int64(limit))
		if b.err != nil {
			return b.err
		}
		for stmt.Step() {
			keys = append(keys, stmt.ColumnInt64(0))
		}
		return stmt.Err()
	})
	return keys, indexed, err
}

// readIndexed reads what the index names. Where the index fails, or has been
// made anew since and does not reach as far, the part is read row by row.
func (p *page) readIndexed() error {
	const limit = largePage
	r := p.reader
	var keys []int64
	if r.canSearch() {
		var reached uint64
		var err error
		keys, reached, err = r.search.find(r.conn.GetInterrupt(), p.space.id, p.terms,
			key(p.space.id, p.part.after), key(p.space.id, p.part.before), p.newest, limit)
		if err := r.conn.GetInterrupt().Err(); err != nil {
			return err
		}
		if err != nil || reached < p.indexed {
			r.dropSearch()
		}
	}
	if r.search == nil {
		p.part.indexed = false
		return p.readEnvelopes()
	}
	stmt, err := r.prepare(`SELECT ` + columns + ` FROM envelopes WHERE key = ?`)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	for _, k := range keys {
		if p.full() {
			return nil
		}
		if err := errors.Join(stmt.Reset(), stmt.BindInt64(1, k)); err != nil {
			return err
		}
		if stmt.Step() {
			p.row(stmt)
		} else if err := stmt.Err(); err != nil {
			return err
		}
	}
	p.end = len(keys) < limit
	return nil
}
