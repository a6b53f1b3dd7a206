package sqlite

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley/internal/journal"
)

const contextSchema = `
CREATE TABLE contexts (
	space     INTEGER NOT NULL,
	id        TEXT    NOT NULL,
	type      TEXT    NOT NULL,
	parent    TEXT    NOT NULL,
	opener    TEXT    NOT NULL,
	depth     INTEGER NOT NULL,
	first     INTEGER NOT NULL, -- the oldest envelope that is kept
	last      INTEGER NOT NULL,
	count     INTEGER NOT NULL,
	opened    INTEGER NOT NULL,
	touched   INTEGER NOT NULL,
	noted     INTEGER NOT NULL,
	concluded INTEGER NOT NULL,
	summed    INTEGER NOT NULL,
	PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX contexts_first ON contexts (space, first);
CREATE INDEX contexts_parent ON contexts (space, parent, first);
CREATE INDEX contexts_type ON contexts (space, type, first);
CREATE INDEX contexts_opener ON contexts (space, opener, first);
CREATE INDEX contexts_touched ON contexts (space, touched);

CREATE TABLE context_kinds (
	space   INTEGER NOT NULL,
	context TEXT    NOT NULL,
	kind    TEXT    NOT NULL,
	count   INTEGER NOT NULL,
	PRIMARY KEY (space, context, kind)
) STRICT, WITHOUT ROWID;
`

const (
	contextColumns = `id, type, parent, opener, depth, first, last, count, opened, touched, noted, concluded, summed`

	loadContext = `SELECT ` + contextColumns + ` FROM contexts WHERE space = ? AND id = ?`
	loadKinds   = `SELECT kind, count FROM context_kinds WHERE space = ? AND context = ?`
)

func scanContext(stmt *sqlite3.Stmt) *journal.Context {
	return &journal.Context{
		ID:        stmt.ColumnText(0),
		Type:      stmt.ColumnText(1),
		Parent:    stmt.ColumnText(2),
		Opener:    stmt.ColumnText(3),
		Depth:     int(stmt.ColumnInt64(4)),
		First:     uint64(stmt.ColumnInt64(5)),
		Last:      uint64(stmt.ColumnInt64(6)),
		Count:     uint64(stmt.ColumnInt64(7)),
		Opened:    time.UnixMilli(stmt.ColumnInt64(8)).UTC(),
		Touched:   time.UnixMilli(stmt.ColumnInt64(9)).UTC(),
		Noted:     uint64(stmt.ColumnInt64(10)),
		Concluded: uint64(stmt.ColumnInt64(11)),
		Summed:    uint64(stmt.ColumnInt64(12)),
	}
}

// contextLookup reads the index's tables of contexts, and finds their envelopes
// by its words.
type contextLookup struct {
	context *sqlite3.Stmt
	kinds   *sqlite3.Stmt
	asc     *sqlite3.Stmt
	desc    *sqlite3.Stmt
}

// statements are what it needs to be prepared.
func (l *contextLookup) statements() map[string]**sqlite3.Stmt {
	return map[string]**sqlite3.Stmt{loadContext: &l.context, loadKinds: &l.kinds, searchAsc: &l.asc, searchDesc: &l.desc}
}

// load is a context as the table has it, nil for none.
func (l *contextLookup) load(space int64, id string, kinds bool) (*journal.Context, error) {
	defer l.context.Reset()
	b := binder{stmt: l.context}
	b.number(space)
	b.text(id)
	if b.err != nil || !l.context.Step() {
		return nil, errors.Join(b.err, l.context.Err())
	}
	c := scanContext(l.context)
	if !kinds {
		return c, nil
	}
	return c, l.loadKinds(space, c)
}

func (l *contextLookup) loadKinds(space int64, c *journal.Context) error {
	defer l.kinds.Reset()
	b := binder{stmt: l.kinds}
	b.number(space)
	b.text(c.ID)
	if b.err != nil {
		return b.err
	}
	c.Kinds = make(map[string]uint64)
	for l.kinds.Step() {
		c.Kinds[l.kinds.ColumnText(0)] = uint64(l.kinds.ColumnInt64(1))
	}
	return l.kinds.Err()
}

// envelope is the first one of a context, in the order of a statement, that the
// index knows by a term, after one position and up to another; 0 for none. Ids
// that share a term are told apart by the envelopes themselves.
func (l *contextLookup) envelope(r *reader, stmt *sqlite3.Stmt, space int64, sign, id string, after, last uint64) (seq uint64, ts time.Time, err error) {
	row, err := r.prepare(`SELECT context, ts FROM envelopes WHERE key = ?`)
	if err != nil {
		return 0, ts, err
	}
	defer row.Reset()
	defer stmt.Reset()
	b := binder{stmt: stmt}
	b.text(quote(term(sign, id)))
	b.number(key(space, after))
	b.number(key(space, last+1))
	b.number(-1)
	if b.err != nil {
		return 0, ts, b.err
	}
	for stmt.Step() {
		k := stmt.ColumnInt64(0)
		if err := errors.Join(row.Reset(), row.BindInt64(1, k)); err != nil {
			return 0, ts, err
		}
		if row.Step() && row.ColumnText(0) == id {
			return uint64(k) & maxSeq, time.UnixMilli(row.ColumnInt64(1)).UTC(), nil
		}
		if err := row.Err(); err != nil {
			return 0, ts, err
		}
	}
	return 0, ts, stmt.Err()
}

// contextBook takes in what envelopes change of a space's contexts. What it
// needs to know of the table it loads, and it writes nothing by itself: readers
// use it as well, for what the index has not followed yet.
type contextBook struct {
	*contextLookup
	reader *reader // of the journal
	space  int64
	kinds  bool // they are wanted

	tree    *journal.Tree
	known   map[string]*journal.Context // as the table has them, nil for none
	changed map[string]struct{}
}

func newContextBook(l *contextLookup, r *reader, space int64, kinds bool) *contextBook {
	return &contextBook{
		contextLookup: l, reader: r, space: space, kinds: kinds,
		tree: journal.NewTree(), known: map[string]*journal.Context{}, changed: map[string]struct{}{},
	}
}

// get is a context as it is now, nil for none.
func (k *contextBook) get(id string) (*journal.Context, error) {
	if _, known := k.known[id]; known {
		return k.tree.Get(id), nil
	}
	c, err := k.load(k.space, id, k.kinds)
	if err != nil {
		return nil, err
	}
	k.known[id] = c
	if c == nil {
		return nil, nil
	}
	now := *c
	now.Kinds = maps.Clone(c.Kinds)
	k.tree.Put(&now)
	return &now, nil
}

func (k *contextBook) add(r *journal.Record) error {
	if r.Context == "" {
		return nil
	}
	c, err := k.get(r.Context)
	if c == nil && r.Parent != "" && err == nil {
		_, err = k.get(r.Parent) // counts for its depth
	}
	if err != nil {
		return err
	}
	k.tree.Add(r)
	k.changed[r.Context] = struct{}{}
	return nil
}

func (k *contextBook) drop(r *journal.Record) error {
	if r.Context == "" {
		return nil
	}
	c, err := k.get(r.Context)
	if c == nil {
		return err
	}
	if c.Drop(r); c.Count == 0 {
		k.tree.Remove(c.ID)
	}
	k.changed[c.ID] = struct{}{}
	return nil
}

// rise moves the beginning of what lost its first envelopes, all up to floor, of
// those that the index has read.
func (k *contextBook) rise(floor, indexed uint64) error {
	for id := range k.changed {
		c := k.tree.Get(id)
		if c == nil || c.First > floor {
			continue
		}
		seq, ts, err := k.envelope(k.reader, k.asc, k.space, termContext, id, floor, indexed)
		if err != nil {
			return err
		}
		if seq == 0 {
			return errLost
		}
		c.First, c.Opened = seq, ts
	}
	return nil
}

// redact follows the redaction of an envelope whose terms have been changed, and
// of which the index keeps nothing but its context's type.
func (k *contextBook) redact(old *journal.Record, forgotten uint64) error {
	if old.Context == "" {
		return nil
	}
	c, err := k.get(old.Context)
	if c == nil {
		return err
	}
	c.Redact(old)
	if c.Noted == old.Seq {
		c.Noted, _, err = k.envelope(k.reader, k.desc, k.space, termNote, c.ID, forgotten, old.Seq-1)
	}
	k.changed[c.ID] = struct{}{}
	return err
}

// contextWriter writes the tables.
type contextWriter struct {
	put, remove, putKind, removeKind *sqlite3.Stmt
}

func (w *contextWriter) statements() map[string]**sqlite3.Stmt {
	return map[string]**sqlite3.Stmt{
		`INSERT INTO contexts (space, ` + contextColumns + `) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)
			ON CONFLICT DO UPDATE SET type = excluded.type, parent = excluded.parent, opener = excluded.opener,
			depth = excluded.depth, first = excluded.first, last = excluded.last, count = excluded.count,
			opened = excluded.opened, touched = excluded.touched, noted = excluded.noted, concluded = excluded.concluded,
			summed = excluded.summed`: &w.put,
		`DELETE FROM contexts WHERE space = ? AND id = ?`:                        &w.remove,
		`REPLACE INTO context_kinds VALUES (?, ?, ?, ?)`:                         &w.putKind,
		`DELETE FROM context_kinds WHERE space = ? AND context = ? AND kind = ?`: &w.removeKind,
	}
}

// write writes what a book has changed.
func (w *contextWriter) write(k *contextBook) error {
	// In order, which keeps to neighbouring pages.
	for _, id := range slices.Sorted(maps.Keys(k.changed)) {
		if err := w.writeOne(k.space, k.known[id], k.tree.Get(id), id); err != nil {
			return err
		}
	}
	return nil
}

func (w *contextWriter) writeOne(space int64, was, now *journal.Context, id string) error {
	var before, after map[string]uint64
	if was != nil {
		before = was.Kinds
	}
	b := binder{stmt: w.remove}
	if now != nil {
		after, b.stmt = now.Kinds, w.put
	}
	b.number(space)
	b.text(id)
	if now != nil {
		b.context(now)
	}
	b.keep(b.stmt.Exec())
	for kind, n := range after {
		if before[kind] != n {
			b.keep(kindRow(w.putKind, space, id, kind, n))
		}
	}
	for kind := range before {
		if after[kind] == 0 {
			b.keep(kindRow(w.removeKind, space, id, kind, 0))
		}
	}
	return b.err
}

// context binds what follows the id.
func (b *binder) context(c *journal.Context) {
	b.text(c.Type)
	b.text(c.Parent)
	b.text(c.Opener)
	for _, n := range []int64{
		int64(c.Depth), int64(c.First), int64(c.Last), int64(c.Count), c.Opened.UnixMilli(), c.Touched.UnixMilli(),
		int64(c.Noted), int64(c.Concluded), int64(c.Summed),
	} {
		b.number(n)
	}
}

// kindRow runs a statement about a kind, with its number where that is above 0.
func kindRow(stmt *sqlite3.Stmt, space int64, id, kind string, n uint64) error {
	b := binder{stmt: stmt}
	b.number(space)
	b.text(id)
	b.text(kind)
	if n > 0 {
		b.number(int64(n))
	}
	b.keep(stmt.Exec())
	return b.err
}
